/* ranks.js - processes of one rank below one row: in a merged trace they are called by it, "rank 3: solver" (docs/merge.md).
 * SPDX-License-Identifier: MIT */

const FIRST_ID = 0xe0000000, NAMED = /^rank (\d+): /;

/** The rank that a process is of, -1: none. */
export function rankOf(track) {
    const found = track && track.kind === 'process' && NAMED.exec(track.name);
    return found ? Number(found[1]) : -1;
}

/** What a track is called below the row that it is in. */
export function shortName(track) {
    return track.parent >= FIRST_ID && rankOf(track) >= 0 ? track.name.replace(NAMED, '') : track.name;
}

/** The tracks with a row for each rank, by number and before all else; as they are where no rank has two processes. */
export function groupedByRank(tracks) {
    const ranks = new Map();
    for (const t of tracks)
        if (rankOf(t) >= 0)
            (ranks.get(rankOf(t)) || ranks.set(rankOf(t), new Set()).get(rankOf(t))).add(t.id);
    if (ranks.size < 2 || [...ranks.values()].every((ids) => ids.size < 2))
        return tracks;
    const rows = [...ranks.keys()].sort((a, b) => a - b).map((rank) => ({id: FIRST_ID + rank, parent: 0, kind: 'rank', name: `rank ${rank}`, n_depths: 0, pid: 0, tid: 0}));
    return [...rows, ...tracks.map((t) => (rankOf(t) >= 0 ? {...t, parent: FIRST_ID + rankOf(t)} : t))];
}

/** A choice of groups offers ranks where the trace has some. */
export function offerRanks(select, tracks) {
    const option = select.querySelector('[value=rank]');
    option.hidden = option.disabled = !tracks.some((t) => rankOf(t) >= 0);
    if (option.disabled && option.selected)
        select.selectedIndex = 0;
}
