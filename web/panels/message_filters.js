/* message_filters.js - messages of one thread or one colour: what there is to choose from is what was met.  SPDX-License-Identifier: MIT */
import {h} from '../view/dom.js';

const MOST = 300;

export class MessageFilters {
    constructor(app, run) {
        this.app = app;
        this.thread = h('select', {'aria-label': 'thread', onchange: run}, h('option', {value: ''}, 'all threads'));
        this.color = h('select', {'aria-label': 'colour', hidden: true, onchange: run}, h('option', {value: ''}, 'all colours'));
        this.trace = null;
    }

    /** Members of the question. */
    wanted() {
        if (this.trace !== this.app.trace.uuid)
            this.forget();
        return {...this.thread.value ? {tracks: [Number(this.thread.value)]} : {}, ...this.color.value ? {color: Number(this.color.value)} : {}};
    }

    /* Another trace has other threads. */
    forget() {
        this.trace = this.app.trace.uuid;
        for (const list of [this.thread, this.color]) {
            list.value = '';
            while (list.options.length > 1)
                list.remove(1);
        }
        this.color.hidden = true;
    }

    /** Messages were listed. */
    learn(messages) {
        const known = new Set([...this.thread.options, ...this.color.options].map((o) => `${o.parentNode === this.thread ? 't' : 'c'}${o.value}`));
        const put = (list, key, value, text) => {
            if (!known.has(`${key}${value}`) && list.options.length < MOST) {
                known.add(`${key}${value}`);
                list.append(h('option', {value: String(value)}, text));
            }
        };
        for (const m of messages) {
            put(this.thread, 't', m.track, (this.app.trackOf(m.track) || {name: '?'}).name);
            if (m.color)
                put(this.color, 'c', m.color, `#${(m.color & 0xffffff).toString(16).padStart(6, '0')}`);
        }
        if (this.color.options.length > 1)
            put(this.color, 'c', 0, 'no colour');
        this.color.hidden = this.color.options.length < 2;
    }
}
