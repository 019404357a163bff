/* tracking.js - what is done to tracks: shown, collapsed, hidden, pinned, filtered, moved.  SPDX-License-Identifier: MIT */
import {LANE} from './layout.js';

/** Methods of the app. */
export const tracking = {
    /** Scroll so that a track is seen; opens what it is below, and ends a filter that hides it. */
    showTrack(id, depth = 0) {
        const track = this.trackOf(id), tl = this.timeline, {collapsed, filter} = this.choice;
        if (!track)
            return;
        let isOpened = depth > 0 && collapsed.delete(id);
        for (let t = this.trackOf(track.parent); t; t = this.trackOf(t.parent))
            isOpened = collapsed.delete(t.id) || isOpened;
        if (isOpened)
            tl.relayout();
        if (!tl.layout.byTrack.has(id) && filter) {
            this.filterTracks('');
            this.say(`The filter “${filter}” hid ${track.name}: it is gone.`);
        }
        const row = tl.layout.byTrack.get(id), lane = row && Math.max(0, Math.min(depth, row.lanes - 1));
        if (row && !tl.isInSight(id, lane))
            tl.scrollTo(row.top + lane * LANE - tl.scrollRoom() / 3);
    },

    toggleCollapse(id) {
        const set = this.choice.collapsed;
        if (!set.delete(id))
            set.add(id);
        this.timeline.relayout();
    },

    togglePin(id) {
        const at = this.choice.pinned.indexOf(id);
        if (at >= 0)
            this.choice.pinned.splice(at, 1);
        else
            this.choice.pinned.push(id);
        this.timeline.relayout();
        this.changed('tracks');
    },

    filterTracks(text) {
        this.choice.filter = text;
        if (this.filter.value !== text)
            this.filter.value = text;
        this.timeline.relayout();
    },

    setDepthLimit(id, n) {
        if (n)
            this.choice.limits.set(id, n);
        else
            this.choice.limits.delete(id);
        this.timeline.relayout();
    },

    /** The track of the same parent that `target` is, or is below; null if there is none, or it is the track itself. */
    siblingOf(track, target) {
        let t = target;
        while (t && t.parent !== track.parent)
            t = this.trackOf(t.parent);
        return t && t.id !== track.id ? t : null;
    },

    /** Put a track before or after another of the same parent. */
    reorder(track, same, after) {
        const rows = this.timeline.layout.rows.filter((r) => r.track.parent === track.parent).map((r) => r.track.id).filter((id) => id !== track.id);
        rows.splice(rows.indexOf(same.id) + (after ? 1 : 0), 0, track.id);
        this.choice.order.set(track.parent, rows);
        this.timeline.relayout();
    },
};
