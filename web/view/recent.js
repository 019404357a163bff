/* recent.js - traces that were opened in this browser, for the start page: by address, or files that it may open again. The browser keeps the
 * way to a file and asks before it is read; nothing of a trace is kept.  SPDX-License-Identifier: MIT */
import {fill, h} from './dom.js';

const STORE = 'recent', MOST = 12;

const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
});

async function store(mode) {
    const opening = indexedDB.open('strobe', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, {keyPath: 'key'});
    return (await done(opening)).transaction(STORE, mode).objectStore(STORE);
}

export class Recent {
    constructor(app) {
        this.app = app;
        this.element = h('section', {class: 'recent', hidden: true});
    }

    /** A trace was opened: {name, url} or {name, handle}. One that can't be found again is not kept. */
    async note({name, url, handle}) {
        if (!url && !handle)
            return;
        try {
            await done((await store('readwrite')).put({key: url || `file:${name}`, name, url, handle, at: Date.now()}));
        } catch { /* no store here: then without */ }
    }

    async list() {
        try {
            return (await done((await store('readonly')).getAll())).sort((a, b) => b.at - a.at).slice(0, MOST);
        } catch {
            return [];
        }
    }

    async remove(row) {
        await done((await store('readwrite')).delete(row.key));
        await this.show();
    }

    /** On the start page. */
    async show() {
        const rows = await this.list();
        this.element.hidden = !rows.length;
        fill(this.element, h('h2', {}, 'Opened before'), rows.map((row) => h('div', {class: 'tracerow'}, h('button', {class: 'link', onclick: () => this.open(row)}, row.name), h('small', {}, row.url ? '' : 'file'),
            h('button', {class: 'small', title: 'forget it', 'aria-label': `forget ${row.name}`, onclick: () => this.remove(row)}, '✕'))));
    }

    openFile(file) {
        return this.app.openFiles([{file, path: file.name}]);
    }

    async open(row) {
        const {app} = this;
        if (row.url)
            return app.openLocal({url: row.url, name: row.name});
        try {
            if (row.handle.queryPermission && await row.handle.queryPermission({mode: 'read'}) !== 'granted' && await row.handle.requestPermission({mode: 'read'}) !== 'granted')
                return app.say('The browser may not read this file.');
            return await this.openFile(await row.handle.getFile());
        } catch (error) {
            return app.say(`${row.name} can't be read any more: ${error.message}`);
        }
    }
}
