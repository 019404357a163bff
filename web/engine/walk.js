/* walk.js - goes over the zones of a range and of chosen tracks, block by block.
 * SPDX-License-Identifier: MIT */
import {ENDED} from './part.js';
import {rowNumber} from './rows.js';
import {tableTrack, threadTrack} from './tracks.js';

/** Zones of threads that end in the parts of a range, in the order of the file; threads with several tracks are left out.
 *  `whole(part)` may take a part at once and say true; else `zones(list, part)` gets it. False: not all, after `most` events. */
export async function walkThreads(trace, span, choice, {whole, zones, wantsPart, most = Infinity}) {
    let n = 0;
    for (const [b, block] of trace.events.entries()) {
        if (block.max < span.lo || block.min > span.hi)
            continue;
        await trace.giveWay();
        const parts = whole ? await trace.partsWithSums(block) : await trace.parts(block);
        for (const [i, part] of parts.entries()) {
            if (part.thread.twin || !part.nEvents || !choice.hasThread(part.thread) || part.last < span.lo || part.first - part.early > span.hi || wantsPart && !wantsPart(part))
                continue;
            if (whole && part.sums && part.first - part.early >= span.lo && part.last <= span.hi && whole(part))
                continue;
            const list = (await trace.decoded(block))[i];
            n += part.nEvents;
            if (list)
                zones(list, part);
        }
        if (n >= most)
            return b + 1 === trace.events.length;
    }
    return true;
}

/** Whether a part has zones of a location: any of these numbers. */
export function hasLoc(trace, part, numbers) {
    const {index} = part.thread.process;
    return part.locs.some((id) => numbers.has(trace.model.loc(index, id))) || part.stack.some((z) => numbers.has(trace.model.loc(index, z.id)));
}

/** Every zone that ended and begins in the range, one by one: `take({begin, end, self, track, depth, loc, extra})`; those of
 *  threads, then those of tables. False: not all. */
export async function walkZones(trace, span, choice, {take, wantsPart, most}) {
    const isIn = (begin) => begin >= span.lo && begin <= span.hi;
    const isWhole = await walkThreads(trace, span, choice, {wantsPart, most, zones(list, part) {
        const track = threadTrack(part.thread), {index} = part.thread.process;
        for (let i = 0; i < list.n; i++)
            if (list.state[i] === ENDED && isIn(list.begin[i]))
                take({begin: list.begin[i], end: Math.max(list.begin[i], list.end[i]), self: list.self[i], track, depth: list.depth[i], loc: trace.model.loc(index, list.id[i]), extra: list.extras.get(i) || null});
    }});
    for (const table of trace.tables.list)
        for (const row of table.hasZones && choice.hasTable(table) ? table.rows : [])
            if (row.end !== Infinity && isIn(row.begin))
                take({...row, track: tableTrack(table), loc: rowNumber(trace, row.loc)});
    return isWhole;
}

/** Whether a text has some words, whatever the case of ASCII letters; `words` by asciiLower. */
export function hasWords(text, words) {
    return asciiLower(text).includes(words);
}

export function asciiLower(text) {
    return text.replace(/[A-Z]+/g, (s) => s.toLowerCase());
}

/** A whole number of a question. */
export function countOf(x, otherwise, most) {
    return typeof x === 'number' && x >= 0 ? Math.min(most, Math.floor(x)) : otherwise;
}

/** By time, then by track and depth, then as they were found. */
export function byTime(a, b) {
    return a.begin - b.begin || a.track - b.track || a.depth - b.depth || a.order - b.order;
}
