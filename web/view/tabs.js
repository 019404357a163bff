/* tabs.js - several traces in one page, one of them shown. Each keeps its engine, its place (as its address says) and what was done to its
 * tracks; Back and Forward lead from one to the other.  SPDX-License-Identifier: MIT */
import {Live} from './live.js';
import {writeLink} from './link.js';
import {fill, h} from './dom.js';
import {several} from './format.js';

const MOST = 8; /* each has workers of its own, or a connection */

export class Tabs {
    constructor(app) {
        this.app = app;
        this.list = []; /* {nth, name, engine, server, search; of those that are not shown: hash, trace, choice, scroll, filter, globals} */
        this.element = h('nav', {class: 'tracetabs', hidden: true, 'aria-label': 'open traces'});
    }

    get current() {
        return this.list.find((tab) => tab.nth === this.app.nth);
    }

    /** Is this engine that of an open trace? */
    has(engine) {
        return this.list.some((tab) => tab.engine === engine);
    }

    nextNth() {
        return Math.max(this.app.nth, ...this.list.map((tab) => tab.nth)) + 1;
    }

    /** Another trace will be shown: remember how this one is, and its place. */
    shelve(hash = location.hash) {
        const {app, current} = this;
        if (current && app.trace)
            Object.assign(current, {hash, trace: app.trace, choice: app.choice, scroll: app.timeline.scroll, filter: app.filter.value,
                globals: [window.strobeView, window.strobeNotes, window.strobePiece]});
    }

    /** A trace is shown. */
    note() {
        const {app} = this, {engine, server, nth} = app, {name} = app.trace;
        if (this.current)
            Object.assign(this.current, {engine, server, name});
        else
            this.list.push({nth, name, engine, server, search: location.search});
        if (this.list.length > MOST) {
            const oldest = this.list.find((tab) => tab.nth !== nth);
            this.drop(oldest);
            app.say(`${oldest.name} was closed: ${several(MOST, 'trace')} can be open.`);
        }
        this.draw();
    }

    drop(tab) {
        this.list.splice(this.list.indexOf(tab), 1);
        tab.engine.close();
        this.draw();
    }

    /** Show another one. `isBack`: the address is that of it already. */
    async show(tab, isBack = false) {
        const {app} = this;
        app.menu.close();
        if (tab === this.current)
            return app.start.uncover();
        if (!isBack) {
            app.writeUrl();
            this.shelve();
        }
        app.nth = tab.nth;
        if (!isBack)
            history.pushState({nth: tab.nth}, '', `${location.pathname}${tab.search}${tab.hash}`);
        [window.strobeView, window.strobeNotes, window.strobePiece] = tab.globals;
        app.server = tab.server;
        await app.use(tab.engine, tab.trace.live ? undefined : tab.trace);
        const {pinned, hidden} = app.choice;
        app.choice = Object.assign(tab.choice, {pinned, hidden});
        app.filter.value = tab.filter;
        app.timeline.relayout();
        return app.timeline.scrollTo(tab.scroll);
    }

    /** Back or Forward lead to another trace: one that is open, or one that needs the page anew. */
    async travel({nth, isStart}) {
        const tab = this.list.find((t) => t.nth === nth);
        if (!tab)
            return location.reload();
        this.shelve(writeLink(this.app)); /* the address is the other one's already */
        await this.show(tab, true);
        return isStart ? this.app.start.cover() : undefined;
    }

    async close(tab = this.current) {
        const at = this.list.indexOf(tab), other = this.list[at + 1] || this.list[at - 1];
        if (!other)
            return this.app.start.show();
        if (tab === this.current)
            await this.show(other);
        return this.drop(tab);
    }

    step(by) {
        const n = this.list.length;
        if (n < 2)
            return this.app.say('One trace is open. Others can be dropped here, or opened by a click on Strobe.');
        return this.show(this.list[(this.list.indexOf(this.current) + by + n) % n]);
    }

    /** Another trace of the server's folder, or of a session: {trace} or {session}. */
    async openServed(words) {
        const {app} = this, query = new URLSearchParams(words), server = new Live(app);
        app.start.busy(`Opening ${words.trace || words.session} …`);
        try {
            server.query = query;
            const engine = server.connect(query), {json} = await engine.ask({ask: 'trace'});
            app.leave('', `?${query}`);
            app.server = server;
            await app.use(engine, json);
        } catch (error) {
            app.start.fail(server.why || error.message);
        }
    }

    draw() {
        const {app, current} = this;
        this.element.hidden = this.list.length < 2;
        fill(this.element, this.list.map((tab) => h('span', {class: tab === current ? 'tracetab current' : 'tracetab'},
            h('button', {class: 'tracename', title: tab.name, 'aria-current': tab === current ? 'page' : null, onclick: () => this.show(tab)}, tab.name),
            h('button', {class: 'small', title: 'close it', 'aria-label': `close ${tab.name}`, onclick: () => this.close(tab)}, '✕'))),
        window.strobeTrace ? null : h('button', {class: 'small', title: 'open another trace', 'aria-label': 'open another trace', onclick: () => app.start.show()}, '+'));
        app.title.hidden = !this.element.hidden;
    }
}
