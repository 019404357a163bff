/* touch.js - fingers on the timeline: one moves it, two zoom, a tap selects, two taps zoom to the zone, a long press shows the menu.
 * SPDX-License-Identifier: MIT */
import {pointOn} from './scale.js';
import {LABEL} from './timeline.js';
import {showMenuOfHit} from './zonemenu.js';

const MOVED = 8, LONG_MS = 500, DOUBLE_MS = 350;

export class Touch {
    constructor(app) {
        this.app = app;
        this.fingers = new Map(); /* by the pointer's id: {x, y} on the canvas */
        this.begin = null;        /* how it was when the number of fingers last changed */
        this.tapped = 0;          /* when the last tap was */
    }

    place(event) {
        return {...pointOn(event, this.app.timeline.canvas), pageX: event.clientX, pageY: event.clientY};
    }

    down(event) {
        this.fingers.set(event.pointerId, this.place(event));
        this.app.tips.hide();
        clearTimeout(this.timer);
        this.start(false);
        if (this.fingers.size === 1)
            this.timer = setTimeout(() => this.hold(), LONG_MS);
    }

    /* From here on: `moved` once it is no tap any more. */
    start(moved) {
        const list = [...this.fingers.values()], {app} = this;
        this.begin = {middle: middleOf(list), apart: apartOf(list), view: {...app.view}, scroll: app.timeline.scroll, moved};
    }

    move(event) {
        if (!this.fingers.has(event.pointerId) || !this.begin)
            return;
        this.fingers.set(event.pointerId, this.place(event));
        const list = [...this.fingers.values()], {middle, apart, view, scroll} = this.begin, now = middleOf(list), {app} = this, tl = app.timeline;
        if (!this.begin.moved && list.length === 1 && Math.hypot(now.x - middle.x, now.y - middle.y) < MOVED)
            return;
        clearTimeout(this.timer);
        this.begin.moved = true;
        const width = tl.width - LABEL, span = view.to - view.from, t = view.from + (middle.x - LABEL) / width * span, wanted = list.length > 1 ? span * apart / Math.max(10, apartOf(list)) : span;
        const from = t - (now.x - LABEL) / width * wanted;
        app.setView(from, from + wanted);
        tl.scrollTo(scroll + middle.y - now.y);
    }

    up(event) {
        const was = this.begin, p = this.fingers.get(event.pointerId);
        clearTimeout(this.timer);
        if (!this.fingers.delete(event.pointerId))
            return;
        if (this.fingers.size)
            this.start(true);
        else if (was && was.moved)
            this.app.remember(was.view);
        else if (was && p)
            this.tap(p, event.timeStamp);
        if (!this.fingers.size)
            this.begin = null;
    }

    tap(p, at) {
        const {app} = this, hit = app.timeline.hit(p.x, p.y), isSecond = at - this.tapped < DOUBLE_MS;
        this.tapped = at;
        if (!hit)
            return undefined;
        if (p.x < LABEL)
            return app.toggleCollapse(hit.row.track.id);
        if (isSecond && hit.item)
            return app.zoomTo(hit.item);
        return app.endMeasure(hit) ? undefined : app.selectHit(hit);
    }

    hold() {
        const {app} = this, p = [...this.fingers.values()][0], hit = p && app.timeline.hit(p.x, p.y);
        this.begin = null; /* what follows is no tap */
        if (!hit)
            return;
        if (p.x < LABEL)
            app.menu.showTrack(p.pageX, p.pageY, hit.row.track);
        else
            showMenuOfHit(app, hit, p.pageX, p.pageY);
    }
}

function middleOf(list) {
    const n = Math.max(1, list.length);
    return {x: list.reduce((s, p) => s + p.x, 0) / n, y: list.reduce((s, p) => s + p.y, 0) / n};
}

function apartOf([a, b]) {
    return a && b ? Math.max(10, Math.hypot(a.x - b.x, a.y - b.y)) : 0;
}
