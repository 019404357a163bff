/* memory.js - the panel of memory: use over time, places that allocate, blocks that live, a flame graph by bytes. The figures are those of
 * `strobe memory`.  SPDX-License-Identifier: MIT */
import {Graph} from './graph.js';
import {Chart} from '../view/chart.js';
import {Table} from '../view/table.js';
import {THEMES, colorOf} from '../view/palette.js';
import {copyTable} from '../view/share.js';
import {copyText, fill, h} from '../view/dom.js';
import {figure, newest} from './parts.js';
import * as format from '../view/format.js';

const BY = [['stack', 'by stack'], ['function', 'by function'], ['zone', 'by zone'], ['pool', 'by pool']];
const SIDES = [['flame', 'flame graph'], ['blocks', 'live blocks'], ['pools', 'pools']];
const ORDER_OF = {live_bytes: 'live', peak_bytes: 'peak', bytes: 'bytes', allocs: 'allocs', temporary: 'temporary', growth: 'growth'};
const KEYS = ['allocs', 'frees', 'bytes', 'temporary', 'peak_bytes', 'live', 'live_bytes', 'before_bytes'];
const BUCKETS = 256, BLOCKS = 500, ROWS = 5000;
const quote = (text) => `'${text.replace(/'/g, '\'\\\'\'')}'`, signed = (n) => (n < 0 ? `−${format.bytes(-n)}` : format.bytes(n));

/** A stack as one reads it: from inside. */
export const inward = (stack) => stack.split(';').reverse().join(' ← ');

/* Rows of stacks as a tree of a flame graph. */
function treeOf(rows, weight) {
    const root = {key: '', total: 0, children: [], parent: null}, below = new Map([[root, new Map()]]);
    for (const row of rows.filter((r) => weight(r) > 0)) {
        root.total += weight(row);
        let at = root;
        for (const key of row.name.split(';')) {
            const known = below.get(at);
            if (!known.has(key)) {
                const node = {key, total: 0, children: [], parent: at};
                known.set(key, node);
                below.set(node, new Map());
                at.children.push(node);
            }
            at = known.get(key);
            at.total += weight(row);
        }
    }
    for (const node of below.keys())
        node.children.sort((x, y) => y.total - x.total);
    return root;
}

/* A flame graph by bytes. */
function makeFlame(app) {
    const graph = new Graph(app, {name: (n) => n.key, color: (n) => colorOf(n.key, 0), weight: format.bytes, cells: () => [], pick: () => false,
        tip: (n, root) => [['bytes', `${format.bytes(n.total)}  (${format.percent(n.total / root.total)})`]]});
    graph.canvas.classList.add('byteflame');
    return graph;
}

class Memory {
    constructor(app) {
        Object.assign(this, {app, begin: newest(), at: null, chart: null, side: 'flame'});
        const options = (list) => list.map(([value, text]) => h('option', {value}, text));
        this.by = h('select', {'aria-label': 'rows', onchange: () => this.load()}, options(BY));
        this.pickSide = h('select', {'aria-label': 'beside the table', onchange: () => this.showSide(this.pickSide.value)}, options(SIDES));
        this.state = h('span', {class: 'state'});
        this.atNote = h('button', {hidden: true, title: 'what lives at the end again', onclick: () => this.setAt(null)});
        this.figures = h('div', {class: 'bar figures'});
        this.table = this.makeTable();
        this.blocks = this.makeBlocks();
        this.pools = this.makePools();
        this.flame = makeFlame(app);
        this.use = h('div', {class: 'chart memoryuse'});
        this.place = h('div', {class: 'right'}, this.use, this.flame.element);
        this.element = h('div', {class: 'withbar memory'}, h('div', {class: 'bar narrow'}, this.by, this.pickSide, this.atNote, this.state, h('span', {class: 'grow'}),
            h('button', {onclick: () => copyTable(app, this.table)}, 'Copy table'), h('button', {onclick: () => this.copyCommand()}, 'Copy as command')), this.figures,
        h('div', {class: 'split'}, h('div', {class: 'left'}, this.table.element), this.place));
    }

    makeTable() {
        const bytes = (key, title) => ({key, title, number: true, width: '84px', show: (r) => signed(r[key]), copy: (r) => String(r[key])});
        const number = (key, title) => ({key, title, number: true, width: '76px', show: (r) => format.count(r[key]), copy: (r) => String(r[key]), sort: key in ORDER_OF});
        return new Table([
            {key: 'name', title: 'where', width: 'minmax(220px, 3fr)', sort: false, show: (r) => h('span', {title: r.name.replaceAll(';', '\n')}, inward(r.name)), copy: (r) => r.name},
            bytes('live_bytes', 'live'), number('live', 'blocks'), bytes('peak_bytes', 'at peak'), bytes('growth', 'growth'), number('allocs', 'allocs'), bytes('bytes', 'bytes'), {...number('temporary', 'temporary'), width: '92px'},
        ], {sort: () => this.load(), copied: (t) => this.app.say(t)}, 'live_bytes');
    }

    makeBlocks() {
        return new Table([
            {key: 'address', title: 'address', width: '132px', sort: false, show: (b) => b.address},
            {key: 'size', title: 'size', number: true, width: '80px', sort: false, show: (b) => format.bytes(b.size), copy: (b) => String(b.size)},
            {key: 't', title: 'since', number: true, width: '92px', sort: false, show: (b) => format.duration(b.t), copy: (b) => String(b.t)},
            {key: 'stack', title: 'from', width: 'minmax(140px, 2fr)', sort: false, show: (b) => h('span', {title: b.stack.replaceAll(';', '\n')}, inward(b.stack)), copy: (b) => b.stack},
        ], {pick: (b) => this.app.goToTime(b.t, b.track), copied: (t) => this.app.say(t)});
    }

    makePools() {
        const bytes = (key, title) => ({key, title, number: true, width: '84px', sort: false, show: (p) => format.bytes(p[key]), copy: (p) => String(p[key])});
        return new Table([
            {key: 'name', title: 'pool', width: 'minmax(90px, 1fr)', sort: false, show: (p) => h('span', {title: `process ${p.pid}`}, p.name), copy: (p) => p.name},
            bytes('live_bytes', 'live'), bytes('peak_bytes', 'peak'), {key: 'peak_at', title: 'peak at', number: true, width: '92px', sort: false, show: (p) => format.duration(p.peak_at), copy: (p) => String(p.peak_at)},
            bytes('bytes', 'bytes'), {key: 'allocs', title: 'allocs', number: true, width: '76px', sort: false, show: (p) => format.count(p.allocs), copy: (p) => String(p.allocs)},
        ], {pick: (p) => this.app.goToTime(p.peak_at), copied: (t) => this.app.say(t)});
    }

    showSide(side) {
        this.side = this.pickSide.value = side;
        fill(this.place, this.use, {flame: this.flame, blocks: this.blocks, pools: this.pools}[side].element);
        this.flame.draw();
    }

    /** What lives at a time; null: at the end of the range. */
    setAt(t) {
        this.at = t;
        this.load();
    }

    range() {
        const {from, to} = this.app.range();
        return this.at === null ? {from, to} : {from, to: this.at};
    }

    question() {
        const {key, reversed} = this.table.order;
        return {ask: 'memory', ...this.range(), by: this.by.value, order: ORDER_OF[key], limit: ROWS, blocks: BLOCKS, buckets: BUCKETS, reversed};
    }

    async copyCommand() {
        const q = this.question(), range = q.from !== undefined || q.to !== undefined ? ` --range ${q.from === undefined ? '' : format.commandTime(q.from)}..${q.to === undefined ? '' : format.commandTime(q.to)}` : '';
        const words = `strobe memory --by ${q.by} --sort ${q.order}${range} ${quote(this.app.trace.name)}`;
        await copyText(words);
        this.app.say(`copied: ${words}`);
    }

    async load() {
        const isNewest = this.begin(), q = this.question(), {app} = this;
        this.state.textContent = 'adding up …';
        const {json, arrays} = await app.engine.ask(q), whole = this.at === null ? {json, arrays} : await app.engine.ask({...q, ...app.range(), limit: 1, blocks: 0});
        if (!isNewest())
            return;
        const rows = json.names.map((name, i) => Object.assign({name, growth: arrays.live_bytes[i] - arrays.before_bytes[i]}, Object.fromEntries(KEYS.map((k) => [k, arrays[k][i]]))));
        this.table.set(q.reversed ? rows.toReversed() : rows);
        this.blocks.set(json.blocks);
        this.pools.set(json.pools);
        this.flame.show(treeOf(q.by === 'stack' ? rows : rows.map((r) => ({...r, name: r.name.replaceAll(';', ':')})), (r) => r[this.table.order.key] || 0));
        this.tell(json, rows.length);
        this.drawUse(whole.json, whole.arrays);
    }

    tell(json, n) {
        const {app} = this;
        this.atNote.hidden = this.at === null;
        this.atNote.textContent = this.at === null ? '' : `live at ${format.time(this.at, app.timeMode, app.trace, 1, true)} ✕`;
        this.state.textContent = !json.allocs && !json.live ? 'No allocations were recorded in this range.' : `${format.several(json.n_rows, 'place')}${n < json.n_rows ? `, the first ${format.count(n)}` : ''}${json.sampled ? ', estimated from samples' : ''}`;
        fill(this.figures, figure('allocations', format.count(json.allocs)), figure('bytes', format.bytes(json.bytes)), figure('temporary', format.count(json.temporary)), figure('peak', format.bytes(json.peak_bytes)),
            figure(this.at === null && !this.range().to ? 'never freed' : 'live', `${format.bytes(json.live_bytes)} in ${format.several(json.live, 'block')}`), json.unknown_frees ? figure('freed, but made before', format.count(json.unknown_frees)) : null);
    }

    drawUse(json, {t, most}) {
        const {app} = this, theme = THEMES[app.theme], n = t.length;
        if (this.chart)
            this.chart.destroy();
        this.chart = null;
        if (!n)
            return;
        const top = most.reduce((a, b) => Math.max(a, b), 1);
        this.chart = new Chart(this.use, {
            name: 'memory over time', told: (words) => app.announce(words),
            theme, bars: Array.from(most, (value, i) => ({from: t[i], to: t[i] + json.bucket_ns, value})),
            x: {min: t[0], max: t[n - 1] + json.bucket_ns, show: format.duration}, y: {min: 0, max: top * 1.25, show: format.bytes},
            uprights: [{at: json.peak_at, text: 'peak', color: theme.hit}, ...(this.at === null ? [] : [{at: this.at, text: 'here', color: theme.accent}])],
            picked: (i) => this.setAt(Math.round(t[i] + json.bucket_ns)), brushed: (from, to) => app.setArea(Math.floor(from), Math.ceil(to), null),
        });
    }
}

export function makeMemory(app) {
    const memory = new Memory(app);
    return {id: 'memory', title: 'Memory', element: memory.element, update: () => memory.load(), memory, table: memory.table, isOf: ({totals}) => totals.allocs === undefined || totals.allocs > 0};
}
