/* notes.js - marks and ranges with a text. The server keeps them beside the trace's file; without one they are kept in this browser by the
 * trace's id. They are in the link, too, and in exports. Other pages may change the kept ones at any time: before these are kept, what others
 * did since they were last seen is taken in.  SPDX-License-Identifier: MIT */

const MOST = 500, LONGEST = 2000, PAUSE_MS = 300, MAX_BYTES = 60000, TRIES = 20;

/* [from, to, text] for each; what makes no sense is left out. */
function parse(text) {
    try {
        return JSON.parse(text || '[]').filter(Array.isArray).map(([from, to, words]) => sane({from, to, text: words})).filter(Boolean);
    } catch {
        return [];
    }
}

/* A note as it is to be, or null. */
function sane(note) {
    const from = Number(note.from), to = Math.max(from, Number(note.to ?? note.from));
    return Number.isFinite(from) && Number.isFinite(to) ? {from, to, text: String(note.text || '').slice(0, LONGEST)} : null;
}

const placeOf = (note) => `${note.from},${note.to}`;
const textsOf = (notes) => new Map(notes.map((n) => [placeOf(n), n.text]));

export class Notes {
    constructor(app) {
        this.app = app;
        this.list = [];
        this.seen = null; /* texts by place of those that were kept when we last looked; null: we have not */
        addEventListener('storage', (event) => app.trace && app.engine.kind !== 'remote' && event.key === this.key() && this.takeIn(this.keptHere()));
    }

    key() {
        return `strobe.notes.${this.app.trace.uuid}`;
    }

    text() {
        return JSON.stringify(this.list.map((n) => [n.from, n.to, n.text]));
    }

    /** Those of an export or a file (a text), those that were kept, those of the link. The server's come when they come. */
    load(embedded, fromLink) {
        const isServed = this.app.engine.kind === 'remote';
        clearTimeout(this.timer);
        this.list = [];
        this.seen = null;
        for (const note of [...parse(embedded), ...(fromLink || [])])
            this.put(note);
        if (!isServed)
            this.takeIn(this.keptHere());
        if (isServed)
            this.loadServed(this.app.engine);
    }

    keptHere() {
        try {
            return parse(localStorage.getItem(this.key()));
        } catch {
            return []; /* no storage here */
        }
    }

    /** Its trace is the one that is shown. */
    isServedBy(engine) {
        return Boolean(this.app.trace) && engine === this.app.engine;
    }

    /** The server keeps them, and says when another page has changed them. */
    async loadServed(engine) {
        try {
            const {json} = await engine.ask({ask: 'notes'});
            if (engine === this.app.engine)
                this.takeIn(parse(json.notes));
        } catch (error) {
            this.app.say(`The notes beside the trace can't be read: ${error.message}`);
        }
    }

    /* What is kept by now: others' new notes and texts come, what they removed goes; what was made, changed or removed here stays so. */
    takeIn(kept) {
        const before = this.text(), seen = this.seen || new Map(), now = textsOf(kept), here = new Set(this.list.map(placeOf)), isOurs = (note) => seen.get(placeOf(note)) !== note.text;
        this.list = this.list.filter((n) => now.has(placeOf(n)) || isOurs(n));
        for (const note of this.list)
            if (!this.seen || !isOurs(note)) /* what is kept is newer than what a link says */
                note.text = now.get(placeOf(note)) || note.text;
        this.list.push(...kept.filter((n) => !here.has(placeOf(n)) && !seen.has(placeOf(n))));
        this.list.sort((a, b) => a.from - b.from);
        this.seen = now;
        if (this.text() !== before)
            this.app.changed('notes');
    }

    /** Those of a file. */
    read(text) {
        for (const note of parse(text))
            this.put(note);
        this.changed();
    }

    put(note) {
        const wanted = sane(note);
        if (!wanted || this.list.length >= MOST)
            return null;
        let same = this.list.find((n) => placeOf(n) === placeOf(wanted));
        if (!same)
            this.list.push(same = wanted);
        same.text = wanted.text || same.text;
        this.list.sort((a, b) => a.from - b.from);
        return same;
    }

    make(from, to, text) {
        const note = this.put({from: Math.round(from), to: Math.round(to), text});
        this.changed();
        return note;
    }

    remove(note) {
        this.list = this.list.filter((n) => n !== note);
        this.changed();
    }

    changed() {
        this.keep();
        this.app.changed('notes');
    }

    keep() {
        if (this.app.engine.kind === 'remote') {
            clearTimeout(this.timer);
            this.timer = setTimeout(() => this.send(), PAUSE_MS);
            return;
        }
        try {
            this.takeIn(this.keptHere());
            localStorage.setItem(this.key(), this.text());
            this.seen = textsOf(this.list);
        } catch { /* the link still has them */ }
    }

    async send() {
        const {engine} = this.app;
        try {
            await this.sendTo(engine);
        } catch (error) {
            if (engine === this.app.engine)
                this.app.say(`The notes could not be kept beside the trace: ${error.message}`);
        }
    }

    /* Another page may come in between: then with its notes once more. */
    async sendTo(engine) {
        let {json} = await engine.ask({ask: 'notes'});
        for (let i = 0; i < TRIES && !json.kept && engine === this.app.engine; i++) {
            this.takeIn(parse(json.notes));
            const set = this.text();
            if (new TextEncoder().encode(JSON.stringify(set)).length > MAX_BYTES)
                throw new Error('they are too long, 60,000 bytes at most');
            ({json} = await engine.ask({ask: 'notes', set, over: json.state}));
        }
        if (!json.kept)
            throw new Error('others change them all the time');
        if (engine === this.app.engine)
            this.seen = textsOf(parse(json.notes));
    }
}
