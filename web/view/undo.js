/* undo.js - view changes, one after the other, to go back and forth; and views that are kept under a name. A view is what the address says
 * of it, without the notes and how far one has scrolled: those are not undone.  SPDX-License-Identifier: MIT */
import {keep, kept} from './kept.js';

const MOST = 200;

function viewOf(hash) {
    const p = new URLSearchParams(hash.replace(/^#/, ''));
    p.delete('n');
    p.delete('e');
    return p.toString();
}

export class Undo {
    constructor(app) {
        this.app = app;
        this.forget();
    }

    /** Another trace. */
    forget() {
        this.past = [];
        this.future = [];
        this.now = null;
        this.isGoing = false;
    }

    /** The address was written: what was shown before can be gone back to. */
    note(hash) {
        const view = viewOf(hash), {app} = this;
        if (view === this.now)
            return;
        if (this.now !== null && !this.isGoing && !(app.trace.live && app.following)) {
            this.past.push(this.now);
            this.past.splice(0, this.past.length - MOST);
            this.future = [];
        }
        this.now = view;
    }

    async show(view) {
        this.isGoing = true;
        this.now = view;
        history.replaceState({nth: this.app.nth}, '', `${location.pathname}${location.search}${view ? `#${view}` : ''}`);
        await this.app.applyLink(false);
        this.app.writeUrl();
        this.isGoing = false;
    }

    back() {
        this.app.writeUrl();
        if (!this.past.length)
            return this.app.say('There is nothing to undo.');
        this.future.push(this.now);
        return this.show(this.past.pop());
    }

    again() {
        this.app.writeUrl();
        if (!this.future.length)
            return this.app.say('There is nothing to redo.');
        this.past.push(this.now);
        return this.show(this.future.pop());
    }

    /* ---- views with a name ---- */

    key() {
        return `views.${this.app.trace.uuid}`;
    }

    /** [[name, view]] of this trace. */
    saved() {
        try {
            return JSON.parse(kept(this.key(), '[]')).filter(Array.isArray);
        } catch {
            return [];
        }
    }

    save(name) {
        this.app.writeUrl();
        keep(this.key(), JSON.stringify([...this.saved().filter(([n]) => n !== name), [name, viewOf(location.hash)]]));
        this.app.say(`view “${name}” is kept in this browser`);
    }

    remove(name) {
        keep(this.key(), JSON.stringify(this.saved().filter(([n]) => n !== name)));
    }

    askName() {
        this.app.overlay.askText('view', 'Keep this view as', '', (name) => name && this.save(name));
    }

    choose() {
        const rows = this.saved().flatMap(([name, view]) => [{text: name, note: 'go there', run: () => this.go(view)}, {text: `Forget ${name}`, note: '', run: () => this.remove(name)}]);
        if (!rows.length)
            return this.app.say('No view is kept yet: “Keep this view” among the commands does.');
        return this.app.overlay.choose('views', 'Kept views', 'Name', rows);
    }

    go(view) {
        this.app.remember();
        return this.show(view);
    }
}
