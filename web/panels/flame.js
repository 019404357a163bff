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

export function makeFlame(app) {
    let root = null, top = null, mode = 'tree', boxes = [], over = null;
    const opened = new Set(), begin = newest(); /* opened: paths in the table */
    const canvas = h('canvas', {class: 'flame', tabindex: '0'}), ctx = canvas.getContext('2d'), holder = h('div', {class: 'flameholder'}, canvas), state = h('span', {class: 'state'});
    const rows = h('div', {class: 'tree'}), pick = h('select', {'aria-label': 'kind of view', onchange: () => {
        mode = pick.value;
        top = null;
        opened.clear();
        load();
    }}, [['tree', 'flame graph'], ['down', 'top-down table'], ['up', 'bottom-up table']].map(([v, t]) => h('option', {value: v}, t)));
    const out = h('button', {onclick: () => zoomTo(root)}, 'Whole graph'), element = h('div', {class: 'withbar'}, h('div', {class: 'bar'}, pick, out, state), holder, rows);

    function zoomTo(node) {
        top = node;
        draw();
    }

    function draw() {
        const width = holder.clientWidth || 600, dpr = window.devicePixelRatio || 1, theme = THEMES[app.theme];
        boxes = [];
        const place = (node, x, w, depth) => {
            boxes.push({node, x, w, y: depth * ROW});
            let at = x;
            for (const child of node.children) {
                const cw = node.total ? w * child.total / node.total : 0;
                if (cw >= MIN && boxes.length < 4000)
                    place(child, at, cw, depth + 1);
                at += cw;
            }
        };
        if (top)
            place(top, 0, width, 0);
        const height = Math.max(holder.clientHeight, boxes.reduce((m, b) => Math.max(m, b.y + ROW), 0));
        canvas.width = width * dpr;
        canvas.height = height * dpr;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
        ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
        ctx.font = FONT;
        ctx.textBaseline = 'middle';
        for (const b of boxes)
            drawBox(b, theme);
    }

    function drawBox(b, theme) {
        const row = app.names.rows.get(b.node.loc), css = b.node === root ? theme.head : row ? colorOf(row.name, row.color) : theme.none;
        ctx.fillStyle = css;
        ctx.fillRect(b.x, b.y, Math.max(1, b.w - 1), ROW - 1);
        if (b === over) {
            ctx.strokeStyle = theme.outline;
            ctx.strokeRect(b.x + 0.5, b.y + 0.5, Math.max(1, b.w - 2), ROW - 2);
        }
        if (b.w < 30)
            return;
        ctx.fillStyle = b.node === root ? theme.text : textOn(css);
        const text = b.node === root ? `all: ${format.duration(root.total)}` : row ? row.name : '';
        ctx.fillText(cutText(ctx, text, b.w - 8), b.x + 4, b.y + ROW / 2);
    }

    const boxAt = (e) => boxes.findLast((b) => e.offsetX >= b.x && e.offsetX < b.x + b.w && e.offsetY >= b.y && e.offsetY < b.y + ROW) || null;
    canvas.addEventListener('mousemove', (e) => {
        over = boxAt(e);
        draw();
        if (!over || over.node === root)
            return app.tips.hide();
        const n = over.node, row = app.names.rows.get(n.loc);
        return app.tips.show(e.clientX, e.clientY, row ? row.name : '', [['time', `${format.duration(n.total)}  (${format.percent(n.total / root.total)})`], ['self', format.duration(n.self)], ['count', format.count(n.count)]]);
    });
    canvas.addEventListener('mouseleave', () => {
        over = null;
        app.tips.hide();
    });
    canvas.addEventListener('click', (e) => {
        const b = boxAt(e);
        if (b && (e.ctrlKey || e.metaKey) && b.node.loc)
            app.findZone(b.node.loc);
        else if (b)
            zoomTo(b.node === top && top.parent ? top.parent : b.node);
    });
    new ResizeObserver(() => mode === 'tree' && draw()).observe(holder);

    /* A node of the table; opens by a click. */
    function treeRow(node, depth, above) {
        const path = `${above} ${node.loc}`, row = app.names.rows.get(node.loc), kids = h('div', {hidden: true}), mark = h('span', {class: 'mark'}, node.children.length ? '▸' : ' ');
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
                fill(kids, node.children.slice(0, 200).map((n) => treeRow(n, depth + 1, path)));
        };
        if (opened.has(path))
            toggle();
        const label = h('span', {class: 'treename'}, mark, swatch(row), row ? row.name : '');
        label.style.paddingLeft = `${14 * depth}px`;
        return h('div', {}, h('div', {class: 'treerow', onclick: toggle, ondblclick: () => app.findZone(node.loc)}, label, h('span', {class: 'number'}, format.duration(node.total)),
            h('span', {class: 'number'}, root.total ? format.percent(node.total / root.total) : ''), h('span', {class: 'number'}, format.duration(node.self)), h('span', {class: 'number'}, format.count(node.count))), kids);
    }

    async function load() {
        const isNewest = begin(), {json, arrays} = await app.engine.ask({ask: 'flame', ...app.range(), mode, limit: 5000});
        await app.names.need(arrays.loc);
        if (!isNewest())
            return undefined;
        root = makeTree(arrays, json.total);
        top = sameNode(root, top);
        holder.hidden = out.hidden = mode !== 'tree';
        rows.hidden = mode === 'tree';
        state.textContent = arrays.loc.length ? [`${format.count(arrays.loc.length)} paths`, json.left_out ? 'those with the most time' : '', json.levels ? `${json.levels} levels of them` : '', json.exact ? '' : 'not of all events'].filter(Boolean).join(', ')
            : 'No zones begin in this range.';
        if (mode === 'tree')
            return draw();
        const head = h('div', {class: 'treerow treehead'}, h('span', {}, mode === 'up' ? 'zone, and what it was called from' : 'zone, and what it calls'), h('span', {class: 'number'}, mode === 'up' ? 'self' : 'total'),
            h('span', {class: 'number'}, '%'), h('span', {class: 'number'}, 'self'), h('span', {class: 'number'}, 'count'));
        return fill(rows, head, root.children.slice(0, 500).map((n) => treeRow(n, 0, '')));
    }
    return {id: 'flame', title: 'Flame graph', element, update: load, boxes: () => boxes};
}
