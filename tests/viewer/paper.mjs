/* paper.mjs - the page's timeline in node, on a canvas that keeps what is painted on it: the page's own code from the question to the last
 * rectangle, without a browser. The modules of web/ need what the build makes for the page beside them, so they are copied together once.
 * SPDX-License-Identifier: MIT */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const LETTER = 6; /* pixels of one, whatever the font */

/** What is painted, as far as it is in the clip: {kind: 'rect' | 'text' | 'image', x, y, w, h, style, text, row}. */
class Paper {
    constructor() {
        this.done = [];
        this.stack = [];
        this.clipped = [-Infinity, -Infinity, Infinity, Infinity];
    }

    begin() {
        this.done.length = this.stack.length = 0;
        this.clipped = [-Infinity, -Infinity, Infinity, Infinity];
    }

    put(kind, x, y, w, h, more) {
        const [left, top, right, bottom] = this.clipped;
        if (x < right && x + w > left && y < bottom && y + h > top)
            this.done.push({kind, x, y, w, h, top: Math.max(y, top), bottom: Math.min(y + h, bottom), style: this.fillStyle, ...more});
    }

    setTransform() {}
    fillRect(x, y, w, h) {
        this.put('rect', x, y, w, h);
    }

    strokeRect() {}
    fillText(text, x, y) {
        this.put('text', x, y, LETTER * text.length, 0.1, {text});
    }

    drawImage(strip, sx, row, sw, sh, x, y, w, h) {
        this.put('image', x, y, w, h, {row});
    }

    measureText(text) {
        return {width: LETTER * text.length};
    }

    save() {
        this.stack.push(this.clipped);
    }

    restore() {
        this.clipped = this.stack.pop();
    }

    beginPath() {
        this.path = null;
    }

    rect(x, y, w, h) {
        this.path = [x, y, x + w, y + h];
    }

    clip() {
        const [a, b, c, d] = this.clipped, [x0, y0, x1, y1] = this.path;
        this.clipped = [Math.max(a, x0), Math.max(b, y0), Math.min(c, x1), Math.min(d, y1)];
    }

    createImageData(width, height) {
        return {width, height, data: new Uint8ClampedArray(4 * width * height)};
    }
}
for (const name of ['moveTo', 'lineTo', 'bezierCurveTo', 'fill', 'stroke', 'putImageData', 'createPattern'])
    Paper.prototype[name] = () => null;

class Element {
    constructor() {
        Object.assign(this, {style: {}, hidden: false});
        this.paper = new Paper();
    }

    getContext() {
        return this.paper;
    }

    setAttribute() {}
    append() {}
    addEventListener() {}
    getBoundingClientRect() {
        return {left: 0, top: 0, width: 0, height: 0};
    }
}

/* As much of a browser as these modules ask for. */
function pretend() {
    globalThis.Node = Element;
    globalThis.document = {createElement: () => new Element()};
    globalThis.window = {devicePixelRatio: 1, innerWidth: 1e4, innerHeight: 1e4, addEventListener: () => {}};
    globalThis.ResizeObserver = class {
        observe() {}
    };
    globalThis.Path2D = class {
        moveTo() {}
        lineTo() {}
    };
}

/** The page's modules by their names in web/: {timeline, tips, minimap, …}. */
export async function modulesOf(strobe) {
    const here = path.dirname(fileURLToPath(import.meta.url)), folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strobe-web-'));
    pretend();
    fs.cpSync(path.join(here, '..', '..', 'web'), folder, {recursive: true});
    fs.copyFileSync(path.join(path.dirname(strobe), '..', 'page', 'facts.js'), path.join(folder, 'facts.js'));
    fs.writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
    const out = {};
    for (const [name, file] of [['timeline', 'view/timeline.js'], ['layout', 'view/layout.js'], ['tips', 'view/tips.js'], ['minimap', 'view/minimap.js'], ['format', 'view/format.js'],
        ['palette', 'view/palette.js'], ['coloring', 'view/coloring.js'], ['presence', 'view/presence.js'], ['tracking', 'view/tracking.js'], ['engines', 'engines.js'], ['facts', 'facts.js']])
        out[name] = await import(pathToFileURL(path.join(folder, file)).href);
    fs.rmSync(folder, {recursive: true});
    return out;
}

/** A page without a browser: the timeline over an engine (`ask(question)` gives {json, arrays}). */
export class PaperPage {
    constructor(modules, ask, trace) {
        const {timeline, layout, tips, minimap, coloring, presence, tracking, engines} = modules, engine = {ask};
        Object.assign(this, {modules, trace, engine, choice: new layout.TrackChoice(), theme: 'light', timeMode: 'relative', highlight: null, hover: null, selection: null, area: null,
            flows: [], notes: {list: []}, search: {track: 0, density: null}, trackHits: new Set(), view: {from: trace.range[0], to: trace.range[1]}});
        this.aboveOf = tracking.tracking.aboveOf;
        this.names = new engines.Names(engine, () => this.timeline.painter.forget());
        this.coloring = new coloring.Coloring(this);
        this.presence = new presence.Presence(this);
        this.timeline = new timeline.Timeline(this);
        this.tips = new tips.Tips(this);
        this.minimap = new minimap.Minimap(this);
    }

    redraw() {}

    changed() {}
    trackOf(id) {
        return this.trace.tracks.find((track) => track.id === id);
    }

    setHover() {}
    say(words) {
        throw new Error(words);
    }

    learnDepths(depths) {
        const byId = new Map(depths);
        for (const track of this.trace.tracks)
            track.n_depths = Math.max(track.n_depths, byId.get(track.id) || 0);
    }

    /** Show a view in a window of some size: all that is asked for is answered and drawn. What is painted then is in `painted`. */
    async show(view, width, height, dpr, choice) {
        const {timeline} = this;
        Object.assign(this, {view, choice});
        Object.assign(timeline, {width, height, dpr});
        timeline.layout.build(this.trace.tracks, choice);
        timeline.scroll = Math.max(0, Math.min(this.scrolled || 0, timeline.layout.height - timeline.scrollRoom() + 8));
        for (let isSettled = false; !isSettled;) {
            timeline.ctx.begin();
            timeline.draw();
            isSettled = !timeline.data.pending && !this.names.timer && !this.names.wanted.size;
            if (!isSettled)
                await this.quiet();
        }
        this.painted = timeline.ctx.done;
    }

    async quiet() {
        do
            await new Promise((resolve) => setTimeout(resolve, 0));
        while (this.timeline.data.pending || this.names.timer);
        const missing = [...this.timeline.data.fine.arrays.loc].filter((loc) => loc && !this.names.rows.has(loc));
        await this.names.need(missing);
        this.timeline.painter.forget();
    }

    /** The tip at a place, once all of it is there: {title, rows}. */
    async tip(x, y) {
        const p = {x, y};
        let found = null;
        this.timeline.pointer = p;
        this.tips.element.hidden = false;
        this.tips.put = (place, title, rows) => {
            found = {title, rows: new Map(rows)};
        };
        this.tips.pointAt(p);
        const hit = this.timeline.hit(x, y);
        clearTimeout(this.tips.timer);
        if (hit && hit.item && found && found.rows.has('duration'))
            await this.tips.addText(hit, p, found.title, [...found.rows]);
        this.timeline.pointer = null;
        return found;
    }
}
