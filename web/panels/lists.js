/* lists.js - the panels of messages, frames, notes, and facts of the trace.  SPDX-License-Identifier: MIT */
import {Chart} from '../view/chart.js';
import {Film} from './film.js';
import {Table} from '../view/table.js';
import {gpuClocks} from './gpu_clocks.js';
import {figure, filterField, newest, pairs, section, setOptions, swatch} from './parts.js';
import {THEMES} from '../view/palette.js';
import {MessageFilters} from './message_filters.js';
import {copyTable, ownerOf} from '../view/share.js';
import {download, fill, h} from '../view/dom.js';
import {SEVERITIES} from '../facts.js';
import {keep, kept} from '../view/kept.js';
import * as format from '../view/format.js';

export function makeMessages(app) {
    const table = new Table([
        {key: 't', title: 'time', width: '150px', sort: false, show: (m) => format.time(m.t, app.timeMode, app.trace, 1)},
        {key: 'severity', title: 'severity', width: '80px', sort: false, show: (m) => h('span', {class: `severity s${m.severity}`}, SEVERITIES[m.severity] || String(m.severity))},
        {key: 'track', title: 'thread', width: '180px', sort: false, show: (m) => (app.trackOf(m.track) || {name: ''}).name},
        {key: 'text', title: 'message', width: 'minmax(160px, 1fr)', sort: false, show: (m) => (m.color ? h('span', {title: m.text}, swatch({name: '', color: m.color}), m.text) : m.text)},
    ], {pick: (m) => app.goToTime(m.t, m.track), copied: (t) => app.say(t), isPicked: (m) => m === picked});
    let picked = null, wanted = null; /* the message that a click on the timeline is about; where it is */
    const filter = filterField('Filter messages', () => load()), severity = h('select', {'aria-label': 'severity', onchange: () => load()}, SEVERITIES.map((s, i) => h('option', {value: String(i)}, i ? `${s} and above` : 'all'))), state = h('span', {class: 'state'});
    const others = new MessageFilters(app, () => load());
    const element = h('div', {class: 'withbar'}, h('div', {class: 'bar'}, filter, severity, others.thread, others.color, state, h('span', {class: 'grow'}),
        h('button', {onclick: () => copyTable(app, table)}, 'Copy table')), table.element);
    const begin = newest();
    async function load() {
        const isNewest = begin(), question = {ask: 'messages', ...app.range(), filter: filter.value, severity: Number(severity.value), limit: 10000, ...others.wanted()}, at = wanted;
        let {json} = await app.engine.ask(question);
        const isBehind = at && json.total > json.messages.length && json.messages[json.messages.length - 1].t < at.from;
        if (isBehind)
            ({json} = await app.engine.ask({...question, after: at.from - 1}));
        if (!isNewest())
            return;
        others.learn(json.messages);
        table.set(json.messages);
        if (at)
            showWanted(at, json.messages);
        state.textContent = json.total ? `${format.several(json.total, 'message')}${json.total > json.messages.length ? `, the first ${format.count(json.messages.length)} listed` : ''}` :
            app.trace.totals.messages === 0 ? 'The program sent no messages.' : 'No message fits.';
    }
    /* The first message of the process at or after that time. */
    function showWanted({from, owner}, messages) {
        const i = messages.findIndex((m) => m.t >= from && (ownerOf(app, app.trackOf(m.track)) || {}).id === owner);
        wanted = null;
        picked = messages[i] || null;
        table.markAll();
        if (picked)
            table.show(i);
        else
            app.say('The filter of this panel hides that message.');
    }

    /** A click on the timeline: the list opens there. */
    function goTo(item, track) {
        wanted = {from: Math.floor(item.t0), owner: track.parent};
        app.drawer.stale.add('messages');
        return app.drawer.show('messages');
    }
    return {id: 'messages', title: 'Messages', element, update: load, table, goTo};
}

const RATES = [30, 60, 120], RATE = 60;

/* Within the target, within twice of it, or slower. */
function frameColor(theme, ms, target) {
    return ms <= target * 1.01 ? theme.plot : ms <= 2 * target * 1.01 ? theme.note : theme.loss;
}

/* How many of the frames that are listed took longer than the target, ms. */
function overTarget({t0, t1}, target) {
    const n = t0.reduce((sum, t, i) => sum + (t1[i] - t > target * 1.01e6), 0);
    return h('span', {class: 'figure', title: `frames that took longer than ${format.duration(target * 1e6)}`}, h('small', {}, 'over target'), t0.length ? `${format.count(n)} (${format.percent(n / t0.length)})` : '–');
}

/* Lines at the usual rates and at the target. */
function levelsOf(target) {
    return [{at: target, text: `target ${format.duration(target * 1e6)}`}, ...RATES.map((rate) => ({at: 1000 / rate, text: `${rate} /s`})).filter(({at}) => Math.abs(at - target) > target / 50)];
}

export function makeFrames(app) {
    let chart = null;
    const film = new Film(app), place = h('div', {class: 'chart wide'}), figures = h('div', {class: 'figures'}), pick = h('select', {'aria-label': 'set of frames', onchange: () => load()});
    const rate = h('input', {type: 'number', class: 'rate', min: '1', max: '100000', step: 'any', 'aria-label': 'target, frames per second', value: kept('frameRate', String(RATE)), onchange: () => {
        keep('frameRate', rate.value);
        load();
    }});
    const target = () => 1000 / (Number(rate.value) > 0 ? Number(rate.value) : RATE); /* ms */
    const element = h('div', {class: 'withbar'}, h('div', {class: 'bar'}, pick, h('label', {}, 'target ', rate, ' /s'), figures), h('div', {class: 'split'}, place, film.element));
    const begin = newest();
    const empty = (...content) => {
        if (chart)
            chart.destroy();
        chart = null;
        return fill(place, ...content);
    };
    async function load() {
        const isNewest = begin(), sets = app.trace.tracks.filter((t) => t.kind === 'frames');
        setOptions(pick, sets.map((t) => [String(t.id), t.name]));
        pick.hidden = !sets.length;
        film.element.hidden = !sets.length || film.element.hidden;
        if (!sets.length)
            return empty(h('p', {class: 'empty'}, 'The program marks no frames. STROBE_FRAME() or FrameMark at the end of each makes this chart.')) && fill(figures);
        const track = Number(pick.value), {json, arrays} = await app.engine.ask({ask: 'frames', track, ...app.range(), tracks: undefined, limit: 20000});
        if (!isNewest())
            return undefined;
        fill(figures, figure('frames', format.count(json.total)), figure('mean', format.duration(json.mean)), figure('median', format.duration(json.median)), figure('min', format.duration(json.min)),
            figure('max', format.duration(json.max)), overTarget(arrays, target()), figure('rate', json.mean ? `${(1e9 / json.mean).toFixed(1)} /s` : '–'));
        empty();
        const theme = THEMES[app.theme], times = [...arrays.t0].map((t, i) => (arrays.t1[i] - t) / 1e6), most = times.reduce((m, v) => Math.max(m, v), 1) * 1.1;
        chart = new Chart(place, {
            name: 'frames', told: (words) => app.announce(words),
            theme,
            bars: times.map((value, i) => ({from: i, to: i + 1, value, color: frameColor(theme, value, target())})),
            x: {min: 0, max: times.length, show: (v) => (Number.isInteger(v) && v < times.length ? `#${v + 1}` : '')},
            y: {min: 0, max: most, show: (v) => `${+v.toPrecision(3)} ms`},
            levels: levelsOf(target()),
            picked: (i) => {
                film.showTime(arrays.t0[i]);
                app.goTo(track, 0, arrays.t0[i], arrays.t1[i]);
            },
        });
        await film.load(track);
        return undefined;
    }
    return {id: 'frames', title: 'Frames', element, update: load, film};
}

export function makeNotes(app) {
    const head = h('div'), body = h('div'), element = h('div', {class: 'notes', tabindex: '0', role: 'region', 'aria-label': 'notes'}, head, body);
    const rows = new Map(); /* by note: those of other pages come while one is being written here, which must stay where it is */
    const makeRow = (note) => {
        const text = h('input', {type: 'text', 'aria-label': 'note', onchange: () => {
            note.text = text.value;
            app.notes.changed();
        }});
        const time = h('button', {class: 'link', onclick: () => app.showNote(note)});
        const line = h('div', {class: 'noterow'}, time, h('small', {}, note.to > note.from ? format.duration(note.to - note.from) : ''), text,
            h('button', {class: 'small', title: 'remove', onclick: () => app.notes.remove(note)}, '✕'));
        return {text, time, line};
    };
    function showRow(note, at) {
        const row = rows.get(note) || makeRow(note);
        rows.set(note, row);
        row.time.textContent = format.time(note.from, app.timeMode, app.trace, 1000);
        if (row.text !== document.activeElement)
            row.text.value = note.text;
        if (body.children[at] !== row.line)
            body.insertBefore(row.line, body.children[at] || null);
    }
    function showRows() {
        for (const [note, row] of rows)
            if (!app.notes.list.includes(note)) {
                row.line.remove();
                rows.delete(note);
            }
        app.notes.list.forEach(showRow);
    }
    const save = () => download(`${app.trace.name}.notes.json`, new Blob([app.notes.text()], {type: 'application/json'}));
    const where = () => (app.engine.kind === 'remote' ? `kept beside the trace, in ${app.trace.name}.notes.json` : 'kept in this browser');
    function update() {
        showRows();
        if (!app.notes.list.length)
            return fill(head, h('p', {class: 'empty'}, `No notes yet. M makes one at the selected area, zone, or the pointer. Notes are ${where()}, in the link, and in exports.`));
        const button = app.engine.kind === 'remote' ? null : h('button', {title: 'beside the trace, strobe view and strobe export find it; it can be dropped here, too', onclick: save}, 'Save as a file');
        return fill(head, h('div', {class: 'notebar'}, h('small', {}, `${format.several(app.notes.list.length, 'note')}, ${where()}`), button));
    }
    return {id: 'notes', title: 'Notes', element, update, grows: () => false};
}

export function makeInfo(app) {
    const element = h('div', {class: 'info', tabindex: '0', role: 'region', 'aria-label': 'facts of the trace'}), begin = newest();
    const facts = (title, rows) => section(title, pairs(rows));
    const ending = (p) => (p.ended === null ? 'still running at the end, or not known' : p.how === 1 ? `exit status ${p.value}` : p.how === 2 ? `killed by signal ${p.value}` : 'ended');

    /* How well times of a host that was merged are known beside those of others. */
    const clockOf = (x) => (x.how === 'never compared' ? 'never compared: placed by the wall clock, the order of its events and others\' means nothing'
        : x.how === 'own clock' ? 'has the clock of the trace' : `${x.how}: likely within ${format.duration(x.likely_ns)}, proven within ${format.duration(x.proven_ns)}`)
        + (x.steps ? `; a clock was stepped, ${x.steps === 1 ? 'once' : `${x.steps} times`}: there within ${format.duration(x.unsure_ns)}` : '');

    /* While it grows, its facts are asked for anew. */
    async function update() {
        const isNewest = begin(), t = app.trace.live ? (await app.engine.ask({ask: 'trace'})).json : app.trace;
        const clocks = await gpuClocks(app).catch(() => null);
        if (isNewest())
            show(t, clocks);
    }

    function show(t, clocks) {
        const c = t.coverage, lost = c.dropped || 0, o = t.overhead;
        fill(element, h('div', {class: 'columns'},
            facts('Trace', [['file', t.name], ['size', format.bytes(t.bytes)], ['length', format.duration(t.range[1] - t.range[0])], ['state', t.live ? 'being recorded' : window.strobePiece ? 'a piece of a trace' : t.closed ? 'closed' : 'not closed: its writer was killed, or it is cut'],
                ['id', t.uuid], ['clock', `${t.clock.kind}, uncertain by ${format.duration(t.clock.error_ns)}`], ['engine', app.engine.kind === 'local' ? 'in this page' : 'server']]),
            facts('Coverage', [['stored', `${format.count(c.stored)} events`], ['lost', lost ? `${format.count(lost)} events` : 'none'], ['coverage', c.emitted ? format.percent(c.stored / c.emitted) : '–'],
                ['missing blocks', t.holes ? format.count(t.holes) : ''], ...t.losses.slice(0, 20).map((l) => [(app.trackOf(l.track) || {name: 'unknown track'}).name, `${format.count(l.count)}: ${l.cause}, ${format.time(l.from, app.timeMode, t, 1e6)} to ${format.time(l.to, app.timeMode, t, 1e6)}`])]),
            facts('Events', Object.entries(t.totals).filter(([, n]) => n).map(([k, n]) => [k.replace('gpu_', 'GPU '), format.count(n)])),
            o ? facts('Overhead', [['one event', o.event_ps ? `${(o.event_ps / 1000).toFixed(1)} ns` : ''], ['all events', o.event_ps ? format.duration(o.event_ps * c.stored / 1000) : ''], ['recorder\'s CPU', format.duration(o.recorder_cpu_ns)], ['waited for room', format.duration(o.waited_ns)]]) : null,
            t.host ? facts('Host', [['name', t.host.name], ['kernel', t.host.kernel], ['CPU', t.host.cpu]]) : null,
            clocks,
            (t.hosts || []).length > 1 ? facts('Merged of', t.hosts.slice(0, 64).map((x) => [x.name, clockOf(x)])) : null,
            ...t.processes.slice(0, 30).map((p) => facts(`Process ${p.pid}`, [['program', p.exe], ['arguments', p.argv.join(' ')], ['folder', p.cwd], ['end', ending(p)], ['its own clock', p.clock_error_ns >= 1e18 ? 'nothing is known of its error' : p.clock_error_ns ? `give or take ${format.duration(p.clock_error_ns)}` : '']])),
            t.notes.length || (t.limits || []).length ? facts('Notes of the recorder', [...t.notes, ...(t.limits || [])].slice(0, 50).map((n, i) => [String(i + 1), n])) : null));
    }
    return {id: 'info', title: 'Info', element, update};
}
