/* flame.js - flame graph, and the same as a table from the top down or from the bottom up.
 * SPDX-License-Identifier: MIT */
import {colorOf, textOn, THEMES} from '../view/palette.js';
import {FONT, cutText} from '../view/text.js';
import {fill, h} from '../view/dom.js';
import {newest, swatch} from './parts.js';
import * as format from '../view/format.js';

const ROW = 20, MIN = 1.5;

/* A parent has at least the time of its children, even if it did not end; the whole has that of paths which are left out, too. */
function makeTree({parent, loc, count, total, self}, all) {
    const nodes = [...loc].map((l, i) => ({loc: l, count: count[i], total: total[i], self: self[i], children: [], parent: null}));
    const root = {loc: 0, count: 0, total: 0, self: 0, children: [], parent: null};
    nodes.forEach((n, i) => {
        n.parent = parent[i] ? nodes[parent[i] - 1] : root;
        n.parent.children.push(n);
    });
    for (const n of nodes.toReversed()) /* children come after their parents */
        n.total = Math.max(n.total, n.children.reduce((s, child) => s + child.total, 0));
    root.total = all;
    for (const n of [root, ...nodes])
        n.children.sort((a, b) => b.total - a.total);
    return root;
}

/* The node that is in this tree where another one was in its own; the root where there is none. */
function sameNode(root, other) {
    const path = [];
    for (let n = other; n && n.parent; n = n.parent)
        path.unshift(n.loc);
    return path.reduce((node, loc) => node && node.children.find((n) => n.loc === loc), root) || root;
}

const MODES = [['tree', 'flame graph'], ['down', 'top-down table'], ['up', 'bottom-up table']];

/* What the table says above its columns. */
function makeHead(mode) {
    return h('div', {class: 'treerow treehead'}, h('span', {}, mode === 'up' ? 'zone, and what it was called from' : 'zone, and what it calls'), h('span', {class: 'number'}, mode === 'up' ? 'self' : 'total'),
        h('span', {class: 'number'}, '%'), h('span', {class: 'number'}, mode === 'up' ? '' : 'self'), h('span', {class: 'number'}, 'count'));
}

function stateOf({json, arrays}) {
    return arrays.loc.length ? [`${format.count(arrays.loc.length)} paths`, json.left_out ? 'those with the most time' : '', json.levels ? `${json.levels} levels of them` : '', json.exact ? '' : `${format.percent(json.share)} of the range looked at`].filter(Boolean).join(', ')
        : 'No zones begin in this range.';
}

/* The boxes of a node and of those below it that are wide enough, in order of drawing. */
function place(boxes, node, x, w, depth) {
    boxes.push({node, x, w, y: depth * ROW});
    let at = x;
    for (const child of node.children) {
        const cw = node.total ? w * child.total / node.total : 0;
        if (cw >= MIN && boxes.length < 4000)
            place(boxes, child, at, cw, depth + 1);
        at += cw;
    }
}

class Flame {
    constructor(app) {
        Object.assign(this, {app, root: null, top: null, mode: 'tree', boxes: [], over: null});
        this.opened = new Set(); /* paths in the table */
        this.begin = newest();
        this.canvas = h('canvas', {class: 'flame', tabindex: '0'});
        this.ctx = this.canvas.getContext('2d');
        this.holder = h('div', {class: 'flameholder'}, this.canvas);
        this.state = h('span', {class: 'state'});
        this.rows = h('div', {class: 'tree'});
        this.pick = h('select', {'aria-label': 'kind of view', onchange: () => this.setMode(this.pick.value)}, MODES.map(([v, t]) => h('option', {value: v}, t)));
        this.out = h('button', {onclick: () => this.zoomTo(this.root)}, 'Whole graph');
        this.element = h('div', {class: 'withbar'}, h('div', {class: 'bar'}, this.pick, this.out, this.state), this.holder, this.rows);
        this.listen();
    }

    listen() {
        this.canvas.addEventListener('mousemove', (e) => this.pointAt(e));
        this.canvas.addEventListener('mouseleave', () => {
            this.over = null;
            this.app.tips.hide();
        });
        this.canvas.addEventListener('click', (e) => this.click(e));
        new ResizeObserver(() => this.mode === 'tree' && this.draw()).observe(this.holder);
    }

    setMode(mode) {
        this.mode = mode;
        this.top = null;
        this.opened.clear();
        this.load();
    }

    zoomTo(node) {
        this.top = node;
        this.draw();
    }

    draw() {
        const {canvas, ctx, holder} = this, width = holder.clientWidth || 600, dpr = window.devicePixelRatio || 1, theme = THEMES[this.app.theme];
        this.boxes = [];
        if (this.top)
            place(this.boxes, this.top, 0, width, 0);
        const height = Math.max(holder.clientHeight, this.boxes.reduce((m, b) => Math.max(m, b.y + ROW), 0));
        canvas.width = width * dpr;
        canvas.height = height * dpr;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
        ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
        ctx.font = FONT;
        ctx.textBaseline = 'middle';
        for (const b of this.boxes)
            this.drawBox(b, theme);
    }

    drawBox(b, theme) {
        const {ctx, root} = this, row = this.app.names.rows.get(b.node.loc), css = b.node === root ? theme.head : row ? colorOf(row.name, row.color) : theme.none;
        ctx.fillStyle = css;
        ctx.fillRect(b.x, b.y, Math.max(1, b.w - 1), ROW - 1);
        if (b === this.over) {
            ctx.strokeStyle = theme.outline;
            ctx.strokeRect(b.x + 0.5, b.y + 0.5, Math.max(1, b.w - 2), ROW - 2);
        }
        if (b.w < 30)
            return;
        ctx.fillStyle = b.node === root ? theme.text : textOn(css);
        const text = b.node === root ? `all: ${format.duration(root.total)}` : row ? row.name : '';
        ctx.fillText(cutText(ctx, text, b.w - 8), b.x + 4, b.y + ROW / 2);
    }

    boxAt(e) {
        return this.boxes.findLast((b) => e.offsetX >= b.x && e.offsetX < b.x + b.w && e.offsetY >= b.y && e.offsetY < b.y + ROW) || null;
    }

    pointAt(e) {
        const {app, root} = this, over = this.over = this.boxAt(e);
        this.draw();
        if (!over || over.node === root) {
            app.tips.hide();
            return;
        }
        const n = over.node, row = app.names.rows.get(n.loc);
        app.tips.show(e.clientX, e.clientY, row ? row.name : '', [['time', `${format.duration(n.total)}  (${format.percent(n.total / root.total)})`], ['self', format.duration(n.self)], ['count', format.count(n.count)]]);
    }

    click(e) {
        const b = this.boxAt(e), {top} = this;
        if (b && (e.ctrlKey || e.metaKey) && b.node.loc)
            this.app.findZone(b.node.loc);
        else if (b)
            this.zoomTo(b.node === top && top.parent ? top.parent : b.node);
    }

    /* A node of the table; opens by a click. */
    treeRow(node, depth, above) {
        const {app, root, opened} = this, path = `${above} ${node.loc}`, row = app.names.rows.get(node.loc), kids = h('div', {hidden: true}), mark = h('span', {class: 'mark'}, node.children.length ? '▸' : ' ');
        const toggle = () => {
            if (!node.children.length)
                return;
            kids.hidden = !kids.hidden;
            mark.textContent = kids.hidden ? '▸' : '▾';
            if (kids.hidden)
                opened.delete(path);
            else
                opened.add(path);
            if (!kids.childNodes.length)
                fill(kids, node.children.slice(0, 200).map((n) => this.treeRow(n, depth + 1, path)));
        };
        if (opened.has(path))
            toggle();
        const label = h('span', {class: 'treename'}, mark, swatch(row), row ? row.name : '');
        label.style.paddingLeft = `${14 * depth}px`;
        return h('div', {}, h('div', {class: 'treerow', onclick: toggle, ondblclick: () => app.findZone(node.loc)}, label, h('span', {class: 'number'}, format.duration(node.total)),
            h('span', {class: 'number'}, root.total ? format.percent(node.total / root.total) : ''), h('span', {class: 'number'}, this.mode === 'up' ? '' : format.duration(node.self)), h('span', {class: 'number'}, format.count(node.count))), kids);
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
        const {mode} = this;
        this.root = makeTree(answer.arrays, answer.json.total);
        this.top = sameNode(this.root, this.top);
        this.holder.hidden = this.out.hidden = mode !== 'tree';
        this.rows.hidden = mode === 'tree';
        this.state.textContent = stateOf(answer);
        if (mode === 'tree')
            this.draw();
        else
            fill(this.rows, makeHead(mode), this.root.children.slice(0, 500).map((n) => this.treeRow(n, 0, '')));
    }
}

export function makeFlame(app) {
    const flame = new Flame(app);
    return {id: 'flame', title: 'Flame graph', element: flame.element, update: () => flame.load(), boxes: () => flame.boxes};
}
