/* presence.js - which tracks have something in view, and how deep: asked for where empty ones or unused depths are left out.
 * SPDX-License-Identifier: MIT */
import {kept} from './kept.js';

const WIDTH = 64, AT_ONCE = 500, PAUSE_MS = 120;

export class Presence {
    constructor(app) {
        this.app = app;
        this.view = null; /* that `used` of the choice is of */
    }

    /** Another trace, with a choice of its own. */
    begin() {
        const {choice} = this.app;
        for (const key of ['hidesEmpty', 'isCompact'])
            choice[key] = kept(key, 'no') === 'yes';
        this.spoil();
    }

    spoil() {
        this.view = null;
    }

    /** A frame is drawn: if it is wanted and the view has changed, ask once it rests. */
    update(view) {
        const {choice} = this.app;
        if (!choice.hidesEmpty && !choice.isCompact || this.view && this.view.from === view.from && this.view.to === view.to)
            return;
        this.view = {...view};
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.ask({...view}), choice.used ? PAUSE_MS : 0);
    }

    async ask({from, to}) {
        const {app} = this, {choice, engine} = app, tracks = app.trace.tracks.filter((t) => t.n_depths || ['plot', 'messages', 'frames', 'locks'].includes(t.kind)), used = new Map();
        try {
            for (let at = 0; at < tracks.length; at += AT_ONCE) {
                const lanes = tracks.slice(at, at + AT_ONCE).map((t) => [t.id, 0, Math.max(1, t.n_depths)]);
                const {json, arrays} = await engine.ask({ask: 'pixels', from, to, width: WIDTH, budget: 200000, lanes});
                for (const [id, depth, first, n] of json.lanes)
                    if (isAny(arrays, first, first + n, from, to))
                        used.set(id, Math.max(used.get(id) || 0, depth + 1));
            }
        } catch (error) {
            if (error.message === 'overtaken')
                this.spoil(); /* then once more, with the next frame */
            return app.redraw();
        }
        if (choice !== app.choice || this.view && (this.view.from !== from || this.view.to !== to))
            return undefined;
        choice.used = used;
        return app.timeline.relayout();
    }
}

function isAny({t0, t1}, first, end, from, to) {
    for (let i = first; i < end; i++)
        if (t0[i] < to && t1[i] > from)
            return true;
    return false;
}
