/* asked.js - answers of queries as tracks: rows that have a time are drawn above the trace's own tracks, one that has a duration as a box, one that has
 * none as a tick. A click on one goes to the place that the row is of.  SPDX-License-Identifier: MIT */
import {LANE, PAD} from './layout.js';
import {colorOf, textOn} from './palette.js';
import {cutText} from './text.js';
import * as format from './format.js';

const FIRST_ID = 0xf0000000, MOST_LANES = 6, MOST_SHAPES = 1200, MIN_LABEL = 26, TICK = 2;

/* The least free lane for each, in the order of their begins; where all are taken, the last. */
function place(rows) {
    const ends = [];
    for (const row of rows) {
        let lane = ends.findIndex((end) => end <= row.t0);
        if (lane < 0)
            lane = Math.min(ends.length, MOST_LANES - 1);
        ends[lane] = Math.max(ends[lane] || 0, row.t1);
        row.lane = lane;
    }
    return Math.max(1, ends.length);
}

export class Asked {
    constructor(app) {
        Object.assign(this, {app, tracks: [], n: 0, engine: null});
    }

    /** Add a track: rows are [{t0, t1, label, from}]. */
    add(name, rows, go) {
        this.begin();
        const sorted = rows.slice().sort((a, b) => a.t0 - b.t0 || b.t1 - a.t1), id = FIRST_ID + this.n++;
        const track = {id, parent: 0, kind: 'asked', name, pid: 0, tid: 0, n_depths: 1, marks: 0, n_lanes: place(sorted), rows: sorted, longest: sorted.reduce((m, r) => Math.max(m, r.t1 - r.t0), 0), go};
        this.tracks.unshift(track);
        this.app.timeline.relayout();
        this.app.timeline.scrollTo(0);
        return track;
    }

    remove(track) {
        this.tracks = this.tracks.filter((t) => t !== track);
        this.app.timeline.relayout();
    }

    /* They are of one trace. */
    begin() {
        if (this.engine !== this.app.engine)
            this.tracks = [];
        this.engine = this.app.engine;
    }

    /** Those of the trace that is shown. */
    list() {
        return this.engine === this.app.engine ? this.tracks : [];
    }

    trackOf(id) {
        return this.list().find((t) => t.id === id) || null;
    }

    paint(painter) {
        this.left = MOST_SHAPES;
        painter.inPlaces((isHere) => {
            for (const {row, y} of painter.scene.rows)
                if (isHere(row) && row.track.kind === 'asked')
                    this.paintRow(painter, row, y + PAD);
        });
    }

    /* The first row that can reach into the view: none is longer than the longest. */
    firstOf(track, from) {
        let lo = 0, hi = track.rows.length;
        while (lo < hi) {
            const mid = lo + hi >> 1;
            if (track.rows[mid].t0 < from - track.longest)
                lo = mid + 1;
            else
                hi = mid;
        }
        return lo;
    }

    /* What is narrow is left out where the pixel has one of its lane already: all that is there is seen. */
    paintRow(painter, {track, collapsed}, top) {
        const {ctx, scene} = painter, drawn = [];
        for (let i = this.firstOf(track, scene.view.from); i < track.rows.length && track.rows[i].t0 <= scene.view.to && this.left > 0; i++) {
            const row = track.rows[i], lane = collapsed ? 0 : row.lane, x0 = Math.max(scene.label - 2, painter.x(row.t0)), x1 = Math.min(scene.width + 2, Math.max(painter.x(row.t1), x0 + TICK));
            if (x1 < scene.label || x1 <= (drawn[lane] ?? -1))
                continue;
            drawn[lane] = x1;
            this.left--;
            const css = colorOf(row.label), y = top + lane * LANE;
            ctx.fillStyle = css;
            painter.rect(x0, y, Math.max(TICK, x1 - x0 - 0.5), LANE - 2);
            if (x1 - x0 < MIN_LABEL)
                continue;
            ctx.fillStyle = textOn(css);
            painter.text(cutText(ctx, row.label, x1 - x0 - 6), x0 + 3, y + LANE / 2 - 1);
        }
    }

    /** What is under a place: {kind: 'asked', …}; null: nothing. */
    at(row, dy, t) {
        const {track} = row;
        if (track.kind !== 'asked')
            return null;
        const {app} = this, slack = 3 * (app.view.to - app.view.from) / app.timeline.width, lane = Math.floor((dy - PAD) / LANE);
        let best = null;
        for (let i = this.firstOf(track, t - slack); i < track.rows.length && track.rows[i].t0 <= t + slack; i++) {
            const one = track.rows[i], isLane = row.collapsed || one.lane === lane, far = t < one.t0 ? one.t0 - t : Math.max(0, t - one.t1);
            if (isLane && far <= slack && (!best || far <= best.far))
                best = {far, one};
        }
        return best && {kind: 'asked', track, row: best.one, t0: best.one.t0, t1: best.one.t1};
    }

    tip({row, track}, p) {
        const {app} = this;
        app.tips.put(p, row.label, [['duration', row.t1 > row.t0 ? format.duration(row.t1 - row.t0) : ''], ['at', app.tips.time(row.t0)], ['of', track.name], ['', 'click: go to it']]);
    }

    select({row, track}) {
        return track.go(row.from);
    }

    menu(x, y, track) {
        this.app.menu.show(x, y, track.name, [['Remove it', () => this.remove(track)], ['Remove all of queries', () => {
            this.tracks = [];
            this.app.timeline.relayout();
        }]]);
    }
}
