/* zonemenu.js - what can be done with a zone: its menu, by a right click, a long press or the menu key.  SPDX-License-Identifier: MIT */
import {copyText} from './dom.js';
import {placeOn} from './scale.js';
import * as format from './format.js';

const MOST = 2 ** 17;

/* A list of zones whole, however many steps it takes. */
async function instances(app, q) {
    let answer;
    do
        answer = await app.engine.ask({ask: 'instances', sort: 'duration', ...q});
    while (!answer.json.exact);
    return answer;
}

function go(app, {arrays}, i) {
    return arrays.t0.length > i ? app.goTo(arrays.track[i], arrays.depth[i], arrays.t0[i], arrays.t1[i]) : app.say('There is none in this range.');
}

async function goToMedian(app, loc) {
    const {json} = await instances(app, {loc, ...app.range(), limit: 1});
    if (json.total <= 2 * MOST)
        return go(app, await instances(app, {loc, ...app.range(), limit: Math.ceil(json.total / 2), order: 'reversed'}), Math.ceil(json.total / 2) - 1);
    const about = await app.engine.ask({ask: 'histogram', loc, ...app.range()}); /* too many to be listed: the one next to the median of the histogram */
    return go(app, await instances(app, {loc, ...app.range(), min: about.json.p50, order: 'reversed', limit: 1}), 0);
}

async function onlyTracksWith(app, loc) {
    const {arrays} = await instances(app, {loc, limit: MOST}), ids = [...new Set(arrays.track)];
    app.hideOthers(ids);
    app.say(`${format.several(ids.length, 'track')} with this zone; Shift+H shows all again.`);
}

/** What a zone is, as an object for other programs. */
export function asObject(app, {zone, parents}) {
    const row = app.names.rows.get(zone.loc) || {}, track = app.trackOf(zone.track) || {};
    return {name: zone.name || row.name, function: row.function, file: row.file, line: row.line, process: track.pid, thread: track.tid, track: track.name, depth: zone.depth, start_ns: zone.t0,
        duration_ns: zone.t1 === null ? null : zone.t1 - zone.t0, self_ns: zone.self, text: zone.text, value: zone.value, state: zone.state, parents: parents.map((p) => app.names.name(p.loc))};
}

/** The same as one line of a table. */
export function asRow(app, detail) {
    const o = asObject(app, detail);
    return [o.name, o.file ? `${o.file}:${o.line}` : '', o.track, o.start_ns, o.duration_ns ?? '', o.self_ns ?? '', o.text].map((v) => String(v ?? '').replace(/[\t\n\r]/g, ' ')).join('\t');
}

async function copy(app, detail, how) {
    await app.names.need([detail.zone.loc, ...detail.parents.map((p) => p.loc)]);
    await copyText(how(app, detail));
    app.say('copied');
}

function rowsOf(app, detail) {
    const {zone, parents} = detail, {loc} = zone, {choice} = app;
    return [
        ['Find all of this name', () => app.findZone(loc)],
        ['Statistics of what is in it', () => {
            app.act('areaFromSelection');
            app.drawer.show('stats');
        }],
        ['Show only tracks that have it', () => onlyTracksWith(app, loc)],
        ...parents.length ? [['Go to the zone around it', () => app.act('parent')]] : [],
        ['Go to the longest', async () => go(app, await instances(app, {loc, ...app.range(), limit: 1}), 0)],
        ['Go to the shortest', async () => go(app, await instances(app, {loc, ...app.range(), limit: 1, order: 'reversed'}), 0)],
        ['Go to the median', () => goToMedian(app, loc)],
        ['Copy as a row', () => copy(app, detail, asRow)],
        ['Copy as JSON', () => copy(app, detail, (a, d) => JSON.stringify(asObject(a, d), null, 2))],
        ['Measure from here', () => app.measureFrom(zone.t0)],
        ['Note on it', () => app.act('mark')],
        [choice.pinned.includes(zone.track) ? 'Unpin its track' : 'Pin its track', () => app.togglePin(zone.track)],
        ['Hide all other tracks', () => app.hideOthers([zone.track])],
        ['Hide its track', () => app.hideTrack(zone.track)],
    ];
}

/** The menu of the selected zone, beside a place on the page. */
export async function showZoneMenu(app, x, y) {
    const s = app.selection;
    if (!s)
        return app.say('Select a zone first: click it, or use the arrow keys.');
    await app.names.need([s.loc]);
    return app.menu.show(x, y, s.detail.zone.name || app.names.name(s.loc), rowsOf(app, s.detail));
}

/** That of what was clicked; it is selected, and panels stay as they are. */
export async function showMenuOfHit(app, hit, x, y) {
    if (!hit || !hit.item || !hit.item.loc)
        return;
    const slack = Math.max(2, (app.view.to - app.view.from) / app.timeline.width * 2), t = Math.min(Math.max(hit.t, hit.item.t0), hit.item.t1);
    const {json} = await app.engine.ask({ask: 'zone', track: hit.row.track.id, depth: hit.depth, at: t, slack});
    if (!json.zone)
        return;
    json.zone.track = hit.row.track.id;
    app.setSelection(json);
    await showZoneMenu(app, x, y);
}

/** That of the selected zone, at its place. */
export function showMenuOfSelection(app) {
    const s = app.selection, tl = app.timeline, row = s && tl.visibleRows().find((r) => r.row.track.id === s.track);
    const {x, y} = placeOn(tl.canvas, s ? Math.max(220, Math.min(tl.width - 40, tl.xOf(s.t0) + 10)) : 0, row ? row.y + 20 * (s.depth + 1) : 60);
    return showZoneMenu(app, x, y);
}
