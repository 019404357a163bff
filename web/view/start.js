/* start.js - what is seen before a trace is: recordings, live sessions, Tracy clients, the folder's traces, and a place to drop
 * a file on. Without a server only the latter.  SPDX-License-Identifier: MIT */
import {fill, h} from './dom.js';
import {chosenFiles} from './dropped.js';
import {Recent} from './recent.js';
import * as format from './format.js';

function when(ns) {
    const date = new Date(Number(BigInt(ns) / 1000000n)), pad = (n) => String(n).padStart(2, '0');
    return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}

/* One of another PID namespace has no name here, and its number is that of another process. */
const programs = (session) => session.processes.map((p) => (p.elsewhere ? `process ${p.pid} of another PID namespace` : `${p.program} (${p.pid})`)).join(', ');

export class Start {
    constructor(app) {
        this.app = app;
        this.hasServer = false;
        this.wanted = null; /* the trace of a recording that was begun here: shown once its client is there */
        this.live = h('section', {class: 'sessions', hidden: true});
        this.clients = h('section', {class: 'clients', hidden: true});
        this.list = h('section', {class: 'traces', hidden: true});
        this.recent = new Recent(app);
        this.state = h('p', {class: 'startstate', role: 'status'});
        this.picker = this.makePicker({multiple: true, accept: '.strobe,.tracy,.json,.gz,.csv,.data,.pprof,.pb,.folded,.txt,.pftrace,.perfetto-trace'});
        this.folderPicker = this.makePicker({webkitdirectory: true});
        this.element = h('div', {class: 'start'}, h('div', {class: 'startbox'}, h('h1', {}, 'Strobe'), this.state, this.live, this.list, this.clients, this.recent.element,
            h('div', {class: 'drop'}, h('p', {}, 'Drop a trace here: .strobe, .tracy, Chrome’s JSON, Perfetto’s traces, samples of perf, pprof or speedscope, or the folder of a run with a device log. It is read in this page and sent nowhere.'),
                h('button', {class: 'main', onclick: () => this.picker.click()}, 'Choose a file …'), ' ', h('button', {onclick: () => this.folderPicker.click()}, 'a folder …'), this.picker, this.folderPicker),
            this.form('url', 'https://… address of a .strobe trace', 'Open', (text) => app.openLocal({url: text, name: text}))));
        this.host = this.form('text', 'HOST:PORT of a Tracy client', 'Record', (text) => this.record({tracy: text.includes(':') ? text : `${text}:8086`}));
    }

    makePicker(how) {
        const picker = h('input', {type: 'file', hidden: true, ...how, onchange: () => this.app.take(chosenFiles(picker.files))});
        return picker;
    }

    form(type, hint, button, act) {
        const input = h('input', {type, placeholder: hint, 'aria-label': hint, spellcheck: 'false', required: true});
        return h('form', {class: 'address', onsubmit: (event) => {
            event.preventDefault();
            act(input.value.trim());
        }}, input, h('button', {class: 'main'}, button));
    }

    /** Over a trace, Back and Esc lead to it again. */
    show() {
        const {app} = this;
        if (app.trace && !app.main.hidden) {
            app.writeUrl();
            history.pushState({nth: app.nth, isStart: true}, '', location.href);
        }
        this.cover();
    }

    cover() {
        this.app.tips.hide();
        this.element.hidden = false;
        this.app.main.hidden = true;
        this.recent.show();
        this.refresh();
    }

    uncover() {
        this.hide();
        this.app.main.hidden = false;
        this.app.redraw();
    }

    hide() {
        this.element.hidden = true;
        this.state.textContent = '';
    }

    busy(text) {
        this.state.className = 'startstate';
        this.state.textContent = text;
    }

    /** The server reads a file of another profiler. */
    importing(json) {
        this.busy(`Reading the file: ${Math.round(json.share * 100)} %`);
    }

    fail(text) {
        this.show();
        this.state.className = 'startstate failed';
        this.state.textContent = text;
    }

    /** Is there a server behind the page? Then its trace, or its list. */
    async begin(query) {
        try {
            const answer = await fetch('traces', {headers: {Accept: 'application/json'}});
            this.hasServer = answer.ok && (answer.headers.get('Content-Type') || '').includes('json');
        } catch {
            this.hasServer = false;
        }
        if (!this.hasServer)
            return this.show();
        try {
            return await this.app.server.open(query);
        } catch (error) {
            const why = this.app.server.why || error.message;
            return query.get('trace') || query.get('session') || why !== 'no trace was chosen' ? this.fail(why) : this.show();
        }
    }

    async refresh() {
        if (!this.hasServer || this.element.hidden)
            return;
        const {json} = await this.app.server.lobby.ask({ask: 'traces'});
        const own = json.recordings.find((r) => r.name === this.wanted), isThere = json.traces.some((t) => t.name === this.wanted);
        if (isThere && !(own && own.waiting)) /* its client has come, and may have gone already */
            return this.showWanted();
        this.showLive(json);
        this.showClients(json);
        this.showTraces(json);
    }

    /* A recording that was begun here is there. */
    showWanted() {
        const trace = this.wanted;
        this.wanted = null;
        if (this.app.trace)
            return this.app.tabs.openServed({trace});
        location.search = `?trace=${encodeURIComponent(trace)}`;
        return undefined;
    }

    /* Shown beside what is open in this page already; the browser's own ways to open a link work, too. */
    link(words, text) {
        return h('a', {href: `?${new URLSearchParams(words)}`, onclick: (event) => {
            if (!this.app.trace || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
                return;
            event.preventDefault();
            this.app.tabs.openServed(words);
        }}, text);
    }

    row(link, notes, ...buttons) {
        return h('div', {class: 'tracerow'}, link, notes.filter(Boolean).map((note) => h('small', {}, note)), buttons);
    }

    button(text, title, act) {
        return h('button', {class: 'small', title, onclick: act}, text);
    }

    showLive(json) {
        const own = new Set(json.recordings.map((r) => r.name)), base = (path) => path.slice(path.lastIndexOf('/') + 1);
        const begun = json.recordings.map((r) => this.row(r.waiting ? h('span', {}, `waiting for ${r.what} …`) : this.link({trace: r.name}, `● ${r.what}`), [r.name],
            this.button(r.waiting ? 'Give up' : 'Stop', 'end this recording', () => {
                this.wanted = null;
                this.act({ask: 'stop', name: r.name});
            })));
        const recorded = json.sessions.filter((s) => s.recording && s.trace && !own.has(base(s.trace)));
        const waiting = json.sessions.filter((s) => !s.recording && s.processes.length);
        const rows = [...begun, ...recorded.map((s) => this.row(this.link({session: s.name}, `● ${base(s.trace)}`), [programs(s) || s.name])),
            ...waiting.map((s) => this.row(h('span', {}, programs(s)), [`session ${s.name}, not recorded`], this.button('Record', 'record all processes of this session', () => this.record({session: s.name}))))];
        this.live.hidden = !rows.length;
        fill(this.live, h('h2', {}, 'Now'), rows);
    }

    showClients(json) {
        const taken = new Set(json.recordings.map((r) => r.what));
        const rows = json.clients.filter((c) => !taken.has(c.where)).map((c) => this.row(h('span', {}, c.program || c.where), [c.where, c.pid ? `pid ${c.pid}` : ''],
            this.button('Record', 'connect to this Tracy client and record it', () => this.record({tracy: c.where}))));
        const isTyped = this.host.contains(document.activeElement);
        this.clients.hidden = false;
        fill(this.clients, h('h2', {}, 'Tracy clients'), rows.length ? rows : h('p', {class: 'empty'}, 'None has announced itself. Its address does, too:'), this.host);
        if (isTyped)
            this.host.querySelector('input').focus();
    }

    showTraces(json) {
        const rows = json.traces.map((t) => this.row(this.link({trace: t.name}, t.name), [format.bytes(t.bytes), when(t.mtime_ns)], this.button('✕', 'delete', () => this.remove(t.name))));
        this.list.hidden = false;
        fill(this.list, h('h2', {}, 'Traces in ', h('code', {}, json.folder)), rows.length ? rows : h('p', {class: 'empty'}, 'No traces in this folder yet. `strobe record -- your program` makes one.'));
    }

    async act(question) {
        try {
            const {json} = await this.app.server.lobby.ask(question);
            this.refresh();
            return json;
        } catch (error) {
            this.app.say(error.message);
            return null;
        }
    }

    /** A recorder of its own, begun by the server. */
    async record(what) {
        const json = await this.act({ask: 'record', ...what});
        if (json) {
            this.wanted = json.name;
            this.refresh();
        }
    }

    remove(name) {
        this.app.overlay.askChoice('delete', 'Delete this trace?', name, [['Delete', () => this.act({ask: 'delete', name})]]);
    }
}
