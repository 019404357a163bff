/* notes.js - marks and ranges with a text. Kept in this browser by the trace's id, in the link, and in exports.
 * SPDX-License-Identifier: MIT */

const MOST = 500;

export class Notes {
    constructor(app) {
        this.app = app;
        this.list = [];
    }

    key() {
        return `strobe.notes.${this.app.trace.uuid}`;
    }

    /** Those that were kept, those of an export, those of the link. */
    load(embedded, fromLink) {
        let kept = [];
        try {
            kept = JSON.parse(localStorage.getItem(this.key()) || '[]');
        } catch { /* no storage here, or not ours */ }
        this.list = [];
        for (const note of [...(embedded || []), ...kept, ...(fromLink || [])])
            this.put(note);
    }

    put(note) {
        const from = Number(note.from), to = Math.max(from, Number(note.to ?? note.from)), text = String(note.text || '').slice(0, 2000);
        if (!Number.isFinite(from) || !Number.isFinite(to) || this.list.length >= MOST)
            return null;
        let same = this.list.find((n) => n.from === from && n.to === to);
        if (!same)
            this.list.push(same = {from, to, text});
        same.text = text || same.text;
        this.list.sort((a, b) => a.from - b.from);
        return same;
    }

    add(from, to, text) {
        const note = this.put({from: Math.round(from), to: Math.round(to), text});
        this.changed();
        return note;
    }

    remove(note) {
        this.list = this.list.filter((n) => n !== note);
        this.changed();
    }

    changed() {
        try {
            localStorage.setItem(this.key(), JSON.stringify(this.list));
        } catch { /* the link still has them */ }
        this.app.changed('notes');
    }
}
