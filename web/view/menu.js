/* menu.js - a small menu at the pointer: what can be done with a track.  SPDX-License-Identifier: MIT */
import {fill, h} from './dom.js';
import {MODES} from './coloring.js';
import {MARK_SAMPLES, isZones} from './layout.js';

const DEPTHS = [1, 2, 4, 8];

export class Menu {
    constructor(app) {
        this.app = app;
        this.element = h('div', {class: 'menu', hidden: true, role: 'menu'});
        window.addEventListener('pointerdown', (event) => !this.element.contains(event.target) && this.close(), true);
        this.element.addEventListener('keydown', (event) => this.key(event));
    }

    get isOpen() {
        return !this.element.hidden;
    }

    close() {
        if (this.element.contains(document.activeElement))
            this.app.timeline.canvas.focus({preventScroll: true});
        this.element.hidden = true;
    }

    key(event) {
        const items = [...this.element.querySelectorAll('button')], at = items.indexOf(document.activeElement), to = {ArrowDown: at + 1, ArrowUp: at - 1}[event.key];
        if (to !== undefined && items[to]) {
            event.preventDefault();
            items[to].focus();
        }
    }

    /** rows: [text, what it does]; beside a place on the page. */
    show(x, y, title, rows) {
        this.app.tips.hide();
        fill(this.element, h('b', {}, title), rows.map(([text, run]) => h('button', {role: 'menuitem', onclick: () => {
            this.close();
            run();
        }}, text)));
        this.element.hidden = false;
        this.element.style.left = `${Math.min(x, window.innerWidth - this.element.offsetWidth - 4)}px`;
        this.element.style.top = `${Math.min(y, window.innerHeight - this.element.offsetHeight - 4)}px`;
        this.element.querySelector('button').focus();
    }

    /* What is hidden can be shown again. */
    shown() {
        const {app} = this, n = app.choice.hidden.size;
        return n ? [[`Show all tracks (${n} hidden)`, () => app.showAllTracks()]] : [];
    }

    /** Of all tracks: what is left out, what colours mean. */
    showTracks(x, y) {
        const {app} = this, {choice} = app, mark = (on) => (on ? '✓ ' : '');
        this.show(x, y, 'Tracks', [
            [`${mark(choice.hidesEmpty)}Hide what is empty in view`, () => app.setCompact('hidesEmpty', !choice.hidesEmpty)],
            [`${mark(choice.isCompact)}Leave out unused depths`, () => app.setCompact('isCompact', !choice.isCompact)],
            [`${mark(choice.fitsHeight)}Fit all tracks in the height`, () => app.act('fitHeight')],
            ...this.shown(), ['Collapse or open all processes', () => app.act('collapseAll')],
            ...MODES.map(([mode, words]) => [`${mark(app.coloring.mode === mode)}Colour by ${words}`, () => app.setColoring(mode)]),
        ]);
    }

    /* How a plot's values are drawn. */
    plotRows(track) {
        const {app} = this, {choice} = app, how = choice.plots.get(track.id) || {};
        return [[how.zero ? 'Scale it to its values' : 'Begin its scale at zero', () => app.setPlot(track.id, {...how, zero: !how.zero})], [how.log ? 'Linear scale' : 'Logarithmic scale', () => app.setPlot(track.id, {...how, log: !how.log})],
            [choice.sharesScale ? 'A scale of its own for each plot' : 'One scale for all plots of a unit', () => app.shareScale(!choice.sharesScale)]];
    }

    /* As dragging its name does. */
    moveRows(track) {
        const {app} = this, rows = app.timeline.layout.rows.map((r) => r.track).filter((t, i, all) => t.parent === track.parent && all.indexOf(t) === i), at = rows.findIndex((t) => t.id === track.id), move = (words, to, isAfter) => (rows[to] && at >= 0 ? [[words, () => app.reorder(track, rows[to], isAfter)]] : []);
        return [...move('Move it up', at - 1, false), ...move('Move it down', at + 1, true)];
    }

    showTrack(x, y, track) {
        if (track.kind === 'asked')
            return this.app.timeline.asked.menu(x, y, track);
        const {app} = this, {choice} = app, limit = choice.limits.get(track.id) || 0, isGroup = app.trace.tracks.some((t) => t.parent === track.id);
        const rows = [
            [choice.pinned.includes(track.id) ? 'Unpin it' : 'Pin it to the top', () => app.togglePin(track.id)],
            [choice.collapsed.has(track.id) ? 'Open it' : 'Collapse it', () => app.toggleCollapse(track.id)],
            ['Select all of it', () => app.selectTrack(track)],
        ];
        if (isGroup)
            rows.shift();
        rows.push(...this.moveRows(track), ['Hide it', () => app.hideTrack(track.id)], ['Hide all others', () => app.hideOthers([track.id])], ...this.shown());
        if (isZones(track.kind) && track.n_depths > 1)
            rows.push(...DEPTHS.filter((n) => n < track.n_depths && n !== limit).map((n) => [n === 1 ? 'Show only the outermost depth' : `Show ${n} depths`, () => app.setDepthLimit(track.id, n)]));
        if (track.marks & MARK_SAMPLES)
            rows.push([app.timeline.ghosts.isOn ? 'Hide functions of samples' : 'Show functions of samples', () => app.act('ghosts')]);
        if (track.kind === 'plot')
            rows.push(...this.plotRows(track));
        if (limit)
            rows.push(['Show all depths', () => app.setDepthLimit(track.id, 0)]);
        return this.show(x, y, track.name, rows);
    }
}
