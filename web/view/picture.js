/* picture.js - what is seen as a picture that keeps its sharpness (SVG), and the selected area alone.  SPDX-License-Identifier: MIT */
import {LABEL, RULER} from './timeline.js';
import {download, h} from './dom.js';

const escape = (text) => String(text).replace(/[&<>"]/g, (c) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'}[c]));
const round = (v) => Math.round(v * 100) / 100;

/* As much of a canvas's context as the painter uses; gathers elements. */
class SvgContext {
    constructor(width, height, measure) {
        Object.assign(this, {width, height, out: [], open: [0], defs: 0, measure, fillStyle: '#000', strokeStyle: '#000', lineWidth: 1, globalAlpha: 1, font: '', textAlign: 'left', textBaseline: 'middle', path: ''});
    }

    style(kind, color) {
        return `${kind}="${escape(color)}"${this.globalAlpha < 1 ? ` opacity="${round(this.globalAlpha)}"` : ''}`;
    }

    setTransform() {}

    save() {
        this.open.push(0);
    }

    restore() {
        for (let n = this.open.pop(); n > 0; n--)
            this.out.push('</g>');
    }

    beginPath() {
        this.path = '';
    }

    rect(x, y, w, height) {
        this.path += `M${round(x)} ${round(y)}h${round(w)}v${round(height)}h${round(-w)}z`;
    }

    moveTo(x, y) {
        this.path += `M${round(x)} ${round(y)}`;
    }

    lineTo(x, y) {
        this.path += `${this.path ? 'L' : 'M'}${round(x)} ${round(y)}`;
    }

    bezierCurveTo(...p) {
        this.path += `C${p.map(round).join(' ')}`;
    }

    clip() {
        const id = `c${this.defs++}`;
        this.out.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`);
        this.open[this.open.length - 1]++;
    }

    fill(path) {
        this.out.push(`<path d="${path ? path.d : this.path}" ${this.style('fill', this.fillStyle)}/>`);
    }

    stroke(path) {
        this.out.push(`<path d="${path ? path.d : this.path}" fill="none" stroke-width="${this.lineWidth}" ${this.style('stroke', this.strokeStyle)}/>`);
    }

    fillRect(x, y, w, height) {
        this.out.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(0, w))}" height="${round(Math.max(0, height))}" ${this.style('fill', this.fillStyle)}/>`);
    }

    strokeRect(x, y, w, height) {
        this.out.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(0, w))}" height="${round(Math.max(0, height))}" fill="none" stroke-width="${this.lineWidth}" ${this.style('stroke', this.strokeStyle)}/>`);
    }

    fillText(text, x, y) {
        const weight = this.font.startsWith('600') ? ' font-weight="600"' : '';
        this.out.push(`<text x="${round(x)}" y="${round(y)}" dominant-baseline="central" text-anchor="${{right: 'end', center: 'middle'}[this.textAlign] || 'start'}"${weight} ${this.style('fill', this.fillStyle)}>${escape(text)}</text>`);
    }

    measureText(text) {
        this.measure.font = this.font;
        return this.measure.measureText(text);
    }

    /* A strip of one pixel's height. */
    drawImage(image, sx, sy, sw, sh, x, y, w, height) {
        const row = h('canvas');
        row.width = sw;
        row.height = sh;
        row.getContext('2d').drawImage(image, sx, sy, sw, sh, 0, 0, sw, sh);
        this.out.push(`<image x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(height)}" preserveAspectRatio="none" image-rendering="pixelated" href="${row.toDataURL()}"/>`);
    }

    text({x, y, w, height}) {
        return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${x} ${y} ${w} ${height}" width="${w}" height="${height}" font-family="system-ui, sans-serif" font-size="12">${this.out.join('\n')}</svg>\n`;
    }
}

/* A path that knows what it is; the painter makes those of plots by `new Path2D`. */
class SvgPath {
    constructor(other) {
        this.d = other ? other.d : '';
    }

    moveTo(x, y) {
        this.d += `M${round(x)} ${round(y)}`;
    }

    lineTo(x, y) {
        this.d += `${this.d ? 'L' : 'M'}${round(x)} ${round(y)}`;
    }
}

/* The selected area on the canvas, else all of it. */
function frameOf(app) {
    const tl = app.timeline, {area} = app, all = {x: 0, y: 0, w: tl.width, height: tl.height};
    if (!area)
        return all;
    const x0 = Math.max(LABEL, tl.xOf(area.from)), x1 = Math.min(tl.width, tl.xOf(area.to)), rows = tl.visibleRows().filter(({row}) => !row.header && (!area.tracks || area.tracks.includes(row.track.id)));
    if (!(x1 > x0) || !rows.length)
        return all;
    const y0 = area.tracks ? Math.max(RULER, Math.min(...rows.map((r) => r.y))) : 0, y1 = area.tracks ? Math.min(tl.height, Math.max(...rows.map((r) => r.y + r.row.height))) : tl.height;
    return {x: round(x0), y: round(y0), w: round(x1 - x0), height: round(y1 - y0)};
}

const nameOf = (app, ending) => `${app.trace.name.replace(/\.[a-z]+$/, '')}.${ending}`;

/** The timeline, or what is selected of it, as the text of an SVG. */
export function svgOf(app) {
    const tl = app.timeline, {ctx} = tl, fake = new SvgContext(tl.width, tl.height, ctx), before = window.Path2D;
    try {
        tl.ctx = fake;
        window.Path2D = SvgPath;
        tl.draw();
    } finally {
        tl.ctx = ctx;
        window.Path2D = before;
        app.redraw();
    }
    return fake.text(frameOf(app));
}

export function saveSvg(app) {
    download(nameOf(app, 'svg'), new Blob([svgOf(app)], {type: 'image/svg+xml'}));
}

/** The selected area as it is seen. */
export function saveAreaPng(app) {
    const {canvas, dpr} = app.timeline, {x, y, w, height} = frameOf(app), out = h('canvas');
    out.width = Math.max(1, Math.round(w * dpr));
    out.height = Math.max(1, Math.round(height * dpr));
    out.getContext('2d').drawImage(canvas, -x * dpr, -y * dpr);
    return new Promise((resolve) => out.toBlob((blob) => {
        download(nameOf(app, 'png'), blob);
        resolve(blob);
    }, 'image/png'));
}
