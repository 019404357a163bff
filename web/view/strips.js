/* strips.js - what is seen of threads that nobody marked: when they ran, were ready or waited, when samples were taken; and which
 * thread each processor ran. Under the zones of a thread lie a strip of its states and a row of ticks; a processor is a row of its own.
 * A strip is one image: a column of it is filled by the share of each state in that pixel's time, so it is exact at every zoom.
 * SPDX-License-Identifier: MIT */
import {MARK_SAMPLES, MARK_STATES, PAD, STATES, TICKS, stripTop} from './layout.js';
import {THEMES, colorOf, rgbOf, textOn} from './palette.js';
import {WAITS, waitColors, waitOf} from './waits.js';
import {cutText} from './text.js';
import {lowerBound} from './draw.js';

const MARGIN = 0.5, MAX_WIDE = 250, MIN_WIDE = 3, MIN_LABEL = 30, NEAR = 4, CLOSE_NS = 1e6;
const THREAD = 0, SAMPLES = 1, CPU = 2;
const RUN = 0, READY = 1, WAIT = 2; /* waits for different things lie above each other, from here on */
const FOREIGN = 0x80000000;
export const STATE_NAMES = ['runs', 'is ready', 'waits'];

/* An answer, by track and kind of row. */
class Answer {
    constructor(question, json, arrays) {
        Object.assign(this, {from: question.from, to: question.to, perPixel: (question.to - question.from) / question.width, arrays, isWhole: json.exact});
        this.asked = new Set(question.tracks);
        this.rows = new Map();
        for (const [track, kind, first, n] of json.lanes) {
            const key = `${track}/${kind}`;
            (this.rows.get(key) || this.rows.set(key, []).get(key)).push({first, end: first + n});
        }
    }

    /** Pieces {first, end} of the arrays. */
    row(track, kind) {
        return this.rows.get(`${track}/${kind}`) || [];
    }
}

function hasMarks(track) {
    return track.kind === 'cpu' || Boolean(track.marks);
}

export class Strips {
    constructor(app) {
        this.app = app;
        this.answer = null;
        this.pending = false;
        this.nSpoilt = -1;
        this.canvas = document.createElement('canvas');
    }

    /* --- asking --------------------------------------------------------------------------- */

    update(view, rows, width) {
        const {app} = this, {data} = app.timeline;
        if (this.engine !== app.engine) {
            this.engine = app.engine;
            this.answer = null;
            this.pending = false;
        }
        const tracks = [...new Set(rows.filter((r) => !r.header && hasMarks(r.track)).map((r) => r.track.id))];
        if (!tracks.length || this.pending || this.nSpoilt === data.nSpoilt && this.serves(view, tracks, width))
            return;
        this.nSpoilt = data.nSpoilt;
        this.ask(view, tracks, width);
    }

    serves(view, tracks, width) {
        const {answer} = this, {range} = this.app.trace;
        if (!answer || !answer.isWhole)
            return false;
        const per = (view.to - view.from) / width, isInside = (answer.from <= view.from || answer.from <= range[0]) && (answer.to >= view.to || answer.to >= range[1]);
        return isInside && answer.perPixel <= per * 1.3 && answer.perPixel >= per / 2.5 && tracks.every((id) => answer.asked.has(id));
    }

    async ask(view, tracks, width) {
        const {engine} = this, span = view.to - view.from, {range} = this.app.trace;
        const from = Math.max(Math.min(view.from, range[0]), view.from - span * MARGIN), to = Math.min(Math.max(view.to, range[1]), view.to + span * MARGIN);
        const question = {ask: 'strips', from, to, width: Math.max(1, Math.min(16384, Math.round(width * (to - from) / span))), tracks};
        this.pending = true;
        try {
            const {json, arrays} = await engine.ask(question);
            if (engine === this.engine)
                this.answer = new Answer(question, json, arrays);
        } catch (error) {
            this.app.say(error.message);
        }
        if (engine !== this.engine)
            return;
        this.pending = false;
        this.app.redraw();
    }

    /* --- painting ------------------------------------------------------------------------- */

    /** Called by the painter, when zones are painted. */
    paint(painter) {
        const {scene} = painter, {answer} = this, theme = THEMES[this.app.theme];
        if (!answer)
            return;
        this.painter = painter;
        this.width = Math.max(1, Math.round((scene.width - scene.label) * scene.dpr));
        this.colors = [...theme.states.slice(0, WAIT), ...waitColors(this.app.theme, theme.states[WAIT])].map(rgbOf);
        this.tick = rgbOf(theme.tick);
        painter.inPlaces((isHere) => {
            for (const {row, y} of scene.rows) {
                if (row.header || !isHere(row) || y > scene.height || y + row.height < scene.ruler)
                    continue;
                if (row.track.kind === 'cpu')
                    this.paintCpu(row, y);
                else if (row.track.marks)
                    this.paintMarks(row, y);
            }
        });
    }

    paintMarks(row, y) {
        const {marks, id} = row.track;
        if (marks & MARK_STATES)
            this.paintStates(this.answer.row(id, THREAD), y + stripTop(row, MARK_STATES), STATES);
        if (marks & MARK_SAMPLES)
            this.paintTicks(this.answer.row(id, SAMPLES), y + stripTop(row, MARK_SAMPLES), TICKS);
    }

    /* Items of pieces that are seen: f(index, x0, x1), in pixels of the image. */
    each(pieces, f) {
        const {t0, t1} = this.answer.arrays, {view, dpr} = this.painter.scene, scale = this.painter.scale * dpr, {width} = this;
        for (const {first, end} of pieces)
            for (let i = Math.max(first, lowerBound(t0, view.from, first, end) - 3); i < end && t0[i] < view.to; i++) {
                const x0 = (t0[i] - view.from) * scale, x1 = (t1[i] - view.from) * scale;
                if (x1 >= 0 && x0 < width)
                    f(i, x0, x1);
            }
    }

    /* Add a weight to the pixels from x0 to x1, in proportion to how much of each lies between them. */
    spread(cells, x0, x1, weight) {
        const a = Math.max(0, x0), b = Math.min(cells.length, x1), per = weight / Math.max(1e-9, x1 - x0);
        for (let x = Math.floor(a); x < b; x++)
            cells[x] += per * (Math.min(b, x + 1) - Math.max(a, x));
    }

    paintStates(pieces, y, size) {
        const {arrays} = this.answer, {width} = this, scale = this.painter.scale * this.painter.scene.dpr, cells = [RUN, READY, ...WAITS].map(() => null);
        const add = (s, ns, x0, x1) => ns && this.spread(cells[s] || (cells[s] = new Float32Array(width)), x0, x1, ns * scale);
        this.each(pieces, (i, x0, x1) => {
            add(RUN, arrays.run[i], x0, x1);
            add(READY, arrays.ready[i], x0, x1);
            add(WAIT + waitOf(arrays.reason[i]), arrays.wait[i], x0, x1);
        });
        this.putImage(y, size, (pixels, rows) => {
            for (let x = 0; x < width; x++)
                this.stack(pixels, rows, x, cells);
        });
    }

    /* A column: waiting at the top, being ready below it, running at the bottom; what there was is at least one pixel high. */
    stack(pixels, rows, x, cells) {
        let bottom = rows;
        const all = cells.reduce((sum, list) => sum + (list ? list[x] : 0), 0), whole = Math.max(1, all);
        if (all < 1e-6)
            return;
        for (let s = 0; s < cells.length; s++) {
            if (!cells[s] || cells[s][x] < 1e-9)
                continue;
            const n = Math.min(bottom, Math.max(1, Math.round(rows * cells[s][x] / whole))), [r, g, b] = this.colors[s], color = 255 << 24 | b << 16 | g << 8 | r;
            for (let k = 0; k < n; k++)
                pixels[--bottom * this.width + x] = color;
        }
    }

    paintTicks(pieces, y, size) {
        const {arrays} = this.answer, counts = new Float32Array(this.width), {dpr} = this.painter.scene, [r, g, b] = this.tick;
        this.each(pieces, (i, x0, x1) => arrays.n[i] === 1 ? counts[Math.floor(x0)]++ : this.spread(counts, x0, Math.max(x1, x0 + 1), arrays.n[i]));
        this.putImage(y, size, (pixels, rows) => {
            for (let x = 0; x < this.width; x++) {
                if (counts[x] <= 0)
                    continue;
                const alpha = Math.round(255 * Math.min(1, 0.35 + 0.65 * counts[x])), color = alpha << 24 | b << 16 | g << 8 | r;
                for (let k = 0; k < rows - dpr; k++)
                    pixels[k * this.width + x] = color;
            }
        });
    }

    /* An image of a strip, filled by f(pixels, rows), put at a height. */
    putImage(y, size, f) {
        const {scene, ctx} = this.painter, rows = Math.max(1, Math.round(size * scene.dpr));
        if (!this.painter.take())
            return;
        if (!this.image || this.image.width !== this.width || this.image.height !== rows) {
            this.canvas.width = this.width;
            this.canvas.height = rows;
            this.image = this.canvas.getContext('2d').createImageData(this.width, rows);
        }
        const pixels = new Uint32Array(this.image.data.buffer);
        pixels.fill(0);
        f(pixels, rows);
        this.canvas.getContext('2d').putImageData(this.image, 0, 0);
        ctx.imageSmoothingEnabled = false;
        ctx.drawImage(this.canvas, 0, 0, this.width, rows, scene.label, y, scene.width - scene.label, size);
    }

    /* --- processors ----------------------------------------------------------------------- */

    /** The name of who ran: of a track, or of a thread that is none. */
    whoText(who) {
        if (who >= FOREIGN)
            return `thread ${who - FOREIGN} of another process`;
        const track = this.app.trackOf(who);
        return track ? track.name : '';
    }

    whoColor(who) {
        return who >= FOREIGN ? THEMES[this.app.theme].none : colorOf(`${this.whoText(who)} ${who}`);
    }

    paintCpu(row, y) {
        const {painter} = this, {ctx, scene} = painter, pieces = this.answer.row(row.track.id, CPU), {arrays} = this.answer, size = row.height - 7, wide = [];
        const best = new Float32Array(this.width), who = new Uint32Array(this.width), busy = new Float32Array(this.width), scale = painter.scale * scene.dpr;
        this.each(pieces, (i, x0, x1) => {
            if (arrays.one[i] && x1 - x0 >= MIN_WIDE * scene.dpr && wide.length < MAX_WIDE)
                return wide.push([i, x0 / scene.dpr, x1 / scene.dpr]);
            this.spread(busy, x0, x1, arrays.run[i] * scale);
            for (let x = Math.max(0, Math.floor(x0)); x < Math.min(this.width, Math.ceil(x1)); x++)
                if (arrays.ready[i] > best[x]) {
                    best[x] = arrays.ready[i];
                    who[x] = arrays.who[i];
                }
            return undefined;
        });
        this.putImage(y + PAD, size, (pixels, rows) => {
            for (let x = 0; x < this.width; x++)
                this.shade(pixels, rows, x, busy[x], who[x]);
        });
        for (const [i, x0, x1] of wide)
            this.paintRun(ctx, scene, i, Math.max(-2, x0), Math.min(scene.width - scene.label + 2, x1), y + PAD, size);
    }

    shade(pixels, rows, x, busy, who) {
        if (busy <= 0)
            return;
        const [r, g, b] = rgbOf(this.whoColor(who)), color = 255 << 24 | b << 16 | g << 8 | r, n = Math.max(1, Math.round(rows * Math.min(1, busy)));
        for (let k = rows - n; k < rows; k++)
            pixels[k * this.width + x] = color;
    }

    paintRun(ctx, scene, i, x0, x1, y, size) {
        const {who} = this.answer.arrays, css = this.whoColor(who[i]);
        ctx.fillStyle = css;
        this.painter.rect(scene.label + x0, y, Math.max(1, x1 - x0 - 0.5), size);
        if (x1 - x0 < MIN_LABEL)
            return;
        ctx.fillStyle = textOn(css);
        this.painter.text(cutText(ctx, this.whoText(who[i]), Math.min(x1, scene.width) - Math.max(0, x0) - 6), scene.label + Math.max(0, x0) + 3, y + size / 2);
    }

    /* --- wake-ups ------------------------------------------------------------------------- */

    /** Those that are known of the tracks in sight: f(track, t, by, since), of waits that ended between two times. */
    eachWake(from, to, f) {
        const {answer} = this;
        if (!answer)
            return;
        const {t0, t1, wait, who, one} = answer.arrays;
        for (const [key, pieces] of answer.rows) {
            const [track, kind] = key.split('/').map(Number);
            for (const {first, end} of kind === THREAD ? pieces : [])
                for (let i = Math.max(first, lowerBound(t0, from, first, end) - 3); i < end && t0[i] <= to; i++)
                    if (one[i] && wait[i] && who[i] && t1[i] >= from && t1[i] <= to)
                        f(track, t1[i], who[i], t0[i]);
        }
    }

    /** What a thread did at a time, as `at` gives it; asked for, wherever that is. */
    async stretchAt(track, t) {
        const question = {ask: 'strips', from: t - CLOSE_NS, to: t + CLOSE_NS, width: 2000, tracks: [track]}, {json, arrays} = await this.app.engine.ask(question);
        const answer = new Answer(question, json, arrays);
        return this.item('state', answer.row(track, THREAD), t, 1, arrays);
    }

    /* --- pointing ------------------------------------------------------------------------- */

    /** What is under a place of a row: {kind: 'state' | 'samples' | 'cpu', i, …the item}; null: nothing. `dy`: below the row's top. */
    at(row, dy, t) {
        if (!this.answer || row.header || !hasMarks(row.track))
            return null;
        const {id, kind, marks} = row.track, isIn = (mark, size) => marks & mark && dy >= stripTop(row, mark) && dy < stripTop(row, mark) + size;
        if (kind === 'cpu')
            return this.item('cpu', this.answer.row(id, CPU), t, 1);
        if (isIn(MARK_STATES, STATES))
            return this.item('state', this.answer.row(id, THREAD), t, 1);
        return isIn(MARK_SAMPLES, TICKS + PAD) ? this.item('samples', this.answer.row(id, SAMPLES), t, NEAR) : null;
    }

    item(kind, pieces, t, nearPx, arrays = this.answer.arrays) {
        const {t0, t1, one} = arrays, {view} = this.app, slack = nearPx * (view.to - view.from) / this.app.timeline.width;
        let best = -1, far = slack;
        for (const {first, end} of pieces)
            for (let i = Math.max(first, lowerBound(t0, t, first, end) - 3); i < end && t0[i] <= t + slack; i++) {
                const d = t < t0[i] ? t0[i] - t : t > t1[i] ? t - t1[i] : 0;
                if (d < far || d === far && (best < 0 || one[i])) {
                    far = d;
                    best = i;
                }
            }
        if (best < 0)
            return null;
        return {kind, ...Object.fromEntries(['t0', 't1', 'run', 'ready', 'wait', 'n', 'cpu', 'who', 'reason', 'one'].map((name) => [name, arrays[name][best]]))};
    }
}
