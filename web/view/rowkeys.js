/* rowkeys.js - lists, trees and charts by keyboard: the focus stays on the element that holds the rows, and one of them is the current one.
 * SPDX-License-Identifier: MIT */

let nIds = 0;

/** Keys of `element`. rows: {n(): how many there are, mark(i, event, before): row i is the current one now (-1: none is), act(i, event): true where a key was for the row,
 * page(): how many are seen at once; isAcross: they stand beside each other}. Keys that were meant for what is in a row are left alone. */
export class RowKeys {
    constructor(element, rows) {
        Object.assign(this, {element, rows, at: -1});
        element.addEventListener('keydown', (event) => this.key(event));
    }

    /* Where a key leads to; undefined: nowhere. */
    target({key}) {
        const {at, rows} = this, [before, after] = rows.isAcross ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'], page = Math.max(1, rows.page ? rows.page() : 10);
        return {[before]: at < 0 ? rows.n() - 1 : at - 1, [after]: at + 1, Home: 0, End: rows.n() - 1, PageUp: at - page, PageDown: at + page}[key];
    }

    key(event) {
        const {rows} = this, n = rows.n(), isPlain = !event.ctrlKey && !event.altKey && !event.metaKey, to = isPlain && (!event.shiftKey || rows.isAcross) ? this.target(event) : undefined;
        if (event.target !== this.element || !n)
            return;
        if (to === undefined && !(this.at >= 0 && this.at < n && rows.act(this.at, event)))
            return;
        event.preventDefault();
        event.stopPropagation();
        if (to !== undefined)
            this.move(Math.max(0, Math.min(n - 1, to)), event);
    }

    move(i, event) {
        const before = this.at;
        this.at = i;
        this.rows.mark(i, event, before);
    }

    /** Tell who can't see it which element is the current one. */
    point(line) {
        if (!line)
            return this.element.removeAttribute('aria-activedescendant');
        line.id = line.id || `row${++nIds}`;
        return this.element.setAttribute('aria-activedescendant', line.id);
    }
}

/** The same for rows that are elements: `selector` finds them, those that are not seen are left out. act(row, event): true where a key was for it. */
export function keysOfElements(element, selector, act) {
    const lines = () => [...element.querySelectorAll(selector)].filter((line) => line.offsetParent), keys = new RowKeys(element, {
        n: () => lines().length, page: () => Math.floor(element.clientHeight / 24), act: (i, event) => act(lines()[i], event),
        mark: (i) => {
            for (const line of element.querySelectorAll('.current'))
                line.classList.remove('current');
            const line = lines()[i];
            line.classList.add('current');
            line.scrollIntoView({block: 'nearest'});
            keys.point(line);
        },
    });
    element.tabIndex = 0;
    return keys;
}
