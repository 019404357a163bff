/* app.js - the page: holds what is shown, and joins engine, timeline, panels and link.
 * SPDX-License-Identifier: MIT */
import {LocalEngine, Names} from './engines.js';
import {PIXEL_ZONE} from './facts.js';
import {LABEL, Timeline} from './view/timeline.js';
import {Menu} from './view/menu.js';
import {Minimap} from './view/minimap.js';
import {Mouse} from './view/mouse.js';
import {Notes} from './view/notes.js';
import {Overlay} from './view/overlay.js';
import {Search} from './view/search.js';
import {Live} from './view/live.js';
import {Start} from './view/start.js';
import {Tabs} from './view/tabs.js';
import {Tips} from './view/tips.js';
import {TrackChoice} from './view/layout.js';
import {acts} from './view/acts.js';
import {Coloring} from './view/coloring.js';
import {Legend, Standout} from './view/legend.js';
import {Undo} from './view/undo.js';
import {Presence} from './view/presence.js';
import {going} from './view/go.js';
import {placing} from './view/places.js';
import {measuring} from './view/measure.js';
import {opening} from './view/opening.js';
import {tracking} from './view/tracking.js';
import {rowFor} from './view/keys.js';
import {selectMark} from './view/marks.js';
import {areaKeys, readLink, trackByKey, tracksByKeys, writeLink} from './view/link.js';
import {takeScroll, takeTracks} from './view/linktracks.js';
import {droppedFiles, traceOf} from './view/dropped.js';
import {Drawer} from './panels/drawer.js';
import {makeCompare} from './panels/compare.js';
import {makeDetails} from './panels/details.js';
import {makeExplain} from './panels/explain.js';
import {makeFind} from './panels/find.js';
import {Images} from './panels/film.js';
import {makeFlame} from './panels/flame.js';
import {makeFrames, makeInfo, makeMessages, makeNotes} from './panels/lists.js';
import {makeLocks} from './panels/locks.js';
import {makeMemory} from './panels/memory.js';
import {makeOps} from './panels/ops.js';
import {makeQuery} from './panels/query.js';
import {makeRegions} from './panels/regions.js';
import {makeSamples, sampling} from './panels/samples.js';
import {makeStats} from './panels/stats.js';
import {h} from './view/dom.js';
import {keep, kept} from './view/kept.js';
import {setTextSize} from './view/scale.js';
import {THEMES} from './view/palette.js';
import * as format from './view/format.js';

const MIN_SPAN = 10;

/* Arrow keys are those of a table, a menu or a list that has the focus. */
function isForFocus(event) {
    return event.code.startsWith('Arrow') && event.target instanceof HTMLElement && event.target.closest('.drawer, .menu, .overlay, .tabs') !== null;
}

class App {
    constructor() {
        this.trace = this.engine = this.names = null;
        this.isArriving = null; /* what an address says is being shown: the latest such way */
        this.nth = (history.state && history.state.nth) || 0; /* of the traces that were shown here, one after the other; entries of the history know theirs */
        this.view = {from: 0, to: 1};
        this.selection = null; /* {track, depth, t0, t1, loc, detail} */
        this.point = null;     /* {track, t, item}: of a plot */
        this.mark = null;      /* a sample, or a stretch of a strip: view/marks.js */
        this.turn = 0;         /* selections so far: an answer about an earlier click comes too late */
        this.area = null;      /* {from, to, tracks} */
        this.measure = null;   /* ns: a measure was begun there */
        this.hover = null;     /* {loc} */
        this.highlight = null; /* {loc}: the rest is dimmed */
        this.beside = null;    /* another trace below this one: view/beside.js */
        this.found = null;     /* {loc}: of "find zone" */
        this.flows = [];
        this.trackHits = new Set();
        this.choice = new TrackChoice();
        this.limitToView = false;
        this.isPointing = false; /* the focus went where it is by the mouse, not by Tab */
        this.timeMode = 'relative';
        this.theme = kept('theme', window.matchMedia('(prefers-contrast: more)').matches ? 'contrast' : window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
        this.theme = this.theme in THEMES ? this.theme : 'light';
        this.wheelZooms = {yes: true, no: false}[kept('wheel', '')] ?? null;
        setTextSize();
        this.build();
    }

    build() {
        this.coloring = new Coloring(this);
        this.undo = new Undo(this);
        this.presence = new Presence(this);
        this.timeline = new Timeline(this);
        this.minimap = new Minimap(this);
        this.notes = new Notes(this);
        this.search = new Search(this);
        this.overlay = new Overlay(this);
        this.server = new Live(this);
        this.tabs = new Tabs(this);
        this.images = new Images(this);
        this.start = new Start(this);
        this.drawer = new Drawer(this, [makeDetails, makeStats, makeFind, makeFlame, makeSamples, makeOps, makeRegions, makeMemory, makeLocks, makeExplain, makeQuery, makeCompare, makeMessages, makeFrames, makeNotes, makeInfo]);
        this.tips = new Tips(this);
        this.menu = new Menu(this);
        this.toast = h('div', {class: 'toast', hidden: true, role: 'status'});
        this.title = h('span', {class: 'name'});
        this.live = h('button', {class: 'live', hidden: true, 'data-act': 'follow', title: 'follow, or hold still (Space)', onclick: () => this.act('follow')});
        this.stop = h('button', {class: 'stop', hidden: true, 'data-act': 'stop', title: 'stop recording; the program goes on', onclick: () => this.act('stop')}, '■ stop');
        const button = (act, text, title) => h('button', {'data-act': act, title, onclick: () => this.act(act)}, text);
        this.timeButton = button('timeMode', 'relative', 'times as relative, UTC or raw');
        this.filter = h('input', {type: 'search', class: 'trackfilter', placeholder: 'Filter tracks', 'aria-label': 'filter tracks', spellcheck: 'false', oninput: () => this.filterTracks(this.filter.value)});
        this.bar = h('header', {class: 'topbar'}, this.logo(), this.title, this.live, this.stop,
            h('span', {class: 'grow'}), this.search.element, h('span', {class: 'grow'}), this.timeButton, button('drawer', 'Panels', 'show or hide the panels (Q)'), button('png', 'PNG', 'save the view as a picture'),
            button('commands', '⌘', 'all commands (Ctrl+Shift+P)'), button('theme', '◐', 'light or dark'), button('help', '?', 'keys and mouse (?)'));
        this.spoken = h('p', {class: 'offscreen', role: 'status', 'aria-live': 'polite'});
        this.legend = new Legend(this);
        this.standout = new Standout(this);
        this.tracksButton = h('button', {class: 'small tracksmenu', 'data-act': 'tracksMenu', title: 'tracks: hide, compact, colours', 'aria-label': 'tracks: hide, compact, colours', onclick: () => this.act('tracksMenu')}, '≡');
        this.timeline.element.append(this.legend.element, this.standout.element, this.spoken);
        this.main = h('main', {hidden: true}, h('div', {class: 'overview'}, this.minimap.canvas, this.filter, this.tracksButton), this.timeline.element, this.drawer.element);
        document.body.append(this.bar, this.tabs.element, this.start.element, this.main, this.tips.element, this.menu.element, this.toast, this.overlay.element);
        this.setTheme(this.theme);
        this.mouse = new Mouse(this);
        this.listen();
    }

    /* A page with its trace in it has nothing else to open. */
    logo() {
        const content = [h('img', {src: this.asset('icon.svg'), alt: ''}), 'Strobe'];
        return window.strobeTrace ? h('span', {class: 'logo'}, content) : h('button', {class: 'logo', title: 'open another trace', onclick: () => this.start.show()}, content);
    }

    asset(path) {
        return window.strobeAssets ? window.strobeAssets[path] : new URL(path, import.meta.url).href;
    }

    listen() {
        window.addEventListener('keydown', (event) => this.key(event));
        window.addEventListener('pointerdown', () => { this.isPointing = true; }, true);
        window.addEventListener('popstate', (event) => this.travel(event.state || {nth: this.nth}));
        window.addEventListener('dragover', (event) => event.preventDefault());
        window.addEventListener('drop', (event) => {
            event.preventDefault();
            this.noteDropped([...event.dataTransfer.items]);
            this.take(droppedFiles(event.dataTransfer));
        });
    }

    key(event) {
        const typing = event.target instanceof HTMLElement && (event.target.matches('input:not([type=checkbox]), textarea, select') || event.target.isContentEditable);
        if (event.code === 'Tab')
            this.isPointing = false;
        const row = this.isPressing(event) ? null : rowFor(event, typing);
        if (!row || !this.can(row.act) || event.repeat && !row.repeat || row.typing && event.target !== this.search.input || isForFocus(event))
            return;
        if (typing && row.act === 'clear')
            return this.leaveField(event.target);
        event.preventDefault();
        this.act(row.act);
    }

    /* Esc in a field: the search box takes its hits, marks and link with it. */
    leaveField(field) {
        if (this.overlay.isOpen)
            return this.overlay.close();
        field.blur();
        return field === this.search.input && this.trace ? this.search.run('') : undefined;
    }

    /* Space presses what has the focus; but a button that was clicked shall not keep it from following a live trace. */
    isPressing(event) {
        return event.code === 'Space' && event.target instanceof HTMLElement && event.target.matches('button, input') && !(this.isPointing && this.trace && this.trace.live);
    }

    /* Without a trace that is seen there is not much to be done. */
    can(name) {
        return this.trace && !this.main.hidden || ['help', 'theme', 'commands', 'clear', 'back', 'forward'].includes(name);
    }

    /** Do what a row of the tables names. */
    act(name) {
        const f = acts[name];
        if (!f || !this.can(name))
            return undefined;
        return Promise.resolve(f(this)).catch((error) => this.say(error.message));
    }

    /* --- opening --------------------------------------------------------------------------- */

    /** Files that were dropped or chosen: a trace, files of another profiler, notes, or both. Resolves to whether a trace is shown. */
    async take(coming) {
        const files = await coming, isNotes = ({file}) => file.name.endsWith('.notes.json'), notes = files.find(isNotes), others = files.filter((file) => !isNotes(file));
        const isShown = others.length ? await this.openFiles(others) : Boolean(this.trace);
        if (notes && isShown)
            this.notes.read(await notes.file.text());
        return isShown;
    }

    async openFiles(files) {
        try {
            this.start.busy(`Opening ${files[0].path.split('/')[0]} …`);
            const trace = await traceOf(files, (share) => this.start.importing({share})), isShown = await this.openLocal(trace);
            if (isShown && trace.words)
                this.say(trace.words);
            return isShown;
        } catch (error) {
            this.start.fail(error.message);
            return false;
        }
    }

    /** Read a trace in the page: {blob or url, name}. Resolves to whether it is shown. */
    async openLocal(what) {
        this.start.busy(`Opening ${what.name || what.url || 'the trace'} …`);
        const engine = new LocalEngine(this.workerUrl());
        engine.on('restarted', (json) => this.say(`the page's reader failed and was started anew: ${json.why}`));
        try {
            await engine.open(what);
            if (this.trace)
                this.leave(what.url);
            await this.use(engine);
            this.start.recent.note({name: what.name, url: what.url});
            return true;
        } catch (error) {
            engine.close();
            this.start.fail(error.message);
            return false;
        }
    }

    /* Another trace takes the place of the one that is shown: view, area and notes stay with that one, in the history. A file has no
     * address. */
    leave(url, search = url ? `?url=${encodeURIComponent(url)}` : '') {
        this.writeUrl();
        this.tabs.shelve();
        this.nth = this.tabs.nextNth();
        history.pushState({nth: this.nth}, '', `${location.pathname}${search}`);
        window.strobeView = window.strobeNotes = window.strobePiece = null;
        this.filter.value = '';
        this.timeline.scroll = 0;
    }

    workerUrl() {
        return window.strobeWorker || undefined;
    }

    /** Show what an engine answers for. */
    async use(engine, facts) {
        const json = facts || (await engine.ask({ask: 'trace'})).json;
        if (this.engine && this.engine !== engine && !this.tabs.has(this.engine))
            this.engine.close();
        this.showBeside(null);
        this.engine = engine;
        this.trace = json;
        this.tracksById = null;
        this.names = new Names(engine, () => {
            this.timeline.painter.forget();
            this.redraw();
        });
        this.choice = new TrackChoice();
        Object.assign(this, {selection: null, area: null, hover: null, highlight: null, found: null, flows: []});
        this.timeline.data.fine = this.timeline.data.coarse = null;
        this.timeline.data.spoil();
        this.timeline.painter.forget();
        this.coloring.forget();
        this.undo.forget();
        this.presence.begin();
        this.minimap.busy = null;
        this.minimap.spoil();
        this.tips.hide();
        this.title.textContent = json.name;
        document.title = `${json.name} – Strobe`;
        this.tabs.note();
        this.start.hide();
        this.main.hidden = false;
        this.legend.draw();
        this.notes.load(window.strobeNotes, readLink(location.hash).notes);
        this.server.show();
        this.timeline.relayout();
        this.fit(this.whole());
        await this.applyLink(true);
        this.drawer.drawTabs();
        this.drawer.spoil();
        this.server.readOn(engine);
    }

    get following() {
        return this.server.following;
    }

    /* --- what is shown ----------------------------------------------------------------------- */

    whole() {
        const [from, to] = window.strobeView || this.trace.range, span = Math.max(MIN_SPAN, to - from);
        return {from: from - span * 0.01, to: from + span * 1.01};
    }

    isWhole() {
        const whole = this.whole();
        return Math.abs(this.view.from - whole.from) < 1 && Math.abs(this.view.to - whole.to) < 1;
    }

    isWholeOf(end) {
        return this.view.from <= this.trace.range[0] && this.view.to >= end;
    }

    /** Show a range, kept within sight of the trace. */
    setView(from, to, byItself = false) {
        const [first, last] = this.trace.range, whole = Math.max(MIN_SPAN, last - first), span = Math.min(Math.max(MIN_SPAN, to - from), whole * 1.5);
        let start = to - from < MIN_SPAN ? (from + to - span) / 2 : from;
        start = Math.max(first - span * 0.9, Math.min(start, last - span * 0.1));
        this.view = {from: start, to: start + span};
        if (!byItself && this.trace.live && this.server.following && this.view.to < last)
            this.server.follow(false);
        this.changed(byItself ? 'followed' : 'view'); /* following, the panels are made anew at their own pace */
    }

    fit(range, margin = 0) {
        const span = Math.max(MIN_SPAN, range.to - range.from) * margin;
        this.setView(range.from - span, Math.max(range.to, range.from + MIN_SPAN) + span);
    }

    zoom(factor, at = (this.view.from + this.view.to) / 2) {
        const {from, to} = this.view;
        this.setView(at - (at - from) * factor, at + (to - at) * factor);
    }

    pan(ns) {
        this.setView(this.view.from + ns, this.view.to + ns);
    }

    /** The time under the pointer, or the view's middle. */
    pointerTime() {
        const p = this.timeline.pointer;
        return p && p.x >= LABEL ? this.timeline.timeAt(p.x) : (this.view.from + this.view.to) / 2;
    }

    /** A jump is coming: Back shall lead here; or it has come, and Back shall lead to `view`. */
    remember(view = this.view) {
        const now = this.view;
        if (!this.trace)
            return;
        this.view = view;
        this.writeUrl();
        this.view = now;
        history.pushState({nth: this.nth}, '', location.href);
        this.writeUrl();
    }

    /** Back and Forward: to another place of this trace, to or from the start page, or to another trace, which needs a new page. */
    travel({nth, isStart}) {
        if (nth !== this.nth)
            return this.tabs.travel({nth, isStart});
        if (!this.trace)
            return undefined;
        if (isStart)
            return this.start.cover();
        this.start.uncover();
        return this.applyLink(false);
    }

    writeUrl() {
        clearTimeout(this.urlTimer);
        this.urlTimer = null;
        if (this.trace && !this.main.hidden && !this.isArriving)
            this.noteUrl(writeLink(this));
    }

    noteUrl(hash) {
        history.replaceState({nth: this.nth}, '', `${location.pathname}${location.search}${hash}`);
        this.undo.note(hash);
        this.timeline.canvas.setAttribute('aria-label', this.timeline.summary());
    }

    /** Something changed: draw, write the link, tell the panels. */
    changed(what) {
        this.redraw();
        const soon = what === 'followed' ? 2000 : 250; /* following, it changes all the time: browsers look for the icon anew at each change */
        if (!this.urlTimer || soon < this.urlSoon) {
            clearTimeout(this.urlTimer);
            this.urlSoon = soon;
            this.urlTimer = setTimeout(() => this.writeUrl(), soon);
        }
        if (what === 'view' && this.limitToView || what === 'area')
            this.drawer.spoil();
        else if (what === 'selection')
            this.drawer.spoil('details');
        else if (what === 'notes')
            this.drawer.spoil('notes');
    }

    /** Another trace below this one (view/beside.js); null: none. */
    showBeside(beside) {
        if (this.beside)
            this.beside.element.remove();
        this.beside = beside;
        if (beside) {
            this.timeline.element.after(beside.element);
            beside.begin();
        }
        this.redraw();
    }

    redraw() {
        if (this.frame)
            return;
        this.frame = requestAnimationFrame(() => {
            this.frame = 0;
            if (!this.trace || this.main.hidden)
                return;
            this.timeline.draw();
            if (this.beside)
                this.beside.draw();
            this.minimap.draw();
            this.standout.update();
            this.tips.refresh();
        });
    }

    /** Show what the address says. It is not written before all of that is there; one that comes meanwhile overtakes it. */
    async applyLink(first) {
        const arrival = this.isArriving = {};
        try {
            await this.takeLink(readLink(location.hash), first, () => this.isArriving !== arrival);
        } finally {
            if (this.isArriving === arrival) {
                this.isArriving = null;
                this.changed('link');
            }
        }
    }

    async takeLink(link, first, isOvertaken) {
        const {tracks} = this.trace;
        this.setTimeMode(link.timeMode);
        takeTracks(this, link);
        const {from, to} = link.view || this.whole();
        this.setView(from, to);
        if (link.view && this.trace.live) /* a place, though its end may not have been yet */
            this.server.follow(false);
        const area = link.area;
        this.area = area ? {from: area.from, to: area.to, tracks: area.keys ? tracksByKeys(tracks, area.keys) : null} : null;
        if (link.panel && (first || !this.drawer.isOpen))
            this.drawer.show(link.panel);
        if (link.search !== this.search.text)
            await this.search.run(link.search);
        const track = link.selection && trackByKey(tracks, link.selection.key);
        if (isOvertaken())
            return;
        if (track)
            await this.selectZone(track.id, link.selection.depth, link.selection.t0, false);
        else
            this.setSelection(null);
        if (!isOvertaken() && link.found !== (this.found ? this.names.name(this.found.loc) : ''))
            await this.findByName(link.found, isOvertaken);
        if (!isOvertaken() && !takeScroll(this, link) && first && track && !this.aboveOf(track.id).some((id) => this.choice.hidden.has(id))) /* what is hidden stays so */
            this.showTrack(track.id, link.selection.depth);
        this.drawer.spoil();
    }

    /** '': none is looked for any more. */
    async findByName(name, isOvertaken = () => false) {
        this.found = this.highlight = null;
        if (!name)
            return;
        const {arrays} = await this.engine.ask({ask: 'stats', filter: name, limit: 100});
        await this.names.need(arrays.loc);
        const loc = [...arrays.loc].find((l) => this.names.name(l) === name);
        if (loc && !isOvertaken())
            this.findZone(loc, false);
    }

    trackOf(id) {
        if (!this.tracksById || this.tracksById.size !== this.trace.tracks.length)
            this.tracksById = new Map(this.trace.tracks.map((t) => [t.id, t]));
        return this.tracksById.get(id) || this.timeline.asked.trackOf(id);
    }

    /** An answer told how deep tracks are. */
    learnDepths(list) {
        let grew = false;
        for (const [id, n] of list) {
            const track = this.trackOf(id);
            if (track && n > track.n_depths) {
                track.n_depths = n;
                grew = true;
            }
        }
        if (grew)
            this.timeline.relayout();
    }

    /* --- selecting --------------------------------------------------------------------------- */

    setSelection(detail) {
        const z = detail && detail.zone;
        this.turn++;
        this.point = this.mark = null;
        this.selection = z ? {track: z.track, depth: z.depth, t0: z.t0, t1: z.t1, loc: z.loc, detail} : null;
        this.flows = [];
        if (z)
            this.loadFlows(z.t0, z.t1 ?? this.trace.range[1], [z.track]);
        this.changed('selection');
    }

    /** A place of a plot is what Details are of. */
    setPoint(track, t, item) {
        this.setSelection(null);
        this.point = {track, t, item};
        return this.drawer.show('details');
    }

    /* Arrows of what was just selected. */
    async loadFlows(from, to, tracks) {
        if (this.trace.has_flows === false)
            return;
        const {turn} = this;
        try {
            const {json} = await this.engine.ask({ask: 'flows', from, to, tracks, limit: 200});
            if (turn === this.turn) {
                this.flows = json.flows;
                this.redraw();
            }
        } catch { /* an engine without flows: no arrows */ }
    }

    async selectZone(track, depth, t0, open = true) {
        const at = this.trackOf(track).kind === 'frames' ? t0 + 1 : t0; /* a frame ends where the next begins, which is known to a ns */
        const turn = ++this.turn, {json} = await this.engine.ask({ask: 'zone', track, depth, at, slack: 2});
        if (json.zone && turn === this.turn) {
            json.zone.track = json.zone.track ?? track;
            this.setSelection(json);
            if (open)
                this.drawer.show('details');
        }
        return json.zone;
    }

    /** A click on the timeline. */
    async selectHit(hit) {
        if (hit && hit.mark)
            return selectMark(this, hit);
        if (!hit || !hit.item)
            return this.setSelection(null);
        const {row, item} = hit, {track} = row;
        if (track.kind === 'messages')
            return this.drawer.panel('messages').goTo(item, track);
        if (track.kind === 'plot')
            return this.setPoint(track, hit.t, item);
        const at = item.flags & PIXEL_ZONE ? Math.min(Math.max(hit.t, item.t0), item.t1) : hit.t, slack = Math.max(2, (this.view.to - this.view.from) / this.timeline.width * 2);
        const turn = ++this.turn, {json} = await this.engine.ask({ask: 'zone', track: track.id, depth: hit.depth, at, slack});
        if (!json.zone || turn !== this.turn)
            return undefined;
        json.zone.track = track.id;
        this.setSelection(json);
        return this.drawer.show('details');
    }

    setArea(from, to, tracks) {
        this.area = {from: Math.round(from), to: Math.round(to), tracks}; /* whole ns, as in the link */
        this.redraw();
    }

    /** All of a track (or a process) as the area. */
    selectTrack(track) {
        const kids = this.belowOf(track);
        this.setArea(this.trace.range[0], this.trace.range[1], kids.length ? kids : [track.id]);
        this.areaDone();
    }

    areaDone() {
        this.setSelection(null);
        this.loadFlows(this.area.from, this.area.to, this.area.tracks || undefined);
        this.changed('area');
        this.sayCut('The area is in the link');
        this.drawer.show(['stats', 'flame', 'samples', 'messages', 'find'].includes(this.drawer.current) && this.drawer.isOpen ? this.drawer.current : 'details');
    }

    /* Where the link can't have all tracks of the area. */
    sayCut(what) {
        const n = this.area && this.area.tracks ? areaKeys(this.trace.tracks, this.area.tracks).nLeft : 0;
        if (n)
            this.say(`${what}, but for ${format.several(n, 'track')}: it has no room for so many.`, 8000);
        return n > 0;
    }

    /** What panels are to count: the view, the area, or all. */
    range() {
        if (this.limitToView)
            return {from: Math.floor(this.view.from), to: Math.ceil(this.view.to), tracks: this.area && this.area.tracks ? this.area.tracks : undefined};
        return this.area ? {from: Math.floor(this.area.from), to: Math.ceil(this.area.to), tracks: this.area.tracks || undefined} : {};
    }

    rangeWords() {
        if (!this.trace)
            return '';
        const r = this.range(), tracks = r.tracks ? `, ${r.tracks.length} tracks` : '';
        return r.from === undefined ? 'whole trace' : `${this.limitToView ? 'view' : 'area'} of ${format.duration(r.to - r.from)}${tracks}`;
    }

    setLimit(on) {
        this.limitToView = on;
        this.drawer.spoil();
    }

    findZone(loc, open = true) {
        this.found = {loc};
        this.highlight = {loc};
        this.drawer.spoil('find');
        if (open)
            this.drawer.show('find');
        this.changed('found');
    }

    zoomTo(item) {
        this.remember();
        this.fit({from: item.t0, to: item.t1}, 0.1);
    }

    /* --- hover and tip ----------------------------------------------------------------------- */

    setHover(hover) {
        if ((this.hover && this.hover.loc) === (hover && hover.loc))
            return;
        this.hover = hover;
        this.redraw();
    }

    say(text, ms = 3500) {
        this.toast.textContent = text;
        this.toast.hidden = false;
        clearTimeout(this.toastTimer);
        this.toastTimer = setTimeout(() => { this.toast.hidden = true; }, ms);
    }

    /** For those who listen to the page. */
    announce(words) {
        this.spoken.textContent = words;
    }

    setColoring(mode) {
        this.coloring.setMode(mode);
        this.legend.draw();
    }

    /* --- the rest ---------------------------------------------------------------------------- */

    setTheme(theme) {
        this.theme = theme;
        document.documentElement.dataset.theme = theme;
        this.timeline.painter.forget();
        this.drawer.spoil();
        this.redraw();
    }

    toggleTheme(theme = this.theme === 'light' ? 'dark' : 'light') {
        this.setTheme(theme);
        keep('theme', this.theme);
    }

    setTimeMode(mode) {
        this.timeMode = mode;
        this.timeButton.textContent = mode === 'utc' ? 'UTC' : mode;
        this.drawer.spoil();
        this.changed('time');
    }

    askWheel() {
        this.wheelZooms = false;
        this.overlay.askChoice('wheel', 'What shall the wheel do?', 'On the tracks. Ctrl+wheel always zooms; on ruler and minimap the wheel always does.', [
            ['Scroll the tracks', () => this.setWheel(false)], ['Zoom, as in Tracy', () => this.setWheel(true)],
        ]);
    }

    setWheel(zooms) {
        this.wheelZooms = zooms;
        keep('wheel', zooms ? 'yes' : 'no');
    }

    showNote(note) {
        this.remember();
        const span = Math.max(note.to - note.from, (this.view.to - this.view.from) / 20, MIN_SPAN);
        this.fit({from: note.from - span / 2, to: note.to + span / 2});
    }

    async begin() {
        this.keepOffline();
        const query = new URLSearchParams(location.search);
        if (window.strobeTrace)
            return this.openEmbedded();
        if (query.get('url'))
            return this.openLocal({url: new URL(query.get('url'), location.href).href, name: query.get('url')});
        return this.start.begin(query);
    }
}

Object.assign(App.prototype, going, placing, measuring, opening, tracking, sampling);
window.strobe = new App();
window.strobe.begin();
