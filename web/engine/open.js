/* open.js - which zones of a thread are open at a tick.
 *
 * For each thread: the last part that begins at or before the tick is replayed up to it. What was open before that part
 * and doesn't end in it (nBelow) is only counted there, so it is looked up where it began: in the last part before with a
 * lower nBelow, or in the list of open zones of an LOD block. A thread without events for long costs one look at each
 * LOD block.  SPDX-License-Identifier: MIT */
import {ENDED} from './part.js';

const MOST_DEPTHS = 512;

/* Parts of a block: the last of each thread that begins at or before the tick. */
async function lookAtParts(trace, block, tick, missing, places) {
    const parts = await trace.parts(block);
    for (let i = parts.length - 1; i >= 0; i--) {
        const {thread} = parts[i];
        if (!missing.has(thread) || !parts[i].nEvents || parts[i].first > tick)
            continue;
        missing.delete(thread);
        places.set(thread, {block, i, part: parts[i]});
    }
}

/* Where the end of a thread in an LOD block is before the tick, its list tells what is open; the others are inside. */
function lookAtNode(node, tick, missing, lists) {
    const inside = new Set();
    for (const t of node.tracks.values()) {
        if (!missing.has(t.thread) || t.first > tick)
            continue;
        if (t.last > tick || t.depth > t.open.length) {
            inside.add(t.thread);
            continue;
        }
        t.open.forEach((z, depth) => { lists.get(t.thread)[depth] = z; });
        missing.delete(t.thread);
    }
    return inside;
}

async function findPlaces(trace, tick, missing, lists) {
    const places = new Map(), blocks = trace.events;
    let inside = new Set();
    for (let b = blocks.length - 1; b >= 0 && missing.size; b--) {
        const block = blocks[b], {node} = block;
        if (node && block === node.blocks[node.blocks.length - 1])
            inside = node.min > tick ? new Set() : lookAtNode(node, tick, missing, lists);
        if (node && ![...inside].some((t) => missing.has(t))) {
            b -= node.blocks.indexOf(block);
            continue;
        }
        if (block.min <= tick)
            await lookAtParts(trace, block, tick, missing, places);
    }
    return places;
}

/* Who began the zone at `depth` that was open when the part at a place started; null: nobody knows. */
async function findBelow(trace, thread, place, depth) {
    const blocks = trace.events;
    for (let b = blocks.indexOf(place.block), before = place.i; b >= 0; b--, before = Infinity) {
        const {node} = blocks[b];
        if (node && blocks[b] !== place.block && blocks[b] === node.blocks[node.blocks.length - 1]) {
            const t = node.tracks.get(`${thread.proc}/${thread.track}`);
            if (!t) {
                b -= node.blocks.length - 1;
                continue;
            }
            if (depth < t.open.length)
                return t.open[depth];
        }
        const parts = await trace.parts(blocks[b]);
        const i = parts.findLastIndex((p, n) => p.thread === thread && p.nEvents && n < before && p.nBelow <= depth);
        if (i < 0)
            continue;
        const zones = (await trace.decoded(blocks[b]))[i];
        return zones && zones.open[depth - parts[i].nBelow] || null;
    }
    return null;
}

async function openInPart(trace, thread, place, tick, list) {
    const zones = (await trace.decoded(place.block))[place.i], {nBelow} = place.part;
    if (!zones)
        return;
    for (let i = 0; i < zones.n; i++)
        if (zones.state[i] === ENDED && zones.begin[i] <= tick && zones.end[i] > tick)
            list[zones.depth[i]] = {begin: zones.begin[i], id: zones.id[i]};
    zones.open.forEach((z, i) => {
        if (z.begin <= tick)
            list[nBelow + i] = {begin: z.begin, id: z.id};
    });
    for (let depth = 0; depth < Math.min(nBelow, MOST_DEPTHS); depth++) {
        const z = await findBelow(trace, thread, place, depth);
        if (z)
            list[depth] = {begin: z.begin, id: z.id};
    }
}

/** The zones of some threads that are open at a tick: thread to a list by depth of {begin, id}, with holes. */
export async function openAt(trace, tick, threads) {
    const lists = new Map(threads.map((t) => [t, []])), places = await findPlaces(trace, tick, new Set(threads), lists);
    for (const [thread, place] of places)
        await openInPart(trace, thread, place, tick, lists.get(thread));
    return lists;
}
