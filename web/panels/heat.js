/* heat.js - the cores of a device as a map: how long the kernels of one op ran on each of them. A cell's colour is its time, or its
 * share of the op's; hovering tells the numbers, a click goes to the core's track.  SPDX-License-Identifier: MIT */
import {fill, h} from '../view/dom.js';
import {newest} from './parts.js';
import {rgbOf, textOn} from '../view/palette.js';
import * as format from '../view/format.js';

const ENDS = {light: ['#e3edf7', '#0b4f94'], dark: ['#20303f', '#8cc8ff']};
const KINDS = ['core', 'ethernet core', 'dispatch core', 'DRAM core'];

/** A colour between the ends of a theme's scale; `at` from 0 to 1. */
function shade(theme, at) {
    const [a, b] = ENDS[theme].map(rgbOf);
    return `#${a.map((c, i) => Math.round(c + (b[i] - c) * at).toString(16).padStart(2, '0')).join('')}`;
}

/** The processor of a lane: the last word of its name. */
function riscOf(app, track) {
    const row = app.trackOf(track);
    return row ? row.name.replace(/, after a reset$/, '').split(' ').pop() : '?';
}

/** Cores out of the columns of an answer: [{x, y, kind, lanes: [{risc, track, kernel, busy}]}] */
function coresOf(app, {arrays}) {
    const cores = new Map();
    for (let i = 0; i < arrays.track.length; i++) {
        const key = `${arrays.kind[i]} ${arrays.x[i]} ${arrays.y[i]}`, core = cores.get(key) || cores.set(key, {x: arrays.x[i], y: arrays.y[i], kind: arrays.kind[i], lanes: []}).get(key);
        core.lanes.push({risc: riscOf(app, arrays.track[i]), track: arrays.track[i], kernel: arrays.kernel[i], busy: arrays.busy[i]});
    }
    return [...cores.values()];
}

export class Heat {
    constructor(app) {
        this.app = app;
        this.begin = newest();
        this.op = null;
        this.cores = [];
        this.title = h('b', {class: 'heattitle'});
        this.risc = h('select', {'aria-label': 'processor', onchange: () => this.draw()});
        this.measure = h('select', {'aria-label': 'what colours mean', onchange: () => this.draw()}, h('option', {value: 'kernel'}, 'time'), h('option', {value: 'share'}, 'share'));
        this.map = h('div', {class: 'heatmap', role: 'grid', 'aria-label': 'cores'});
        this.scale = h('div', {class: 'heatscale'});
        this.note = h('p', {class: 'empty'}, 'Pick an op: its cores are shown here.');
        this.body = h('div', {class: 'heatbody', hidden: true}, h('div', {class: 'heatbar'}, this.title, h('span', {class: 'grow'}), this.risc, this.measure), this.map, this.scale);
        this.element = h('div', {class: 'heat'}, this.note, this.body);
    }

    clear() {
        this.op = null;
        this.body.hidden = true;
        this.note.hidden = false;
        fill(this.note, 'Pick an op: its cores are shown here.');
    }

    /** The cores of a row of ops. */
    async show(op) {
        const isNewest = this.begin(), answer = op.track ? await this.app.engine.ask({ask: 'cores', row: op.row}) : null;
        if (!isNewest())
            return;
        this.op = op;
        this.cores = answer ? coresOf(this.app, answer) : [];
        this.note.hidden = this.cores.length > 0;
        this.body.hidden = !this.cores.length;
        fill(this.note, op.of ? 'No kernel of this op is in the trace.' : 'This op ran on the host alone.');
        this.drawRiscs();
        this.draw();
    }

    drawRiscs() {
        const names = [...new Set(this.cores.flatMap((c) => c.lanes.map((l) => l.risc)))].sort(), chosen = this.risc.value;
        fill(this.risc, h('option', {value: ''}, 'longest'), names.map((n) => h('option', {value: n}, n)));
        this.risc.value = names.includes(chosen) ? chosen : '';
    }

    /* What a core's colour stands for: of the chosen processor, or of the one that was longest. */
    laneOf(core) {
        const lanes = this.risc.value ? core.lanes.filter((l) => l.risc === this.risc.value) : core.lanes;
        return lanes.reduce((best, l) => (!best || l.kernel > best.kernel ? l : best), null);
    }

    valueOf(lane) {
        const whole = Number.isNaN(this.op.kernel) ? this.op.t1 - this.op.t0 : this.op.kernel;
        return this.measure.value === 'share' ? Math.min(1, whole ? lane.kernel / whole : 0) : lane.kernel;
    }

    /* In a cell there is room for three digits: of percent, or in the unit of the longest. */
    short(value, most) {
        const size = [1e9, 1e6, 1e3].find((s) => most >= s) || 1;
        return this.measure.value === 'share' ? (100 * value).toFixed(0) : (value / size).toPrecision(3);
    }

    text(value) {
        return this.measure.value === 'share' ? `${(100 * value).toFixed(0)} %` : format.duration(value);
    }

    /* Rows and columns without a core in them are left out: chips have holes. */
    draw() {
        const xs = [...new Set(this.cores.map((c) => c.x))].sort((a, b) => a - b), ys = [...new Set(this.cores.map((c) => c.y))].sort((a, b) => a - b);
        const values = this.cores.map((c) => this.laneOf(c)).filter(Boolean).map((l) => this.valueOf(l)), isShare = this.measure.value === 'share';
        const least = isShare ? 0 : Math.min(...values), most = isShare ? 1 : Math.max(...values), {theme} = this.app;
        this.title.textContent = this.title.title = this.op ? this.op.name : '';
        this.map.style.gridTemplateColumns = `2rem repeat(${xs.length}, minmax(14px, 3.6rem))`;
        const cells = [h('span', {class: 'axis'}), ...xs.map((x) => h('span', {class: 'axis'}, String(x)))];
        for (const y of ys) {
            cells.push(h('span', {class: 'axis'}, String(y)));
            for (const x of xs) {
                const core = this.cores.find((c) => c.x === x && c.y === y), lane = core && this.laneOf(core);
                cells.push(lane ? this.cell(core, lane, shade(theme, most > least ? (this.valueOf(lane) - least) / (most - least) : 1), xs.length > 14 ? '' : this.short(this.valueOf(lane), most)) : h('span', {class: 'cell none'}));
            }
        }
        fill(this.map, cells);
        const bar = h('span', {class: 'gradient'});
        bar.style.background = `linear-gradient(to right, ${shade(theme, most > least ? 0 : 1)}, ${shade(theme, 1)})`;
        fill(this.scale, values.length ? [this.text(least), bar, this.text(most), h('span', {class: 'grow'}), h('small', {}, `${format.several(this.cores.length, 'core')}, ${isShare ? 'kernel time over that of the op' : 'time in kernels'}`)] : []);
    }

    cell(core, lane, color, words) {
        const value = this.valueOf(lane), name = `${KINDS[core.kind] || 'core'} ${core.x},${core.y}`;
        const button = h('button', {class: 'cell', 'data-core': `${core.x},${core.y}`, 'aria-label': `${name}: ${this.text(value)}`, onclick: () => this.goTo(lane),
            onmouseenter: (event) => this.tell(event, core, name), onmouseleave: () => this.app.tips.hide(), onfocus: (event) => this.tell(event, core, name), onblur: () => this.app.tips.hide()},
        words);
        button.style.background = color;
        button.style.color = textOn(color);
        return button;
    }

    tell(event, core, name) {
        const box = event.currentTarget.getBoundingClientRect(), whole = this.op.kernel;
        this.app.tips.show(box.right - 8, box.bottom - 12, name, [...core.lanes.map((l) => [l.risc, `${format.duration(l.kernel)}${whole > 0 ? ` · ${format.percent(Math.min(1, l.kernel / whole))}` : ''}`]), ['', 'click: its track']]);
    }

    goTo(lane) {
        this.app.tips.hide();
        return this.app.goInto(lane.track, 0, {from: this.op.t0, to: this.op.t1});
    }
}
