/* data.js - what the timeline knows of the pixels: the newest answer, and one of the whole trace to fall
 * back on while the next answer is on its way. One question at a time is under way.
 * SPDX-License-Identifier: MIT */
import {isZones} from './layout.js';

const BUDGET = 40000, MARGIN = 0.5;

/* An answer, sorted by track and depth. */
class Answer {
    constructor(question, json, arrays) {
        this.from = question.from;
        this.to = question.to;
        this.perPixel = (question.to - question.from) / question.width;
        this.arrays = arrays;
        this.bucket = json.bucket_ns;
        this.seenDepths = json.seen_depths || Infinity; /* of threads: what is below was left out */
        this.asked = new Map(question.lanes.map(([id, , n]) => [id, n]));
        this.lanes = new Map();
        for (const [id, depth, first, n, k, value] of json.lanes)
            (this.lanes.get(id) || this.lanes.set(id, new Map()).get(id)).set(depth, {first, n, value, bucket: json.bucket_ns * 2 ** (k - json.k)});
    }

    lane(id, depth) {
        const track = this.lanes.get(id);
        return track && track.get(depth);
    }
}

export class PixelData {
    constructor(app) {
        this.app = app;
        this.fine = this.coarse = null;
        this.pending = false;
        this.again = false;
        this.stale = true;
        this.nAsked = 0;
        this.nSpoilt = 0;
    }

    /** Something changed: ask if what is known does not do. */
    update(view, rows, width) {
        if (!this.app.engine || !this.app.trace || !(width > 0))
            return;
        this.last = {view, rows, width};
        if (this.pending) {
            this.again = true;
            return;
        }
        const lanes = lanesOfRows(rows);
        if (!this.stale && this.serves(this.fine, view, lanes, width))
            return;
        this.ask(this.question(view, lanes, width), 'fine');
    }

    serves(answer, view, lanes, width) {
        if (!answer)
            return false;
        const per = (view.to - view.from) / width, range = this.app.trace.range;
        const inside = (answer.from <= view.from || answer.from <= range[0]) && (answer.to >= view.to || answer.to >= range[1]);
        return inside && answer.perPixel <= per * 1.3 && answer.perPixel >= per / 2.5 && lanes.every(([id, , n]) => (answer.asked.get(id) || 0) >= n);
    }

    question(view, lanes, width) {
        const span = view.to - view.from, range = this.app.trace.range;
        const from = Math.max(Math.min(view.from, range[0]), view.from - span * MARGIN), to = Math.min(Math.max(view.to, range[1]), view.to + span * MARGIN);
        return {ask: 'pixels', from, to, width: Math.max(1, Math.round(width * (to - from) / span)), budget: BUDGET, lanes};
    }

    async ask(question, slot) {
        if (!question.lanes.length)
            return;
        const turn = this.turn = (this.turn || 0) + 1;
        this.pending = true;
        this.stale = false;
        this.nAsked++;
        try {
            const {json, arrays} = await this.app.engine.ask(question);
            if (turn !== this.turn)
                return;
            this[slot] = new Answer(question, json, arrays);
            if (slot === 'fine' && (!this.coarse || covers(this.fine, this.app.trace.range)))
                this.coarse = this.fine;
            this.app.learnDepths(json.n_depths || []);
        } catch (error) {
            if (error.message !== 'overtaken')
                this.app.say(error.message);
        }
        if (turn !== this.turn)
            return;
        this.pending = false;
        this.app.redraw();
        if (this.again) {
            this.again = false;
            this.update(this.app.view, this.last.rows, this.last.width);
        }
    }

    /** Forget that answers are good, as the trace has grown. */
    spoil() {
        this.stale = true;
        this.nSpoilt++;
    }
}

function covers(answer, range) {
    return answer.from <= range[0] && answer.to >= range[1];
}

function lanesOfRows(rows) {
    const lanes = new Map();
    for (const row of rows)
        if (!row.header && !['cpu', 'asked'].includes(row.track.kind) && (row.track.n_depths || !row.track.marks))
            lanes.set(row.track.id, Math.max(lanes.get(row.track.id) || 0, isZones(row.track.kind) ? row.lanes : 1));
    return [...lanes].map(([id, n]) => [id, 0, Math.max(1, n)]);
}
