/* path.js - the critical path on the timeline: a line along the top of the track that it is on, in the colour of what it was spent with, and a line from
 * track to track where it went over.  SPDX-License-Identifier: MIT */
import {THEMES} from './palette.js';

const THICK = 4, MOST_SHAPES = 1000, EDGE = 1;

/** Colours of what a path is spent with, by the numbers of `strobe explain` (src/explain/path.h). */
export function pathColors(themeName) {
    const t = THEMES[themeName];
    return [t.states[0], t.plot, t.states[1], t.loss, t.note, t.dim, t.lock, t.flow, t.none];
}

export class Path {
    constructor(app) {
        Object.assign(this, {app, of: null, isShown: true, n_drawn: 0, told: () => {}}); /* told: of whether it is shown */
    }

    show(isShown) {
        this.isShown = isShown;
        this.told(isShown);
        this.app.redraw();
    }

    /** Show the path of an answer ({json, arrays}); null: none. */
    set(answer) {
        this.of = answer && {...answer, engine: this.app.engine};
        this.app.redraw();
    }

    get isThere() {
        return Boolean(this.of && this.isShown && this.of.engine === this.app.engine && this.of.arrays.t0.length);
    }

    /* The first stretch that ends after a time: they follow each other. */
    first(from) {
        const {t1} = this.of.arrays;
        let lo = 0, hi = t1.length;
        while (lo < hi) {
            const mid = lo + hi >> 1;
            if (t1[mid] < from)
                lo = mid + 1;
            else
                hi = mid;
        }
        return lo;
    }

    draw(timeline) {
        this.n_drawn = 0;
        if (!this.isThere)
            return;
        const {ctx, painter, app} = timeline, {t0, t1, track, class: kinds} = this.of.arrays, byId = new Map(app.trace.tracks.map((t) => [t.id, t])), colors = pathColors(app.theme), places = new Map();
        const placeOf = (id) => {
            if (!places.has(id)) {
                const at = timeline.placeOf(id, byId);
                places.set(id, at ? at.y + EDGE : null);
            }
            return places.get(id);
        };
        timeline.clip();
        let before = null, lastX = -1;
        for (let i = Math.max(0, this.first(app.view.from) - 1); i < t0.length && t0[i] <= app.view.to && this.n_drawn < MOST_SHAPES; i++) {
            const y = placeOf(track[i]), x0 = Math.max(-10, timeline.xOf(t0[i])), x1 = Math.min(timeline.width + 10, timeline.xOf(t1[i]));
            if (y === null || x1 < lastX + 0.5 && before === y) /* that pixel has one of this track */
                continue;
            if (before !== null && before !== y && x0 > lastX - 1) {
                ctx.fillStyle = timeline.theme.outline;
                painter.rect(x0 - 0.5, Math.min(y, before), 1, Math.abs(y - before) + THICK);
                this.n_drawn++;
            }
            ctx.fillStyle = timeline.theme.outline;
            painter.rect(x0, y - EDGE, Math.max(1, x1 - x0), THICK + 2 * EDGE);
            ctx.fillStyle = colors[kinds[i]];
            painter.rect(x0, y, Math.max(1, x1 - x0), THICK);
            this.n_drawn += 2;
            before = y;
            lastX = x1;
        }
        ctx.restore();
    }
}
