/* start.js - what is seen before a trace is: live sessions, clients, the folder's traces, and a place to drop
 * a file on. Without a server only the latter.  SPDX-License-Identifier: MIT */
import {fill, h} from './dom.js';
import * as format from './format.js';

export class Start {
    constructor(app) {
        this.app = app;
        this.hasServer = false;
        this.list = h('div', {class: 'traces'});
        this.state = h('p', {class: 'startstate', role: 'status'});
        this.picker = h('input', {type: 'file', accept: '.strobe', hidden: true, onchange: () => this.picker.files[0] && app.openFile(this.picker.files[0])});
        this.address = h('input', {type: 'url', placeholder: 'https://… address of a .strobe trace', 'aria-label': 'address'});
        const form = h('form', {class: 'address', onsubmit: (event) => {
            event.preventDefault();
            app.openLocal({url: this.address.value, name: this.address.value});
        }}, this.address, h('button', {class: 'main'}, 'Open'));
        this.element = h('div', {class: 'start'}, h('div', {class: 'startbox'}, h('h1', {}, 'Strobe'), this.state, this.list,
            h('div', {class: 'drop'}, h('p', {}, 'Drop a .strobe trace here. It is read in this page and sent nowhere.'), h('button', {class: 'main', onclick: () => this.picker.click()}, 'Choose a file …'), this.picker), form));
    }

    show() {
        this.element.hidden = false;
        this.app.main.hidden = true;
        this.refresh();
    }

    hide() {
        this.element.hidden = true;
        this.state.textContent = '';
    }

    busy(text) {
        this.state.className = 'startstate';
        this.state.textContent = text;
    }

    fail(text) {
        this.show();
        this.state.className = 'startstate failed';
        this.state.textContent = text;
    }

    /** Is there a server behind the page? Then its trace, or its list. */
    async begin(name) {
        try {
            const answer = await fetch('traces', {headers: {Accept: 'application/json'}});
            this.hasServer = answer.ok && (answer.headers.get('Content-Type') || '').includes('json');
        } catch {
            this.hasServer = false;
        }
        if (!this.hasServer)
            return this.show();
        try {
            return await this.app.openRemote(name);
        } catch (error) {
            if (name)
                this.fail(error.message);
            return this.show();
        }
    }

    async refresh() {
        if (!this.hasServer || this.element.hidden)
            return;
        const names = await (await fetch('traces')).json();
        fill(this.list, names.length ? names.map((name) => this.row(name)) : h('p', {class: 'empty'}, 'No traces in this folder yet. `strobe record -- your program` makes one.'));
    }

    row(name) {
        const text = typeof name === 'string' ? name : name.name, link = h('a', {href: `?trace=${encodeURIComponent(text)}`}, text);
        return h('div', {class: 'tracerow'}, link, h('small', {}, name.bytes ? format.bytes(name.bytes) : ''), h('button', {class: 'small', title: 'delete', onclick: () => this.remove(text)}, '✕'));
    }

    remove(name) {
        this.app.overlay.askChoice('delete', 'Delete this trace?', name, [['Delete', async () => {
            await fetch(`traces/${encodeURIComponent(name)}`, {method: 'DELETE'});
            this.refresh();
        }]]);
    }
}
