/* details.js - the panel about what is selected: a zone with its surroundings, an area (area.js), or what to do.
 * SPDX-License-Identifier: MIT */
import {aboutArea} from './area.js';
import {aboutMark} from './mark.js';
import {aboutPlot} from './plot.js';
import {actButton, jsonRows, link, locName, newest, pairs, plainTable, section, swatchOfZone, tally} from './parts.js';
import {copyText, fill, h} from '../view/dom.js';
import {SEVERITIES} from '../facts.js';
import * as format from '../view/format.js';

const AROUND = 12; /* lines of source before and after */

function frameText(frame) {
    const place = frame.file ? `${frame.file}${frame.line ? `:${frame.line}` : ''}` : frame.image || '';
    return [frame.name || frame.address, ' ', h('small', {}, place)];
}

function stackOf(stack) {
    return stack && stack.length ? section('Call stack', h('ol', {class: 'stack', start: '0'}, stack.map((frame) => h('li', {title: frame.address}, frameText(frame))))) : null;
}

function timeOf(app, t) {
    return format.time(t, app.timeMode, app.trace, 1, true);
}

function lengthOf(zone, ns) {
    return ns === null ? `not ended (${zone.state})` : h('span', {title: format.exactNs(ns)}, format.duration(ns), h('small', {}, `  ${format.exactNs(ns)}`));
}

function around(app, zone, parents) {
    return parents.length ? section('Inside of', plainTable(parents.map((p) => [String(p.depth), link(locName(app, p.loc), () => app.selectZone(zone.track, p.depth, p.t0), 'select it')]))) : null;
}

function waitsOf(app, waits, n) {
    return waits && waits.length ? section(`Waited for locks${n > waits.length ? ` (${format.count(n)} times)` : ''}`, plainTable(waits.map((w) => [link(timeOf(app, w.t0), () => app.goToTime(w.t0, w.track), 'go there'),
        w.lock, {number: w.t1 === null ? 'did not get it' : format.duration(w.t1 - w.t0)}]))) : null;
}

function saidInside(app, messages, track) {
    return messages.length ? section('Messages inside', plainTable(messages.map((m) => [link(timeOf(app, m.t), () => app.goToTime(m.t, track), 'go there'), SEVERITIES[m.severity] || '', m.text]))) : null;
}

/* A text that is JSON: its members one by one. */
function argumentsOf(text) {
    const rows = text ? jsonRows(text) : null;
    return rows ? section('Arguments', h('table', {class: 'plain arguments'}, rows.map(([key, value]) => h('tr', {}, h('th', {scope: 'row'}, key), h('td', {}, value))))) : null;
}

function linesAround(json) {
    const lines = json.text.split('\n'), first = Math.max(0, json.line - AROUND);
    return lines.slice(first, json.line + AROUND).map((text, i) => h('div', {class: first + i + 1 === json.line ? 'here' : ''}, `${String(first + i + 1).padStart(5)}  ${text}`));
}

async function copyZone(app, zone, row, track) {
    await copyText([row.name, `${row.file}:${row.line}`, track ? track.name : '', zone.t0, zone.t1 === null ? '' : zone.t1 - zone.t0, zone.self ?? '', zone.text].join('\t'));
    app.say('copied');
}

/* What ran inside of it, where samples were taken. */
function samplesButtons(app, zone, row) {
    if (!app.trace.tracks.some((t) => t.marks & 2))
        return null;
    const to = zone.t1 ?? app.trace.range[1] + 1;
    return [h('button', {onclick: () => app.samplesIn({from: zone.t0, to, tracks: [zone.track], words: `this ${row.name}`})}, 'Samples in it'),
        h('button', {onclick: () => app.samplesIn({loc: zone.loc, words: `all ${row.name}`})}, 'Samples in all of its name')];
}

export function makeDetails(app) {
    const element = h('div', {class: 'details', tabindex: '0', role: 'region', 'aria-label': 'details'}), source = h('pre', {class: 'source'}), sourceSection = section('Source', source);

    function facts(zone, row, track, ns, waited) {
        return pairs([
            ['duration', lengthOf(zone, ns)],
            ['self time', zone.self === null ? '' : h('span', {title: format.exactNs(zone.self)}, `${format.duration(zone.self)}  (${ns ? format.percent(zone.self / ns) : '–'})`)],
            ['waited', waited ? `${format.duration(waited)} for locks` : ''],
            ['begins', timeOf(app, zone.t0)], ['ends', zone.t1 === null ? '' : timeOf(app, zone.t1)], ['state', zone.state === 'ended' ? '' : zone.state],
            ['track', track ? link(`${track.name}${track.tid ? ` (${track.tid})` : ''}`, () => app.showTrack(track.id), 'scroll to it') : ''], ['depth', String(zone.depth)],
            [row.file ? 'function' : 'category', row.function], ['source', row.file ? link(`${row.file}:${row.line}`, () => showSource(zone.loc), 'show the source') : ''],
            ['text', zone.text && !jsonRows(zone.text) ? h('pre', {}, zone.text) : ''], ['value', zone.value],
        ]);
    }

    function buttons(zone, row, track) {
        return h('div', {class: 'buttons'}, actButton(app, 'fitSelection', 'Zoom to it', 'F'), actButton(app, 'previous', '‹ same name', ','), actButton(app, 'next', 'same name ›', '.'),
            h('button', {onclick: () => app.findZone(zone.loc)}, 'Find zone'), actButton(app, 'areaFromSelection', 'Select its time', 'R'), actButton(app, 'mark', 'Note', 'M'),
            samplesButtons(app, zone, row), h('button', {onclick: () => copyZone(app, zone, row, track)}, 'Copy'));
    }

    function aboutZone({zone, parents, children, inside, messages, stack, waits, n_waits: nWaits, waited}) {
        const row = app.names.rows.get(zone.loc) || {name: '', function: '', file: '', line: 0}, track = app.trackOf(zone.track), ns = zone.t1 === null ? null : zone.t1 - zone.t0;
        return [
            h('h2', {}, swatchOfZone(app, track, row, zone.color), zone.name || row.name || (track ? track.name : ''), zone.name ? h('small', {}, ` (${row.name})`) : null),
            h('div', {class: 'columns'}, h('section', {}, facts(zone, row, track, ns, waited), buttons(zone, row, track)), sourceSection, argumentsOf(zone.text), around(app, zone, parents),
                tally(app, 'Direct children', children, ns), tally(app, 'All below it', inside, ns), waitsOf(app, waits, nWaits), saidInside(app, messages, zone.track), stackOf(stack)),
        ];
    }

    async function showSource(loc) {
        const {json} = await app.engine.ask({ask: 'source', loc});
        sourceSection.hidden = false;
        fill(source, json.text ? linesAround(json) : `${json.file}:${json.line}\n${json.why || 'not at hand'}`);
        (source.querySelector('.here') || source).scrollIntoView({block: 'nearest'});
    }

    const begin = newest();
    async function update() {
        const isNewest = begin(), put = (content) => isNewest() && fill(element, content);
        sourceSection.hidden = true;
        if (app.selection && app.selection.detail) {
            const d = app.selection.detail;
            await app.names.need([d.zone.loc, ...d.parents.map((p) => p.loc), ...d.children.map((c) => c.loc), ...d.inside.map((c) => c.loc)]);
            return put(aboutZone(d));
        }
        if (app.mark)
            return put(aboutMark(app, app.mark));
        if (app.point)
            return put(await aboutPlot(app, app.point));
        if (app.area)
            return put(await aboutArea(app, app.area));
        return put(h('p', {class: 'empty'}, 'Click a zone, a plot or a sample to see its details, or drag over the timeline to select an area of time and tracks.'));
    }
    return {id: 'details', title: 'Details', element, update, grows: () => !app.selection && !app.mark};
}
