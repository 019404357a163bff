/* notes.js - marks and ranges with a text. The server keeps them beside the trace's file; without one they are kept in this browser by the
 * trace's id. They are in the link, too, and in exports.  SPDX-License-Identifier: MIT */

const MOST = 500, LONGEST = 2000, PAUSE_MS = 300, MAX_BYTES = 60000;

/* [from, to, text] for each; what makes no sense is left out. */
function parse(text) {
    try {
        return JSON.parse(text || '[]').filter(Array.isArray).map(([from, to, words]) => ({from, to, text: words}));
    } catch {
        return [];
    }
}

export class Notes {
    constructor(app) {
        this.app = app;
        this.list = [];
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
        this.list = [];
        for (const note of [...parse(embedded), ...(isServed ? [] : this.keptHere()), ...(fromLink || [])])
            this.put(note);
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

    async loadServed(engine) {
        try {
            const {json} = await engine.ask({ask: 'notes'});
            if (engine === this.app.engine)
                this.add(parse(json.notes));
        } catch (error) {
            this.app.say(`The notes beside the trace can't be read: ${error.message}`);
        }
    }

    /** Take these in without keeping them anew. */
    add(notes) {
        for (const note of notes)
            this.put(note);
        this.app.changed('notes');
    }

    /** Those of a file. */
    read(text) {
        this.add(parse(text));
        this.keep();
    }

    put(note) {
        const from = Number(note.from), to = Math.max(from, Number(note.to ?? note.from)), text = String(note.text || '').slice(0, LONGEST);
        if (!Number.isFinite(from) || !Number.isFinite(to) || this.list.length >= MOST)
            return null;
        let same = this.list.find((n) => n.from === from && n.to === to);
        if (!same)
            this.list.push(same = {from, to, text});
        same.text = text || same.text;
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
            localStorage.setItem(this.key(), this.text());
        } catch { /* the link still has them */ }
    }

    send() {
        const set = this.text();
        if (new TextEncoder().encode(JSON.stringify(set)).length > MAX_BYTES)
            return this.app.say('These notes are too long to be kept beside the trace: 60,000 bytes at most.');
        return this.app.engine.ask({ask: 'notes', set}).catch((error) => this.app.say(`The notes could not be kept beside the trace: ${error.message}`));
    }
}
