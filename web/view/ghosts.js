/* ghosts.js - zones that nobody marked: below a thread's strip, the functions that its consecutive samples have in common, lighter than zones.
 * They are shown where a view has few enough samples to tell them apart, and only when they are switched on.
 * SPDX-License-Identifier: MIT */
import {GHOST, MARK_SAMPLES, PAD} from './layout.js';
import {colorOf, textOn} from './palette.js';
import {cutText} from './text.js';
import {keep, kept} from './kept.js';

const MAX_LANES = 24, MOST_SHAPES = 1000, MIN_LABEL = 28, MARGIN = 0.5, MOST_TRACKS = 16;

export class Ghosts {
    constructor(app) {
        this.app = app;
        this.isOn = kept('ghosts', 'no') === 'yes';
        this.answers = new Map(); /* track: {from, to, per, spoilt, json, arrays} */
        this.pending = new Set();
    }

    toggle() {
        this.isOn = !this.isOn;
        keep('ghosts', this.isOn ? 'yes' : 'no');
        this.app.choice.ghosts.clear();
        this.answers.clear();
        this.app.timeline.relayout();
    }

    update(view, rows) {
        if (this.engine !== this.app.engine) {
            this.engine = this.app.engine;
            this.answers.clear();
            this.pending.clear();
        }
        if (!this.isOn)
            return;
        for (const {track} of rows.filter((r) => !r.header && r.track.marks & MARK_SAMPLES).slice(0, MOST_TRACKS))
            if (!this.pending.has(track.id) && !this.serves(this.answers.get(track.id), view))
                this.ask(view, track.id);
    }

    serves(answer, view) {
        const {range} = this.app.trace;
        return answer && answer.spoilt === this.app.timeline.data.nSpoilt && (answer.from <= view.from || answer.from <= range[0]) && (answer.to >= view.to || answer.to >= range[1]) &&
            (answer.json.exact || answer.to - answer.from <= 1.01 * (1 + 2 * MARGIN) * (view.to - view.from));
    }

    async ask(view, track) {
        const {engine, app} = this, span = view.to - view.from, from = view.from - span * MARGIN, to = view.to + span * MARGIN, spoilt = app.timeline.data.nSpoilt;
        this.pending.add(track);
        const {json, arrays} = await engine.ask({ask: 'ghosts', track, from, to}).catch(() => ({json: {exact: false, n_depths: 0, functions: []}, arrays: null}));
        if (engine !== this.engine)
            return;
        this.pending.delete(track);
        this.answers.set(track, {from, to, spoilt, json, arrays});
        const lanes = Math.min(MAX_LANES, json.n_depths), before = app.choice.ghosts.get(track) || 0;
        if (lanes !== before && this.isOn) {
            app.choice.ghosts.set(track, lanes);
            app.timeline.relayout();
        }
        app.redraw();
    }

    paint(painter) {
        if (!this.isOn)
            return;
        this.left = MOST_SHAPES;
        painter.inPlaces((isHere) => {
            for (const {row, y} of painter.scene.rows)
                if (!row.header && isHere(row) && row.ghosts)
                    this.paintRow(painter, row, y + row.height - PAD - row.ghosts * GHOST);
        });
    }

    paintRow(painter, row, top) {
        const answer = this.answers.get(row.track.id), {ctx, scene} = painter;
        if (!answer || !answer.arrays)
            return;
        const {t0, t1, depth, function: functions} = answer.arrays;
        for (let i = 0; i < t0.length && this.left > 0; i++) {
            const x0 = Math.max(scene.label - 2, painter.x(t0[i])), x1 = Math.min(scene.width + 2, painter.x(t1[i]));
            if (x1 < scene.label || x0 > scene.width || depth[i] >= row.ghosts)
                continue;
            const name = answer.json.functions[functions[i] - 1] || '', css = colorOf(name), y = top + depth[i] * GHOST;
            this.left--;
            ctx.globalAlpha = 0.5;
            ctx.fillStyle = css;
            painter.rect(x0, y, Math.max(1, x1 - x0 - 0.5), GHOST - 1);
            ctx.globalAlpha = 1;
            if (x1 - x0 < MIN_LABEL)
                continue;
            ctx.fillStyle = this.app.theme === 'light' ? textOn(css) : painter.theme.text;
            painter.text(cutText(ctx, name, x1 - x0 - 6), x0 + 3, y + GHOST / 2);
        }
    }

    /** What is under a place: {kind: 'ghost', name, t0, t1, n}; null: nothing. */
    at(row, dy, t) {
        const answer = row.ghosts && this.answers.get(row.track.id), lane = row.ghosts ? Math.floor((dy - (row.height - PAD - row.ghosts * GHOST)) / GHOST) : -1;
        if (!answer || !answer.arrays || lane < 0)
            return null;
        const {t0, t1, depth, n, function: functions} = answer.arrays, i = t0.findIndex((from, k) => depth[k] === lane && from <= t && t1[k] > t);
        return i < 0 ? null : {kind: 'ghost', name: answer.json.functions[functions[i] - 1], t0: t0[i], t1: t1[i], n: n[i]};
    }
}
