/* table.js - a table of any length: only the rows that are seen exist. Sortable, copyable.
 * SPDX-License-Identifier: MIT */
import {copyText, fill, h} from './dom.js';

const ROW = 24;

export class Table {
    /** columns: [{key, title, width, number, show(row), sort}]; on: {sort(key), pick(row), open(row), hover(row)} */
    constructor(columns, on = {}) {
        this.columns = columns;
        this.on = on;
        this.rows = [];
        this.sortKey = null;
        this.head = h('div', {class: 'thead', role: 'row'});
        this.space = h('div', {class: 'tspace'});
        this.body = h('div', {class: 'tbody', tabindex: '0', role: 'rowgroup'}, this.space);
        this.element = h('div', {class: 'table', role: 'table'}, this.head, this.body);
        this.body.addEventListener('scroll', () => this.draw());
        new ResizeObserver(() => this.draw()).observe(this.body);
        this.grid = columns.map((c) => c.width || '1fr').join(' ');
        this.drawHead();
    }

    drawHead() {
        this.head.style.gridTemplateColumns = this.grid;
        fill(this.head, this.columns.map((c) => h('button', {
            class: c.number ? 'number' : '', title: c.sort === false ? c.title : `sort by ${c.title}`, role: 'columnheader', 'data-key': c.key,
            'aria-sort': this.sortKey === c.key ? 'descending' : 'none', onclick: () => c.sort !== false && this.on.sort && this.on.sort(c.key),
        }, c.title, this.sortKey === c.key ? ' ▾' : '')));
    }

    set(rows, sortKey = this.sortKey) {
        this.rows = rows;
        if (sortKey !== this.sortKey) {
            this.sortKey = sortKey;
            this.drawHead();
        }
        this.space.style.height = `${rows.length * ROW}px`;
        this.draw();
    }

    draw() {
        const first = Math.max(0, Math.floor(this.body.scrollTop / ROW) - 4), n = Math.ceil((this.body.clientHeight || 300) / ROW) + 8;
        fill(this.space, this.rows.slice(first, first + n).map((row, i) => this.rowElement(row, first + i)));
    }

    rowElement(row, i) {
        const cells = this.columns.map((c) => {
            const content = c.show(row);
            return h('span', {class: c.number ? 'number' : '', title: typeof content === 'string' ? content : c.key, role: 'cell'}, content);
        });
        const element = h('div', {
            class: `trow${row.picked ? ' picked' : ''}`, role: 'row', onclick: () => this.on.pick && this.on.pick(row),
            ondblclick: () => this.on.open && this.on.open(row), onmouseenter: () => this.on.hover && this.on.hover(row),
            onmouseleave: () => this.on.hover && this.on.hover(null),
            oncontextmenu: (event) => {
                event.preventDefault();
                copyText(this.lineOf(row));
                if (this.on.copied)
                    this.on.copied('row copied');
            },
        }, cells);
        element.style.gridTemplateColumns = this.grid;
        element.style.top = `${i * ROW}px`;
        return element;
    }

    textOf(c, row) {
        const content = c.copy ? c.copy(row) : c.show(row);
        return content instanceof Node ? content.textContent : String(content ?? '');
    }

    lineOf(row) {
        return this.columns.map((c) => this.textOf(c, row)).join('\t');
    }

    /** All of it, tab-separated. */
    text() {
        return [this.columns.map((c) => c.title).join('\t'), ...this.rows.map((row) => this.lineOf(row))].join('\n');
    }
}
