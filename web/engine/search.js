/* search.js - find, messages, frames, flows.  SPDX-License-Identifier: MIT */
import {asciiLower, byTime, countOf, hasLoc, hasWords, walkZones} from './walk.js';
import {Choice, listTracks, threadTrack, trackOf} from './tracks.js';

const MOST_HITS = 1 << 18, MOST_EVENTS = 1 << 25, MOST_TRACKS = 1000, MANY = 32, ZONE_TEXT = 4, ZONE_NAME = 5;

class Hits {
    constructor() {
        this.list = [];
        this.total = 0;
    }

    add(hit) {
        if (this.list.length < MOST_HITS)
            this.list.push(Object.assign(hit, {order: this.total}));
        this.total++;
    }
}

function wants(q, what) {
    return !Array.isArray(q.what) || q.what.includes(what);
}

/* Zones whose name, or text, has the words. False: not all were looked at. */
async function findZones(trace, q, words, hits) {
    const {locs, canon} = trace.model, {totals} = trace.file, named = new Set();
    locs.forEach((row, i) => {
        if (wants(q, 'zones') && hasWords(row.name, words))
            named.add(canon[i]);
    });
    const byText = wants(q, 'texts') && (!totals || [ZONE_TEXT, ZONE_NAME].some((k) => totals.kinds.get(k) > 0));
    if (!named.size && !byText)
        return true;
    const take = (zone) => {
        const said = byText && zone.extra || {}, name = said.name !== undefined && hasWords(said.name, words) ? said.name : null, all = (said.texts || []).join('\n');
        const text = name ?? (said.texts && hasWords(all, words) ? all : null);
        if (named.has(zone.loc) || text !== null)
            hits.add(Object.assign(zone, {what: named.has(zone.loc) ? 'zone' : 'text', text: text || ''}));
    };
    return walkZones(trace, trace.span(q), new Choice(trace), {take, wantsPart: byText || named.size > MANY ? null : (part) => hasLoc(trace, part, named), most: MOST_EVENTS});
}

function findMessages(trace, q, words, hits) {
    const {lo, hi} = trace.span(q);
    for (const m of trace.tables.messages)
        if (m.tick >= lo && m.tick <= hi && hasWords(m.text, words))
            hits.add({what: 'message', track: threadTrack(m.thread), depth: 0, begin: m.tick, end: m.tick, loc: 0, text: m.text});
}

/** Answer "find". */
export async function find(trace, q) {
    const words = asciiLower(String(q.text || '')), key = JSON.stringify([words, q.what, q.from, q.to]);
    if (!words)
        throw new Error('there is no text to look for');
    if (!trace.lastFind || trace.lastFind.key !== key) {
        const hits = new Hits(), isWhole = await findZones(trace, q, words, hits);
        if (wants(q, 'messages'))
            findMessages(trace, q, words, hits);
        hits.list.sort(byTime);
        trace.lastFind = {key, hits, isWhole, tracks: wants(q, 'tracks') ? listTracks(trace).filter((t) => hasWords(t.name, words)).slice(0, MOST_TRACKS).map((t) => t.id) : []};
    }
    return writeHits(trace, q, trace.lastFind);
}

/* Hits per pixel of the whole range. */
function densityOf(trace, list, width) {
    const density = new Uint32Array(width), scale = width / (trace.lastEvent - trace.firstEvent + 1);
    for (const h of trace.isEmpty ? [] : list)
        density[Math.min(width - 1, Math.max(0, Math.floor((h.begin - trace.firstEvent) * scale)))]++;
    return density;
}

function writeHits(trace, q, {hits, isWhole, tracks}) {
    const {list} = hits, limit = countOf(q.limit, 100, 10000), isAfter = q.after !== undefined, isBefore = !isAfter && q.before !== undefined;
    let first = 0, end = list.length;
    if (isAfter)
        first = indexOf(list, (h) => trace.time(h.begin) > q.after);
    if (isBefore) {
        end = indexOf(list, (h) => trace.time(h.begin) >= q.before);
        first = Math.max(0, end - limit);
    }
    const shown = list.slice(first, Math.min(end, first + limit)), time = (h) => trace.time(h.begin);
    return {
        json: {
            total: hits.total, index: first, exact: isWhole && hits.total === list.length, tracks,
            hits: shown.map((h) => ({what: h.what, track: h.track, depth: h.depth, t0: time(h), t1: time(h) + trace.clock.duration(h.end - h.begin), loc: h.loc, text: h.text})),
        },
        arrays: {density: densityOf(trace, list, Math.max(1, countOf(q.width, 1000, 16384)))},
    };
}

function indexOf(list, fits) {
    const i = list.findIndex(fits);
    return i < 0 ? list.length : i;
}

/** Answer "messages". */
export function messages(trace, q) {
    const {lo, hi} = trace.span(q), choice = new Choice(trace, q.tracks), words = asciiLower(String(q.filter || '')), severity = countOf(q.severity, 0, 255);
    const list = trace.tables.messages.filter((m) => m.tick >= lo && m.tick <= hi && m.severity >= severity && choice.hasMessage(m) && hasWords(m.text, words));
    const shown = list.filter((m) => q.after === undefined || trace.time(m.tick) > q.after).slice(0, countOf(q.limit, 1000, 100000));
    return {json: {total: list.length, messages: shown.map((m) => ({t: trace.time(m.tick), track: threadTrack(m.thread), severity: m.severity, color: m.color, text: m.text}))}, arrays: {}};
}

/** Answer "frames". */
export function frames(trace, q) {
    const track = trackOf(trace, q.track), table = track && track.table, {lo, hi} = trace.span(q);
    if (!table || table.kind !== 'frames')
        throw new Error('that is no track of frames');
    const ns = (r) => trace.clock.duration(r.end - r.begin), all = table.rows.map(ns).sort((a, b) => a - b), n = all.length;
    const rows = table.rows.filter((r) => r.begin >= lo && r.begin <= hi), shown = rows.slice(0, countOf(q.limit, 100000, 1000000));
    return {
        json: {total: rows.length, mean: n ? Math.floor(all.reduce((a, b) => a + b, 0) / n) : 0, median: n ? all[Math.floor((n - 1) / 2)] : 0, min: n ? all[0] : 0, max: n ? all[n - 1] : 0},
        arrays: {t0: Float64Array.from(shown, (r) => trace.time(r.begin)), t1: Float64Array.from(shown, (r) => trace.time(r.begin) + ns(r))},
    };
}

/** Answer "flows": arrows that touch a range, each from one point to the next. */
export function flows(trace, q) {
    const {lo, hi} = trace.span(q), choice = new Choice(trace, q.tracks), list = trace.tables.flows, out = [], limit = countOf(q.limit, 500, 5000);
    let total = 0;
    for (let i = 1; i < list.length; i++) {
        const a = list[i - 1], b = list[i], flow = `${a.process.proc}/${a.flow}`;
        if (a.process !== b.process || a.flow !== b.flow || b.tick < lo || a.tick > hi || !choice.hasThread(a.thread) && !choice.hasThread(b.thread) || q.flow && q.flow !== flow)
            continue;
        if (total++ < limit)
            out.push({flow, t0: trace.time(a.tick), t1: trace.time(b.tick), track0: threadTrack(a.thread), depth0: a.depth, track1: threadTrack(b.thread), depth1: b.depth});
    }
    return {json: {total, flows: out}, arrays: {}};
}
