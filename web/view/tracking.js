/* tracking.js - what is done to tracks: shown, collapsed, hidden, pinned, filtered, moved.  SPDX-License-Identifier: MIT */
import {LANE} from './layout.js';
import {keep} from './kept.js';
import {setTextSize} from './scale.js';

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
        for (let t = track; t; t = this.trackOf(t.parent))
            isOpened = this.choice.hidden.delete(t.id) || isOpened;
        if (isOpened)
            tl.relayout();
        if (!tl.layout.byTrack.has(id) && !filter && this.choice.hidesEmpty) /* it has nothing in view yet */
            (this.choice.used || (this.choice.used = new Map())).set(id, depth + 1) && tl.relayout();
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
        this.changed('tracks');
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

    /** Hide tracks, or show all again. */
    hideTracks(ids) {
        for (const id of ids)
            this.choice.hidden.add(id);
        this.timeline.relayout();
        this.changed('tracks');
    },

    hideTrack(id) {
        const track = this.trackOf(id);
        this.hideTracks([id]);
        this.say(`${track.name} is hidden; Shift+H shows all tracks again.`);
    },

    /** Only these, what they are below, and what is below them. */
    hideOthers(ids) {
        const wanted = new Set(ids), isWanted = (t) => t && (wanted.has(t.id) || isWanted(this.trackOf(t.parent)));
        for (const id of ids)
            for (let t = this.trackOf(id); t; t = this.trackOf(t.parent))
                this.choice.hidden.delete(t.id);
        const above = new Set(ids.flatMap((id) => this.aboveOf(id)));
        this.hideTracks(this.trace.tracks.filter((t) => !isWanted(t) && !above.has(t.id)).map((t) => t.id));
    },

    aboveOf(id) {
        const out = [];
        for (let t = this.trackOf(id); t; t = this.trackOf(t.parent))
            out.push(t.id);
        return out;
    },

    /** The ids of the tracks right below one; of a rank, below its processes. */
    belowOf(track) {
        const kids = this.trace.tracks.filter((t) => t.parent === track.id);
        return track.kind === 'rank' ? kids.flatMap((t) => this.belowOf(t)) : kids.map((t) => t.id);
    },

    showAllTracks() {
        this.choice.hidden.clear();
        this.timeline.relayout();
        this.changed('tracks');
    },

    /** Which of 'hidesEmpty' and 'isCompact' is on; kept for the next visit. */
    setCompact(key, on) {
        this.choice[key] = on;
        keep(key, on ? 'yes' : 'no');
        this.presence.spoil();
        this.timeline.relayout();
    },

    /** How a plot is drawn: {zero, log}. */
    setPlot(id, how) {
        this.choice.plots.set(id, how);
        this.changed('tracks');
    },

    shareScale(on) {
        this.choice.sharesScale = on;
        this.changed('tracks');
    },

    /** Texts, and all that is drawn, so much larger. */
    setTextSize(size) {
        const chosen = setTextSize(size);
        this.timeline.resize();
        this.minimap.resize();
        if (this.beside)
            this.beside.timeline.resize();
        this.drawer.spoil();
        this.say(`Texts of ${100 * chosen} %.`);
    },

    /** All tracks at once, with lower depths; or depths as high as their names need. */
    toggleFitHeight() {
        this.choice.fitsHeight = !this.choice.fitsHeight;
        this.timeline.relayout();
        this.timeline.scrollTo(this.choice.fitsHeight ? 0 : this.timeline.scroll);
        this.changed('tracks');
    },

    filterTracks(text) {
        this.choice.filter = text;
        if (this.filter.value !== text)
            this.filter.value = text;
        this.timeline.relayout();
        this.changed('tracks');
    },

    setDepthLimit(id, n) {
        if (n)
            this.choice.limits.set(id, n);
        else
            this.choice.limits.delete(id);
        this.timeline.relayout();
        this.changed('tracks');
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
        this.changed('tracks');
    },
};
