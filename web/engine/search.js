/* search.js - find, messages, frames, flows.  SPDX-License-Identifier: MIT */
import {ENDED} from './part.js';
import {chosen, isChosen, walkLists, walkThreads} from './walk.js';
import {hasLoc} from './stats.js';
import {lastTickAt, tickAt} from './pixels.js';

const MOST_HITS = 200000;

/* Zones whose name, or text, has the words. */
async function findZones(trace, choice, q, text, hits) {
    const names = trace.model.locRows, what = q.what || ['zones', 'texts', 'messages', 'tracks'], match = new Set();
    names.forEach((row, i) => {
        if (row && what.includes('zones') && row.name.toLowerCase().includes(text))
            match.add(i);
    });
    const texts = what.includes('texts'), totals = trace.file.totals;
    const mayHaveTexts = texts && (!totals || [4, 5].some((k) => totals.kinds.get(k) > 0));
    if (!match.size && !mayHaveTexts)
        return;
    const take = (track, list) => {
        for (let i = 0; i < list.n; i++) {
            if (list.begin[i] < choice.lo || list.begin[i] > choice.hi)
                continue;
            const extra = mayHaveTexts ? (list.extras instanceof Map ? list.extras.get(i) : list.extras[i]) : null;
            const said = extra ? [...(extra.texts || []), extra.name || ''].find((t) => t.toLowerCase().includes(text)) : undefined;
            if (match.has(list.loc[i]) || said !== undefined)
                hits.add({what: match.has(list.loc[i]) ? 'zone' : 'text', track, depth: list.depth[i], tick: list.begin[i],
                    end: list.state[i] === ENDED ? list.end[i] : list.begin[i], loc: list.loc[i], text: said || ''});
        }
    };
    const wantsPart = mayHaveTexts ? null : (part) => [...match].some((loc) => hasLoc(trace, part, loc));
    await walkThreads(trace, choice, {zones: take, wantsPart: match.size > 32 ? null : wantsPart});
    walkLists(trace, choice, ['fiber', 'spans', 'gpu'], take);
}

class Hits {
    constructor() {
        this.list = [];
        this.total = 0;
    }

    add(hit) {
        this.total++;
        if (this.list.length < MOST_HITS)
            this.list.push(hit);
    }
}

/** Answer "find". */
export async function find(trace, q) {
    const text = String(q.text || '').toLowerCase(), choice = chosen(trace, q), key = JSON.stringify([text, q.what, q.from, q.to, trace.events.length]);
    if (!trace.lastFind || trace.lastFind.key !== key) {
        const hits = new Hits();
        if (text) {
            await findZones(trace, choice, q, text, hits);
            findRest(trace, choice, q, text, hits);
        }
        hits.list.sort((a, b) => a.tick - b.tick || a.track - b.track || a.depth - b.depth);
        trace.lastFind = {key, hits, tracks: matchingTracks(trace, q, text)};
    }
    return writeHits(trace, q, trace.lastFind);
}

function findRest(trace, choice, q, text, hits) {
    if (q.what && !q.what.includes('messages') || !trace.others)
        return;
    for (const m of trace.others.messages)
        if (m.tick >= choice.lo && m.tick <= choice.hi && m.text.toLowerCase().includes(text))
            hits.add({what: 'message', track: m.track, depth: 0, tick: m.tick, end: m.tick, loc: 0, text: m.text});
}

function matchingTracks(trace, q, text) {
    if (!text || q.what && !q.what.includes('tracks'))
        return [];
    return trace.tracks.filter((t) => t.name.toLowerCase().includes(text)).map((t) => t.id);
}

function writeHits(trace, q, {hits, tracks}) {
    const list = hits.list, limit = Math.min(q.limit ?? 100, 10000);
    let first = 0;
    if (q.after !== undefined && q.after !== null) {
        const tick = lastTickAt(trace, Number(q.after));
        first = list.findIndex((h) => h.tick > tick);
        first = first < 0 ? list.length : first;
    } else if (q.before !== undefined && q.before !== null) {
        const tick = tickAt(trace, Number(q.before));
        let end = list.findIndex((h) => h.tick >= tick);
        end = end < 0 ? list.length : end;
        first = Math.max(0, end - limit);
    }
    const width = Math.min(16384, Math.max(1, q.width || 1)), density = new Uint32Array(width);
    const lo = trace.firstEvent, per = Math.max(1, trace.lastEvent - lo + 1) / width;
    for (const h of list)
        density[Math.min(width - 1, Math.max(0, Math.floor((h.tick - lo) / per)))]++;
    const shown = list.slice(first, first + limit);
    return {
        json: {
            total: hits.total, index: first, exact: hits.total <= MOST_HITS, tracks,
            limits: hits.total > MOST_HITS ? [`the first ${MOST_HITS} of ${hits.total} hits can be stepped through`] : [],
            hits: shown.map((h) => ({what: h.what, track: h.track, depth: h.depth, t0: trace.time(h.tick), t1: trace.time(h.end), loc: h.loc, text: h.text.slice(0, 500)})),
        },
        arrays: {density},
    };
}

/** Answer "messages". */
export function messages(trace, q) {
    const choice = chosen(trace, q), text = String(q.filter || '').toLowerCase(), all = trace.others ? trace.others.messages : [];
    const list = all.filter((m) => m.tick >= choice.lo && m.tick <= choice.hi && isChosen(choice, m.track) && m.severity >= (q.severity || 0) &&
        (!text || m.text.toLowerCase().includes(text)));
    const first = q.after === undefined || q.after === null ? 0 : list.findIndex((m) => trace.time(m.tick) > q.after);
    const shown = first < 0 ? [] : list.slice(first, first + (q.limit ?? 1000));
    return {json: {total: list.length, messages: shown.map((m) => ({t: trace.time(m.tick), track: m.track, severity: m.severity, color: m.color, text: m.text}))}, arrays: {}};
}

/** Answer "frames". */
export function frames(trace, q) {
    const list = trace.others && trace.others.lists.get(q.track), choice = chosen(trace, q), rows = [], all = [];
    for (let i = 0; list && i < list.n; i++) {
        const ns = trace.clock.duration(Math.max(0, list.end[i] - list.begin[i]));
        all.push(ns);
        if (list.begin[i] >= choice.lo && list.begin[i] <= choice.hi)
            rows.push([trace.time(list.begin[i]), ns]);
    }
    all.sort((a, b) => a - b);
    const shown = rows.slice(0, q.limit ?? 100000);
    return {
        json: {total: rows.length, mean: all.length ? Math.floor(all.reduce((a, b) => a + b, 0) / all.length) : 0,
            median: all.length ? all[Math.ceil(all.length / 2) - 1] : 0, min: all[0] || 0, max: all[all.length - 1] || 0},
        arrays: {t0: Float64Array.from(shown, (r) => r[0]), t1: Float64Array.from(shown, (r) => r[0] + r[1])},
    };
}

/** Answer "flows": arrows that touch a range, each from one point to the next. */
export function flows(trace, q) {
    const choice = chosen(trace, q), out = [], limit = Math.min(q.limit ?? 500, 5000);
    let total = 0;
    for (const [key, points] of trace.others ? trace.others.flows : []) {
        if (q.flow !== undefined && q.flow !== null && q.flow !== key)
            continue;
        for (let i = 1; i < points.length; i++) {
            const a = points[i - 1], b = points[i];
            if (b.tick < choice.lo || a.tick > choice.hi || !isChosen(choice, a.track) && !isChosen(choice, b.track))
                continue;
            total++;
            if (out.length < limit)
                out.push({flow: key, t0: trace.time(a.tick), t1: trace.time(b.tick), track0: a.track, depth0: a.depth, track1: b.track, depth1: b.depth});
        }
    }
    return {json: {total, flows: out}, arrays: {}};
}
