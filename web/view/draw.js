/* draw.js - paints the timeline. By construction a frame has at most MAX_SHAPES shapes and MAX_LABELS texts, whatever they are
 * of: all are painted through here, and counted. Zones that are too narrow, or too many, become pixels of one strip image per
 * lane, which is drawn with one call. Nothing is hidden: each zone is a shape or part of a strip.
 * SPDX-License-Identifier: MIT */
import {LANE, PAD, isZones, mayOverlap} from './layout.js';
import {PIXEL_BEYOND, PIXEL_OPEN, PIXEL_ZONE} from '../facts.js';
import {THEMES, colorOf, rgbOf, textOn} from './palette.js';
import {paintDoubts} from './doubt.js';
import {FONT, cutText} from './text.js';
import * as format from './format.js';

export const MAX_SHAPES = 5000, MAX_LABELS = 500;
const KEPT_SHAPES = 1600;   /* for what comes after the zones: outlines, losses, flows, notes, names of tracks */
const MARK_SHAPES = 1200;   /* of frames, messages and locks, all rows together */
const ROW_LABELS = 4, KEPT_LABELS = 80, LEAST_LABELS = 50;
const LABEL_ROOM = 110;      /* pixels between labels of the ruler, at least */
const MIN_WIDE = 2, MIN_LABEL = 26, WIDTHS = 1024, LEAST_TEXT = 13; /* the last: height of a depth with names */
const DIM = 128; /* beside the engine's flags */
const GAP = 1;   /* pixels between zones that follow each other: half of it of each, so that both edges are right to half a pixel */
const PLOT_UNIT = 255, PLOT_NO_FILL = 256; /* of a plot's format */
const NOT_BLACK = 0x1000000; /* beside a colour: 0 is one, too */
const BEYOND = 2; /* pixels: so far outside of the view are the edges of what goes on there */

/* Zones of this frame that are wide enough to be shapes. */
class Wide {
    constructor() {
        this.room = 4096;
        this.n = 0;
        this.make(this.room);
    }

    make(room) {
        const old = this.x0 ? this : null;
        for (const [name, type] of [['x0', Float32Array], ['x1', Float32Array], ['lane', Uint16Array], ['loc', Uint32Array], ['flags', Uint8Array], ['tint', Int32Array]]) {
            const made = new type(room);
            if (old)
                made.set(this[name]);
            this[name] = made;
        }
        this.room = room;
    }

    add(x0, x1, lane, loc, flags, tint) {
        if (this.n === this.room)
            this.make(2 * this.room);
        const i = this.n++;
        this.x0[i] = x0;
        this.x1[i] = x1;
        this.lane[i] = lane;
        this.loc[i] = loc;
        this.flags[i] = flags;
        this.tint[i] = tint;
    }
}

export class Painter {
    constructor(app) {
        this.app = app;
        this.wide = new Wide();
        this.looks = new Map();  /* loc: {css, dim, r, g, b, text, name, width} */
        this.tints = new Map();  /* colour that is not that of a location: {css, dim, r, g, b, text} */
        this.widths = new Uint32Array(WIDTHS + 1);
        this.cuts = new Map();
        this.strip = document.createElement('canvas');
        this.strip.width = this.strip.height = 1;
        this.counts = {shapes: 0, labels: 0};
    }

    /** Names or theme changed. */
    forget() {
        this.looks.clear();
        this.tints.clear();
        this.cuts.clear();
    }

    look(loc) {
        let look = this.looks.get(loc);
        if (look)
            return look;
        const row = this.app.names.get(loc), css = loc === 0 ? this.theme.none : row ? colorOf(row.name, row.color) : this.theme.none;
        const name = row ? row.name : '';
        look = {...this.shades(css), name, width: name ? this.ctx.measureText(name).width : 0};
        if (row || loc === 0)
            this.looks.set(loc, look);
        return look;
    }

    /* A colour with what goes with it. */
    shades(css) {
        const [r, g, b] = rgbOf(css), [br, bg, bb] = rgbOf(this.theme.lane), mix = (a, c) => Math.round(0.22 * a + 0.78 * c);
        return {css, r, g, b, text: textOn(css), dim: `rgb(${mix(r, br)},${mix(g, bg)},${mix(b, bb)})`};
    }

    /* The same of a colour that is not a location's; -1: it is. */
    tint(number, loc) {
        if (number < 0)
            return this.look(loc);
        return this.tints.get(number) || this.tints.set(number, this.shades(colorOf('', number | NOT_BLACK))).get(number);
    }

    /** Whether the frame has room for so many shapes; they are counted then. */
    take(n = 1) {
        if (this.counts.shapes + n > MAX_SHAPES)
            return false;
        this.counts.shapes += n;
        return true;
    }

    rect(x, y, w, h) {
        if (this.take())
            this.ctx.fillRect(x, y, w, h);
    }

    frame(x, y, w, h) {
        if (this.take())
            this.ctx.strokeRect(x, y, w, h);
    }

    text(text, x, y) {
        if (this.counts.labels >= MAX_LABELS)
            return;
        this.counts.labels++;
        this.ctx.fillText(text, x, y);
    }

    /** Paint all; `scene`: {width, height, label, ruler, top, view, rows: [{row, y}], data, dpr, …}. Pinned rows are between ruler and top. */
    paint(ctx, scene) {
        this.ctx = ctx;
        this.scene = scene;
        this.theme = THEMES[this.app.theme];
        this.counts = {shapes: 0, labels: 0};
        this.wide.n = 0;
        this.scale = (scene.width - scene.label) / (scene.view.to - scene.view.from);
        ctx.setTransform(scene.dpr, 0, 0, scene.dpr, 0, 0);
        ctx.font = FONT;
        ctx.textBaseline = 'middle';
        ctx.fillStyle = this.theme.back;
        this.rect(0, 0, scene.width, scene.height);
        this.paintRows();
        this.paintGrid();
        this.collectLanes();
        this.paintStrips();
        this.paintWide();
        this.paintOthers();
        this.app.timeline.strips.paint(this);
        this.app.timeline.ghosts.paint(this);
        paintDoubts(this);
    }

    x(t) {
        return this.scene.label + (t - this.scene.view.from) * this.scale;
    }

    paintRows() {
        const {ctx, scene, theme} = this;
        scene.rows.forEach(({row, y}, i) => {
            ctx.fillStyle = row.header ? theme.head : row.pinned || i % 2 ? theme.lane2 : theme.lane;
            this.rect(scene.label, y, scene.width - scene.label, row.height - 1);
        });
    }

    /* Steps of the ruler as far apart as their labels need. */
    gridStep(room) {
        const {app, ctx, scene} = this, {from, to} = scene.view, step = format.rulerStep((to - from) * room / (scene.width - scene.label));
        const needed = ctx.measureText(format.time(to, app.timeMode, app.trace, step)).width + 16;
        return room < needed ? format.rulerStep((to - from) * needed / (scene.width - scene.label)) : step;
    }

    paintGrid() {
        const {ctx, scene, theme} = this, step = scene.step = this.gridStep(LABEL_ROOM);
        ctx.fillStyle = theme.line;
        for (let t = Math.ceil(scene.view.from / step) * step, n = 0; t < scene.view.to && n < 60; t += step, n++)
            this.rect(Math.round(this.x(t)), scene.ruler, 1, scene.height - scene.ruler);
    }

    /* Lanes of zones: wide ones are gathered, the rest goes to the strips. */
    collectLanes() {
        const {scene} = this, lanes = [];
        for (const {row, y} of scene.rows)
            if (!row.header && isZones(row.track.kind))
                for (let d = 0; d < row.lanes; d++)
                    lanes.push({id: row.track.id, depth: d, y: y + PAD + d * LANE, row});
        this.lanes = lanes.filter((lane) => lane.y + LANE - 1 > (lane.row.pinned ? scene.ruler : scene.top) && lane.y < scene.height).slice(0, 400);
        const width = Math.max(1, Math.round((scene.width - scene.label) * scene.dpr));
        if (!this.image || this.image.width !== width || this.image.height !== Math.max(1, this.lanes.length))
            this.makeImage(width, Math.max(1, this.lanes.length));
        else
            this.pixels.fill(0);
        const {fine, coarse} = scene.data, beyond = BEYOND / this.scale, from = scene.view.from - beyond, to = scene.view.to + beyond;
        this.lanes.forEach((lane, i) => {
            const covers = fine && fine.asked.has(lane.id);
            if (coarse && coarse !== fine) {
                this.collect(coarse, lane, i, from, covers ? Math.min(to, fine.from) : to);
                if (covers)
                    this.collect(coarse, lane, i, Math.max(from, fine.to), to);
            }
            if (covers)
                this.collect(fine, lane, i, Math.max(from, fine.from), Math.min(to, fine.to));
        });
        this.chooseWide();
    }

    makeImage(width, height) {
        this.strip.width = width;
        this.strip.height = height;
        this.stripCtx = this.strip.getContext('2d');
        this.image = this.stripCtx.createImageData(width, height);
        this.pixels = new Uint32Array(this.image.data.buffer);
    }

    /* Items of a lane between two times. */
    collect(answer, lane, index, from, to) {
        const items = answer.lane(lane.id, lane.depth);
        if (!items || !(to > from))
            return;
        const {t0, t1, loc, count, busy, flags} = answer.arrays, last = items.first + items.n, view = this.scene.view, {scale} = this;
        const right = this.scene.width - this.scene.label, {coloring} = this.app, isPlain = coloring.isPlain;
        const isMarked = this.app.highlight !== null, places = isMarked && this.app.highlight.places ? this.app.highlight.places.get(`${lane.id}/${lane.depth}`) || [] : null;
        const isLoose = mayOverlap(lane.row.track.kind); /* then not in order either */
        for (let i = isLoose ? items.first : Math.max(items.first, lowerBound(t0, from, items.first, last) - 3); i < last; i++) {
            if (t0[i] >= to) {
                if (isLoose)
                    continue;
                break;
            }
            if (t1[i] <= from && t1[i] > t0[i])
                continue;
            const end = flags[i] & PIXEL_BEYOND ? Math.min(t1[i], this.app.trace.range[1]) : t1[i];
            const x0 = Math.max(-BEYOND, (Math.max(t0[i], from) - view.from) * scale), x1 = Math.min(right + BEYOND, (Math.min(end, to) - view.from) * scale);
            const isZone = flags[i] & PIXEL_ZONE, dim = isMarked && this.isDim(loc[i], isZone, t0[i], t1[i], places) ? DIM : 0;
            const tint = isPlain ? -1 : coloring.of(lane.row.track, lane.depth, loc[i], t0[i], isZone ? t1[i] - t0[i] : (t1[i] - t0[i]) * busy[i] / Math.max(1, count[i]), isZone);
            if (isZone && x1 - x0 >= MIN_WIDE)
                this.wide.add(x0, x1, index, loc[i], flags[i] | dim, tint);
            else
                this.shade(index, x0, x1, loc[i], isZone ? 1 : busy[i], dim, tint);
        }
    }

    /* Pixels of a strip: the more was busy, the fuller the colour. */
    shade(index, x0, x1, loc, busy, dim, tint) {
        const dpr = this.scene.dpr, width = this.image.width;
        const a = Math.max(0, Math.floor(x0 * dpr)), b = Math.min(width, Math.max(a + 1, Math.round(x1 * dpr)));
        if (a >= width)
            return;
        const look = this.tint(tint, loc), alpha = dim ? 50 : Math.round(255 * Math.min(1, 0.45 + 0.55 * busy));
        const color = alpha << 24 | look.b << 16 | look.g << 8 | look.r, from = index * width;
        for (let x = from + a; x < from + b; x++)
            if (this.pixels[x] >>> 24 < alpha)
                this.pixels[x] = color;
    }

    /* Does something else stand out? Of a cell, where the zones that do are all known: does none of them end in it? `places`: when they end
     * on this lane; null: they are not known. */
    isDim(loc, isZone, t0, t1, places) {
        const mark = this.app.highlight, ns = t1 - t0;
        if (!isZone && places) {
            const next = lowerBound(places, t0, 0, places.length);
            return next >= places.length || places[next] > t1;
        }
        return mark.loc !== loc || isZone && mark.min !== undefined && (ns < mark.min || ns > mark.max);
    }

    /* Rows of marks: frames, messages, locks. */
    markRows() {
        return this.scene.rows.filter(({row}) => ['frames', 'messages', 'locks'].includes(row.track.kind)).length;
    }

    /* Shapes that zones may have: what the rest leaves. */
    zoneRoom() {
        return MAX_SHAPES - this.counts.shapes - this.lanes.length - KEPT_SHAPES - (this.markRows() ? MARK_SHAPES : 0);
    }

    /* If there are too many wide ones, the narrowest of them go to the strips. */
    chooseWide() {
        const {wide, widths} = this, most = this.zoneRoom();
        this.minWide = MIN_WIDE;
        if (wide.n > most) {
            widths.fill(0);
            for (let i = 0; i < wide.n; i++)
                widths[Math.min(WIDTHS, Math.floor(2 * (wide.x1[i] - wide.x0[i])))]++;
            let kept = 0, w = WIDTHS;
            while (w > 0 && kept + widths[w] <= most)
                kept += widths[w--];
            this.minWide = (w + 1) / 2;
        }
        if (this.minWide > MIN_WIDE)
            for (let i = 0; i < wide.n; i++)
                if (wide.x1[i] - wide.x0[i] < this.minWide)
                    this.shade(wide.lane[i], wide.x0[i], wide.x1[i] - GAP / 2, wide.loc[i], 1, wide.flags[i] & DIM, wide.tint[i]);
    }

    paintStrips() {
        const {ctx, scene} = this;
        if (!this.lanes.length)
            return;
        this.stripCtx.putImageData(this.image, 0, 0);
        ctx.imageSmoothingEnabled = false;
        this.inPlaces((isHere) => this.lanes.forEach((lane, i) => {
            if (isHere(lane.row) && this.take())
                ctx.drawImage(this.strip, 0, i, this.image.width, 1, scene.label, lane.y, scene.width - scene.label, LANE - 1);
        }));
    }

    /** Rows that scroll are behind the pinned ones, and all are below the ruler: `paint(isHere)` is called for both places, clipped to each. */
    inPlaces(paint) {
        const {ctx, scene} = this;
        for (const isPinned of scene.top > scene.ruler ? [false, true] : [false]) {
            ctx.save();
            ctx.beginPath();
            ctx.rect(scene.label, isPinned ? scene.ruler : scene.top, scene.width - scene.label, isPinned ? scene.top - scene.ruler : Math.max(0, scene.height - scene.top));
            ctx.clip();
            paint((row) => row.pinned === isPinned);
            ctx.restore();
        }
    }

    paintWide() {
        this.inPlaces((isHere) => this.paintZones(isHere));
    }

    paintZones(isHere) {
        const {ctx, wide} = this, byColor = new Map(), labels = [], outlined = [], hover = this.app.hover ? this.app.hover.loc : 0;
        for (let i = 0; i < wide.n; i++) {
            const w = wide.x1[i] - wide.x0[i];
            if (w < this.minWide || !isHere(this.lanes[wide.lane[i]].row))
                continue;
            const look = this.look(wide.loc[i]), paint = this.tint(wide.tint[i], wide.loc[i]), css = wide.flags[i] & DIM ? paint.dim : paint.css;
            const list = byColor.get(css);
            if (list)
                list.push(i);
            else
                byColor.set(css, [i]);
            if (w >= MIN_LABEL && look.name && LANE >= LEAST_TEXT)
                labels.push(i);
            if (hover && wide.loc[i] === hover && outlined.length < 300)
                outlined.push(i);
        }
        for (const [css, list] of byColor) {
            ctx.fillStyle = css;
            for (const i of list)
                this.rect(this.scene.label + wide.x0[i] + GAP / 2, this.lanes[wide.lane[i]].y, Math.max(1, wide.x1[i] - wide.x0[i] - GAP), LANE - 1);
        }
        this.paintMarks(isHere);
        this.paintLabels(labels);
        this.paintOutlines(outlined);
    }

    /* Zones that never ended: a torn right edge. */
    paintMarks(isHere) {
        const {ctx, wide, theme} = this;
        ctx.fillStyle = theme.loss;
        for (let i = 0, n = 0; i < wide.n && n < 100; i++)
            if (wide.flags[i] & PIXEL_OPEN && isHere(this.lanes[wide.lane[i]].row)) {
                this.rect(this.scene.label + wide.x1[i] - 3, this.lanes[wide.lane[i]].y, 2, LANE - 1);
                n++;
            }
    }

    paintLabels(labels) {
        const {wide, ctx} = this, most = Math.max(LEAST_LABELS, MAX_LABELS - ROW_LABELS * this.scene.rows.length - KEPT_LABELS);
        if (labels.length > most) {
            labels.sort((a, b) => wide.x1[b] - wide.x0[b] - (wide.x1[a] - wide.x0[a]));
            labels.length = most;
        }
        let style = '';
        for (const i of labels) {
            const look = this.look(wide.loc[i]), x = Math.max(0, wide.x0[i]) + 4, room = Math.min(wide.x1[i], this.scene.width) - x - 3;
            const text = this.fit(wide.loc[i], look, room);
            if (!text)
                continue;
            const color = wide.flags[i] & DIM ? this.theme.dim : this.tint(wide.tint[i], wide.loc[i]).text;
            if (style !== color)
                ctx.fillStyle = style = color;
            this.text(text, this.scene.label + x, this.lanes[wide.lane[i]].y + LANE / 2);
        }
    }

    /** As much of a name as fits; '' if that is too little. */
    fit(loc, look, room) {
        if (look.width <= room)
            return look.name;
        const key = `${loc}/${Math.floor(room / 6)}`;
        let cut = this.cuts.get(key);
        if (cut === undefined) {
            cut = cutText(this.ctx, look.name, Math.floor(room / 6) * 6);
            if (this.cuts.size > 20000)
                this.cuts.clear();
            this.cuts.set(key, cut);
        }
        return cut;
    }

    paintOutlines(outlined) {
        const {ctx, wide, theme} = this;
        ctx.strokeStyle = theme.outline;
        ctx.lineWidth = LANE < LEAST_TEXT ? 0.75 : 1.5;
        for (const i of outlined)
            this.frame(this.scene.label + wide.x0[i] + GAP, this.lanes[wide.lane[i]].y + 0.5, Math.max(1, wide.x1[i] - wide.x0[i] - 2), LANE - 2);
    }

    /* Tracks that are no zones. */
    paintOthers() {
        const paint = {plot: this.paintPlot, messages: this.paintMessages, frames: this.paintFrames, locks: this.paintLocks};
        this.perRow = Math.floor(MARK_SHAPES / Math.max(1, this.markRows()));
        this.units = new Map(); /* unit: {low, high} of the plots in sight, where they share a scale */
        this.eachOther((row) => row.track.kind === 'plot', (row, y, items, arrays) => this.addUnit(row, items, arrays));
        this.inPlaces((isHere) => this.eachOther((row) => isHere(row) && paint[row.track.kind], (row, ...rest) => paint[row.track.kind].call(this, row, ...rest)));
    }

    /* Rows in sight of one lane that have something to be drawn. */
    eachOther(isWanted, paint) {
        const {rows, data: {fine, coarse}} = this.scene;
        for (const {row, y} of rows) {
            const data = fine && fine.asked.has(row.track.id) ? fine : coarse, items = isWanted(row) && data && data.lane(row.track.id, 0);
            if (items && items.n)
                paint(row, y, items, data.arrays);
        }
    }

    /* Visible items as [first, last). */
    visible(items, arrays) {
        const view = this.scene.view, last = items.first + items.n;
        const first = Math.max(items.first, lowerBound(arrays.t0, view.from, items.first, last) - 2);
        return [first, Math.min(last, lowerBound(arrays.t0, view.to, first, last) + 2)];
    }

    /* The least and the highest value of a plot in view; the scale begins at 0 where that is near, or wanted. */
    extent(row, items, arrays) {
        const [first, last] = this.visible(items, arrays), by = items.value - items.first, how = this.app.choice.plots.get(row.track.id) || {};
        let low = Infinity, high = -Infinity;
        for (let i = first; i < last; i++) {
            low = Math.min(low, arrays.min[i + by]);
            high = Math.max(high, arrays.max[i + by]);
        }
        return how.zero ? {low: Math.min(0, low), high: Math.max(0, high)} : {low: low > 0 && low < high * 0.7 && !how.log ? 0 : low, high};
    }

    addUnit(row, items, arrays) {
        const unit = row.track.format & PLOT_UNIT, known = this.units.get(unit), {low, high} = this.extent(row, items, arrays);
        this.units.set(unit, known ? {low: Math.min(known.low, low), high: Math.max(known.high, high)} : {low, high});
    }

    paintPlot(row, y, items, arrays) {
        const {ctx, theme} = this, {choice} = this.app, [first, last] = this.visible(items, arrays), at = (i) => items.value + i - items.first;
        const {low, high} = choice.sharesScale ? this.units.get(row.track.format & PLOT_UNIT) : this.extent(row, items, arrays), isLog = (choice.plots.get(row.track.id) || {}).log && low > 0;
        const on = isLog ? Math.log : Number, size = row.height - 10, top = y + 5, of = (v) => top + size - (high > low ? (on(v) - on(low)) / (on(high) - on(low)) : 0.5) * size;
        const left = this.scene.label - 5, right = this.scene.width + 5, clip = (x) => Math.min(right, Math.max(left, x));
        const line = new Path2D();
        let x = left;
        for (let i = first; i < last; i++) {
            x = clip(this.x(arrays.t0[i]));
            if (i === first)
                line.moveTo(x, of(arrays.last[at(i)]));
            line.lineTo(x, of(i > first ? arrays.last[at(i - 1)] : arrays.min[at(i)]));
            line.lineTo(x, of(arrays.min[at(i)]));
            line.lineTo(x, of(arrays.max[at(i)]));
            line.lineTo(x, of(arrays.last[at(i)]));
        }
        const area = new Path2D(line);
        area.lineTo(x, top + size);
        area.lineTo(clip(this.x(arrays.t0[first])), top + size);
        row.low = low;
        row.high = high;
        if (!this.take(2))
            return;
        const color = row.track.color ? colorOf('', row.track.color) : theme.plot;
        ctx.fillStyle = row.track.color ? `${color}38` : theme.plotFill;
        if (!(row.track.format & PLOT_NO_FILL))
            ctx.fill(area);
        ctx.strokeStyle = color;
        ctx.lineWidth = 1;
        ctx.stroke(line);
    }

    /* What is seen of a row of marks, as [first, end) of its items: one by one, or some together where they are too many. */
    *marks(items, arrays) {
        const [first, last] = this.visible(items, arrays), n = Math.ceil((last - first) / this.perRow);
        for (let i = first; i < last; i += n)
            yield [i, Math.min(last, i + n)];
    }

    paintMessages(row, y, items, arrays) {
        const {ctx, theme} = this;
        for (const [i, end] of this.marks(items, arrays)) {
            const worst = arrays.loc.subarray(i, end).reduce((most, level) => Math.max(most, level), 0);
            const given = this.app.coloring.ofMessage(row.track.id, arrays.t0[i], arrays.t1[end - 1]);
            ctx.fillStyle = given >= 0 ? this.tint(given, 0).css : worst >= 5 ? theme.loss : worst === 4 ? theme.note : theme.accent;
            const x = this.x(arrays.t0[i]), w = Math.max(3, end > i + 1 ? this.x(arrays.t1[end - 1]) - x : Math.min(this.x(arrays.t1[i]) - x, 8));
            this.rect(x - 1, y + 4, w, row.height - 9);
        }
    }

    paintFrames(row, y, items, arrays) {
        const {ctx, theme} = this, right = this.scene.width;
        for (const [i, end] of this.marks(items, arrays)) {
            const x0 = Math.max(this.scene.label - BEYOND, this.x(arrays.t0[i])), x1 = Math.min(right + BEYOND, this.x(arrays.t1[end - 1]));
            ctx.fillStyle = i % 2 ? theme.frameA : theme.frameB;
            this.rect(x0 + GAP / 2, y + 3, Math.max(1, x1 - x0 - GAP), row.height - 7);
            if (x1 - x0 > 60 && end === i + 1 && arrays.flags[i] & PIXEL_ZONE) {
                ctx.fillStyle = theme.text;
                this.text(format.duration(arrays.t1[i] - arrays.t0[i]), x0 + 5, y + row.height / 2);
            }
        }
    }

    paintLocks(row, y, items, arrays) {
        const {ctx, theme} = this;
        ctx.fillStyle = theme.lock;
        for (const [i, end] of this.marks(items, arrays)) {
            const x0 = Math.max(this.scene.label - 2, this.x(arrays.t0[i])), x1 = Math.min(this.scene.width + 2, this.x(arrays.t1[end - 1]));
            ctx.globalAlpha = end > i + 1 ? 0.65 : arrays.flags[i] & PIXEL_ZONE ? 1 : 0.3 + 0.7 * arrays.busy[i];
            this.rect(x0, y + 4, Math.max(1, x1 - x0), row.height - 9);
        }
        ctx.globalAlpha = 1;
    }
}

/** The first index in [lo, hi) whose value is not below `v`. */
export function lowerBound(array, v, lo, hi) {
    while (lo < hi) {
        const mid = lo + hi >> 1;
        if (array[mid] < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

