/* drawer.js - the panels' place at the bottom: tabs, a handle to drag, one panel shown at a time.
 * A panel: {id, title, element, update(), grows()}; update is called when it is shown and what it shows has changed, and may give a promise;
 * grows: whether it shows something else when the trace has grown, always if missing; isOf(trace): whether there is anything for it, always if missing;
 * isWhole: it is about the whole trace, whatever the view and the area are.
 * SPDX-License-Identifier: MIT */
import {fill, h} from '../view/dom.js';

const REST = 4; /* times as long as the answers took, a panel of a growing trace asks nothing */

export class Drawer {
    constructor(app, makers) {
        this.app = app;
        this.panels = makers.map((make) => make(app));
        this.current = this.panels[0].id;
        this.isOpen = false;
        this.isHeld = false; /* a button of the pointer is down on it */
        this.nRunning = 0;  /* updates that wait for answers */
        this.rests = 0;      /* until then */
        this.timer = null;   /* what is shown will be made anew */
        this.stale = new Set(this.panels.map((p) => p.id));
        this.tabs = h('div', {class: 'tabs', role: 'tablist'});
        this.note = h('span', {class: 'rangenote'});
        this.limit = h('input', {type: 'checkbox', id: 'limit', onchange: () => app.setLimit(this.limit.checked)});
        this.place = h('div', {class: 'panel'});
        this.element = h('div', {class: 'drawer', hidden: true}, this.handle(), h('div', {class: 'tabrow'}, this.tabs, h('span', {class: 'grow'}), this.note,
            h('label', {class: 'limit', for: 'limit', title: 'panels count only what the view shows'}, this.limit, ' limit to view'),
            h('button', {class: 'small', title: 'hide the panels (Q)', 'data-act': 'drawer', onclick: () => app.act('drawer')}, '✕')), this.place);
        this.element.addEventListener('pointerdown', () => { this.isHeld = true; });
        for (const kind of ['pointerup', 'pointercancel'])
            window.addEventListener(kind, () => { this.isHeld = false; });
        this.drawTabs();
    }

    handle() {
        const bar = h('div', {class: 'handle', title: 'drag to resize, or the arrow keys', tabindex: '0', role: 'separator', 'aria-label': 'height of the panels', 'aria-valuenow': '50'});
        bar.addEventListener('pointerdown', (e) => bar.setPointerCapture(e.pointerId));
        bar.addEventListener('pointermove', (e) => e.buttons && this.resize(bar, window.innerHeight - e.clientY));
        bar.addEventListener('keydown', (e) => {
            const step = {ArrowUp: 40, ArrowDown: -40}[e.key];
            if (step)
                this.resize(bar, this.element.offsetHeight + step);
        });
        return bar;
    }

    resize(bar, height) {
        const px = Math.max(120, Math.min(window.innerHeight - 160, height));
        this.element.style.height = `${px}px`;
        bar.setAttribute('aria-valuenow', String(Math.round(100 * px / window.innerHeight)));
    }

    drawTabs() {
        const {trace} = this.app, there = this.panels.filter((p) => !p.isOf || p.id === this.current || trace && p.isOf(trace));
        fill(this.tabs, there.map((p) => h('button', {class: p.id === this.current ? 'tab current' : 'tab', role: 'tab', 'data-panel': p.id,
            'aria-selected': String(p.id === this.current), onclick: () => this.show(p.id)}, p.title)));
    }

    show(id) {
        if (this.panels.some((p) => p.id === id))
            this.current = id;
        this.app.setHover(null);
        this.isOpen = true;
        this.element.hidden = false;
        this.drawTabs();
        fill(this.place, this.panel().element);
        this.update();
        this.app.changed('drawer');
    }

    hide() {
        this.isOpen = false;
        this.element.hidden = true;
        this.app.changed('drawer');
    }

    panel(id = this.current) {
        return this.panels.find((p) => p.id === id);
    }

    /** What panels show has changed; the one that is seen is made anew. */
    spoil(...ids) {
        for (const p of this.panels)
            if (!ids.length || ids.includes(p.id))
                this.stale.add(p.id);
        clearTimeout(this.timer);
        this.timer = setTimeout(() => {
            this.timer = null;
            this.update();
        }, 60);
    }

    /* Somebody types, presses or marks a text in it. */
    get isUsed() {
        const at = document.activeElement, marked = document.getSelection();
        return this.isHeld || at && this.place.contains(at) && at.matches('input:not([type=checkbox]), textarea') || marked && !marked.isCollapsed && this.place.contains(marked.anchorNode);
    }

    /** The trace has grown. The panel that is seen is made anew unless it is being used, or the last answers were long in coming: the server has
     * better things to do. The others are when they are shown. */
    grown() {
        for (const p of this.panels)
            if (!p.grows || p.grows())
                this.stale.add(p.id);
        if (!this.nRunning && performance.now() >= this.rests && !this.isUsed)
            this.update();
    }

    update() {
        const {isWhole} = this.panel();
        this.note.textContent = this.note.title = isWhole && this.app.trace ? 'whole trace' : this.app.rangeWords();
        this.limit.checked = this.app.limitToView && !isWhole;
        this.limit.disabled = Boolean(isWhole);
        if (!this.isOpen || !this.stale.has(this.current) || !this.app.trace)
            return;
        this.stale.delete(this.current);
        this.run(this.panel());
    }

    async run(panel) {
        const began = performance.now();
        this.nRunning++;
        try {
            await panel.update();
        } catch (error) {
            if (error.message !== 'overtaken')
                this.app.say(error.message);
        }
        this.nRunning--;
        const now = performance.now();
        this.rests = now + REST * (now - began);
    }
}
