/* flame.js - zones merged by the path of locations that leads to them.
 *
 * Zones come in the order of their ends; in the order of their begins each one's parents are known: those still open from
 * the parts before (carried along, looked up once at the start of the range) and those that began before it in its part.
 * SPDX-License-Identifier: MIT */
import {ENDED} from './part.js';
import {openAt} from './open.js';
import {rowNumber} from './rows.js';
import {isSummed} from './tables.js';
import {Choice} from './tracks.js';

const MOST_DEPTH = 512, MOST_EVENTS = 1 << 25, MOST_PATHS = 200000;
const keyOf = (parent, loc) => parent * 4294967296 + loc;

/* A tree of paths; nodes by key parent/loc, parents before children. When there are too many, the deepest levels are given up for good:
 * what is left is complete and adds up. */
export class Paths {
    constructor(isUp, most = MOST_PATHS) {
        Object.assign(this, {isUp, most, map: new Map(), nodes: [], levels: 0, leftOut: 0});
    }

    /* The child of a node (number + 1; 0: a root), made if its level is kept; 0: none. */
    child(parent, loc) {
        const depth = parent ? this.nodes[parent - 1].depth + 1 : 0, key = keyOf(parent, loc);
        if (this.levels && depth >= this.levels)
            return 0;
        const found = this.map.get(key);
        if (found)
            return found;
        if (this.nodes.length >= this.most) {
            this.leftOut++;
            return 0;
        }
        this.nodes.push({parent, loc, depth, count: 0, total: 0, self: 0});
        this.map.set(key, this.nodes.length);
        return this.nodes.length;
    }

    /* Take out nodes and all that is below them. */
    drop(isKept) {
        const numbers = [], nodes = [];
        this.nodes.forEach((node, i) => {
            if (isKept(node, i)) {
                node.parent = node.parent && numbers[node.parent - 1];
                nodes.push(node);
            }
            numbers.push(nodes.length);
        });
        this.leftOut += this.nodes.length - nodes.length;
        this.nodes = nodes;
        this.map = new Map(nodes.map((node, i) => [keyOf(node.parent, node.loc), i + 1]));
    }

    /* Room for one more path: levels are given up from the deepest on, until half of the nodes are free; never the roots. */
    makeRoom() {
        if (this.nodes.length + MOST_DEPTH <= this.most || this.levels === 1)
            return;
        const nAt = new Array(MOST_DEPTH).fill(0);
        for (const node of this.nodes)
            nAt[node.depth]++;
        for (let n = nAt[this.levels = 0]; ++this.levels < MOST_DEPTH;)
            if ((n += nAt[this.levels]) > this.most / 2)
                break;
        this.drop((node) => node.depth < this.levels);
    }

    /* Keep so many paths with the most time, and those that lead to them: a parent has at least its children's, even if it did not end. */
    choose(limit) {
        const ticks = this.nodes.map(() => 0);
        this.total = 0;
        for (let i = this.nodes.length; i-- > 0;) {
            const {parent, total} = this.nodes[i];
            ticks[i] = Math.max(total, ticks[i]);
            if (parent)
                ticks[parent - 1] += ticks[i];
            else
                this.total += ticks[i];
        }
        if (this.nodes.length <= limit)
            return;
        const order = ticks.map((_, i) => i).sort((a, b) => ticks[b] - ticks[a] || a - b), kept = new Set(order.slice(0, limit));
        this.drop((_, i) => kept.has(i));
    }

    add(zone, locs) {
        this.makeRoom();
        if (this.isUp)
            return this.addUp(zone, locs);
        let node = 0;
        for (let d = 0; d <= zone.depth; d++)
            if (!(node = this.child(node, locs[d] || 0)))
                return;
        const at = this.nodes[node - 1];
        at.count++;
        at.total += zone.ticks;
        at.self += zone.self;
    }

    addUp(zone, locs) {
        let node = 0;
        for (let d = zone.depth; d >= 0; d--) {
            if (!(node = this.child(node, locs[d] || 0)))
                return;
            const at = this.nodes[node - 1];
            at.count++;
            at.total += zone.self;
            at.self += d === zone.depth ? zone.self : 0;
        }
    }
}

/* Zones by their begins, each with the locations above it. */
function addZones(paths, zones, locs, span, numberOf) {
    zones.sort((a, b) => a.begin - b.begin || a.depth - b.depth);
    for (const z of zones) {
        locs[z.depth] = numberOf(z.loc);
        if (z.isEnded && z.begin >= span.lo && z.begin <= span.hi)
            paths.add(z, locs);
    }
}

function addPart(trace, paths, span, part, list, open) {
    const zones = [], locs = [], numberOf = (id) => trace.model.loc(part.thread.process.index, id);
    for (let i = 0; i < list.n; i++)
        if (list.state[i] === ENDED && list.depth[i] < MOST_DEPTH)
            zones.push({begin: list.begin[i], ticks: Math.max(0, list.end[i] - list.begin[i]), self: list.self[i], depth: list.depth[i], loc: list.id[i], isEnded: true});
    list.open.forEach((z, i) => {
        if (part.nBelow + i < MOST_DEPTH)
            zones.push({begin: z.begin, ticks: 0, self: 0, depth: part.nBelow + i, loc: z.id, isEnded: false});
    });
    open.forEach((z, depth) => {
        if (z)
            locs[depth] = numberOf(z.id);
    });
    addZones(paths, zones, locs, span, numberOf);
    list.open.forEach((z, i) => { open[part.nBelow + i] = z; });
    open.length = Math.min(MOST_DEPTH, part.nBelow + list.open.length);
}

async function addThreads(trace, paths, span, choice) {
    const isWanted = (t) => !t.twin && choice.hasThread(t), threads = trace.model.threads.filter(isWanted);
    const lists = span.lo > trace.firstEvent ? await openAt(trace, span.lo - 1, threads) : new Map();
    let n = 0;
    for (const [b, block] of trace.events.entries()) {
        if (block.max < span.lo || block.min > span.hi)
            continue;
        await trace.giveWay();
        const parts = await trace.parts(block), decoded = parts.some((p) => isWanted(p.thread)) ? await trace.decoded(block) : [];
        for (const [i, part] of parts.entries()) {
            if (!part.nEvents || part.last < span.lo || !isWanted(part.thread) || !decoded[i])
                continue;
            if (!lists.has(part.thread))
                lists.set(part.thread, []);
            addPart(trace, paths, span, part, decoded[i], lists.get(part.thread));
        }
        if ((n += block.nEvents) >= MOST_EVENTS)
            return b + 1 === trace.events.length;
    }
    return true;
}

/** Answer "flame". */
export async function flame(trace, q) {
    const span = trace.span(q), choice = new Choice(trace, q.tracks), limit = typeof q.limit === 'number' && q.limit >= 0 ? Math.floor(q.limit) : 20000;
    const paths = new Paths(q.mode === 'up'), exact = await addThreads(trace, paths, span, choice);
    for (const table of trace.tables.list)
        if (isSummed(table.kind) && choice.hasTable(table))
            addZones(paths, table.rows.filter((r) => r.depth < MOST_DEPTH).map((r) => ({begin: r.begin, ticks: r.end - r.begin, self: r.self, depth: r.depth, loc: r.loc, isEnded: r.end !== Infinity})),
                [], span, (loc) => rowNumber(trace, loc));
    paths.choose(Math.min(MOST_PATHS, limit));
    const column = (type, f) => type.from(paths.nodes, f), ns = (ticks) => trace.clock.duration(ticks);
    return {
        json: {left_out: paths.leftOut, ...paths.levels ? {levels: paths.levels} : {}, total: ns(paths.total), exact}, arrays: {
            parent: column(Uint32Array, (x) => x.parent), loc: column(Uint32Array, (x) => x.loc), count: column(Float64Array, (x) => x.count),
            total: column(Float64Array, (x) => ns(x.total)), self: column(Float64Array, (x) => ns(x.self)),
        },
    };
}
