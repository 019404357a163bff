/* chart.js - the panels' charts on a canvas: bars over an axis that may be logarithmic, a curve in percent beside them, lines
 * that mark a value, a stretch that is brushed with the pointer or with keys.  SPDX-License-Identifier: MIT */
import {TEXT, layCanvas, pointOn, roomOf} from './scale.js';
import {h} from './dom.js';
import {RowKeys} from './rowkeys.js';

const LEFT = 58, RIGHT = 46, TOP = 14, BOTTOM = 22, FONT = '11px system-ui, sans-serif', LEVEL_ROOM = 13;

/** Round values between a and b, about so many: 1, 2 and 5 times a power of ten. */
export function ticks(a, b, about) {
    const rough = (b - a) / Math.max(about, 1), power = 10 ** Math.floor(Math.log10(rough)), of = rough / power;
    const step = (of > 5 ? 10 : of > 2 ? 5 : of > 1 ? 2 : 1) * power, out = [];
    if (!(step > 0) || !Number.isFinite(step))
        return [a];
    for (let i = Math.ceil(a / step); i * step <= b * (1 + 1e-12) && out.length < 100; i++)
        out.push(i * step);
    return out;
}

/** The same on a logarithmic axis; its steps where it is too short for powers of ten. */
function logTicks(a, b, about) {
    const decades = Math.log10(b / a), out = [], every = Math.max(1, Math.ceil(decades / Math.max(about, 1)));
    for (let e = Math.floor(Math.log10(a)); e <= Math.log10(b); e += every)
        for (const m of decades < about / 2 ? [1, 2, 5] : [1])
            if (m * 10 ** e >= a && m * 10 ** e <= b)
                out.push(m * 10 ** e);
    return out.length > 1 ? out : ticks(a, b, about);
}

class Scale {
    constructor({min, max, log}, from, to) {
        Object.assign(this, {log: Boolean(log), from, to, min: log ? Math.max(min, 1e-9) : min});
        this.max = Math.max(max, this.min * (log ? 1.001 : 1) + (log ? 0 : 1e-9));
    }

    place(v) {
        const part = this.log ? Math.log(Math.max(v, this.min) / this.min) / Math.log(this.max / this.min) : (v - this.min) / (this.max - this.min);
        return this.from + part * (this.to - this.from);
    }

    value(place) {
        const part = (place - this.from) / (this.to - this.from);
        return this.log ? this.min * (this.max / this.min) ** part : this.min + part * (this.max - this.min);
    }

    ticks(about) {
        return (this.log ? logTicks : ticks)(this.min, this.max, about);
    }
}

/* The keyboard's way through the bars. A chart is often made anew in the same place, which keeps the focus. */
function keysOf(place, chart) {
    const rows = {isAcross: true, n: () => chart.options.bars.length, mark: (i, event, before) => chart.stand(i, event, before), act: (i, event) => chart.press(i, event)};
    for (const [name, value] of [['tabindex', '0'], ['role', 'application'], ['aria-label', `${chart.options.name}: arrow keys go from bar to bar`]])
        place.setAttribute(name, value);
    place.rowKeys = Object.assign(place.rowKeys || new RowKeys(place, rows), {rows});
    return place.rowKeys;
}

/**
 * A chart in `place` (emptied by the caller).
 *   x {min, max, log, show}, y {min, max, log, show}: the axes; show(v) is the text of a value
 *   bars [{from, to, value, color}]: in the order of x; color is optional
 *   curve [{x, percent}]: optional, with an axis of its own on the right
 *   uprights [{at, text, color}], levels [{at, text}]: lines across
 *   theme: colours as of view/palette.js; brushed(from, to), picked(index of a bar): optional
 *   cleared(): the brush is to end; told(words): what the keyboard is on; name: what the chart is of, for those who can't see it
 */
export class Chart {
    constructor(place, options) {
        Object.assign(this, {place, options, canvas: h('canvas'), brush: h('div', {class: 'brush', hidden: true}), finger: h('div', {class: 'finger', hidden: true}), range: null, start: null, anchor: -1});
        this.over = h('div', {class: 'plotarea'}, this.brush, this.finger);
        place.append(this.canvas, this.over);
        this.listen();
        this.keys = keysOf(place, this);
        this.watch = new ResizeObserver(() => this.lay());
        this.watch.observe(place);
        this.lay();
    }

    /* As large as the place is now. */
    lay() {
        const {place, options} = this, room = roomOf(place), right = options.curve ? RIGHT : 10, width = Math.max(280, room.width), height = Math.max(84, room.height);
        if (width === this.width && height === this.height && this.zoom === TEXT)
            return;
        Object.assign(this, {width, height, zoom: TEXT});
        const ctx = layCanvas(this.canvas, width, height);
        this.x = new Scale(options.x, LEFT, this.width - right);
        this.y = new Scale(options.y, this.height - BOTTOM, TOP);
        Object.assign(this.over.style, {left: `${LEFT * TEXT}px`, top: `${TOP * TEXT}px`, width: `${(this.width - LEFT - right) * TEXT}px`, height: `${(this.height - TOP - BOTTOM) * TEXT}px`});
        this.draw(ctx);
        this.setBrush(this.range);
    }

    /** Show what is brushed: [from, to] on the x axis, or null. */
    setBrush(range) {
        this.range = range;
        const [from, to] = range ? range.map((v) => Math.min(this.x.to, Math.max(LEFT, this.x.place(v))) - LEFT) : [0, 0];
        this.showBrush(from, to);
    }

    /** The pointer is down on it. */
    get isHeld() {
        return this.start !== null;
    }

    destroy() {
        this.watch.disconnect();
        this.keys.rows = {n: () => 0};
        this.canvas.remove();
        this.over.remove();
    }

    draw(ctx) {
        const {theme, bars, curve, levels = [], uprights = []} = this.options;
        ctx.font = FONT;
        this.drawAxes(ctx, theme);
        ctx.globalAlpha = 0.6;
        for (const bar of bars)
            this.drawBar(ctx, bar, theme);
        ctx.globalAlpha = 1;
        if (curve)
            this.drawCurve(ctx, theme, curve);
        const taken = []; /* heights that have a text: another one near them is left out */
        for (const {at, text} of levels)
            this.drawLevel(ctx, theme, at, text, taken);
        uprights.forEach((line, i) => this.drawUpright(ctx, line, i));
    }

    /* On whole pixels, so that neighbours have the same gap or none. */
    drawBar(ctx, {from, to, value, color}, theme) {
        if (!(value > 0))
            return;
        const left = Math.round(this.x.place(from)), width = Math.round(this.x.place(to)) - left, top = Math.min(this.y.place(value), this.y.from - 1);
        ctx.fillStyle = color || theme.plot;
        ctx.fillRect(left, top, Math.max(1, width > 3 ? width - 1 : width), this.y.from - top);
    }

    drawAxes(ctx, theme) {
        const {x, y, options} = this;
        ctx.textBaseline = 'middle';
        ctx.textAlign = 'right';
        for (const v of y.ticks((y.from - y.to) / 34)) {
            const at = Math.round(y.place(v));
            ctx.fillStyle = theme.line;
            ctx.fillRect(LEFT, at, x.to - LEFT, 1);
            ctx.fillStyle = theme.dim;
            ctx.fillText(options.y.show(v), LEFT - 6, at);
        }
        ctx.textBaseline = 'top';
        ctx.textAlign = 'center';
        for (const v of x.ticks((x.to - x.from) / 90)) {
            const at = Math.round(x.place(v));
            ctx.fillStyle = theme.line;
            ctx.fillRect(at, TOP, 1, y.from - TOP + 4);
            ctx.fillStyle = theme.dim;
            ctx.fillText(options.x.show(v), at, y.from + 6);
        }
    }

    drawCurve(ctx, theme, curve) {
        const place = (percent) => this.y.from - percent / 100 * (this.y.from - this.y.to);
        ctx.strokeStyle = theme.note;
        ctx.lineWidth = 1.5;
        ctx.beginPath();
        for (const {x, percent} of curve)
            ctx.lineTo(this.x.place(x), place(percent));
        ctx.stroke();
        ctx.fillStyle = theme.dim;
        ctx.textAlign = 'left';
        ctx.textBaseline = 'middle';
        for (const percent of [0, 50, 100])
            ctx.fillText(`${percent} %`, this.x.to + 6, place(percent));
    }

    drawUpright(ctx, {at, text, color}, number) {
        const place = this.x.place(at), right = place > this.x.to - 50;
        if (place < LEFT || place > this.x.to)
            return;
        ctx.fillStyle = color;
        ctx.fillRect(place, TOP, 1.5, this.y.from - TOP);
        ctx.textAlign = right ? 'right' : 'left';
        ctx.textBaseline = 'top';
        ctx.fillText(text, place + (right ? -3 : 4), TOP + 12 * number);
    }

    drawLevel(ctx, theme, at, text, taken) {
        const place = this.y.place(at);
        if (place < TOP || place > this.y.from)
            return;
        ctx.fillStyle = theme.note;
        ctx.fillRect(LEFT, place, this.x.to - LEFT, 1);
        ctx.textAlign = 'left';
        ctx.textBaseline = 'bottom';
        if (taken.every((other) => Math.abs(other - place) >= LEVEL_ROOM)) {
            Object.assign(ctx, {fillStyle: theme.back, globalAlpha: 0.8}); /* it lies over bars */
            ctx.fillRect(LEFT + 2, place - LEVEL_ROOM - 1, ctx.measureText(text).width + 4, LEVEL_ROOM);
            Object.assign(ctx, {fillStyle: theme.note, globalAlpha: 1});
            ctx.fillText(text, LEFT + 4, place - 2);
        }
        taken.push(place);
    }

    /* ---- the pointer ---- */

    listen() {
        const {brushed, picked} = this.options, inside = (e) => Math.min(Math.max(pointOn(e, this.over).x, 0), this.x.to - LEFT);
        this.over.addEventListener('pointerdown', (e) => {
            if (e.button === 0) {
                this.start = inside(e);
                this.over.setPointerCapture(e.pointerId);
            }
        });
        this.over.addEventListener('pointermove', (e) => {
            if (this.start !== null && brushed)
                this.showBrush(Math.min(this.start, inside(e)), Math.max(this.start, inside(e)));
        });
        this.over.addEventListener('pointerup', (e) => {
            const end = inside(e), from = this.start;
            this.start = null;
            if (from !== null && brushed && Math.abs(end - from) > 3) {
                this.range = [this.x.value(LEFT + Math.min(from, end)), this.x.value(LEFT + Math.max(from, end))];
                brushed(...this.range);
            } else if (from !== null && picked)
                this.pick(this.x.value(LEFT + end), picked);
        });
    }

    /* ---- the keyboard: arrow keys go from bar to bar, with Shift they brush; Enter picks or brushes one, Delete ends the brush ---- */

    /* On a bar; empty ones are passed. */
    stand(i, {key, shiftKey}, before) {
        const {bars, brushed, x, y, told} = this.options, step = i < before || key === 'End' ? -1 : 1;
        let at = i;
        while (bars[at] && !(bars[at].value > 0))
            at += step;
        if (!bars[at])
            at = Math.max(0, before);
        const {from, to, value} = bars[at];
        this.keys.at = at;
        this.anchor = shiftKey && this.anchor >= 0 ? this.anchor : at;
        this.finger.hidden = false;
        Object.assign(this.finger.style, {left: `${(this.x.place(from) - LEFT) * TEXT}px`, width: `${Math.max(2, this.x.place(to) - this.x.place(from)) * TEXT}px`});
        if (told)
            told(`${x.show(from)}: ${y.show(value)}`);
        if (shiftKey && brushed)
            this.brushBars(Math.min(this.anchor, at), Math.max(this.anchor, at));
    }

    brushBars(first, last) {
        this.setBrush([this.options.bars[first].from, this.options.bars[last].to]);
        this.options.brushed(...this.range);
    }

    press(i, {key}) {
        const {brushed, picked, cleared} = this.options, act = key === 'Enter' ? picked || brushed && (() => this.brushBars(i, i)) : key === 'Delete' ? cleared : null;
        if (act)
            act(i);
        return Boolean(act);
    }

    showBrush(from, to) {
        this.brush.hidden = to - from < 1;
        Object.assign(this.brush.style, {left: `${from * TEXT}px`, width: `${(to - from) * TEXT}px`});
    }

    pick(x, picked) {
        const i = this.options.bars.findIndex((bar) => x >= bar.from && x < bar.to);
        if (i >= 0)
            picked(i);
    }
}
