/* beside.js - another trace below the timeline, on the same axis: its own tracks, names and answers, the view of the one that is shown, moved by so much that
 * both begin together, or that a zone of one name begins at the same place in both. Whatever moves one moves the other.
 * SPDX-License-Identifier: MIT */
import {Names} from '../engines.js';
import {Coloring} from './coloring.js';
import {TrackChoice} from './layout.js';
import {LABEL, RULER, Timeline} from './timeline.js';
import {Tips} from './tips.js';
import {h} from './dom.js';
import {pointOn as at} from './scale.js';

/* What stands for the app in the other trace's timeline: the app, but for what is of a trace. */
function appFor(app, beside, engine, trace) {
    const sub = Object.create(app), nothing = () => {};
    Object.defineProperty(sub, 'view', {get: () => ({from: app.view.from + beside.shift, to: app.view.to + beside.shift})});
    Object.assign(sub, {engine, trace, tracksById: null, sqlTracks: null, choice: new TrackChoice(), selection: null, area: null, hover: null, highlight: null, found: null, measure: null, point: null, mark: null, turn: 0, flows: [], trackHits: new Set(),
        presence: {update: nothing}, notes: {list: []}, search: {track: null, hits: []}, drawer: {show: nothing, spoil: nothing, isOpen: true}});
    Object.assign(sub, {
        redraw: () => app.redraw(), changed: () => app.redraw(), remember: () => app.remember(), setView: (from, to) => app.setView(from - beside.shift, to - beside.shift),
        names: new Names(engine, () => {
            sub.timeline.painter.forget();
            app.redraw();
        }),
    });
    sub.coloring = new Coloring(sub);
    sub.timeline = new Timeline(sub);
    sub.tips = new Tips(sub);
    return sub;
}

export class Beside {
    /** `trace`: the answer about it. */
    constructor(app, engine, trace) {
        Object.assign(this, {app, engine, trace, shift: trace.range[0] - app.trace.range[0], alignedBy: ''});
        this.sub = appFor(app, this, engine, trace);
        this.how = h('span', {class: 'state'});
        this.element = h('div', {class: 'beside'}, h('div', {class: 'besidehead'}, h('b', {}, trace.name), this.how), this.sub.timeline.element, this.sub.tips.element);
        this.listen(this.sub.timeline.canvas);
        this.tell();
    }

    get timeline() {
        return this.sub.timeline;
    }

    begin() {
        this.sub.timeline.relayout();
    }

    draw() {
        this.sub.timeline.draw();
    }

    tell() {
        this.how.textContent = this.alignedBy ? `its first “${this.alignedBy}” begins where that above does` : 'both begin together';
    }

    /** Let zones of a name begin at the same place; '': let both begin together. Resolves to whether both have one. */
    async alignBy(name) {
        const firsts = name ? await Promise.all([this.app.engine, this.engine].map((engine) => firstOf(engine, name))) : [this.app.trace.range[0], this.trace.range[0]];
        if (firsts.includes(null))
            return false;
        this.shift = firsts[1] - firsts[0];
        this.alignedBy = name;
        this.tell();
        this.sub.timeline.data.spoil();
        this.app.redraw();
        return true;
    }

    listen(canvas) {
        const {app, sub} = this, tl = sub.timeline;
        let drag = null;
        canvas.addEventListener('contextmenu', (e) => e.preventDefault());
        canvas.addEventListener('pointerdown', (e) => {
            canvas.setPointerCapture(e.pointerId);
            drag = {...at(e, canvas), view: {...app.view}, moved: false};
        });
        canvas.addEventListener('pointermove', (e) => {
            const p = tl.pointer = at(e, canvas);
            if (!drag)
                return sub.tips.pointAt(p);
            drag.moved = drag.moved || Math.hypot(p.x - drag.x, p.y - drag.y) > 4;
            const by = (drag.x - p.x) / (tl.width - LABEL) * (drag.view.to - drag.view.from);
            return drag.moved && app.setView(drag.view.from + by, drag.view.to + by);
        });
        canvas.addEventListener('pointerup', (e) => {
            const p = at(e, canvas), hit = drag && !drag.moved ? tl.hit(p.x, p.y) : null;
            drag = null;
            if (hit && p.x < LABEL)
                sub.toggleCollapse(hit.row.track.id);
            else if (hit)
                sub.selectHit(hit);
        });
        canvas.addEventListener('pointerleave', () => {
            tl.pointer = null;
            sub.tips.hide();
            app.redraw();
        });
        canvas.addEventListener('wheel', (e) => {
            e.preventDefault();
            const p = at(e, canvas), span = app.view.to - app.view.from;
            if (e.ctrlKey || e.metaKey || p.y < RULER)
                app.zoom(Math.exp(Math.max(-80, Math.min(80, e.deltaY)) * 0.0045), tl.timeAt(Math.max(LABEL, p.x)) - this.shift);
            else if (e.shiftKey)
                app.pan(e.deltaY / (tl.width - LABEL) * span);
            else
                tl.scrollTo(tl.scroll + e.deltaY);
        }, {passive: false});
    }
}

/** The number of a zone's location by its name, 0: there is none; of several the one with the most time. */
export async function locOf(engine, name) {
    const {arrays} = await engine.ask({ask: 'stats', filter: name, sort: 'total', limit: 200}), {json} = await engine.ask({ask: 'names', locs: [...arrays.loc]}), row = json.locs.find((l) => l.name === name);
    return row ? row.id : 0;
}

/* When the first zone of a name begins; null: there is none. */
async function firstOf(engine, name) {
    const loc = await locOf(engine, name);
    if (!loc)
        return null;
    let answer;
    do
        answer = await engine.ask({ask: 'instances', loc, sort: 'time', limit: 1});
    while (!answer.json.exact);
    return answer.arrays.t0.length ? answer.arrays.t0[0] : null;
}
