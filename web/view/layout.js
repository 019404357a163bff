/* layout.js - which tracks are shown, where, how high. Knows nothing of canvases.
 * SPDX-License-Identifier: MIT */

export const FULL_LANE = 19, LEAST_LANE = 6, LOW_LANE = 8, PAD = 3, HEAD = 26, PLOT = 44, MARKS = 20, MAX_LANES = 512;
export let LANE = FULL_LANE; /* the height of a depth */
export const STATES = 10, TICKS = 7, GHOST = 15; /* heights of what lies under a thread's zones */
export const MARK_STATES = 1, MARK_SAMPLES = 2;

/** Depths are this high from now on. */
export function setLane(px) {
    LANE = px;
}

/** What the user did to the tracks; kept per trace. */
export class TrackChoice {
    constructor() {
        this.collapsed = new Set();
        this.pinned = [];
        this.filter = '';
        this.order = new Map();  /* parent: ids in their order */
        this.limits = new Map(); /* id: depth limit */
        this.ghosts = new Map(); /* id: lanes of functions that samples tell of */
        this.hidden = new Set(); /* ids that are not shown, with what is below them */
        this.used = null;        /* id: depths with something in view; those that are missing have nothing. null: that is not known */
        this.plots = new Map();  /* id: {zero, log}: how the values of a plot are drawn */
        this.sharesScale = false; /* plots of one unit have one scale */
        this.fitsHeight = false; /* depths are as low as it takes to see all tracks */
        this.hidesEmpty = this.isCompact = false; /* what has nothing in view is left out; depths that have nothing, too */
    }
}

const isGroupKind = (kind) => ['rank', 'process', 'device', 'core', 'cpus'].includes(kind);

export function isZones(kind) {
    return ['thread', 'fiber', 'spans', 'gpu', 'risc', 'core', 'device'].includes(kind);
}

/** Zones of one depth may lie over each other: of a GPU, where one that never ends is not the parent of those after it. */
export function mayOverlap(kind) {
    return ['gpu', 'risc', 'core', 'device'].includes(kind);
}

/* Lanes of functions below a thread's strip. */
function ghostsOf(track, choice) {
    return choice.collapsed.has(track.id) ? 0 : choice.ghosts.get(track.id) || 0;
}

function heightOf(track, lanes, collapsed, ghosts) {
    if (track.kind === 'plot')
        return collapsed || LANE < LOW_LANE ? MARKS : PLOT;
    if (track.kind === 'asked')
        return (collapsed ? 1 : track.n_lanes) * LANE + 2 * PAD;
    if (!isZones(track.kind))
        return MARKS + 2;
    if (track.marks)
        return Math.max(HEAD, lanes * LANE + 2 * PAD + marksHeight(track)) + ghosts * GHOST;
    return Math.max(1, lanes) * LANE + 2 * PAD;
}

function marksHeight({marks}) {
    return (marks & MARK_STATES ? STATES + 1 : 0) + (marks & MARK_SAMPLES ? TICKS + 1 : 0);
}

/** Where a row's strip or its ticks begin, below its top. */
export function stripTop(row, mark) {
    return row.height - PAD - row.ghosts * GHOST - marksHeight(row.track) + (mark === MARK_SAMPLES && row.track.marks & MARK_STATES ? STATES + 1 : 0);
}

/** Lanes of a track that are drawn. */
function lanesOf(track, choice) {
    if (!isZones(track.kind) || choice.collapsed.has(track.id))
        return Math.min(1, track.n_depths);
    const used = choice.isCompact && choice.used ? Math.max(1, choice.used.get(track.id) || 0) : MAX_LANES;
    return Math.min(track.n_depths, choice.limits.get(track.id) || MAX_LANES, used);
}

/** Tracks that are left out: hidden, or below such a one; or with nothing in view, if that is wanted. A group without a track goes, too. */
function leftOut(tracks, choice) {
    const out = new Set(), kept = new Set();
    for (const t of tracks) /* parents come before children */
        if (choice.hidden.has(t.id) || out.has(t.parent))
            out.add(t.id);
    if (!choice.hidesEmpty || !choice.used)
        return out;
    const isUsed = (t) => choice.used.has(t.id) || t.marks || t.kind === 'cpu';
    for (const t of tracks.slice().reverse())
        if (!out.has(t.id) && (kept.has(t.id) || !isGroupKind(t.kind) && isUsed(t)))
            kept.add(t.id).add(t.parent);
    for (const t of tracks)
        if (!kept.has(t.id))
            out.add(t.id);
    return out;
}

function inOrder(tracks, choice, parent) {
    const order = choice.order.get(parent);
    if (!order)
        return tracks;
    const place = new Map(order.map((id, i) => [id, i]));
    return tracks.slice().sort((a, b) => (place.get(a.id) ?? 1e9) - (place.get(b.id) ?? 1e9));
}

export class Layout {
    constructor() {
        this.rows = [];
        this.pinned = [];
        this.height = this.pinnedHeight = 0;
        this.byTrack = new Map();
    }

    /** Place all tracks anew. */
    build(tracks, choice) {
        const kids = new Map(), out = leftOut(tracks, choice);
        for (const t of tracks)
            (kids.get(t.parent) || kids.set(t.parent, []).get(t.parent)).push(t);
        this.rows = [];
        this.byTrack.clear();
        const text = choice.filter.toLowerCase(), fits = (t) => !text || t.name.toLowerCase().includes(text), above = new Set(); /* what fits, and what it is below */
        for (const t of tracks.slice().reverse()) /* parents come before children */
            if (fits(t) || above.has(t.id))
                above.add(t.id).add(t.parent);
        let y = 0;
        const put = (track, header, level) => {
            const lanes = header ? 0 : lanesOf(track, choice), collapsed = choice.collapsed.has(track.id), ghosts = ghostsOf(track, choice);
            const row = {track, header, level, top: y, lanes, collapsed, ghosts, pinned: false, height: header ? HEAD : heightOf(track, lanes, collapsed, ghosts)};
            this.rows.push(row);
            this.byTrack.set(track.id, row);
            y += row.height;
        };
        const visit = (parent, level, parentFits) => {
            for (const track of inOrder(kids.get(parent) || [], choice, parent)) {
                const ok = parentFits || fits(track), isGroup = isGroupKind(track.kind) && kids.has(track.id);
                if (!ok && !above.has(track.id) || out.has(track.id))
                    continue;
                put(track, isGroup, level);
                if (!choice.collapsed.has(track.id) || !isGroup)
                    visit(track.id, level + 1, ok && text !== '');
            }
        };
        visit(0, 0, !text);
        this.height = y;
        this.pin(tracks, choice);
    }

    pin(tracks, choice) {
        const byId = new Map(tracks.map((t) => [t.id, t]));
        let y = 0;
        this.pinned = choice.pinned.map((id) => byId.get(id)).filter(Boolean).map((track) => {
            const lanes = lanesOf(track, choice), ghosts = ghostsOf(track, choice), row = {track, header: false, level: 0, top: y, lanes, collapsed: choice.collapsed.has(track.id), ghosts, pinned: true,
                height: heightOf(track, lanes, choice.collapsed.has(track.id), ghosts)};
            y += row.height;
            return row;
        });
        this.pinnedHeight = y;
    }

    /** How high depths may be for all rows to fit. */
    laneFor(room) {
        const n = this.rows.reduce((sum, row) => sum + (row.header || !isZones(row.track.kind) ? 0 : Math.max(1, row.lanes)), 0);
        return Math.max(LEAST_LANE, Math.min(FULL_LANE, Math.floor((room - (this.height - n * LANE)) / Math.max(1, n))));
    }

    /** Rows that are seen between two heights. */
    between(top, bottom) {
        let lo = 0, hi = this.rows.length;
        while (lo < hi) {
            const mid = lo + hi >> 1;
            if (this.rows[mid].top + this.rows[mid].height <= top)
                lo = mid + 1;
            else
                hi = mid;
        }
        const out = [];
        for (; lo < this.rows.length && this.rows[lo].top < bottom; lo++)
            out.push(this.rows[lo]);
        return out;
    }
}
