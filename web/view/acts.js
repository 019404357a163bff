/* acts.js - what the rows of keys.js name, one function each.  SPDX-License-Identifier: MIT */
import {KEYS} from './keys.js';
import {RULER} from './timeline.js';
import {copyCommand, savePng} from './share.js';
import {saveAreaPng, saveSvg} from './picture.js';
import {copyText} from './dom.js';
import {nextTextSize} from './scale.js';
import {bytes, readTime} from './format.js';
import {MODES} from './coloring.js';
import {showMenuOfSelection} from './zonemenu.js';
import * as walk from './walk.js';

const ZOOM = 0.8, FAST = 0.5, PAN = 0.12, PAN_FAST = 0.5;

const spanOf = (app) => app.view.to - app.view.from;

/* The next zone of the same name; keeps the zoom. */
async function stepZone(app, to) {
    const s = app.selection;
    if (!s)
        return app.say('Click a zone first; , and . then go to the one before and after of the same name.');
    const q = {ask: 'step', track: s.track, depth: s.depth, at: s.t0, to, same: 'loc', loc: s.loc};
    let {json} = await app.engine.ask(q);
    if (json.zone && json.zone.t0 === s.t0) /* several ticks are at one ns: from the next one on */
        ({json} = await app.engine.ask(Object.assign(q, {at: to === 'next' ? s.t0 + 1 : s.t0 - 1})));
    if (!json.zone)
        return app.say(to === 'next' ? 'There is no later one on this track.' : 'There is no earlier one on this track.');
    json.zone.track = json.zone.track ?? s.track;
    const z = json.zone, end = z.t1 ?? z.t0, span = spanOf(app);
    if (z.t0 < app.view.from || end > app.view.to) {
        app.remember();
        app.setView((z.t0 + end - span) / 2, (z.t0 + end + span) / 2);
    }
    app.showTrack(s.track, z.depth);
    return app.setSelection(json);
}

async function stepFlow(app, forward) {
    const s = app.selection;
    if (!s && app.mark && app.mark.kind === 'state')
        return app.timeline.wakes.step(forward);
    if (!s)
        return app.say('Click a zone first; [ and ] then go along its flows.');
    const inside = (t, track) => track === s.track && t >= s.t0 && t <= (s.t1 ?? Infinity);
    const flow = forward ? app.flows.find((f) => inside(f.t0, f.track0) && !inside(f.t1, f.track1)) : app.flows.find((f) => inside(f.t1, f.track1) && !inside(f.t0, f.track0));
    if (!flow)
        return app.say(forward ? 'No flow leaves this zone.' : 'No flow comes to this zone.');
    const [track, depth, t] = forward ? [flow.track1, flow.depth1, flow.t1] : [flow.track0, flow.depth0, flow.t0];
    const zone = await app.selectZone(track, depth, t, false);
    app.showTrack(track, depth);
    if (zone && (zone.t0 < app.view.from || (zone.t1 ?? zone.t0) > app.view.to)) {
        app.remember();
        app.setView(zone.t0 - spanOf(app) / 2, zone.t0 + spanOf(app) / 2);
    }
    return undefined;
}

function parent(app) {
    const s = app.selection, p = s && s.detail.parents[s.detail.parents.length - 1];
    if (!p)
        return app.say(s ? 'This zone is the outermost one.' : 'Click a zone first; P then goes to the one around it.');
    return app.selectZone(s.track, p.depth, p.t0, false);
}

function fitSelection(app) {
    const s = app.selection;
    app.remember();
    if (s)
        return app.fit({from: s.t0, to: s.t1 ?? app.trace.range[1]}, 0.1);
    return app.fit(app.area || app.whole(), app.area ? 0.05 : 0);
}

function mark(app) {
    const s = app.selection, at = Math.round(app.pointerTime());
    const [from, to] = app.area ? [app.area.from, app.area.to] : s ? [s.t0, s.t1 ?? s.t0] : [at, at];
    app.overlay.askText('note', 'Note', '', (text) => {
        app.notes.make(from, to, text);
        app.drawer.spoil('notes');
    });
}

function clear(app) {
    if (app.menu.isOpen)
        return app.menu.close();
    if (app.overlay.isOpen)
        return app.overlay.close();
    if (!app.trace)
        return undefined;
    if (app.main.hidden)
        return history.back(); /* from the start page */
    app.tips.hide();
    app.measure = null;
    app.area = null;
    app.highlight = app.found = null;
    app.setSelection(null);
    app.drawer.spoil();
    return app.search.run('');
}

/* A track as a row to choose. */
function trackRow(app, t) {
    return {text: t.name, note: `${t.kind}${t.tid ? ` ${t.tid}` : ''}${t.parent && app.trackOf(t.parent) ? ` – ${app.trackOf(t.parent).name}` : ''}`};
}

function findTrack(app) {
    app.overlay.choose('tracks', 'Find a track', 'Name, kind or number', app.trace.tracks.map((t) => ({...trackRow(app, t), run: () => app.showTrack(t.id)})));
}

/* Of any track, the one that is meant first. */
function trackMenu(app) {
    const meant = trackMeant(app), tracks = [...app.trace.tracks].sort((a, b) => (b.id === meant) - (a.id === meant)), {left, top} = app.timeline.canvas.getBoundingClientRect();
    app.overlay.choose('tracks', 'Menu of a track', 'Name, kind or number', tracks.map((t) => ({...trackRow(app, t), run: () => app.menu.showTrack(left + 40, top + 40, t)})));
}

function pin(app) {
    const p = app.timeline.pointer, at = p && p.y > RULER ? app.timeline.rowAt(p.y) : null, id = at && !at.row.header ? at.row.track.id : app.selection && app.selection.track;
    if (id)
        app.togglePin(id);
    else
        app.say('Point at a track to pin it.');
}

/* The track under the pointer, else that of the selection; 0: none. */
function trackMeant(app) {
    const p = app.timeline.pointer, at = p && p.y > RULER ? app.timeline.rowAt(p.y) : null;
    return at ? at.row.track.id : app.selection ? app.selection.track : 0;
}

function askDepth(app) {
    const p = app.timeline.pointer, at = p && app.timeline.rowAt(p.y), id = at ? at.row.track.id : app.selection && app.selection.track;
    if (!id)
        return app.say('Point at a track first.');
    return app.overlay.askText('depth', `Depth limit of ${app.trackOf(id).name}`, String(app.choice.limits.get(id) || ''), (text) => app.setDepthLimit(id, Number.parseInt(text, 10) || 0));
}

function askTime(app) {
    return app.overlay.askText('time', 'Go to a time of the trace: 1.5 s, 250 ms, 12 µs or a number of ns', '', (text) => {
        const t = readTime(text);
        if (Number.isNaN(t))
            return app.say(`“${text}” is no time.`);
        return app.goToTime(t);
    }, 'Go there');
}

function collapseAll(app) {
    const groups = app.trace.tracks.filter((t) => t.kind === 'process'), all = groups.every((t) => app.choice.collapsed.has(t.id));
    for (const t of groups)
        if (all)
            app.choice.collapsed.delete(t.id);
        else
            app.choice.collapsed.add(t.id);
    app.timeline.relayout();
    app.changed('tracks');
}

async function saveRange(app) {
    const r = app.area || app.view, name = app.trace.name.replace(/\.[a-z]+$/, ''), place = (t) => Math.round(Math.max(0, Math.min(t, app.trace.range[1])) / 1000);
    if (app.engine.kind !== 'remote')
        throw new Error('Only a server can save a range: `strobe view` this trace.');
    const {json} = await app.engine.ask({ask: 'save', from: Math.round(r.from), to: Math.round(r.to), name: `${name}-${place(r.from)}-${place(r.to)}us.strobe`});
    app.say(`saved ${json.name}, ${bytes(json.bytes)}`, 8000);
}

/* Commands that have no key. */
const MORE = [
    ['askTime', 'Go to a time …'], ['timeMode', 'Times: relative, UTC, raw'], ['theme', 'Light or dark'], ['contrast', 'High contrast, or not'], ['palette', 'Colours that everybody can distinguish (colour-blind safe), or the usual ones'], ['textSize', 'Texts: 100, 125, 150 or 200 %'], ['fullScreen', 'Full screen, or not'], ['saveView', 'Keep this view under a name'], ['views', 'Go to a kept view'], ['pngArea', 'Save the area as PNG'], ['svg', 'Save the view or the area as SVG'], ['png', 'Save the view as PNG'], ['copyCommand', 'Copy statistics as a command'], ['copyLink', 'Copy a link to this place'],
    ['collapseAll', 'Collapse or open all processes'], ['hideEmpty', 'Hide tracks that are empty in view, or show them'], ['compact', 'Leave out unused depths, or show them'], ['coloring', 'Colour zones by name, thread, depth, duration …'], ['shareScale', 'Plots: one scale for all of a unit, or one each'], ['depth', 'Limit the depth of the track under the pointer'], ['limitToView', 'Panels: limit to view'], ['wheel', 'Wheel: scroll or zoom'],
    ['ghosts', 'Show or hide functions of samples below each thread'], ['stats', 'Panel: statistics'], ['samples', 'Panel: samples'], ['ops', 'Panel: ops of devices'], ['regions', 'Panel: sums by region'], ['flame', 'Panel: flame graph'], ['messages', 'Panel: messages'], ['frames', 'Panel: frames'], ['notes', 'Panel: notes'], ['info', 'Panel: info'], ['saveRange', 'Server: save the area or view as a trace'],
    ['stop', 'Server: stop recording'], ['open', 'Open another trace'], ['closeTrace', 'Close this trace'],
];

function commands(app) {
    const rows = KEYS.filter((k) => !k.typing).map((k) => ({text: k.help, note: k.show, run: () => app.act(k.act)})).concat(MORE.map(([act, text]) => ({text, note: '', run: () => app.act(act)})));
    app.overlay.choose('commands', 'Commands', 'What do you want to do?', rows);
}

export const acts = {
    zoomIn: (app) => app.zoom(ZOOM, app.pointerTime()), zoomOut: (app) => app.zoom(1 / ZOOM, app.pointerTime()),
    zoomInFast: (app) => app.zoom(FAST, app.pointerTime()), zoomOutFast: (app) => app.zoom(1 / FAST, app.pointerTime()),
    panLeft: (app) => app.pan(-PAN * spanOf(app)), panRight: (app) => app.pan(PAN * spanOf(app)),
    panLeftFast: (app) => app.pan(-PAN_FAST * spanOf(app)), panRightFast: (app) => app.pan(PAN_FAST * spanOf(app)),
    fitAll(app) {
        app.remember();
        app.fit(app.whole());
    },
    fitSelection, mark, clear, parent, findTrack, trackMenu, askTime, pin, commands, collapseAll, saveRange, depth: askDepth,
    back: () => history.back(), forward: () => history.forward(),
    follow(app) {
        app.server.follow(!app.server.following);
        if (app.server.following)
            app.pan(app.trace.range[1] - app.view.to);
    },
    zoneLeft: (app) => walk.sideways(app, 'previous'), zoneRight: (app) => walk.sideways(app, 'next'), zoneUp: walk.up, zoneDown: walk.down,
    trackUp: (app) => walk.otherTrack(app, -1), trackDown: (app) => walk.otherTrack(app, 1),
    nextMessage: (app) => walk.message(app, 1), previousMessage: (app) => walk.message(app, -1), nextNote: (app) => walk.note(app, 1), previousNote: (app) => walk.note(app, -1),
    fitHeight: (app) => app.toggleFitHeight(), zoneMenu: showMenuOfSelection, showAll: (app) => app.showAllTracks(),
    hide: (app) => (trackMeant(app) ? app.hideTrack(trackMeant(app)) : app.say('Point at a track to hide it.')),
    hideEmpty: (app) => app.setCompact('hidesEmpty', !app.choice.hidesEmpty), compact: (app) => app.setCompact('isCompact', !app.choice.isCompact),
    shareScale: (app) => app.shareScale(!app.choice.sharesScale),
    tracksMenu(app) {
        const box = app.tracksButton.getBoundingClientRect();
        app.menu.showTracks(box.left, box.bottom + 4);
    },
    coloring: (app) => app.overlay.choose('coloring', 'Colour zones by', 'name, thread, depth …', MODES.map(([mode, words]) => ({text: words, note: mode === app.coloring.mode ? 'now' : '', run: () => app.setColoring(mode)}))),
    previous: (app) => stepZone(app, 'previous'), next: (app) => stepZone(app, 'next'), flowBack: (app) => stepFlow(app, false), flowNext: (app) => stepFlow(app, true),
    areaFromSelection(app) {
        const s = app.selection;
        if (!s)
            return app.say('Click a zone first; R then selects its time.');
        app.area = {from: s.t0, to: s.t1 ?? app.trace.range[1], tracks: [s.track]};
        return app.changed('area');
    },
    areaFromView(app) {
        const rows = app.timeline.visibleRows().map((r) => r.row).filter((row) => !row.header && row.track.kind !== 'asked'), [first, last] = app.trace.range;
        app.setArea(Math.max(app.view.from, first), Math.min(app.view.to, last), rows.length ? [...new Set(rows.map((row) => row.track.id))] : null);
        app.areaDone();
    },
    search(app) {
        app.search.input.focus();
        app.search.input.select();
    },
    nextHit: (app) => app.search.step(1), previousHit: (app) => app.search.step(-1),
    drawer: (app) => (app.drawer.isOpen ? app.drawer.hide() : app.drawer.show(app.drawer.current)),
    help: (app) => (app.overlay.isOpen ? app.overlay.close() : app.overlay.help()),
    undo: (app) => app.undo.back(), redo: (app) => app.undo.again(), saveView: (app) => app.undo.askName(), views: (app) => app.undo.choose(),
    palette: (app) => app.coloring.setSafe(!app.coloring.isSafe),
    contrast: (app) => app.toggleTheme(app.theme === 'contrast' ? 'light' : 'contrast'),
    textSize: (app) => app.setTextSize(nextTextSize()),
    fullScreen: () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()),
    theme: (app) => app.toggleTheme(), png: savePng, pngArea: saveAreaPng, svg: saveSvg, copyCommand: (app) => copyCommand(app),
    timeMode: (app) => app.setTimeMode({relative: 'utc', utc: 'raw', raw: 'relative'}[app.timeMode]),
    async copyLink(app) {
        app.writeUrl();
        await copyText(location.href);
        if (!app.sayCut('link copied'))
            app.say('link copied');
    },
    limitToView(app) {
        app.setLimit(!app.limitToView);
    },
    ghosts: (app) => app.timeline.ghosts.toggle(), wheel: (app) => app.askWheel(), open: (app) => app.start.show(), closeTrace: (app) => app.tabs.close(), nextTrace: (app) => app.tabs.step(1), previousTrace: (app) => app.tabs.step(-1), stop: (app) => app.server.stop(),
    ...Object.fromEntries(['stats', 'samples', 'ops', 'regions', 'flame', 'messages', 'frames', 'notes', 'info'].map((id) => [id, (app) => app.drawer.show(id)])),
};
