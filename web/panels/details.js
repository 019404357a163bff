/* details.js - the panel about what is selected: a zone with its surroundings, an area, or what to do.
 * SPDX-License-Identifier: MIT */
import {copyText, fill, h} from '../view/dom.js';
import {colorOf} from '../view/palette.js';
import * as format from '../view/format.js';

const SEVERITIES = ['trace', 'debug', 'info', 'warning', 'error', 'fatal'];

export function swatch(row) {
    const s = h('span', {class: 'swatch'});
    s.style.background = row ? colorOf(row.name, row.color) : '#888';
    return s;
}

function pairs(rows) {
    return h('dl', {class: 'pairs'}, rows.filter(([, v]) => v !== '' && v !== null && v !== undefined).map(([k, v]) => [h('dt', {}, k), h('dd', {}, v)]));
}

export function makeDetails(app) {
    const element = h('div', {class: 'details'});
    const link = (text, run, title) => h('button', {class: 'link', onclick: run, title}, text);
    const locName = (loc) => h('span', {}, swatch(app.names.rows.get(loc)), app.names.name(loc));
    const tally = (title, rows, whole) => rows.length === 0 ? null : h('section', {}, h('h3', {}, title), h('table', {class: 'plain'}, rows.slice(0, 20).map((r) => h('tr', {},
        h('td', {}, link(locName(r.loc), () => app.findZone(r.loc), 'find all of this name')), h('td', {class: 'number'}, `${format.count(r.count)} ×`),
        h('td', {class: 'number'}, format.duration(r.total)), h('td', {class: 'number'}, whole > 0 ? format.percent(r.total / whole) : '')))));

    function aboutZone({zone, parents, children, inside, messages}) {
        const row = app.names.rows.get(zone.loc) || {name: '', function: '', file: '', line: 0}, track = app.trackOf(zone.track);
        const ns = zone.t1 === null ? null : zone.t1 - zone.t0, time = (t) => format.time(t, app.timeMode, app.trace, 1);
        const button = (act, text, title) => h('button', {'data-act': act, title, onclick: () => app.act(act)}, text);
        return [
            h('h2', {}, swatch(row), zone.name || row.name || (track ? track.name : ''), zone.name ? h('small', {}, ` (${row.name})`) : null),
            h('div', {class: 'columns'}, h('section', {}, pairs([
                ['duration', ns === null ? `not ended (${zone.state})` : h('span', {title: format.exactNs(ns)}, format.duration(ns), h('small', {}, `  ${format.exactNs(ns)}`))],
                ['self time', zone.self === null ? '' : h('span', {title: format.exactNs(zone.self)}, `${format.duration(zone.self)}  (${ns ? format.percent(zone.self / ns) : '–'})`)],
                ['begins', time(zone.t0)], ['ends', zone.t1 === null ? '' : time(zone.t1)], ['state', zone.state],
                ['track', track ? link(`${track.name}${track.tid ? ` (${track.tid})` : ''}`, () => app.showTrack(track.id)) : ''], ['depth', String(zone.depth)],
                ['function', row.function], ['source', row.file ? link(`${row.file}:${row.line}`, () => showSource(zone.loc), 'show the source') : ''],
                ['text', zone.text ? h('pre', {}, zone.text) : ''], ['value', zone.value],
            ]), h('div', {class: 'buttons'}, button('fitSelection', 'Zoom to it', 'F'), button('previous', '‹ same name', ','), button('next', 'same name ›', '.'),
                h('button', {onclick: () => app.findZone(zone.loc)}, 'Find zone'), button('areaFromSelection', 'Select its time', 'R'),
                h('button', {onclick: () => copyZone(zone, row, track)}, 'Copy')), source),
            parents.length ? h('section', {}, h('h3', {}, 'Inside of'), h('table', {class: 'plain'}, parents.map((p) => h('tr', {}, h('td', {}, String(p.depth)),
                h('td', {}, link(locName(p.loc), () => app.selectZone(zone.track, p.depth, p.t0)))))) ) : null,
            tally('Direct children', children, ns), tally('All below it', inside, ns),
            messages.length ? h('section', {}, h('h3', {}, 'Messages inside'), h('table', {class: 'plain'}, messages.map((m) => h('tr', {}, h('td', {}, time(m.t)),
                h('td', {}, SEVERITIES[m.severity] || ''), h('td', {}, m.text))))) : null),
        ];
    }

    const source = h('pre', {class: 'source', hidden: true});

    async function showSource(loc) {
        const {json} = await app.engine.ask({ask: 'source', loc});
        source.hidden = false;
        if (!json.text)
            return void (source.textContent = `${json.file}:${json.line}\n${json.why || 'not at hand'}`);
        const lines = json.text.split('\n'), first = Math.max(0, json.line - 12);
        return void fill(source, lines.slice(first, json.line + 12).map((text, i) => h('div', {class: first + i + 1 === json.line ? 'here' : ''}, `${String(first + i + 1).padStart(5)}  ${text}`)));
    }

    function copyZone(zone, row, track) {
        copyText([row.name, `${row.file}:${row.line}`, track ? track.name : '', zone.t0, zone.t1 === null ? '' : zone.t1 - zone.t0, zone.self ?? '', zone.text].join('\t'));
        app.say('copied');
    }

    async function aboutArea(area) {
        const q = {from: area.from, to: area.to, tracks: area.tracks || undefined}, {json, arrays} = await app.engine.ask({ask: 'stats', ...q, limit: 200});
        await app.names.need(arrays.loc);
        const length = area.to - area.from, plots = await areaPlots(area), flows = await app.engine.ask({ask: 'flows', ...q, limit: 1}).catch(() => null);
        const rows = [...arrays.loc].map((loc, i) => ({loc, count: arrays.count[i], total: arrays.total[i]}));
        return [h('h2', {}, `Area of ${format.duration(length)}`), h('div', {class: 'columns'}, h('section', {}, pairs([
            ['from', format.time(area.from, app.timeMode, app.trace, 1)], ['to', format.time(area.to, app.timeMode, app.trace, 1)],
            ['tracks', area.tracks ? String(area.tracks.length) : 'all'], ['zones that begin in it', format.count(json.n_zones)],
            ['flows', flows && flows.json.total ? format.count(flows.json.total) : ''],
        ]), h('div', {class: 'buttons'}, h('button', {'data-act': 'fitSelection', onclick: () => app.act('fitSelection')}, 'Zoom to it'),
            h('button', {onclick: () => app.drawer.show('flame')}, 'Flame graph'), h('button', {onclick: () => app.drawer.show('stats')}, 'Statistics'),
            h('button', {'data-act': 'mark', onclick: () => app.act('mark')}, 'Note'),
            h('button', {onclick: () => app.copyCommand()}, 'Copy as command'))), tally('Zones by name', rows, length), plots)];
    }

    async function areaPlots(area) {
        const plots = app.trace.tracks.filter((t) => t.kind === 'plot' && (!area.tracks || area.tracks.includes(t.id) || area.tracks.includes(t.parent))).slice(0, 50);
        if (!plots.length)
            return null;
        const {json, arrays} = await app.engine.ask({ask: 'pixels', from: area.from, to: area.to, width: 1, budget: 10000, lanes: plots.map((t) => [t.id, 0, 1])});
        const rows = json.lanes.map(([id, , first, n, , value]) => ({track: app.trackOf(id), first, n, value})).filter((r) => r.n > 0 && r.value !== undefined);
        return h('section', {}, h('h3', {}, 'Counters: least, most, last'), h('table', {class: 'plain'}, rows.map((r) => {
            const pick = (a, f) => a.slice(r.value, r.value + r.n).reduce((x, y) => f(x, y)), show = (v) => h('td', {class: 'number'}, format.plotValue(v, r.track.format));
            return h('tr', {}, h('td', {}, r.track.name), show(pick(arrays.min, Math.min)), show(pick(arrays.max, Math.max)), show(arrays.last[r.value + r.n - 1]));
        })));
    }

    async function update() {
        source.hidden = true;
        if (app.selection && app.selection.detail) {
            const d = app.selection.detail;
            await app.names.need([d.zone.loc, ...d.parents.map((p) => p.loc), ...d.children.map((c) => c.loc), ...d.inside.map((c) => c.loc)]);
            return fill(element, aboutZone(d));
        }
        if (app.area)
            return fill(element, await aboutArea(app.area));
        return fill(element, h('p', {class: 'empty'}, 'Click a zone to see its details, or drag over the timeline to select an area of time and tracks.'));
    }
    return {id: 'details', title: 'Details', element, update};
}
