/* graph.js - a flame graph on a canvas, and the same tree as a table that opens by clicks; both by keys, too. Whoever makes one says what a node is
 * called and how its weight is written.  SPDX-License-Identifier: MIT */
import {layCanvas, placeOn, pointOn, roomOf} from '../view/scale.js';
import {textOn, THEMES} from '../view/palette.js';
import {FONT, cutText} from '../view/text.js';
import {fill, h} from '../view/dom.js';
import {keysOfElements} from '../view/rowkeys.js';
import * as format from '../view/format.js';

const ROW = 20, MIN = 1.5, MOST_BOXES = 4000, MOST_ROWS = 500, MOST_KIDS = 200;

/** A tree of nodes {key, total, self, count, children, parent} from columns; parents come before children. `all`: the weight of the whole, which
 * has that of paths that are left out, too. */
export function makeTree({parent, key, total, self, count}, all) {
    const nodes = [...key].map((k, i) => ({key: k, total: total[i], self: self[i], count: count ? count[i] : 0, children: [], parent: null}));
    const root = {key: 0, total: all, self: 0, count: 0, children: [], parent: null};
    nodes.forEach((n, i) => {
        n.parent = parent[i] ? nodes[parent[i] - 1] : root;
        n.parent.children.push(n);
    });
    for (const n of nodes.toReversed()) /* a parent has at least the time of its children, even if it did not end */
        n.total = Math.max(n.total, n.children.reduce((s, child) => s + child.total, 0));
    for (const n of [root, ...nodes])
        n.children.sort((a, b) => b.total - a.total);
    return root;
}

/* The node of this tree that is where another one was in its own; the root where there is none. */
function sameNode(root, other) {
    const path = [];
    for (let n = other; n && n.parent; n = n.parent)
        path.unshift(n.key);
    return path.reduce((node, key) => node && node.children.find((n) => n.key === key), root) || root;
}

function place(boxes, node, x, w, depth) {
    boxes.push({node, x, w, y: depth * ROW});
    let at = x;
    for (const child of node.children) {
        const cw = node.total ? w * child.total / node.total : 0;
        if (cw >= MIN && boxes.length < MOST_BOXES)
            place(boxes, child, at, cw, depth + 1);
        at += cw;
    }
}

export class Graph {
    /** `look`: {name(node), color(node), weight(n), tip(node, root): [[word, value]], cells(node): texts behind the share, pick(node, event): true
     * where that was all}. */
    constructor(app, look) {
        Object.assign(this, {app, look, root: null, top: null, boxes: [], over: null});
        this.canvas = h('canvas', {class: 'flame', tabindex: '0', role: 'application', 'aria-label': 'flame graph: arrow keys go from box to box, Enter fills the width with one'});
        this.ctx = this.canvas.getContext('2d');
        this.element = h('div', {class: 'flameholder'}, this.canvas);
        this.canvas.addEventListener('mousemove', (e) => this.pointAt(e));
        for (const kind of ['mouseleave', 'blur'])
            this.canvas.addEventListener(kind, () => this.stand(null));
        this.canvas.addEventListener('click', (e) => this.choose(this.boxAt(e), e));
        this.canvas.addEventListener('keydown', (e) => this.key(e));
        new ResizeObserver(() => !this.element.hidden && this.draw()).observe(this.element);
    }

    show(root) {
        this.top = sameNode(root, this.top);
        this.root = root;
        this.draw();
    }

    zoomTo(node) {
        this.top = node;
        this.draw();
    }

    draw() {
        const {canvas, ctx, element} = this, room = roomOf(element), width = room.width || 600, theme = THEMES[this.app.theme];
        this.boxes = [];
        if (this.top)
            place(this.boxes, this.top, 0, width, 0);
        const height = Math.max(room.height, this.boxes.reduce((m, b) => Math.max(m, b.y + ROW), 0));
        layCanvas(canvas, width, height);
        ctx.font = FONT;
        ctx.textBaseline = 'middle';
        for (const b of this.boxes)
            this.drawBox(b, theme);
    }

    drawBox(b, theme) {
        const {ctx, root} = this, name = b.node === root ? `all: ${this.look.weight(root.total)}` : this.look.name(b.node), css = b.node === root ? theme.head : this.look.color(b.node);
        ctx.fillStyle = css;
        ctx.fillRect(b.x, b.y, Math.max(1, b.w - 1), ROW - 1);
        if (b.node === this.over) {
            Object.assign(ctx, {strokeStyle: theme.outline, lineWidth: 2});
            ctx.strokeRect(b.x + 1, b.y + 1, Math.max(1, b.w - 3), ROW - 3);
        }
        if (b.w < 30)
            return;
        ctx.fillStyle = b.node === root ? theme.text : textOn(css);
        ctx.fillText(cutText(ctx, name, b.w - 8), b.x + 4, b.y + ROW / 2);
    }

    boxAt(e) {
        const {x, y} = pointOn(e, this.canvas);
        return this.boxes.findLast((b) => x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + ROW) || null;
    }

    pointAt(e) {
        this.stand(this.boxAt(e), {x: e.clientX, y: e.clientY});
    }

    /* Pointer or keys are on a box, or on none: it is outlined, and told of beside that place of the page. */
    stand(box, place) {
        const {app, look, root} = this, node = box ? box.node : null;
        if (node !== this.over) {
            this.over = node;
            this.draw();
        }
        if (!node || node === root)
            return app.tips.hide();
        return app.tips.show(place.x, place.y, look.name(node), look.tip(node, root));
    }

    choose(b, e) {
        const {top} = this;
        if (b && (b.node === this.root || !this.look.pick(b.node, e)))
            this.zoomTo(b.node === top && top.parent ? top.parent : b.node);
    }

    /* Where a key leads to from a box. */
    beside(b, key) {
        const {boxes} = this, row = boxes.filter((other) => other.y === b.y), at = row.indexOf(b);
        return {ArrowLeft: row[at - 1], ArrowRight: row[at + 1], ArrowUp: boxes.find((other) => other.node === b.node.parent), ArrowDown: boxes.find((other) => other.node.parent === b.node)}[key];
    }

    key(e) {
        const now = this.boxes.find((b) => b.node === this.over), isMove = e.key.startsWith('Arrow') && !e.altKey;
        if (!this.boxes.length || !isMove && !(now && e.key === 'Enter'))
            return;
        e.preventDefault();
        e.stopPropagation();
        if (!isMove)
            this.choose(now, e);
        const to = (now ? isMove && this.beside(now, e.key) : this.boxes[0]) || this.boxes.find((b) => b.node === this.over) || this.boxes[0];
        this.stand(to, placeOn(this.canvas, to.x + Math.min(to.w / 2, 40), to.y + ROW));
        this.app.announce(to.node === this.root ? 'all' : `${this.look.name(to.node)}, ${this.look.tip(to.node, this.root).map((pair) => pair.join(' ')).join(', ')}`);
    }
}

export class TreeTable {
    /** `look` as of Graph. */
    constructor(app, look) {
        Object.assign(this, {app, look, opened: new Set()});
        this.element = h('div', {class: 'tree', role: 'group', 'aria-label': 'tree: arrow keys go from row to row, right opens one, left closes it'});
        this.keys = keysOfElements(this.element, '.treerow:not(.treehead)', (line, event) => this.press(line, event));
    }

    /* Right opens, left closes, Enter does either; with a key held it picks, as a double click does. */
    press(line, event) {
        const {node, kids, toggle} = line.row, isOpen = !kids.hidden;
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
            this.look.pick(node, event);
        else if (event.key === 'Enter' || event.key === 'ArrowRight' && !isOpen || event.key === 'ArrowLeft' && isOpen)
            toggle();
        return ['Enter', 'ArrowRight', 'ArrowLeft'].includes(event.key);
    }

    /** `head`: words above the columns, the share among them: [name, total, ...cells]. */
    show(root, [name, total, ...cells]) {
        this.root = root;
        this.element.style.setProperty('--cells', cells.length);
        fill(this.element, this.line('treerow treehead', h('span', {}, name), total, '%', cells), root.children.slice(0, MOST_ROWS).map((n) => this.row(n, 0, '')));
    }

    line(words, label, total, share, cells) {
        return h('div', {class: words}, label, [total, share, ...cells].map((text) => h('span', {class: 'number'}, text)));
    }

    /* A node; opens by a click, its name picks it by two. */
    row(node, depth, above) {
        const {look, root, opened} = this, path = `${above} ${node.key}`, kids = h('div', {hidden: true}), mark = h('span', {class: 'mark'}, node.children.length ? '▸' : ' ');
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
                fill(kids, node.children.slice(0, MOST_KIDS).map((n) => this.row(n, depth + 1, path)));
        };
        if (opened.has(path) || depth && node.parent.children.length === 1 && depth < 40)
            toggle();
        const swatch = h('span', {class: 'swatch'}), label = h('span', {class: 'treename'}, mark, swatch, look.name(node));
        swatch.style.background = look.color(node);
        label.style.paddingLeft = `${10 * depth}px`;
        const line = this.line('treerow', label, look.weight(node.total), root.total ? format.percent(node.total / root.total) : '', look.cells(node));
        line.row = {node, kids, toggle};
        line.addEventListener('click', toggle);
        line.addEventListener('dblclick', (e) => look.pick(node, e));
        return h('div', {}, line, kids);
    }
}
