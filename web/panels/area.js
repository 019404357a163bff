/* area.js - what is told of a selected area of time and tracks: its zones by name, counters, flows.
 * SPDX-License-Identifier: MIT */
import {actButton, link, pairs, plainTable, section, tally} from './parts.js';
import {copyCommand} from '../view/share.js';
import {h} from '../view/dom.js';
import {isZones} from '../view/layout.js';
import * as format from '../view/format.js';

const MOST_PLOTS = 50, PLOT_WIDTH = 4096, MOST_FLOWS = 12, MOST_THREADS = 16;

/** Resolves to the panel's content. */
export async function aboutArea(app, area) {
    const q = {from: area.from, to: area.to, tracks: area.tracks || undefined}, {json, arrays} = await app.engine.ask({ask: 'stats', ...q, limit: 200});
    await app.names.need(arrays.loc);
    const length = area.to - area.from, rows = [...arrays.loc].map((loc, i) => ({loc, count: arrays.count[i], total: arrays.total[i]}));
    const time = (t) => format.time(t, app.timeMode, app.trace, 1, true), zoned = zonedOf(app, area.tracks), n = Math.max(1, zoned.length);
    return [h('h2', {}, `Area of ${format.duration(length)}`), h('div', {class: 'columns'}, h('section', {}, pairs([
        ['from', time(area.from)], ['to', time(area.to)], ['tracks', area.tracks ? String(area.tracks.length) : 'all'], ['zones that begin in it', format.count(json.n_zones)],
    ]), h('div', {class: 'buttons'}, actButton(app, 'fitSelection', 'Zoom to it', 'F'), h('button', {onclick: () => app.drawer.show('flame')}, 'Flame graph'),
        h('button', {onclick: () => app.drawer.show('stats')}, 'Statistics'), actButton(app, 'mark', 'Note', 'M'), h('button', {onclick: () => copyCommand(app)}, 'Copy as command'))),
    tally(app, `Zones by name (% of the time of ${format.several(n, 'track')})`, rows, length * n), await threadsOf(app, q, zoned, length), await plotsOf(app, area), await flowsOf(app, q, time))];
}

/* The tracks with zones that an area has. */
function zonedOf(app, ids) {
    const chosen = ids ? new Set(ids) : null;
    return app.trace.tracks.filter((t) => isZones(t.kind) && (!chosen || chosen.has(t.id) || chosen.has(t.parent)));
}

/* The same by track: zones, and the time that they took themselves. */
async function threadsOf(app, q, zoned, length) {
    if (zoned.length < 2)
        return null;
    const some = zoned.slice(0, MOST_THREADS), sums = await Promise.all(some.map((t) => app.engine.ask({ask: 'stats', ...q, tracks: [t.id], limit: 1})));
    const rows = some.map((t, i) => ({t, n: sums[i].json.n_zones, self: sums[i].json.self})).filter((r) => r.n).sort((a, b) => b.self - a.self);
    return rows.length ? section('By track (% of the area)', plainTable(rows.map((r) => [link(r.t.name, () => app.showTrack(r.t.id), 'scroll to it'), {number: `${format.count(r.n)} ×`}, {number: format.duration(r.self)}, {number: format.percent(r.self / length)}])),
        zoned.length > some.length ? h('small', {}, `the first ${some.length} of ${format.count(zoned.length)}`) : null) : null;
}

async function plotsOf(app, area) {
    const plots = app.trace.tracks.filter((t) => t.kind === 'plot' && (!area.tracks || area.tracks.includes(t.id) || area.tracks.includes(t.parent))).slice(0, MOST_PLOTS);
    if (!plots.length)
        return null;
    const {json, arrays} = await app.engine.ask({ask: 'pixels', from: area.from, to: area.to, width: PLOT_WIDTH, budget: 10000, lanes: plots.map((t) => [t.id, 0, 1])});
    const rows = json.lanes.map(([id, , first, n, , value]) => ({track: app.trackOf(id), sums: plotSums(arrays, first, n, value, area)})).filter((r) => r.sums);
    return rows.length ? section('Plots: min, max, mean over time ~, last', plainTable(rows.map(({track, sums}) => {
        const show = (v) => ({number: format.plotValue(v, track.format)});
        return [track.name, show(sums.min), show(sums.max), show(sums.mean), show(sums.last), {number: `${format.count(sums.n)} ×`}];
    }))) : null;
}

/* What a plot did in an area: it has the value that was there before until the next one comes. Of values that are too close together the
 * last one counts for the mean. Null: it had no value yet. */
function plotSums(arrays, first, n, value, {from, to}) {
    const sums = {min: Infinity, max: -Infinity, mean: 0, last: NaN, n: 0};
    let since = Infinity, whole = 0;
    for (let i = first; i < first + n && arrays.t0[i] < to; i++) {
        const at = Math.max(from, arrays.t0[i]), v = value + i - first, isInside = arrays.t1[i] > from || arrays.t0[i] >= from;
        if (since < at)
            sums.mean += sums.last * (at - since);
        Object.assign(sums, isInside ? {min: Math.min(sums.min, arrays.min[v]), max: Math.max(sums.max, arrays.max[v]), n: sums.n + arrays.count[i]} : {min: arrays.last[v], max: arrays.last[v]}, {last: arrays.last[v]});
        since = at;
    }
    if (since === Infinity)
        return null;
    whole = Math.max(1e-9, to - Math.max(from, arrays.t0[first]));
    return Object.assign(sums, {mean: (sums.mean + sums.last * (to - since)) / whole});
}

/* From track to track, how many and how long they took. */
async function flowsOf(app, q, time) {
    const {json} = await app.engine.ask({ask: 'flows', ...q, limit: 1000}).catch(() => ({json: {total: 0, flows: []}}));
    if (!json.total)
        return null;
    const ways = new Map(), name = (id) => (app.trackOf(id) || {name: '?'}).name;
    for (const f of json.flows) {
        const key = `${name(f.track0)} → ${name(f.track1)}`, way = ways.get(key) || ways.set(key, {key, n: 0, total: 0}).get(key);
        way.n++;
        way.total += f.t1 - f.t0;
    }
    const rows = [...ways.values()].sort((a, b) => b.n - a.n).slice(0, MOST_FLOWS), left = json.total - json.flows.length;
    return section('Flows', plainTable(rows.map((way) => [way.key, {number: `${format.count(way.n)} ×`}, {number: `mean ${format.duration(way.total / way.n)}`}])),
        left > 0 ? h('small', {}, `${format.count(left)} more, from ${time(json.flows[json.flows.length - 1].t0)} on`) : null);
}
