/* flame.js - flame graph, and the same as a table from the top down or from the bottom up.
 * SPDX-License-Identifier: MIT */
import {Graph, TreeTable, makeTree} from './graph.js';
import {THEMES, colorOf} from '../view/palette.js';
import {h} from '../view/dom.js';
import {newest} from './parts.js';
import * as format from '../view/format.js';

const MODES = [['tree', 'flame graph'], ['down', 'top-down table'], ['up', 'bottom-up table']];
const HEADS = {down: ['zone, and what it calls', 'total', 'self', 'count'], up: ['zone, and what it was called from', 'self', 'count']};

function stateOf({json, arrays}) {
    return arrays.loc.length ? [`${format.count(arrays.loc.length)} paths`, json.left_out ? 'those with the most time' : '', json.levels ? `${json.levels} levels of them` : '', json.exact ? '' : `${format.percent(json.share)} of the range looked at`].filter(Boolean).join(', ')
        : 'No zones begin in this range.';
}

class Flame {
    constructor(app) {
        Object.assign(this, {app, mode: 'tree'});
        const look = {name: (n) => this.row(n)?.name || '', color: (n) => this.color(n), weight: format.duration, pick: (n, e) => this.pick(n, e),
            cells: (n) => this.mode === 'up' ? [format.count(n.count)] : [format.duration(n.self), format.count(n.count)],
            tip: (n, root) => [['time', `${format.duration(n.total)}  (${format.percent(n.total / root.total)})`], ['self', format.duration(n.self)], ['count', format.count(n.count)]]};
        this.begin = newest();
        this.graph = new Graph(app, look);
        this.table = new TreeTable(app, look);
        this.state = h('span', {class: 'state'});
        this.choose = h('select', {'aria-label': 'kind of view', onchange: () => this.setMode(this.choose.value)}, MODES.map(([v, t]) => h('option', {value: v}, t)));
        this.out = h('button', {onclick: () => this.graph.zoomTo(this.graph.root)}, 'Whole graph');
        this.element = h('div', {class: 'withbar'}, h('div', {class: 'bar'}, this.choose, this.out, this.state), this.graph.element, this.table.element);
    }

    row(node) {
        return this.app.names.rows.get(node.key);
    }

    color(node) {
        const row = this.row(node);
        return row ? colorOf(row.name, row.color) : THEMES[this.app.theme].none;
    }

    /* In the graph with a key held: a click alone goes into it. */
    pick(node, e) {
        const is = e.type === 'dblclick' || e.ctrlKey || e.metaKey;
        if (is)
            this.app.findZone(node.key);
        return is;
    }

    setMode(mode) {
        this.mode = mode;
        this.graph.top = null;
        this.table.opened.clear();
        this.load();
    }

    async load() {
        const {app, mode} = this, isNewest = this.begin(), question = {ask: 'flame', ...app.range(), mode, limit: 5000};
        let answer;
        do { /* in steps: what is there is shown at once */
            answer = await app.engine.ask(question);
            await app.names.need(answer.arrays.loc);
            if (!isNewest())
                return;
            this.show(answer);
        } while (!answer.json.exact);
    }

    show(answer) {
        const {graph, table, mode} = this, root = makeTree({...answer.arrays, key: answer.arrays.loc}, answer.json.total);
        graph.element.hidden = this.out.hidden = mode !== 'tree';
        table.element.hidden = mode === 'tree';
        this.state.textContent = stateOf(answer);
        if (mode === 'tree')
            graph.show(root);
        else
            table.show(root, HEADS[mode]);
    }
}

export function makeFlame(app) {
    const flame = new Flame(app);
    return {id: 'flame', title: 'Flame graph', element: flame.element, update: () => flame.load(), boxes: () => flame.graph.boxes};
}
