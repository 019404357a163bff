/* samples.js - the panel of stack samples: functions, flame graph, tables from the top down and from the bottom up; of the view, the area, a
 * process, a thread, the zones of a name or one zone. The figures are those of `strobe stats --stacks`.  SPDX-License-Identifier: MIT */
import {Graph, TreeTable, makeTree} from './graph.js';
import {filterField, newest, setOptions} from './parts.js';
import {colorOf} from '../view/palette.js';
import {instructionRows, instructionsOf} from './instructions.js';
import {fill, h} from '../view/dom.js';
import {keysOfElements} from '../view/rowkeys.js';
import * as format from '../view/format.js';

const MODES = [['functions', 'functions'], ['tree', 'flame graph'], ['down', 'top-down table'], ['up', 'bottom-up table'], ['waits', 'flame graph of waits'], ['waits-functions', 'functions that waited']];
const MOST_ROWS = 400, AROUND = 6;

class Samples {
    constructor(app) {
        Object.assign(this, {app, mode: 'functions', inside: null, picked: '', sort: 'self', isCode: false});
        const look = {name: (n) => this.name(n.key), color: (n) => colorOf(this.name(n.key)), weight: (n) => this.weight(n), cells: (n) => [this.weight(n.self)], pick: (n) => void this.pick(this.name(n.key)),
            tip: (n, root) => [[this.isOff ? 'waited' : 'samples', `${this.weight(n.total)}  (${format.percent(n.total / root.total)})`], ['self', this.weight(n.self)], ['time', this.isOff ? '' : this.time(n.total)], ['source', this.source(n.key)]]};
        this.begin = newest();
        this.graph = new Graph(app, look);
        this.tree = new TreeTable(app, look);
        this.table = h('div', {class: 'table functions', role: 'group', 'aria-label': 'functions: arrow keys go from row to row, Enter shows the lines of one'});
        keysOfElements(this.table, '.frow', (line, {key}) => key === 'Enter' && !line.click());
        this.lines = h('div', {class: 'right hotlines', hidden: true});
        this.state = h('span', {class: 'state'});
        this.filter = filterField('Filter by function', () => this.showFunctions());
        this.choose = h('select', {'aria-label': 'kind of view', onchange: () => this.setMode(this.choose.value)}, MODES.map(([v, t]) => h('option', {value: v}, t)));
        this.where = h('select', {'aria-label': 'threads', onchange: () => this.load()});
        this.zone = h('button', {class: 'chip', hidden: true, title: 'all samples again', onclick: () => this.setInside(null)});
        this.element = h('div', {class: 'withbar'}, h('div', {class: 'bar narrow'}, this.choose, this.where, this.filter, this.zone, this.state), h('div', {class: 'split'}, h('div', {class: 'left samplesleft'}, this.table, this.graph.element, this.tree.element), this.lines));
    }

    /* Waits instead of samples. */
    get isOff() {
        return this.mode.startsWith('waits');
    }

    /* Samples, or ns of waiting. */
    weight(n) {
        return this.isOff ? format.duration(n) : format.count(n);
    }

    name(key) {
        return key ? this.functions[key - 1][0] : '…';
    }

    source(key) {
        const [, file, image] = key ? this.functions[key - 1] : ['', '', ''], line = key ? this.answer.arrays.line[key - 1] : 0;
        return file ? `${file}${line ? `:${line}` : ''}` : image;
    }

    /* About how long so many samples are. */
    time(n) {
        const {hz} = this.answer.json;
        return hz ? `about ${format.duration(n / hz * 1e9)}` : '';
    }

    setMode(mode) {
        this.mode = mode;
        this.choose.value = mode;
        this.graph.top = null;
        return this.load();
    }

    /** {loc, words}: inside of all zones of a location; {from, to, tracks, words}: of one stretch; null: all. */
    setInside(inside) {
        this.inside = inside;
        this.zone.hidden = !inside;
        this.zone.textContent = inside ? `in ${inside.words} ✕` : '';
        return this.load();
    }

    /* The threads to choose from: those with samples, by process. */
    fillWhere() {
        const {tracks} = this.app.trace, sampled = tracks.filter((t) => t.marks & 2), ids = new Set(sampled.map((t) => t.parent));
        const rows = tracks.filter((t) => ids.has(t.id) || t.marks & 2).map((t) => [String(t.id), t.kind === 'process' ? `${t.name} (${t.pid})` : `\u2003${t.name}${t.tid ? ` (${t.tid})` : ''}`]);
        setOptions(this.where, [['', 'all threads'], ...rows]);
    }

    question() {
        const {inside} = this, range = this.app.range(), q = {ask: 'samples', ...range, mode: this.mode === 'up' ? 'up' : 'tree', of: this.isOff ? 'waits' : undefined, limit: 5000};
        if (inside && inside.loc)
            q.loc = inside.loc;
        else if (inside)
            Object.assign(q, {from: inside.from, to: inside.to, tracks: inside.tracks});
        if (this.where.value)
            q.tracks = [Number(this.where.value)];
        return q;
    }

    async load() {
        const isNewest = this.begin();
        this.fillWhere();
        let answer;
        do { /* in steps: what is there is shown at once */
            answer = await this.app.engine.ask({...this.question(), function: this.picked || undefined, code: this.picked && this.isCode ? 1 : undefined});
            if (!isNewest())
                return;
            this.show(answer);
        } while (!answer.json.exact);
    }

    show(answer) {
        const {mode} = this, {json, arrays} = answer;
        this.answer = answer;
        this.functions = json.functions;
        const isTable = mode === 'functions' || mode === 'waits-functions', isGraph = mode === 'tree' || mode === 'waits';
        this.table.hidden = this.filter.hidden = !isTable;
        this.graph.element.hidden = !isGraph;
        this.tree.element.hidden = mode !== 'down' && mode !== 'up';
        this.state.textContent = this.stateText();
        const root = makeTree({parent: arrays.parent, key: arrays.function, total: arrays.total, self: arrays.self}, json.weight);
        if (isTable)
            this.showFunctions();
        else if (isGraph)
            this.graph.show(root);
        else
            this.tree.show(root, mode === 'up' ? ['function, and what it was called from', 'samples', 'of it alone'] : ['function, and what it calls', 'samples', 'self']);
        this.showLines();
    }

    stateText() {
        const {json} = this.answer;
        if (!json.n_samples)
            return !json.exact ? 'looking …' : this.isOff ? 'No thread waited here, as far as switches tell.' : 'No sample was taken here.';
        return [this.isOff ? `${format.several(json.n_samples, 'wait')}, ${format.duration(json.weight)} in all, by the last stack before` : `${format.several(json.n_samples, 'sample')}, ${this.time(json.n_samples)} of CPU time`, json.left_out ? 'only the paths with the most' : '', json.is_cut ? 'in the first 2^20 zones' : '',
            json.exact ? '' : `${format.percent(json.share)} of the range looked at`].filter(Boolean).join(', ');
    }

    /* --- functions ------------------------------------------------------------------------ */

    setSort(sort) {
        this.sort = sort;
        this.showFunctions();
    }

    showFunctions() {
        if (!this.answer)
            return;
        const {json, arrays} = this.answer, words = this.filter.value.toLowerCase(), weights = this.sort === 'self' ? arrays.in_self : arrays.in_total, head = (id, text) => h('button', {class: 'number', 'data-key': id, onclick: () => this.setSort(id)}, this.sort === id ? `${text} ▾` : text);
        const order = json.functions.map((f, i) => i).filter((i) => json.functions[i][0].toLowerCase().includes(words)).sort((a, b) => weights[b] - weights[a] || arrays.in_total[b] - arrays.in_total[a] || a - b);
        const number = (n) => [h('span', {class: 'number'}, this.weight(n)), h('span', {class: 'number'}, json.weight ? format.percent(n / json.weight) : '')];
        fill(this.table, h('div', {class: 'thead fgrid'}, head('self', 'self'), h('span', {}), head('total', 'total'), h('span', {}), h('button', {}, 'function'), h('button', {}, 'source')),
            order.slice(0, MOST_ROWS).map((i) => h('div', {class: json.functions[i][0] === this.picked ? 'frow fgrid picked' : 'frow fgrid', onclick: () => this.pick(json.functions[i][0])}, number(arrays.in_self[i]), number(arrays.in_total[i]),
                h('span', {title: json.functions[i][0]}, json.functions[i][0]), h('span', {class: 'dim', title: json.functions[i][2]}, this.source(i + 1)))),
            order.length > MOST_ROWS ? h('p', {class: 'nothing'}, `${format.count(order.length - MOST_ROWS)} more`) : null);
    }

    /** A function was chosen: its lines, with the samples on each. */
    async pick(name, isKept = false) {
        this.picked = this.picked === name && !isKept ? '' : name;
        await this.load();
    }

    /* --- hot lines ------------------------------------------------------------------------ */

    showLines() {
        const {json, arrays} = this.answer;
        this.lines.hidden = !this.picked;
        if (!this.picked)
            return undefined;
        const counts = new Map([...arrays.at_line].map((line, i) => [line, {self: arrays.line_self[i], total: arrays.line_total[i]}])), most = Math.max(1, ...[...counts.values()].map((c) => c.total));
        const i = json.functions.findIndex((f) => f[0] === this.picked), sum = i < 0 ? '' : `${this.weight(arrays.in_self[i])} in it alone, ${this.weight(arrays.in_total[i])} with what it calls`;
        const choose = (isCode, words) => h('button', {class: this.isCode === isCode ? 'small on' : 'small', 'aria-pressed': String(this.isCode === isCode), onclick: () => this.setCode(isCode)}, words), rows = h('pre', {class: 'source hot'});
        fill(this.lines, h('div', {class: 'bar'}, h('b', {}, this.picked), h('small', {}, sum), h('span', {class: 'grow'}), choose(false, 'source'), choose(true, 'instructions'), h('button', {class: 'small', title: 'close', onclick: () => this.pick(this.picked)}, '✕')),
            this.isCode ? null : [h('small', {class: 'nothing'}, json.file || ''), json.text ? null : h('p', {class: 'nothing'}, json.why || '')], rows);
        if (this.isCode)
            return this.showCode(rows);
        fill(rows, this.sourceRows(json.text, counts, most));
        return this.showHottest(rows);
    }

    showHottest(rows) {
        const here = rows.querySelector('.here');
        if (here)
            here.scrollIntoView({block: 'center'});
    }

    setCode(isCode) {
        this.isCode = isCode;
        return this.load();
    }

    /* Instructions instead of lines. */
    async showCode(rows) {
        const {json, arrays} = this.answer, {code} = json, why = (words) => rows.before(h('p', {class: 'nothing'}, words));
        if (!code)
            return json.exact ? why('Where this function begins is not known.') : undefined;
        if (code.function !== this.picked)
            why(`It is inlined: this is the code of ${code.function}, which has the most of it.`);
        rows.before(h('small', {class: 'nothing'}, code.image));
        if (!arrays.code_bytes.length)
            return why('The trace has no machine code of it: a recording keeps that of functions with at least three samples and a 500th of all.');
        try {
            const all = await instructionsOf(json, arrays);
            if (this.answer.json !== json)
                return undefined;
            fill(rows, instructionRows(json, all, (n) => this.weight(n)));
            return this.showHottest(rows);
        } catch (error) {
            return why(error.message);
        }
    }

    /* The lines around those with samples; without the file, those with samples alone. */
    sourceRows(text, counts, most) {
        const hot = [...counts.keys()].sort((a, b) => a - b), lines = text ? text.split('\n') : null, hottest = hot.reduce((best, l) => counts.get(l).total > (counts.get(best) || {total: -1}).total ? l : best, 0);
        const wanted = lines ? lines.map((_, i) => i + 1).filter((l) => hot.some((x) => Math.abs(x - l) <= AROUND)) : hot;
        return wanted.map((line, i) => {
            const c = counts.get(line), row = h('div', {class: line === hottest ? 'here' : '', 'data-line': String(line)}, h('span', {class: 'count'}, c ? this.weight(c.total) : ''), h('span', {class: 'lineno'}, String(line)), lines ? ` ${lines[line - 1] ?? ''}` : c ? ` ${this.weight(c.self)} in it alone` : '');
            if (c)
                row.style.setProperty('--heat', String(Math.round(100 * c.total / most)));
            return i && wanted[i - 1] !== line - 1 ? [h('div', {class: 'gap'}, '⋯'), row] : row;
        });
    }
}

/** What other panels call: samplesIn({loc | from, to, tracks; words}), showFunction(name). */
export const sampling = {
    samplesIn(inside) {
        this.drawer.panel('samples').setInside(inside);
        this.drawer.show('samples');
    },
    showFunction(name) {
        this.drawer.panel('samples').pick(name, true);
        this.drawer.show('samples');
    },
};

export function makeSamples(app) {
    const panel = new Samples(app);
    return {id: 'samples', title: 'Samples', element: panel.element, update: () => panel.load(), isOf: (trace) => trace.tracks.some((t) => t.marks & 2), setInside: (inside) => panel.setInside(inside), pick: (name, isKept) => panel.pick(name, isKept), boxes: () => panel.graph.boxes};
}
