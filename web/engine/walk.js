/* walk.js - goes over the zones of a range and of chosen tracks, block by block.
 * SPDX-License-Identifier: MIT */
import {tickAt} from './pixels.js';

/** What a question chooses: ticks [lo, hi] that zones begin in, tracks (null: all). */
export function chosen(trace, q) {
    const lo = q.from === undefined || q.from === null ? -Infinity : tickAt(trace, Number(q.from));
    const hi = q.to === undefined || q.to === null ? Infinity : tickAt(trace, Number(q.to)) - 1;
    return {lo, hi, tracks: trackSet(trace, q.tracks)};
}

/* A process stands for its tracks. */
function trackSet(trace, ids) {
    if (!Array.isArray(ids))
        return null;
    const set = new Set(ids);
    for (const t of trace.tracks)
        if (set.has(t.parent))
            set.add(t.id);
    return set;
}

export function isChosen(choice, track) {
    return !choice.tracks || choice.tracks.has(track);
}

/** `whole(track, part)` may take a part at once and say true; else `zones(track, list, part)` gets it. */
export async function walkThreads(trace, choice, {whole, zones, wantsPart}) {
    for (const block of trace.blocksIn(choice.lo, choice.hi)) {
        const parts = whole ? await trace.partsWithSums(block) : await trace.parts(block);
        for (let i = 0; i < parts.length; i++) {
            const part = parts[i], track = trace.threadTrack(part.proc, part.track);
            if (!isChosen(choice, track) || wantsPart && !wantsPart(part))
                continue;
            const inside = part.first - part.early >= choice.lo && part.last <= choice.hi;
            if (whole && inside && part.sums && whole(track, part))
                continue;
            const list = (await trace.decoded(block))[i];
            if (list && zones(track, list, part) === false)
                return;
        }
    }
}

/** Zones of fibers (and of spans or GPU contexts, if these kinds are asked for). */
export function walkLists(trace, choice, kinds, zones) {
    if (!trace.others)
        return;
    for (const [id, list] of trace.others.lists)
        if (isChosen(choice, id) && kinds.includes(trace.trackOf(id).kind))
            zones(id, list);
}
