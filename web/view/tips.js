/* tips.js - what is told beside the pointer: of a zone, a strip, a plot, messages, a track. The first words come from what is
 * drawn, within the frame; texts are asked for and added.  SPDX-License-Identifier: MIT */
import {placeOn} from './scale.js';
import {LABEL, RULER} from './timeline.js';
import {PIXEL_BEYOND, PIXEL_OPEN, PIXEL_ZONE} from '../facts.js';
import {fill, h} from './dom.js';
import {isZones} from './layout.js';
import {showMark} from './marks.js';
import * as format from './format.js';

const TEXT_MS = 150, LONGEST = 400;

export class Tips {
    constructor(app) {
        this.app = app;
        this.element = h('div', {class: 'tip', hidden: true});
    }

    time(t, step = 1) {
        return format.time(t, this.app.timeMode, this.app.trace, step);
    }

    /** The pointer is over a place of the timeline: outline, and a tip in the same frame. */
    pointAt(p) {
        const {app} = this, hit = app.timeline.hit(p.x, p.y), item = hit && hit.item, {wakes} = app.timeline;
        wakes.point(hit, p);
        app.setHover(item && item.loc && isZones(hit.row.track.kind) ? {loc: item.loc} : null);
        app.redraw();
        clearTimeout(this.timer);
        if (wakes.at(p)) {
            this.told = null;
            return wakes.tell(wakes.at(p), p);
        }
        this.told = item ? {row: hit.row.track.id, depth: hit.depth, t0: item.t0, loc: item.loc} : null;
        if (hit && hit.mark)
            return showMark(app, hit, p);
        if (!item)
            return hit && p.x < LABEL && p.y > RULER ? this.showTrack(hit, p) : this.hide();
        const tell = {plot: this.showPlot, messages: this.showMessages}[hit.row.track.kind] || (item.flags & PIXEL_ZONE ? this.showZone : this.showStrip);
        return tell.call(this, hit, p);
    }

    /** A frame was drawn: what moved away from under a pointer that rests is not told of any more, and what came there is. */
    refresh() {
        const {app} = this, tl = app.timeline, p = tl.pointer, told = this.told;
        if (!p || tl.drag || p.x < LABEL || !(app.trace.live && app.following) || app.menu.isOpen)
            return;
        const hit = tl.hit(p.x, p.y), item = hit && hit.item, isSame = item && told && told.row === hit.row.track.id && told.depth === hit.depth && told.loc === item.loc && Math.abs(told.t0 - item.t0) < 1;
        if (!isSame && (item || told))
            this.pointAt(p);
    }

    showTrack({row}, p) {
        const {track} = row, lost = this.app.trace.losses.filter((l) => l.track === track.id).reduce((n, l) => n + l.count, 0);
        this.put(p, track.name, [['kind', track.kind], ['pid', track.pid ? String(track.pid) : ''], ['tid', track.tid ? String(track.tid) : ''],
            ['depth', isZones(track.kind) ? String(track.n_depths) : ''], ['lost', lost ? `${format.count(lost)} events` : ''], ['', 'click: collapse · drag: move · right click: more']]);
    }

    showPlot({item, row}, p) {
        const value = (v) => format.plotValue(v, row.track.format), many = item.min !== item.max;
        this.put(p, row.track.name, [['value', value(item.last)], ['min', many ? value(item.min) : ''], ['max', many ? value(item.max) : ''], ['at', this.time(item.t0)]]);
    }

    showStrip({item, row}, p) {
        const loc = this.app.names.rows.get(item.loc);
        this.put(p, loc ? loc.name : row.track.name, [['zones', format.count(item.count)], ['busy', format.percent(item.busy)], ['over', format.duration(item.t1 - item.t0)],
            ['', item.count > 1 ? 'too small to draw: zoom in' : '']]);
    }

    showZone(hit, p) {
        const {item, row} = hit, loc = this.app.names.rows.get(item.loc);
        const isCut = item.flags & PIXEL_BEYOND && !(item.flags & PIXEL_OPEN) && row.track.kind === 'thread'; /* where it ends is asked for */
        const length = item.flags & PIXEL_OPEN ? 'never ends' : isCut ? '…' : format.duration(item.t1 - item.t0);
        const title = loc ? loc.name : row.track.kind === 'thread' ? '' : row.track.name;
        const rows = [['duration', length], ['begins', this.time(item.t0)], ['track', row.track.name], ['source', loc && loc.file ? `${loc.file}:${loc.line}` : '']];
        this.put(p, title, rows);
        this.timer = setTimeout(() => this.addText(hit, p, title, rows), isCut ? 0 : TEXT_MS);
    }

    /* Is the pointer still where it was when this was asked for? */
    isAt(p) {
        const now = this.app.timeline.pointer;
        return !this.element.hidden && now && now.x === p.x && now.y === p.y;
    }

    async addText(hit, p, title, rows) {
        const {json} = await this.app.engine.ask({ask: 'zone', track: hit.row.track.id, depth: hit.depth, at: hit.t, slack: 1}), z = json.zone;
        if (!z || !this.isAt(p))
            return;
        const image = hit.row.track.kind === 'frames' ? await this.app.images.at(hit.row.track.id, hit.t) : null;
        if (!this.isAt(p))
            return;
        rows[0][1] = z.t1 !== null ? format.duration(z.t1 - z.t0) : z.state === 'open' ? 'never ends' : 'its end is missing';
        this.put(p, z.name || title, [...rows, ['self', z.self === null || z.self === undefined ? '' : format.duration(z.self)], ['text', (z.text || '').slice(0, LONGEST)], ['value', z.value]], image);
    }

    async showMessages({item}, p) {
        const title = format.several(item.count, 'message');
        this.put(p, title, []);
        const {json} = await this.app.engine.ask({ask: 'messages', from: Math.floor(item.t0), to: Math.ceil(item.t1) + 1, limit: 5});
        if (this.isAt(p))
            this.put(p, title, json.messages.map((m) => [this.time(m.t, 1000), m.text.slice(0, LONGEST)]));
    }

    put(p, title, rows, image) {
        const at = placeOn(this.app.timeline.canvas, p.x, p.y);
        this.show(at.x, at.y, title, rows, image);
    }

    /** Beside a place on the page, wherever there is room; rows: [[word, value]], those without a value are left out; `image`: an element, or none. */
    show(x, y, title, rows, image = null) {
        fill(this.element, h('b', {}, title), rows.filter(([, v]) => v).map(([k, v]) => (k ? h('div', {}, h('small', {}, k), h('span', {}, v)) : h('small', {class: 'hint'}, v))), image);
        this.element.hidden = false;
        const w = this.element.offsetWidth, t = this.element.offsetHeight;
        this.element.style.left = `${Math.max(4, x + 16 + w > window.innerWidth ? x - w - 12 : x + 16)}px`;
        this.element.style.top = `${Math.max(4, Math.min(window.innerHeight - t - 4, y + 16))}px`;
    }

    hide() {
        clearTimeout(this.timer);
        this.element.hidden = true;
    }
}
