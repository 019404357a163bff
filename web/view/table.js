/* table.js - a table of any length: only the rows that are seen exist. Sortable, copyable, by mouse and keys.
 * SPDX-License-Identifier: MIT */
import {copyText, fill, h} from './dom.js';
import {RowKeys} from './rowkeys.js';
import {TEXT} from './scale.js';

const ROW = 24, rowHeight = () => ROW * TEXT, inRem = (widths) => widths.replace(/(\d+)px/g, (all, px) => `${px / 13}rem`); /* they grow with the texts */

export class Table {
    /** columns: [{key, title, width, number, show(row), copy(row), sort, up}]: the first px in `width` are the least that it needs; `sort` false:
     * there is no order by it; `up`: sorted by it, the least comes first; `fromEnd`: where it is cut, its end stays; `why`: more about it. on: {sort(), pick(row), open(row), hover(row), copied(words), end(), isPicked(row)}; sort() is
     * called when `order` was changed by a click, end() when the last row is seen; rows that isPicked says so of stand out. key: of the column that rows are sorted by at first. */
    constructor(columns, on = {}, key = null) {
        this.columns = columns;
        this.on = on;
        this.rows = [];
        this.lines = new Map(); /* by number: the rows that exist */
        this.order = {key, reversed: false};
        this.head = h('div', {class: 'thead', role: 'row'});
        this.body = h('div', {class: 'tbody', role: 'rowgroup'});
        this.element = h('div', {class: 'table', role: 'grid', tabindex: '0'}, this.head, this.body);
        this.keys = new RowKeys(this.element, {n: () => this.rows.length, page: () => Math.floor(this.element.clientHeight / rowHeight()) - 2, mark: (i) => this.stand(i), act: (i, event) => this.press(this.rows[i], event)});
        this.element.addEventListener('scroll', () => this.draw());
        new ResizeObserver(() => this.draw()).observe(this.element);
        this.grid = inRem(columns.map((c) => c.width).join(' '));
        this.head.style.gridTemplateColumns = this.grid;
        this.head.style.minWidth = this.body.style.minWidth = `${columns.reduce((px, c) => px + Number(/(\d+)px/.exec(c.width)[1]), 0) / 13}rem`;
        this.drawHead();
    }

    /* A second click on a column turns the order around. */
    sortBy(c) {
        if (c.sort === false || !this.on.sort)
            return;
        this.order = {key: c.key, reversed: c.key === this.order.key && !this.order.reversed};
        this.on.sort();
    }

    drawHead() {
        const {key, reversed} = this.drawnOrder = this.order;
        fill(this.head, this.columns.map((c) => {
            const isUp = Boolean(c.up) !== reversed;
            return h('button', {
                class: c.number ? 'number' : '', title: c.why || (c.sort === false) ? c.why || c.title : `sort by ${c.title}`, role: 'columnheader', 'data-key': c.key,
                'aria-sort': key !== c.key ? 'none' : isUp ? 'ascending' : 'descending', onclick: () => this.sortBy(c),
            }, c.title, key !== c.key ? '' : isUp ? ' ▴' : ' ▾');
        }));
    }

    /** Show these; they are sorted as `order` says. */
    set(rows) {
        this.rows = rows;
        if (this.keys.at >= rows.length)
            this.keys.move(-1);
        if (this.order !== this.drawnOrder)
            this.drawHead();
        this.body.style.height = `${rows.length * rowHeight()}px`;
        for (const [i, line] of this.lines)
            if (i < rows.length)
                this.renew(line, rows[i]);
        this.draw();
    }

    draw() {
        const first = Math.max(0, Math.floor(this.element.scrollTop / rowHeight()) - 4), n = Math.ceil((this.element.clientHeight || 300) / rowHeight()) + 8, end = Math.min(this.rows.length, first + n);
        for (const [i, line] of this.lines)
            if (i < first || i >= end) {
                line.remove();
                this.lines.delete(i);
            }
        for (let i = end - 1, next = null; i >= first; i--) {
            const line = this.lines.get(i) || this.body.insertBefore(this.makeLine(i), next);
            this.lines.set(i, line);
            next = line;
        }
        if (end && end === this.rows.length && this.element.scrollTop > 0 && this.on.end)
            this.on.end();
    }

    cells(row) {
        return this.columns.map((c) => {
            const content = c.show(row);
            return h('span', {class: c.number ? 'number' : c.fromEnd ? 'fromend' : '', title: typeof content === 'string' ? content : c.key, role: 'gridcell'}, c.fromEnd ? h('bdi', {}, content) : content);
        });
    }

    makeLine(i) {
        const line = h('div', {
            class: 'trow', role: 'row', onclick: () => this.on.pick && this.on.pick(this.rows[i]),
            ondblclick: () => this.on.open && this.on.open(this.rows[i]), onmouseenter: () => this.on.hover && this.on.hover(this.rows[i]),
            onmouseleave: () => this.on.hover && this.on.hover(null),
            oncontextmenu: (event) => {
                event.preventDefault();
                this.copy(this.rows[i]);
            },
        }, this.cells(this.rows[i]));
        line.classList.toggle('current', i === this.keys.at);
        this.mark(line, this.rows[i]);
        line.style.gridTemplateColumns = this.grid;
        line.style.top = `${i * rowHeight()}px`;
        return line;
    }

    mark(line, row) {
        line.classList.toggle('picked', Boolean(this.on.isPicked && this.on.isPicked(row)));
    }

    copy(row) {
        copyText(this.lineOf(row));
        if (this.on.copied)
            this.on.copied('row copied');
    }

    /* The keyboard is on this row now. */
    stand(i) {
        for (const [k, line] of this.lines)
            line.classList.toggle('current', k === i);
        if (i < 0)
            return this.keys.point(null);
        this.show(i);
        if (this.on.hover)
            this.on.hover(this.rows[i]);
        return this.keys.point(this.lines.get(i));
    }

    /* Enter is a click, Shift+Enter a double click, Ctrl+C copies the row. */
    press(row, {key, shiftKey, ctrlKey, metaKey}) {
        const act = key === 'Enter' ? this.on[shiftKey ? 'open' : 'pick'] : key === 'c' && (ctrlKey || metaKey) && document.getSelection().isCollapsed ? (r) => this.copy(r) : null;
        if (act)
            act(row);
        return Boolean(act);
    }

    /** Scroll so that a row is seen, with some before it. */
    show(i) {
        const top = i * rowHeight(), room = this.element.clientHeight - this.head.offsetHeight;
        if (top < this.element.scrollTop || top + rowHeight() > this.element.scrollTop + room)
            this.element.scrollTop = Math.max(0, top - room / 3);
        this.draw();
    }

    /** Which rows are picked has changed. */
    markAll() {
        for (const [i, line] of this.lines)
            if (i < this.rows.length)
                this.mark(line, this.rows[i]);
    }

    /* What is the same stays: rows that come anew every second can be clicked, and do not flicker. */
    renew(line, row) {
        this.mark(line, row);
        this.cells(row).forEach((cell, k) => cell.isEqualNode(line.children[k]) || line.children[k].replaceWith(cell));
        if (this.on.hover && line.matches(':hover'))
            this.on.hover(row);
    }

    /* A cell is one cell, a row one line, whatever is in a name. */
    textOf(c, row) {
        const content = c.copy ? c.copy(row) : c.show(row);
        return (content instanceof Node ? content.textContent : String(content ?? '')).replace(/[\t\n\r]/g, ' ');
    }

    lineOf(row) {
        return this.columns.map((c) => this.textOf(c, row)).join('\t');
    }

    /** All of it, tab-separated. */
    text() {
        return [this.columns.map((c) => c.title).join('\t'), ...this.rows.map((row) => this.lineOf(row))].join('\n');
    }
}
