/* mouse.js - pointer and wheel on timeline and minimap, as keys.js's MOUSE table says.
 * SPDX-License-Identifier: MIT */
import {LABEL, RULER} from './timeline.js';
import {isZones} from './layout.js';
import {Touch} from './touch.js';
import {pointOn as at} from './scale.js';
import {showMenuOfHit} from './zonemenu.js';

const CLICK = 4, EDGE = 5, DOUBLE_MS = 400;

export class Mouse {
    constructor(app) {
        this.app = app;
        this.clicked = null; /* {item, x, y, at}: the first half of a double click, as the page was then */
        const {canvas} = app.timeline;
        const touch = new Touch(app), by = (e, name) => (e.pointerType === 'touch' ? touch[name](e) : this[name](e));
        canvas.addEventListener('pointerdown', (e) => by(e, 'down'));
        canvas.addEventListener('pointermove', (e) => by(e, 'move'));
        canvas.addEventListener('pointerup', (e) => by(e, 'up'));
        canvas.addEventListener('pointercancel', (e) => (e.pointerType === 'touch' ? touch.up(e) : this.cancel()));
        canvas.addEventListener('pointerleave', () => this.leave());
        canvas.addEventListener('contextmenu', (e) => e.preventDefault());
        canvas.addEventListener('auxclick', (e) => e.preventDefault());
        canvas.addEventListener('wheel', (e) => this.wheel(e), {passive: false});
        this.bindMinimap(app.minimap.canvas);
        window.addEventListener('pointerdown', (e) => this.press(e), true);
        window.addEventListener('dragstart', (e) => e.preventDefault()); /* what is marked is copied, never carried: the page would take it for a file */
        for (const name of ['click', 'dblclick'])
            window.addEventListener(name, (e) => this.swallow(e), true);
    }

    /* A second press soon after a click, at the same place of the screen: what was clicked is meant, whatever is there now, as
     * panels that the first click opened may cover it. */
    press(event) {
        const first = this.clicked;
        this.isSecond = false;
        this.clicked = null;
        if (!first || event.button !== 0 || event.timeStamp - first.at > DOUBLE_MS || Math.hypot(event.clientX - first.x, event.clientY - first.y) > CLICK)
            return;
        this.isSecond = true;
        event.preventDefault();
        event.stopPropagation();
        this.app.zoomTo(first.item);
    }

    /* The click of a second press is not meant for what is there now; those of keys (detail 0) are. */
    swallow(event) {
        if (!this.isSecond || !event.detail)
            return;
        event.preventDefault();
        event.stopPropagation();
    }

    bindMinimap(canvas) {
        const go = (event) => {
            const t = this.app.minimap.timeAt(at(event, canvas).x), half = (this.app.view.to - this.app.view.from) / 2;
            this.app.setView(t - half, t + half);
        };
        canvas.addEventListener('pointerdown', (e) => {
            canvas.setPointerCapture(e.pointerId);
            this.app.remember();
            go(e);
        });
        canvas.addEventListener('pointermove', (e) => e.buttons && go(e));
        canvas.addEventListener('wheel', (e) => {
            e.preventDefault();
            this.app.zoom(Math.exp(e.deltaY * 0.002), this.app.minimap.timeAt(at(e, canvas).x));
        }, {passive: false});
    }

    down(event) {
        const {app} = this, tl = app.timeline, p = at(event, tl.canvas);
        tl.canvas.focus({preventScroll: true});
        tl.canvas.setPointerCapture(event.pointerId);
        if (event.button === 1)
            event.preventDefault();
        const drag = {x: p.x, y: p.y, t: tl.timeAt(p.x), moved: false, button: event.button, view: {...app.view}, scroll: tl.scroll, ctrl: event.ctrlKey || event.metaKey};
        if (p.x < LABEL && p.y >= RULER)
            drag.mode = 'label';
        else if (tl.isOnScrollBar(p))
            drag.mode = 'scroll';
        else if (event.button === 2 || event.button === 0 && event.shiftKey)
            drag.mode = 'pan';
        else if (event.button === 1)
            drag.mode = 'zoom';
        else
            drag.mode = this.edgeAt(p.x) || 'area';
        tl.drag = drag;
        app.tips.hide();
    }

    /* The edge of the area under the pointer: it can be dragged. */
    edgeAt(x) {
        const {area} = this.app, tl = this.app.timeline;
        if (!area)
            return null;
        if (Math.abs(tl.xOf(area.from) - x) < EDGE)
            return 'from';
        return Math.abs(tl.xOf(area.to) - x) < EDGE ? 'to' : null;
    }

    move(event) {
        const {app} = this, tl = app.timeline, p = at(event, tl.canvas);
        tl.pointer = p;
        const drag = tl.drag;
        if (!drag) {
            tl.canvas.style.cursor = p.x < LABEL && p.y > RULER ? 'pointer' : this.edgeAt(p.x) ? 'ew-resize' : 'default';
            return app.tips.pointAt(p);
        }
        if (!drag.moved && Math.hypot(p.x - drag.x, p.y - drag.y) < CLICK)
            return;
        drag.moved = true;
        dragging[drag.mode](app, tl, drag, p);
        app.redraw();
    }

    up(event) {
        const {app} = this, tl = app.timeline, drag = tl.drag, p = at(event, tl.canvas);
        tl.drag = null;
        if (!drag)
            return;
        if (!drag.moved)
            this.click(event, drag, p);
        else if (drag.mode === 'zoom')
            this.endZoom(drag, p);
        else if (drag.mode === 'label')
            this.endReorder(drag, p);
        else if (drag.mode === 'pan')
            app.remember(drag.view);
        else if (drag.mode !== 'scroll')
            app.areaDone();
        app.redraw();
    }

    cancel() {
        this.app.timeline.drag = null;
        this.app.redraw();
    }

    leave() {
        if (this.app.timeline.drag)
            return;
        this.app.timeline.pointer = null;
        this.app.timeline.wakes.hover = null;
        this.app.tips.hide();
        this.app.setHover(null);
        this.app.redraw();
    }

    click(event, drag, p) {
        const {app} = this, hit = app.timeline.hit(p.x, p.y);
        if (drag.mode === 'label' && hit)
            return event.button === 2 ? app.menu.showTrack(event.clientX, event.clientY, hit.row.track) : app.toggleCollapse(hit.row.track.id);
        if (event.button === 1)
            return hit && hit.item && app.zoomTo(hit.item);
        if (event.button === 2)
            return showMenuOfHit(app, hit, event.clientX, event.clientY);
        if (event.button !== 0 || app.endMeasure(hit))
            return undefined;
        if (app.timeline.wakes.at(p))
            return app.timeline.wakes.goTo(app.timeline.wakes.at(p));
        if (hit && hit.item && drag.ctrl && isZones(hit.row.track.kind))
            return app.findZone(hit.item.loc);
        if (hit && hit.item)
            this.clicked = {item: hit.item, x: event.clientX, y: event.clientY, at: event.timeStamp};
        return app.selectHit(hit);
    }

    endZoom(drag, p) {
        const {app} = this, tl = app.timeline, a = Math.min(drag.t, tl.timeAt(p.x)), b = Math.max(drag.t, tl.timeAt(p.x));
        app.remember();
        if (!drag.ctrl)
            return app.setView(a, b);
        /* the view becomes as small as what was dragged over */
        const {from, to} = app.view, span = to - from, factor = span / Math.max(1, b - a);
        return app.setView(from - (a - from) * factor, from - (a - from) * factor + span * factor);
    }

    endReorder(drag, p) {
        const place = landing(this.app, this.app.timeline, drag, p);
        if (place)
            this.app.reorder(place.track, place.same, place.after);
    }

    wheel(event) {
        event.preventDefault();
        const {app} = this, tl = app.timeline, p = at(event, tl.canvas), unit = event.deltaMode === 1 ? 20 : event.deltaMode === 2 ? 300 : 1;
        const dx = event.deltaX * unit, dy = event.deltaY * unit, span = app.view.to - app.view.from;
        tl.pointer = p;
        app.tips.hide();
        if (event.ctrlKey || event.metaKey || p.y < RULER)
            return app.zoom(Math.exp(Math.max(-80, Math.min(80, dy)) * 0.0045), tl.timeAt(Math.max(LABEL, p.x)));
        if (event.shiftKey || Math.abs(dx) > Math.abs(dy))
            return app.pan((dx || dy) / (tl.width - LABEL) * span);
        if (app.wheelZooms === null)
            app.askWheel();
        if (app.wheelZooms && p.x >= LABEL)
            return app.zoom(Math.exp(Math.max(-120, Math.min(120, dy)) * 0.003), tl.timeAt(p.x));
        return tl.scrollTo(tl.scroll + dy);
    }
}

/* Where a track that is dragged by its name would land: before or after `same`. null: nowhere. */
function landing(app, tl, drag, p) {
    const from = tl.rowAt(drag.y), to = tl.rowAt(p.y), track = from && from.row.track, same = to && track && app.siblingOf(track, to.row.track);
    return same ? {track, same, after: p.y > to.y + to.row.height / 2} : null;
}

/* What a drag does while it moves. */
const dragging = {
    pan(app, tl, drag, p) {
        const per = (drag.view.to - drag.view.from) / (tl.width - LABEL), d = (drag.x - p.x) * per;
        app.setView(drag.view.from + d, drag.view.to + d);
        tl.scrollTo(drag.scroll + drag.y - p.y);
    },
    zoom(app, tl, drag) {
        drag.zoom = true;
    },
    label(app, tl, drag, p) {
        drag.landing = landing(app, tl, drag, p);
        tl.canvas.style.cursor = drag.landing ? 'grabbing' : 'not-allowed';
    },
    scroll(app, tl, drag, p) {
        tl.scrollTo(drag.scroll + (p.y - drag.y) / tl.scrollRoom() * tl.layout.height);
    },
    area(app, tl, drag, p) {
        const t = tl.timeAt(Math.max(LABEL, Math.min(tl.width, p.x))), top = Math.min(drag.y, p.y), bottom = Math.max(drag.y, p.y);
        const rows = drag.y < RULER ? null : tl.visibleRows().filter((r) => r.y < bottom && r.y + r.row.height > top);
        app.setArea(Math.min(drag.t, t), Math.max(drag.t, t), rows ? rows.filter((r) => r.row.track.kind !== 'asked').map((r) => r.row.track.id) : null);
    },
    from(app, tl, drag, p) {
        app.setArea(Math.min(tl.timeAt(p.x), app.area.to - 1), app.area.to, app.area.tracks);
    },
    to(app, tl, drag, p) {
        app.setArea(app.area.from, Math.max(tl.timeAt(p.x), app.area.from + 1), app.area.tracks);
    },
};
