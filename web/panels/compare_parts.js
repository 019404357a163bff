/* compare_parts.js - two runs drawn over each other: the histogram of a zone, and the flame graph of both in one.  SPDX-License-Identifier: MIT */
import {layCanvas, roomOf} from '../view/scale.js';
import {THEMES} from '../view/palette.js';
import {FONT} from '../view/text.js';
import {fill, h} from '../view/dom.js';
import {locOf} from '../view/beside.js';
import {Graph} from './graph.js';
import {figure} from './parts.js';
import * as format from '../view/format.js';

const BINS = 80, LEFT = 14, BOTTOM = 24;

/* Shares of the zones in bars of a logarithmic axis that both have. */
function binsOf({arrays, json}, from, to) {
    const {low, high, n} = arrays, a = Math.log(from), b = Math.log(to), bins = new Float64Array(BINS), placeOf = (v) => (Math.log(Math.max(1, v)) - a) / (b - a) * BINS;
    for (let i = 0; i < n.length; i++) {
        const x0 = Math.min(BINS - 1e-6, Math.max(0, placeOf(low[i]))), x1 = Math.max(x0 + 1e-6, Math.min(BINS, placeOf(high[i])));
        for (let bin = Math.floor(x0); bin < x1; bin++)
            bins[bin] += n[i] / json.count * (Math.min(bin + 1, x1) - Math.max(bin, x0)) / (x1 - x0);
    }
    return bins;
}

/** The histograms of a zone in two traces, as shares of their zones. */
export class TwoHistograms {
    constructor(app) {
        Object.assign(this, {app, both: null});
        this.figures = h('div', {class: 'figures bar'});
        this.canvas = h('canvas', {role: 'img', 'aria-label': 'histograms of both'});
        this.holder = h('div', {class: 'chart'}, this.canvas);
        this.element = h('div', {class: 'withbar'}, this.figures, this.holder);
        new ResizeObserver(() => this.draw()).observe(this.holder);
    }

    /** Of the zone of a name, in the traces of two engines. */
    async load(name, engines) {
        this.both = await Promise.all(engines.map(async (engine) => {
            const loc = await locOf(engine, name);
            return loc ? engine.ask({ask: 'histogram', loc}) : null;
        }));
        const [a, b] = this.both.map((x) => x && x.json.count && x.json), two = (key, label, show) => figure(label, `${a ? show(a[key]) : '–'} → ${b ? show(b[key]) : '–'}${a && b && a[key] ? `  (${signed(b[key] / a[key] - 1)})` : ''}`);
        fill(this.figures, h('b', {}, name), two('count', 'count', format.count), two('mean', 'mean', format.duration), two('p50', 'median ~', format.duration), two('p99', '99 % ~', format.duration), two('max', 'max', format.duration), two('total', 'total', format.duration));
        this.draw();
    }

    draw() {
        const {canvas, holder, both} = this, {width, height} = roomOf(holder), ctx = layCanvas(canvas, width, height), theme = THEMES[this.app.theme];
        const there = both ? both.filter((x) => x && x.json.count) : [];
        this.bins = [];
        if (!there.length || !width)
            return;
        const from = Math.max(1, 0.95 * Math.min(...there.map((x) => x.json.min))), to = Math.max(from + 1, 1.05 * Math.max(...there.map((x) => x.json.max)));
        this.bins = both.map((x) => (x && x.json.count ? binsOf(x, from, to) : new Float64Array(BINS)));
        const most = Math.max(...this.bins.flatMap((b) => [...b])), wide = (width - 2 * LEFT) / BINS, tall = height - BOTTOM - 8;
        [theme.plot, theme.loss].forEach((color, k) => {
            ctx.fillStyle = color;
            ctx.globalAlpha = 0.5;
            this.bins[k].forEach((share, i) => ctx.fillRect(LEFT + i * wide, 8 + tall * (1 - share / most), Math.max(1, wide - 0.5), tall * share / most));
            ctx.globalAlpha = 1;
        });
        Object.assign(ctx, {font: FONT, textBaseline: 'middle', fillStyle: theme.dim});
        [0, 0.25, 0.5, 0.75, 1].forEach((x) => {
            ctx.textAlign = x === 0 ? 'left' : x === 1 ? 'right' : 'center';
            ctx.fillText(format.duration(from * (to / from) ** x), LEFT + x * (width - 2 * LEFT), height - BOTTOM / 2);
        });
    }
}

/** A share with its sign: "+4.2 %". */
export function signed(share) {
    const text = Math.abs(100 * share).toFixed(1);
    return `${Number(text) === 0 ? '' : share > 0 ? '+' : '−'}${text} %`;
}

/* Paths of one answer by the names on them: a tree {name, total: [a, b], self, count, children}. */
async function addPaths(root, k, engine) {
    let answer;
    do
        answer = await engine.ask({ask: 'flame', mode: 'tree', limit: 5000});
    while (!answer.json.exact);
    const {arrays} = answer, {json} = await engine.ask({ask: 'names', locs: [...new Set(arrays.loc)].slice(0, 4096)}), names = new Map(json.locs.map((l) => [l.id, l.name])), nodes = [];
    for (let i = 0; i < arrays.loc.length; i++) {
        const above = arrays.parent[i] ? nodes[arrays.parent[i] - 1] : root, name = names.get(arrays.loc[i]) || '…';
        if (!above.byName.has(name))
            above.byName.set(name, {key: name, ab: [0, 0], selfs: [0, 0], counts: [0, 0], byName: new Map(), parent: above});
        const node = above.byName.get(name);
        node.ab[k] += arrays.total[i];
        node.selfs[k] += arrays.self[i];
        node.counts[k] += arrays.count[i];
        nodes.push(node);
    }
    root.ab[k] = answer.json.total;
}

/* As a flame graph has it: as wide as the longer of both. */
function finish(node) {
    const children = [...node.byName.values()].map(finish).sort((a, b) => b.total - a.total);
    node.children = children;
    node.total = Math.max(...node.ab, children.reduce((sum, child) => sum + child.total, 0));
    node.self = Math.max(...node.selfs);
    node.count = Math.max(...node.counts);
    return node;
}

/** The tree of both: {ab: ns in A and in B, …}. */
export async function treeOfBoth(engines) {
    const root = {key: '', ab: [0, 0], selfs: [0, 0], counts: [0, 0], byName: new Map(), parent: null};
    for (let k = 0; k < 2; k++)
        await addPaths(root, k, engines[k]);
    return finish(root);
}

/* From blue, faster, over grey to red, slower; full at a doubling or a half. */
function colorOfChange([a, b]) {
    const x = Math.max(-1, Math.min(1, Math.log2(Math.max(b, 1) / Math.max(a, 1)))), mix = (from, to) => Math.round(from + (to - from) * Math.abs(x)), [r, g, bl] = x > 0 ? [214, 64, 50] : [48, 110, 210];
    return `#${[mix(206, r), mix(210, g), mix(214, bl)].map((v) => v.toString(16).padStart(2, '0')).join('')}`;
}

/** A flame graph of two runs: red became longer, blue shorter. */
export function makeDifferential(app, pick) {
    const change = (n) => (n.ab[0] && n.ab[1] ? signed(n.ab[1] / n.ab[0] - 1) : n.ab[1] ? 'new' : 'gone');
    return new Graph(app, {name: (n) => n.key, color: (n) => colorOfChange(n.ab), weight: format.duration, cells: () => [], pick: (n, e) => {
        const is = e.ctrlKey || e.metaKey;
        if (is)
            pick(n.key);
        return is;
    }, tip: (n) => [['before', format.duration(n.ab[0])], ['after', format.duration(n.ab[1])], ['change', change(n)], ['count', `${format.count(n.counts[0])} → ${format.count(n.counts[1])}`]]});
}
