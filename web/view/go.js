/* go.js - ways to a place of the trace: what the app does when a row, a hit or a note leads somewhere. Back leads to where one was.
 * SPDX-License-Identifier: MIT */

/** Methods of the app. */
export const going = {
    /** Go to a zone and select it. */
    async goTo(track, depth, t0, t1) {
        this.remember();
        const span = this.view.to - this.view.from, length = Math.max(0, t1 - t0);
        if (length > span * 0.8 || length < span / 200)
            this.fit({from: t0, to: t1}, length > span * 0.8 ? 0.1 : 4);
        else if (t0 < this.view.from || t1 > this.view.to)
            this.setView((t0 + t1 - span) / 2, (t0 + t1 + span) / 2);
        this.showTrack(track, depth);
        await this.selectZone(track, depth, t0, false);
    },

    /** Let a stretch of time fill the view, and select the zone of a track that is in it. */
    async goInto(track, depth, range) {
        this.remember();
        this.fit(range, 0.1);
        this.showTrack(track, depth);
        const turn = ++this.turn, {json} = await this.engine.ask({ask: 'zone', track, depth, at: range.from, slack: range.to - range.from});
        if (!json.zone || turn !== this.turn)
            return;
        json.zone.track = track;
        this.setSelection(json);
    },

    goToTime(t, track) {
        this.remember();
        const span = Math.min(this.view.to - this.view.from, (this.trace.range[1] - this.trace.range[0]) / 20);
        this.setView(t - span / 2, t + span / 2);
        if (track)
            this.showTrack(track);
    },

    async goToHit(hit) {
        if (hit.what === 'message')
            return this.goToTime(hit.t0, hit.track);
        return this.goTo(hit.track, hit.depth, hit.t0, hit.t1);
    },
};
