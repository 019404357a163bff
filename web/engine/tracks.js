/* tracks.js - the tracks of a trace: their numbers, their order on the page, and which of them a question chooses.
 * SPDX-License-Identifier: MIT */

/* Numbers: kind · 2^28 + index. */
const PROCESS = 1, THREAD = 2, TABLE = 3, KIND = 1 << 28;
const BEHIND = ['fiber', 'spans', 'gpu', 'device', 'plot', 'locks'], BELOW = {device: 'core', core: 'risc'};

export function processTrack(process) {
    return PROCESS * KIND + (process.twin || process).index;
}

export function threadTrack(thread) {
    return THREAD * KIND + (thread.twin || thread).index;
}

export function tableTrack(table) {
    return table.kind === 'thread' ? threadTrack(table.thread) : TABLE * KIND + table.index;
}

/** What a number stands for: {process}, {thread, table} or {table}; null: nothing. */
export function trackOf(trace, id) {
    const kind = Math.floor(id / KIND), index = id % KIND, model = trace.model;
    if (kind === PROCESS && model.list[index])
        return {id, process: model.list[index], table: null, thread: null};
    if (kind === THREAD && model.threads[index]) {
        const thread = model.threads[index];
        return {id, thread, table: thread.twin ? trace.tables.threads.get(index) || null : null, process: null};
    }
    const table = kind === TABLE ? trace.tables.list[index] : null;
    return table ? {id, table, thread: null, process: null} : null;
}

function tableRow(trace, table, owner) {
    const row = {id: tableTrack(table), parent: table.parent ? tableTrack(table.parent) : processTrack(owner), kind: table.kind, name: table.name(),
        n_depths: BELOW[table.kind] ? 0 : table.nDepths, pid: owner.pid, tid: 0};
    if (table.kind === 'plot') {
        const plot = table.process.plots.get(table.id) || {format: 0, step: 0, color: 0};
        Object.assign(row, {format: plot.format, step: plot.step, color: plot.color});
    }
    return row;
}

/* Tables of a kind, each with what is below it. */
function listTables(trace, out, owner, kind, parent = null) {
    for (const table of trace.tables.list) {
        if (table.kind !== kind || table.parent !== parent || (table.process.twin || table.process) !== owner)
            continue;
        out.push(tableRow(trace, table, owner));
        if (BELOW[kind])
            listTables(trace, out, owner, BELOW[kind], table);
    }
}

/** All tracks, parents before children, in the order in which they are shown. */
export function listTracks(trace) {
    const model = trace.model, out = [], byOwner = new Map(model.list.map((p) => [p, []]));
    for (const thread of model.threads)
        if (!thread.twin || thread.twin === thread)
            byOwner.get(thread.process.twin || thread.process).push(thread);
    for (const p of model.list) {
        if (p.twin && p.twin !== p)
            continue;
        out.push({id: processTrack(p), parent: 0, kind: 'process', name: model.processName(p), n_depths: 0, pid: p.pid, tid: 0});
        listTables(trace, out, p, 'frames');
        listTables(trace, out, p, 'messages');
        for (const t of byOwner.get(p)) {
            const table = t.twin ? trace.tables.threads.get(t.index) : null;
            out.push({id: threadTrack(t), parent: processTrack(p), kind: 'thread', name: model.threadName(t),
                n_depths: t.twin ? table ? table.nDepths : 1 : trace.depthsOf(t), pid: p.pid, tid: t.tid});
        }
        for (const kind of BEHIND)
            listTables(trace, out, p, kind);
    }
    return out;
}

/** What a question's `tracks` chooses: a track stands for those below it. */
export class Choice {
    constructor(trace, ids) {
        this.ids = Array.isArray(ids) ? new Set(ids) : null;
        this.trace = trace;
    }

    hasThread(thread) {
        return !this.ids || this.ids.has(threadTrack(thread)) || this.ids.has(processTrack(thread.process));
    }

    hasTable(table) {
        if (!this.ids)
            return true;
        if (table.kind === 'thread')
            return this.hasThread(table.thread);
        for (let t = table; t; t = t.parent)
            if (this.ids.has(tableTrack(t)))
                return true;
        return this.ids.has(processTrack(table.process));
    }

    /** A message is of its thread, and of its process's track of messages. */
    hasMessage(message) {
        return this.hasThread(message.thread) || this.hasTable(message.table);
    }
}
