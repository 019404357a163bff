/* loose.js - pairs what one track can't: zones of fibers, spans, and zones of a thread that several tracks have; over
 * all tracks by time. Rules: docs/file-format.md, "Fibers", "Spans" and "One thread, several tracks".
 * SPDX-License-Identifier: MIT */
import {addExtra, BEGIN, END_LOST} from './part.js';
import {rowLoc} from './rows.js';

const SPAN_BEGIN = 21, SPAN_END = 22, MOST_DEPTHS = 512;

/* The table of an event's track. */
function tableOf(tables, e) {
    const {model} = tables.trace, {process} = e.thread;
    if (e.lane === 'fiber')
        return tables.make('fiber', process, e.id, () => model.fiberName(process, e.id));
    if (e.lane === 'spans')
        return tables.make('spans', process, 0, () => 'spans');
    const first = e.thread.twin, table = tables.make('thread', first.process, first.index, null);
    table.thread = first;
    tables.threads.set(first.index, table);
    return table;
}

function laneKey(e) {
    return e.lane === 'thread' ? `t${e.thread.twin.index}` : `${e.lane}/${e.thread.process.index}/${e.id}`;
}

/* The zone at `at` of what is open ends. */
function end(tables, open, at, e) {
    const [zone] = open.splice(at, 1), ticks = Math.max(0, e.tick - zone.begin);
    if (at)
        open[at - 1].children += ticks;
    tables.add(tableOf(tables, e), {begin: zone.begin, end: zone.begin + ticks, loc: rowLoc(e.thread.process, zone.id), depth: at, self: Math.max(0, ticks - zone.children), extra: zone.extra});
}

/* An end names the location: what is open above is unfinished, of a shared thread if it is of the same track. */
function endNamed(tables, open, e) {
    const isShared = e.lane === 'thread';
    tableOf(tables, e);
    let at = open.length - 1;
    while (at >= 0 && (open[at].id !== e.value || isShared && open[at].thread !== e.thread))
        at--;
    if (at < 0)
        return;
    for (let i = open.length - 1; i > at; i--)
        if (!isShared || open[i].thread === e.thread)
            open.splice(i, 1);
    end(tables, open, at, e);
}

function note(open, e) {
    let at = open.length - 1;
    while (at >= 0 && e.lane === 'thread' && open[at].thread !== e.thread)
        at--;
    if (at >= 0)
        addExtra(open[at].extra || (open[at].extra = {}), e.kind, e.value);
}

function pair(tables, open, e) {
    if (e.kind === SPAN_BEGIN && open.length) {
        tableOf(tables, e);
        open.length = 0; /* unfinished */
    }
    if (e.kind === BEGIN || e.kind === SPAN_BEGIN)
        open.push({begin: e.tick, id: e.value, thread: e.thread, event: e, children: 0, extra: null});
    else if (e.kind === END_LOST)
        endNamed(tables, open, e);
    else if (e.kind !== SPAN_END)
        note(open, e);
    else if (open.length)
        end(tables, open, open.length - 1, e);
    else
        tableOf(tables, e);
}

/* Spans may overlap: each gets the least depth that is free. */
function stackSpans(table) {
    const busy = [];
    table.rows.sort((a, b) => a.begin - b.begin);
    for (const row of table.rows) {
        let depth = busy.findIndex((until) => until <= row.begin);
        depth = Math.min(depth < 0 ? busy.length : depth, MOST_DEPTHS - 1);
        busy[depth] = row.end;
        row.depth = depth;
    }
    table.nDepths = Math.max(1, busy.length);
}

/** Pair all loose events of the tables. */
export function pairLoose(tables) {
    const lanes = new Map();
    tables.loose.sort((a, b) => a.tick - b.tick);
    for (const e of tables.loose) {
        const key = laneKey(e);
        if (!lanes.has(key))
            lanes.set(key, []);
        pair(tables, lanes.get(key), e);
    }
    for (const open of lanes.values())
        open.forEach((zone, depth) => tables.add(tableOf(tables, zone.event),
            {begin: zone.begin, end: Infinity, loc: rowLoc(zone.thread.process, zone.id), depth, self: 0, extra: zone.extra}));
    tables.list.filter((t) => t.kind === 'spans').forEach(stackSpans);
}
