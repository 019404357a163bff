/* engines.js - how the page asks: workers of its own, or the server's WebSocket. Same questions, same
 * answers (docs/viewer-protocol.md): `ask(q)` gives {json, arrays} or throws in words.
 * SPDX-License-Identifier: MIT */

import {LONG, SLOW} from './facts.js';
import {groupedByRank} from './view/ranks.js';

const STEPPED = ['stats', 'histogram', 'ops', 'cores'];
const TYPES = {f64: Float64Array, u32: Uint32Array, f32: Float32Array, u8: Uint8Array};

class Asking {
    constructor() {
        this.nextId = 1;
        this.waiting = new Map();
        this.tells = new Map();
    }

    /** Call `f(json)` for what is told without being asked. */
    on(tell, f) {
        this.tells.set(tell, f);
    }

    /** The whole answer. Sums of a large trace come in steps: how far they are is told as `summing`. */
    async ask(question) {
        let answer = await this.askOnce(question);
        while (STEPPED.includes(question.ask) && answer.json.exact === false) {
            const f = this.tells.get('summing');
            if (f)
                f(answer.json);
            answer = await this.askOnce(question);
        }
        return answer;
    }

    /** A question that may read the whole trace: {answer, stop()}. Stopped, the answer is an error that says so. */
    askLong(question) {
        const id = this.nextId, answer = this.askOnce(question);
        return {answer, stop: () => this.waiting.has(id) && this.stopLong(id)};
    }

    askOnce(question) {
        const id = this.nextId++;
        return new Promise((resolve, reject) => {
            this.waiting.set(id, {resolve, reject, question: Object.assign({id}, question)});
            this.send(this.waiting.get(id).question);
        });
    }

    /** A frame: of the server or of a worker. */
    receive(buffer) {
        const view = new DataView(buffer), n = view.getUint32(4, true);
        const json = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, n))), arrays = {};
        json.id = view.getUint32(0, true);
        for (const [name, a] of Object.entries(json.arrays || {}))
            arrays[name] = new TYPES[a.type](buffer, a.at, a.n);
        delete json.arrays;
        this.take(json, arrays);
    }

    take(json, arrays) {
        if (!json.id) {
            const f = this.tells.get(json.tell);
            return f && f(json);
        }
        const wait = this.waiting.get(json.id);
        this.waiting.delete(json.id);
        if (!wait)
            return;
        const {strobeSources} = window; /* `strobe export --to html --source` */
        if (json.why && strobeSources && Object.hasOwn(strobeSources, json.file))
            Object.assign(json, {text: strobeSources[json.file], why: undefined});
        if (json.tracks && wait.question.ask === 'trace')
            json.tracks = groupedByRank(json.tracks);
        if (json.error)
            wait.reject(Object.assign(new Error(json.error), {json}));
        else
            wait.resolve({json, arrays});
    }
}

/** A module that is stored compressed. */
export async function compileModule(stored, why) {
    if (!stored.ok)
        throw new Error(why);
    return WebAssembly.compile(await new Response(stored.body.pipeThrough(new DecompressionStream('gzip'))).arrayBuffer());
}

/* The engine's module: it is in the page (`strobe export --to html`), or beside it. */
async function loadModule() {
    const stored = window.strobeModule ? new Response(window.strobeModule()) : await fetch(new URL('engine.wasm.gz', import.meta.url));
    return compileModule(stored, 'this page was built without its reader: it shows what a server reads (`strobe view FILE`)');
}

/* What answers long questions, SQLite in it: loaded when the first one is asked. */
async function loadAskModule() {
    if (window.strobeTrace && !window.strobeAskModule)
        throw new Error('this page was exported without SQL: `strobe export --to html --sql` makes one that has it');
    const stored = window.strobeAskModule ? new Response(window.strobeAskModule()) : await fetch(new URL('ask.wasm.gz', import.meta.url));
    return compileModule(stored, 'this page was built without SQL: ask a page that a server shows (`strobe view FILE`)');
}

/** A trace made of files of other profilers, in a worker: `files` are [{path, blob}]. Resolves to {blob, words}. */
export async function importFiles(files, onShare) {
    const why = 'this page reads .strobe traces alone: `strobe import FILE` makes one of this';
    if (window.strobeWorker)
        throw new Error(why);
    const module = await compileModule(await fetch(new URL('import.wasm.gz', import.meta.url)), why), worker = new Worker(new URL('engine/importer.js', import.meta.url), {type: 'module'});
    try {
        return await new Promise((resolve, reject) => {
            worker.onerror = (event) => reject(new Error(event.message || 'the importer of the page stopped'));
            worker.onmessage = ({data}) => {
                if (data.error)
                    reject(new Error(data.error));
                else if (data.blob)
                    resolve(data);
                else
                    onShare(data.share);
            };
            worker.postMessage({module, files});
        });
    } finally {
        worker.terminate();
    }
}

/** Engine B: the page reads the trace itself, in two workers, and a third for what reads all of it, as the server does in three threads: what may
 * take long holds up no drawing. */
export class LocalEngine extends Asking {
    constructor(workerUrl = new URL('engine/worker.js', import.meta.url)) {
        super();
        this.kind = 'local';
        this.what = this.long = null;
        this.whole = null; /* settles when all of the trace is there */
        this.others = [];
        this.workers = [0, 1].map(() => {
            const worker = new Worker(workerUrl, {type: window.strobeWorker ? 'classic' : 'module'});
            worker.onmessage = (event) => this.receive(event.data);
            worker.onerror = (event) => this.fail(event.message || 'the reader of the page stopped');
            return worker;
        });
    }

    fail(why) {
        for (const wait of this.waiting.values())
            wait.reject(new Error(why));
        this.waiting.clear();
    }

    /* The worker for long questions; it is made when the first one is asked, and ended when one is stopped. */
    async openLong() {
        await this.whole;
        const module = await loadAskModule(), worker = new Worker(window.strobeAskWorker || new URL('engine/ask_worker.js', import.meta.url), {type: window.strobeWorker ? 'classic' : 'module'});
        worker.onmessage = (event) => this.receive(event.data);
        worker.onerror = (event) => this.failLong(event.message || 'the page\'s SQL stopped');
        worker.postMessage({module, traces: [this.what, ...this.others]});
        return worker;
    }

    async sendLong(question) {
        this.long = this.long || this.openLong();
        try {
            (await this.long).postMessage(question);
        } catch (error) {
            this.long = null;
            this.take({id: question.id, error: error.message}, {});
        }
    }

    failLong(why) {
        const {long} = this;
        this.long = null;
        if (long)
            long.then((worker) => worker.terminate(), () => {});
        for (const [id, wait] of this.waiting)
            if (LONG.includes(wait.question.ask))
                this.take({id, error: why}, {});
    }

    stopLong() {
        this.failLong('stopped');
    }

    /** Other traces that long questions may name: [{name, blob or url}]. */
    setOthers(others) {
        this.others = others;
        if (this.long)
            this.failLong('stopped');
    }

    send(question) {
        if (LONG.includes(question.ask))
            return this.sendLong(question);
        return this.workers[SLOW.includes(question.ask) ? 1 : 0].postMessage(question);
    }

    /** `what`: {blob or url, name}; or {parts, size, name} of a trace whose events are still to come: `complete` hands over all of it. The second
     * worker opens the trace when it is needed. */
    async open({blob, url, parts, size, name}) {
        const base = url && decodeURIComponent(new URL(url, location.href).pathname.split('/').pop());
        const what = {ask: 'open', module: await loadModule(), blob, url, parts, size, name: base || name || 'trace.strobe'};
        this.what = {blob, url, name: what.name};
        this.whole = parts ? new Promise((resolve) => { this.isWhole = resolve; }) : null;
        this.workers[1].postMessage({...what, isLater: true, id: 0});
        return this.ask(what);
    }

    /** All of the trace is there: what could not be answered yet is. */
    complete(blob) {
        this.what = {...this.what, blob};
        this.isWhole();
        return Promise.all(this.workers.map((worker) => new Promise((resolve, reject) => {
            const id = this.nextId++, question = {id, ask: 'whole', blob};
            this.waiting.set(id, {resolve, reject, question});
            worker.postMessage(question);
        })));
    }

    close() {
        this.failLong('the trace was closed');
        this.workers.forEach((worker) => worker.terminate());
    }
}

const ACTS = new Set(['stop', 'save', 'delete', 'record', 'forget']), QUIET_MS = 5000, DEAD_MS = 10000;

/* states of LinkState, moved by moveLink:
 *
 *     CONNECTING --> OPEN <--> ASKED
 *          |         ^  |        |
 *          |         |  v        v
 *          |       AGAIN <--> WAITING          and from everywhere to CLOSED
 *          +---------------------^
 *
 *   CONNECTING -> OPEN                        the socket opened for the first time
 *   AGAIN -> OPEN                             the socket opened anew: the page hears `back`
 *   OPEN -> ASKED                             nothing was heard for five seconds: a ping is sent
 *   ASKED -> OPEN                             something was heard
 *   CONNECTING, OPEN, ASKED -> WAITING        the socket closed, or nothing was heard for too long: the page hears `lost`
 *   AGAIN -> WAITING                          likewise; it knows already
 *   WAITING -> AGAIN                          the delay is over: the next socket is made
 *   CONNECTING, OPEN, ASKED, WAITING, AGAIN -> CLOSED   the page leaves the trace */
const LinkState = Object.freeze({CONNECTING: 1, OPEN: 2, ASKED: 3, WAITING: 4, AGAIN: 5, CLOSED: 6});

/* moves of LinkState */
const LINK_MOVES = [
    [LinkState.CONNECTING, LinkState.OPEN], [LinkState.AGAIN, LinkState.OPEN], [LinkState.OPEN, LinkState.ASKED],
    [LinkState.ASKED, LinkState.OPEN], [LinkState.CONNECTING, LinkState.WAITING], [LinkState.OPEN, LinkState.WAITING],
    [LinkState.ASKED, LinkState.WAITING], [LinkState.AGAIN, LinkState.WAITING], [LinkState.WAITING, LinkState.AGAIN],
    [LinkState.CONNECTING, LinkState.CLOSED], [LinkState.OPEN, LinkState.CLOSED], [LinkState.ASKED, LinkState.CLOSED],
    [LinkState.WAITING, LinkState.CLOSED], [LinkState.AGAIN, LinkState.CLOSED],
];

/** Engine A: the server. Connects again by itself, and asks again what was not answered; but for acts, which must not be done
 * twice. A connection that is silent for long is asked for a sign of life, and given up without one: a cut cable closes nothing. */
export class RemoteEngine extends Asking {
    constructor(url) {
        super();
        this.kind = 'remote';
        this.url = url;
        this.delay = 250;
        this.state = null;
        this.moveLink(LinkState.CONNECTING);
        this.connect();
        this.watch = setInterval(() => this.check(), 1000);
    }

    /* Returns the state before. */
    moveLink(to) {
        const from = this.state;
        if (from !== null && !LINK_MOVES.some((move) => move[0] === from && move[1] === to))
            throw new Error(`a link in state ${from} can't move to ${to}`);
        this.state = to;
        return from;
    }

    get closed() {
        return this.state === LinkState.CLOSED;
    }

    get isOpen() {
        return this.state === LinkState.OPEN || this.state === LinkState.ASKED;
    }

    connect() {
        this.socket = new WebSocket(this.url, 'strobe.1');
        this.socket.binaryType = 'arraybuffer';
        this.socket.onopen = () => this.opened();
        this.socket.onmessage = (event) => this.receive(event.data);
        this.socket.onclose = () => this.lost();
        this.heard = performance.now();
    }

    tell(what, json = {}) {
        const f = this.tells.get(what);
        return f && f(json);
    }

    opened() {
        const before = this.moveLink(LinkState.OPEN);
        this.delay = 250;
        this.heard = performance.now();
        for (const wait of this.waiting.values())
            this.socket.send(JSON.stringify(wait.question));
        if (before === LinkState.AGAIN)
            this.tell('back');
    }

    /* The socket is of no use any more. */
    lost() {
        this.socket.onclose = this.socket.onmessage = this.socket.onopen = null;
        this.socket.close();
        const before = this.moveLink(LinkState.WAITING);
        for (const [id, wait] of this.waiting)
            if (ACTS.has(wait.question.ask)) {
                this.waiting.delete(id);
                wait.reject(new Error('the connection broke; it is not known whether this was done'));
            }
        if (before !== LinkState.AGAIN)
            this.tell('lost');
        this.timer = setTimeout(() => this.again(), this.delay);
        this.delay = Math.min(4000, this.delay * 2);
    }

    /* A server that was started anew may have another token: then trying is of no use. */
    async again() {
        const answer = await fetch(new URL('traces', location.href)).catch(() => null);
        if (this.closed)
            return;
        if (answer && answer.status === 403)
            this.tell('refused');
        this.moveLink(LinkState.AGAIN);
        this.connect();
    }

    check() {
        const now = performance.now(), isConnecting = this.state === LinkState.CONNECTING || this.state === LinkState.AGAIN;
        if (isConnecting && now - this.heard > DEAD_MS || this.state === LinkState.ASKED && now - this.pinged > QUIET_MS)
            return this.lost();
        if (this.state === LinkState.OPEN && now - this.heard > QUIET_MS) {
            this.moveLink(LinkState.ASKED);
            this.pinged = now;
            this.socket.send('{"id":4294967295,"ask":"ping"}');
        }
        return undefined;
    }

    stopLong(id) {
        this.askOnce({ask: 'cancel', of: id}).catch(() => {});
    }

    send(question) {
        if (this.isOpen)
            this.socket.send(JSON.stringify(question));
    }

    receive(buffer) {
        this.heard = performance.now();
        if (this.state === LinkState.ASKED)
            this.moveLink(LinkState.OPEN);
        super.receive(buffer);
    }

    close() {
        if (this.closed)
            return;
        this.moveLink(LinkState.CLOSED);
        clearInterval(this.watch);
        clearTimeout(this.timer);
        this.socket.onclose = this.socket.onmessage = this.socket.onopen = null;
        this.socket.close();
    }
}

/** Names of locations, asked for as they are met. */
export class Names {
    constructor(engine, onNew) {
        this.engine = engine;
        this.onNew = onNew;
        this.rows = new Map();
        this.wanted = new Set();
        this.timer = null;
    }

    /** What is known of a location, or null: it is asked for, and onNew called when it is there. */
    get(loc) {
        const row = this.rows.get(loc);
        if (row || !loc)
            return row || null;
        this.wanted.add(loc);
        if (!this.timer)
            this.timer = setTimeout(() => this.fetch(), 0);
        return null;
    }

    async fetch() {
        const locs = [...this.wanted].slice(0, 4096);
        for (const loc of locs)
            this.wanted.delete(loc);
        this.timer = this.wanted.size ? setTimeout(() => this.fetch(), 0) : null;
        const {json} = await this.engine.ask({ask: 'names', locs});
        for (const row of json.locs)
            this.rows.set(row.id, row);
        this.onNew();
    }

    /** Another server may know better. */
    async renew() {
        const locs = [...this.rows.keys()];
        this.rows.clear();
        await this.need(locs);
        this.onNew();
    }

    /** Wait for all of these. */
    async need(locs) {
        const missing = [...new Set(locs)].filter((loc) => loc && !this.rows.has(loc));
        for (let i = 0; i < missing.length; i += 4096) {
            const {json} = await this.engine.ask({ask: 'names', locs: missing.slice(i, i + 4096)});
            for (const row of json.locs)
                this.rows.set(row.id, row);
        }
    }

    name(loc) {
        const row = this.rows.get(loc);
        return row ? row.name : loc ? '…' : '';
    }
}
