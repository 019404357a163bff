/* live.js - a trace that the server answers for: following it while it grows, and going on where one was when the connection
 * or the server was gone for a while.  SPDX-License-Identifier: MIT */
import {RemoteEngine} from '../engines.js';
import {percent} from './format.js';
import {trackKey} from './linktracks.js';

const MAP_MS = 1000;

export class Live {
    constructor(app) {
        this.app = app;
        this.following = true;
        this.mapped = 0; /* when minimap and panels were made anew */
    }

    /** The trace or the session that the query names, or the one that the server was started with. */
    async open(query) {
        this.query = query;
        await this.app.use(this.connect(query));
    }

    connect(query) {
        const url = new URL('ws', location.href), {app} = this;
        url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
        url.hash = url.search = '';
        for (const name of ['trace', 'session'])
            if (query.get(name))
                url.searchParams.set(name, query.get(name));
        if (this.engine)
            this.engine.close();
        const engine = this.engine = new RemoteEngine(url.href);
        this.why = '';
        this.toldTracks = null;
        engine.on('grown', (json) => this.grown(json));
        engine.on('closed', () => this.reload());
        engine.on('gone', (json) => this.gone(json));
        engine.on('importing', (json) => app.start.importing(json));
        engine.on('traces', () => app.start.refresh());
        engine.on('notes', () => app.notes.isServedBy(engine) && app.notes.loadServed(engine));
        engine.on('lost', () => this.lost());
        engine.on('back', () => this.back());
        engine.on('refused', () => app.say('This link is of no use any more: the server was started anew. Open the link that it has printed.', 3600000));
        return engine;
    }

    /** A connection for what needs no trace. */
    get lobby() {
        return this.engine && !this.engine.closed ? this.engine : this.connect(new URLSearchParams());
    }

    /* Of this page's trace, and not of one that was shown before. */
    get isShown() {
        return this.app.engine === this.engine && this.app.trace;
    }

    lost() {
        if (this.app.tabs.has(this.engine) && !this.isShown)
            return; /* it is in another tab: told of when that is shown */
        document.body.classList.add('offline');
        this.app.say('the server does not answer; trying again …', 3600000);
    }

    back() {
        document.body.classList.remove('offline');
        this.app.say('connected again', 2000);
        this.app.start.refresh();
        return this.isShown && this.resume();
    }

    /** Facts anew, the place stays. */
    async reload() {
        if (!this.isShown)
            return;
        const {json} = await this.engine.ask({ask: 'trace'});
        this.take(json);
    }

    /** Messages, frames and plots of a large trace are read in steps: facts and panels anew once all are there. */
    async readOn(engine) {
        let {trace} = this.app;
        engine.on('summing', ({share}) => this.app.say(`adding up: ${percent(share)}`));
        const isLarge = trace.read < 1;
        while (trace.read < 1 && this.app.engine === engine) {
            if (trace.read > 0)
                this.app.say(`messages, plots and switches: ${percent(trace.read)} read`);
            trace = (await engine.ask({ask: 'trace'})).json;
        }
        if (!isLarge || this.app.engine !== engine)
            return;
        const isWhole = this.app.isWhole();
        this.take(trace);
        if (isWhole) /* blocks that were read at last may reach beyond */
            this.app.fit(this.app.whole());
    }

    take(json) {
        const {app} = this, old = app.trace, {range} = json;
        app.trace = {...json, range: old.range};
        app.tracksById = null;
        this.extend(range, old.live);
        app.timeline.data.spoil();
        app.minimap.spoil();
        app.timeline.relayout();
        this.show();
        app.drawer.spoil();
    }

    /* Another server may number tracks and locations in another way, and the file may be another one: then all is taken from the
     * link, which names tracks by what they are. */
    async resume() {
        const {app, following} = this, old = app.trace, {json} = await this.engine.ask({ask: 'trace'});
        const keys = new Map(json.tracks.map((t) => [t.id, trackKey(t)]));
        if (json.uuid === old.uuid && old.tracks.every((t) => keys.get(t.id) === trackKey(t))) {
            await app.names.renew();
            this.take(json);
            return;
        }
        app.writeUrl();
        await app.use(this.engine, json);
        this.follow(following);
    }

    gone(json) {
        if (json.replaced && this.isShown)
            return this.open(this.query);
        this.why = json.why;
        if (!this.isShown && !this.app.tabs.has(this.engine))
            return this.app.start.fail(json.why);
        return this.app.say(json.why || 'the trace is gone', 8000);
    }

    grown(json) {
        const {app} = this;
        if (!this.isShown)
            return;
        this.extend(json.range, true);
        app.trace.bytes = json.bytes;
        app.timeline.data.spoil();
        if (performance.now() - this.mapped > MAP_MS) {
            this.mapped = performance.now();
            app.minimap.spoil();
            app.drawer.grown();
        }
        if (json.tracks !== this.toldTracks)
            this.reload();
        this.toldTracks = json.tracks;
        app.redraw();
    }

    /* The trace has another range: a view that follows goes with its end, and one of the whole stays one of the whole. (That is asked
     * of the old range: as clocks get known better, its begin moves, too.) */
    extend(range, isLive) {
        const {app} = this, isWhole = app.isWholeOf(app.trace.range[1]), [first, right] = range;
        app.trace.range = range;
        if (isLive && this.following)
            app.setView(isWhole ? first : right - (app.view.to - app.view.from), right, true);
    }

    follow(on) {
        this.following = on;
        this.show();
    }

    /** End the recording that is shown; the program goes on. */
    async stop() {
        const {json} = await this.lobby.ask({ask: 'traces'}), {name} = this.app.trace;
        const isBegunHere = json.recordings.some((r) => r.name === name);
        if (!isBegunHere && !(json.can_stop && json.trace === name))
            throw new Error('This recording was not begun by this server: end it where it was begun.');
        await this.engine.ask(isBegunHere ? {ask: 'stop', name} : {ask: 'stop'});
        this.app.say('The recording ends; the program goes on.');
    }

    show() {
        const {app} = this, isLive = app.engine.kind === 'remote' && app.trace.live;
        app.live.hidden = app.stop.hidden = !isLive;
        app.live.textContent = this.following ? '● live' : '❙❙ held';
    }
}
