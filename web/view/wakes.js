/* wakes.js - who woke a thread: an arrow at the end of a wait, from the strip of the thread that ended it to that of the one that waited. Of the stretch that is
 * selected or pointed at, of all that a selected run woke, and of all waits that end in the selected area. A click on an arrow goes to who woke.
 * SPDX-License-Identifier: MIT */
import {MARK_STATES, STATES, stripTop} from './layout.js';
import {selectMark, stateOf} from './marks.js';

const MOST = 200, NEAR = 4, UNSEEN_LENGTH = 26, HEAD = 4, FOREIGN = 0x80000000;

/** The wake-up that a stretch of a thread tells of: {t, track, by}; null: none. */
export function wakeOf(track, mark) {
    if (!mark || mark.kind !== 'state' || !mark.one || !mark.who || stateOf(mark) === 0)
        return null;
    return {t: stateOf(mark) === 2 ? mark.t1 : mark.t0, track, by: mark.who};
}

export class Wakes {
    constructor(app) {
        this.app = app;
        this.hover = null;
        this.shown = []; /* {x, from, to, wake}: where arrows were drawn */
    }

    /** The pointer is at a place, over what `hit` says. An arrow stays while the pointer is on it. */
    point(hit, p) {
        if (!this.at(p))
            this.hover = hit && hit.mark ? wakeOf(hit.row.track.id, hit.mark) : null;
    }

    /** Those that a run made. */
    from(mark) {
        const list = [];
        if (mark && mark.kind === 'state' && mark.one && stateOf(mark) === 0)
            this.app.timeline.strips.eachWake(mark.t0, mark.t1, (track, t, by) => by === mark.track && list.push({t, track, by}));
        return list;
    }

    list() {
        const {mark, area} = this.app, {strips} = this.app.timeline, list = this.from(mark), own = mark && wakeOf(mark.track, mark), tracks = area && area.tracks ? new Set(area.tracks) : null;
        if (own)
            list.push(own);
        if (area)
            strips.eachWake(area.from, area.to, (track, t, by) => (!tracks || tracks.has(track)) && list.push({t, track, by}));
        return this.hover ? [this.hover, ...list] : list;
    }

    /** Called by the timeline, over what is painted. */
    draw() {
        const tl = this.app.timeline, {ctx, theme} = tl;
        this.shown = [];
        if (!this.app.trace.tracks.some((t) => t.marks & MARK_STATES))
            return;
        tl.clip();
        ctx.strokeStyle = ctx.fillStyle = theme.flow;
        ctx.lineWidth = 1.5;
        for (const wake of this.list().slice(0, MOST))
            this.arrow(tl, wake);
        ctx.restore();
        this.outline(tl);
    }

    /* The middle of a track's strip; of one that is not in the picture, of the group that it is in. Null: it is shown nowhere. */
    middle(tl, id) {
        this.app.trackOf(id);
        const place = tl.placeOf(id, this.app.tracksById);
        if (!place)
            return null;
        return place.row.header || !place.row.track.marks ? place.y + place.row.height / 2 : place.y + stripTop(place.row, MARK_STATES) + STATES / 2;
    }

    arrow(tl, wake) {
        const {ctx} = tl, x = tl.xOf(wake.t), to = this.middle(tl, wake.track), by = wake.by < FOREIGN ? this.middle(tl, wake.by) : null, from = by ?? to - UNSEEN_LENGTH;
        if (to === null || x < tl.width * -0.1 || x > tl.width * 1.1 || !tl.painter.take(3))
            return;
        const down = to > from ? -1 : 1, tip = to + down * STATES / 2;
        ctx.beginPath();
        ctx.moveTo(x, from);
        ctx.lineTo(x, tip);
        ctx.stroke();
        ctx.beginPath();
        ctx.arc(x, from, 2.5, 0, 2 * Math.PI);
        ctx.fill();
        ctx.beginPath();
        ctx.moveTo(x, tip);
        ctx.lineTo(x - HEAD, tip + down * 7);
        ctx.lineTo(x + HEAD, tip + down * 7);
        ctx.fill();
        if (by === null)
            tl.painter.text(tl.app.timeline.strips.whoText(wake.by), x + 6, from + 2);
        this.shown.push({x, from, to: tip + down * 4, wake});
    }

    /* The stretch that is selected. */
    outline(tl) {
        const {mark} = this.app;
        if (!mark || mark.kind !== 'state' || !mark.one)
            return;
        this.app.trackOf(mark.track);
        const place = tl.placeOf(mark.track, this.app.tracksById);
        if (!place || place.row.header)
            return;
        tl.clip();
        tl.ctx.lineWidth = 1.5;
        tl.ctx.strokeStyle = tl.theme.outline;
        const x0 = Math.max(-3, tl.xOf(mark.t0)), x1 = Math.min(tl.width + 3, tl.xOf(mark.t1));
        tl.painter.frame(x0, place.y + stripTop(place.row, MARK_STATES) - 1, Math.max(2, x1 - x0), STATES + 1);
        tl.ctx.restore();
    }

    /** The wake-up whose arrow is under a place; null: none. */
    at(p) {
        const found = p && this.shown.find(({x, from, to}) => Math.abs(x - p.x) <= NEAR && p.y >= Math.min(from, to) - NEAR && p.y <= Math.max(from, to) + (to > from ? -NEAR : NEAR));
        return found ? found.wake : null;
    }

    /** To the thread that woke, when it did: what it was doing is selected. */
    async goTo(wake) {
        return this.show(wake.by, wake.t, 'Woken by');
    }

    async show(id, t, words) {
        const {app} = this, track = app.trackOf(id), span = app.view.to - app.view.from;
        if (!track)
            return app.say(`${words} ${app.timeline.strips.whoText(id)}: the trace has no track of it.`);
        if (t < app.view.from || t > app.view.to) {
            app.remember();
            app.setView(t - span / 2, t + span / 2);
        }
        app.showTrack(id);
        const turn = ++app.turn, mark = await app.timeline.strips.stretchAt(id, t);
        return mark && turn === app.turn ? selectMark(app, {mark, row: {track}, t}) : undefined;
    }

    /** From the selected stretch to who woke it, or to the first that it woke. */
    step(forward) {
        const {app} = this, {mark} = app, own = wakeOf(mark.track, mark), [first] = this.from(mark).sort((a, b) => a.t - b.t);
        if (forward)
            return first ? this.show(first.track, first.t, 'It woke') : app.say('No thread in sight was woken by this stretch, as far as is known.');
        return own ? this.goTo(own) : app.say(stateOf(mark) ? 'Who ended this wait is not known: root sees it with `strobe record --waits`.' : 'A wait has who ended it; this thread runs.');
    }

    /** Beside the pointer. */
    tell(wake, p) {
        const {app} = this, track = app.trackOf(wake.track);
        app.tips.put(p, `woken by ${app.timeline.strips.whoText(wake.by)}`, [['thread', track ? track.name : ''], ['at', app.tips.time(wake.t)], ['', 'click: what it was doing']]);
    }
}
