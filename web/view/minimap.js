/* minimap.js - the whole trace in one strip: how busy, where the view is, where hits, notes and losses are.
 * SPDX-License-Identifier: MIT */
import {LABEL} from './timeline.js';
import {PIXEL_ZONE} from '../facts.js';
import {THEMES} from './palette.js';
import {h} from './dom.js';
import {TEXT, pixelRatio} from './scale.js';
import {isZones} from './layout.js';

const AT_ONCE = 500; /* tracks of one question */

export class Minimap {
    constructor(app) {
        this.app = app;
        this.canvas = h('canvas', {class: 'minimap', 'aria-label': 'overview'});
        this.ctx = this.canvas.getContext('2d', {alpha: false});
        this.busy = null;
        this.asked = false;
        new ResizeObserver(() => this.resize()).observe(this.canvas);
    }

    resize() {
        const box = this.canvas.getBoundingClientRect(), dpr = pixelRatio();
        Object.assign(this, {width: Math.round(box.width) / TEXT, height: Math.round(box.height) / TEXT, dpr});
        this.canvas.width = Math.round(this.width * dpr);
        this.canvas.height = Math.round(this.height * dpr);
        this.asked = false;
        this.app.redraw();
    }

    spoil() {
        this.asked = false;
    }

    timeAt(x) {
        const [from, to] = this.app.trace.range;
        return from + (x - LABEL) / (this.width - LABEL) * (to - from);
    }

    xOf(t) {
        const [from, to] = this.app.trace.range;
        return LABEL + (t - from) / Math.max(1, to - from) * (this.width - LABEL);
    }

    /* The busy share of outermost zones, per pixel, over all tracks. */
    async ask() {
        this.asked = true;
        const tracks = this.app.trace.tracks.filter((t) => isZones(t.kind) && t.n_depths), [from, to] = this.app.trace.range;
        const n = Math.max(1, Math.min(2000, Math.floor(this.width - LABEL))), busy = new Float32Array(n), per = (to - from) / n;
        if (!(to > from))
            return;
        for (let at = 0; at < tracks.length; at += AT_ONCE) {
            const lanes = tracks.slice(at, at + AT_ONCE).map((t) => [t.id, 0, 1]);
            const {json, arrays} = await this.app.engine.ask({ask: 'pixels', from, to, width: n, budget: 100000, lanes});
            for (const [, , first, count] of json.lanes)
                addLane(busy, arrays, first, first + count, from, per);
        }
        if (!busy.some((share) => share > 0))
            await this.addRuns(busy, per);
        this.busy = busy;
        this.most = busy.reduce((m, v) => Math.max(m, v), 0.001);
        this.app.redraw();
    }

    /* Without any zone: how many processors ran something. */
    async addRuns(busy, per) {
        const tracks = this.app.trace.tracks.filter((t) => t.kind === 'cpu').map((t) => t.id), [from, to] = this.app.trace.range;
        const {arrays} = await this.app.engine.ask({ask: 'strips', from, to, width: busy.length, tracks});
        for (let i = 0; i < arrays.t0.length; i++)
            add(busy, (arrays.t0[i] - from) / per, (arrays.t1[i] - from) / per, arrays.run[i] / Math.max(1, arrays.t1[i] - arrays.t0[i]));
    }

    draw() {
        const {ctx, app} = this;
        if (!this.width || !app.trace)
            return;
        if (!this.asked && (this.app.timeline.data.fine || this.app.timeline.strips.answer))
            this.ask().catch((error) => error.message === 'overtaken' && (this.asked = false));
        this.theme = THEMES[app.theme];
        ctx.setTransform(this.dpr, 0, 0, this.dpr, 0, 0);
        ctx.fillStyle = this.theme.lane;
        ctx.fillRect(0, 0, this.width, this.height);
        this.drawBusy();
        this.drawMarks();
        this.drawView();
    }

    drawBusy() {
        const {ctx, busy} = this;
        if (!busy)
            return;
        ctx.fillStyle = this.theme.plot;
        ctx.globalAlpha = 0.65;
        ctx.beginPath();
        const w = (this.width - LABEL) / busy.length, bottom = this.height - 3;
        ctx.moveTo(LABEL, bottom);
        for (let i = 0; i < busy.length; i++) {
            const y = bottom - busy[i] / this.most * (this.height - 12);
            ctx.lineTo(LABEL + i * w, y);
            ctx.lineTo(LABEL + (i + 1) * w, y);
        }
        ctx.lineTo(this.width, bottom);
        ctx.fill();
        ctx.globalAlpha = 1;
    }

    drawMarks() {
        const {ctx, app} = this, hits = app.search.density;
        ctx.fillStyle = this.theme.loss;
        for (const loss of app.trace.losses.slice(0, 500))
            ctx.fillRect(this.xOf(loss.from), this.height - 4, Math.max(2, this.xOf(loss.to) - this.xOf(loss.from)), 4);
        ctx.fillStyle = this.theme.note;
        for (const note of app.notes.list)
            ctx.fillRect(this.xOf(note.from) - 1, 0, Math.max(2, this.xOf(note.to) - this.xOf(note.from)), 7);
        if (hits) {
            ctx.fillStyle = this.theme.hit;
            const w = (this.width - LABEL) / hits.length;
            for (let i = 0; i < hits.length; i++)
                if (hits[i])
                    ctx.fillRect(LABEL + i * w, 0, Math.max(1, w), 6);
        }
    }

    drawView() {
        const {ctx, app, theme} = this, x0 = Math.max(LABEL, this.xOf(app.view.from)), x1 = Math.max(x0 + 2, Math.min(this.width, this.xOf(app.view.to)));
        ctx.fillStyle = theme.back;
        ctx.globalAlpha = 0.62;
        ctx.fillRect(LABEL, 0, x0 - LABEL, this.height);
        ctx.fillRect(x1, 0, this.width - x1, this.height);
        ctx.globalAlpha = 1;
        ctx.strokeStyle = theme.accent;
        ctx.lineWidth = 1.5;
        ctx.strokeRect(x0 + 0.5, 0.75, Math.max(1, x1 - x0 - 1), this.height - 1.5);
        if (app.area) {
            ctx.fillStyle = theme.select;
            ctx.fillRect(this.xOf(app.area.from), 0, Math.max(2, this.xOf(app.area.to) - this.xOf(app.area.from)), this.height);
        }
    }
}

/* A zone is busy from its begin to its end. A cell tells of all that is busy in it, also of its share of the zones beside it. */
function addLane(busy, {t0, t1, flags, busy: shares}, first, end, from, per) {
    const zones = [], x = (t) => (t - from) / per;
    for (let i = first; i < end; i++)
        if (flags[i] & PIXEL_ZONE) {
            zones.push([x(t0[i]), x(t1[i])]);
            add(busy, x(t0[i]), x(t1[i]), 1);
        }
    for (let i = first, next = 0; i < end; i++) {
        if (flags[i] & PIXEL_ZONE)
            continue;
        const x0 = x(t0[i]), x1 = x(t1[i]);
        while (next < zones.length && zones[next][1] <= x0) /* both are in the order of their ends */
            next++;
        add(busy, x0, x1, shares[i]);
        for (let k = next; k < zones.length && zones[k][0] < x1; k++)
            add(busy, Math.max(x0, zones[k][0]), Math.min(x1, zones[k][1]), -1);
    }
}

function add(busy, x0, x1, share) {
    const n = busy.length, from = Math.max(0, x0), to = Math.min(n, x1);
    for (let i = Math.floor(from); i < to; i++)
        busy[i] += share * Math.min(1, Math.min(to, i + 1) - Math.max(from, i));
}
