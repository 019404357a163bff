/* twins.js - a program may be seen through more than one client at once: its processes and threads in the file are put
 * together as docs/file-format.md says ("One thread, several tracks"). Sets `twin` of each to the first of them.
 * SPDX-License-Identifier: MIT */

/* When a process was first heard of: its first thread's start. */
function firstTick(p) {
    return [...p.threads.values()].filter((t) => t.isKnown).reduce((first, t) => (first === null || t.start < first ? t.start : first), null);
}

/* The images of a process that calls exec have its pid and start time too, but one ends where the next begins. */
function overlap(a, b) {
    const x = firstTick(a), y = firstTick(b), isFirst = y === null || x !== null && x <= y, earlier = isFirst ? a : b, later = isFirst ? y : x;
    return !earlier.end || later !== null && later < earlier.end.tick;
}

function groups(list, keyOf) {
    const map = new Map();
    for (const x of list)
        (map.get(keyOf(x)) || map.set(keyOf(x), []).get(keyOf(x))).push(x);
    return map.values();
}

function pairProcesses(model) {
    for (const group of groups(model.list.filter((p) => p.isKnown && p.pid), (p) => `${p.pid}/${p.start}`)) {
        let first = group[0];
        for (const p of group.slice(1)) {
            if (overlap(first, p))
                p.twin = first.twin = first;
            else
                first = p;
        }
    }
}

/** Find them. Sets `hasTwins`: some thread has several tracks. */
export function findTwins(model) {
    model.hasTwins = false;
    pairProcesses(model);
    for (const group of groups(model.threads.filter((t) => t.process.twin && t.isKnown && t.tid), (t) => `${t.process.twin.index}/${t.tid}`))
        for (const t of group.slice(1))
            if (t.process !== group[0].process) { /* else one client's: the system used the number again */
                t.twin = group[0].twin = group[0];
                model.hasTwins = true;
            }
}
