/* search.js - the search box: hits over zones, texts, messages and tracks, stepped through one by one.
 * SPDX-License-Identifier: MIT */
import {count, percent, several} from './format.js';
import {h} from './dom.js';

export class Search {
    constructor(app) {
        this.app = app;
        this.text = '';
        this.density = null;
        this.total = this.listed = 0; /* hits; those that can be stepped through */
        this.share = 1;
        this.at = -1;
        this.hit = null;
        this.track = 0; /* the one of the tracks found that was gone to */
        this.input = h('input', {type: 'search', class: 'search', placeholder: 'Search zones, texts, messages, tracks  ( / )', 'aria-label': 'search', spellcheck: 'false'});
        this.state = h('span', {class: 'hits', 'aria-live': 'polite'});
        const button = (act, text, title) => h('button', {class: 'small', title, 'data-act': act, onclick: () => app.act(act)}, text);
        this.element = h('div', {class: 'searchbox'}, this.input, this.state, button('previousHit', '‹', 'previous hit (Shift+Enter)'), button('nextHit', '›', 'next hit (Enter)'));
        this.input.addEventListener('input', () => this.later());
    }

    later() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.run(this.input.value.trim()), 200);
    }

    /** Search for a text; '' clears. */
    async run(text) {
        clearTimeout(this.timer);
        this.text = text;
        this.at = -1;
        this.hit = null;
        this.track = 0;
        if (this.input.value.trim() !== text)
            this.input.value = text;
        if (!text) {
            this.density = null;
            this.app.trackHits = new Set();
            this.state.textContent = '';
            return this.app.changed('search');
        }
        this.state.textContent = '…';
        do { /* in steps: what is there is shown at once */
            const {json, arrays} = await this.app.engine.ask({ask: 'find', text, limit: 1, width: 400});
            if (this.text !== text)
                return undefined;
            Object.assign(this, {total: json.total, listed: json.listed, share: json.whole ? 1 : json.share, density: arrays.density});
            this.app.trackHits = new Set(json.tracks || []);
            this.show();
            this.app.redraw();
        } while (this.share < 1);
        return this.app.changed('search');
    }

    show() {
        const {trackHits} = this.app, nth = [...trackHits].indexOf(this.track) + 1;
        const tracks = trackHits.size ? `${nth ? `${count(nth)} of ` : ''}${several(trackHits.size, 'track')}` : '', zones = this.at >= 0 ? `${count(this.at + 1)} of ${count(this.total)}` : several(this.total, 'hit');
        const isCut = this.share === 1 && this.listed < this.total;
        this.state.textContent = [this.total ? zones : '', tracks].filter(Boolean).join(', ') || (this.share < 1 ? '…' : 'nothing found');
        if (this.share < 1)
            this.state.textContent += `, ${percent(this.share)} looked at`;
        this.state.classList.toggle('missing', isCut);
        this.state.title = isCut ? `the first ${count(this.listed)} can be stepped through` : '';
    }

    /** Go to the next or previous hit from the current one, or from the view's left edge. */
    async step(direction) {
        clearTimeout(this.timer);
        if (this.input.value.trim() !== this.text)
            await this.run(this.input.value.trim());
        if (!this.text || !this.total)
            return this.stepTrack(direction);
        const wanted = this.at < 0 ? null : this.at + direction;
        const q = {ask: 'find', text: this.text, limit: 1, width: 400};
        if (wanted === null)
            q.after = direction > 0 ? this.app.view.from - 1 : undefined;
        else
            Object.assign(q, direction > 0 ? {after: this.hit.t0} : {before: this.hit.t0});
        let first = await this.app.engine.ask(q);
        if (this.hit && first.json.hits.length && first.json.hits[0].t0 === this.hit.t0) /* several ticks are at one ns */
            first = await this.app.engine.ask(Object.assign(q, direction > 0 ? {after: this.hit.t0 + 1} : {before: this.hit.t0 - 1}));
        let hit = await this.sameTime(q, first.json, direction);
        let index = hit ? hit.index : 0;
        if (!hit) { /* past the end: from the other one */
            const wrap = await this.app.engine.ask({ask: 'find', text: this.text, limit: 1, width: 400, ...(direction > 0 ? {} : {before: 1e18})});
            hit = wrap.json.hits[0];
            index = wrap.json.index;
        }
        if (!hit)
            return undefined;
        this.hit = hit;
        this.at = index;
        this.show();
        return this.app.goToHit(hit);
    }

    /* Hits at one and the same time have indices of their own. */
    async sameTime(q, json, direction) {
        if (this.hit && this.group && this.group.t0 === this.hit.t0) {
            const next = this.group.list[this.group.at + direction];
            if (next) {
                this.group.at += direction;
                return Object.assign({index: this.group.first + this.group.at}, next);
            }
        }
        const hit = json.hits[0];
        if (!hit)
            return null;
        const around = await this.app.engine.ask({ask: 'find', text: this.text, after: hit.t0 - 1, limit: 64, width: 400});
        const list = around.json.hits.filter((x) => x.t0 === hit.t0);
        this.group = {t0: hit.t0, first: around.json.index, list, at: direction > 0 ? 0 : Math.max(0, list.length - 1)};
        return list.length ? Object.assign({index: this.group.first + this.group.at}, list[this.group.at]) : Object.assign({index: json.index}, hit);
    }

    stepTrack(direction) {
        const ids = [...this.app.trackHits], n = ids.length, at = ids.indexOf(this.track);
        if (!n)
            return;
        this.track = ids[at < 0 ? (direction > 0 ? 0 : n - 1) : (at + direction + n) % n];
        this.show();
        this.app.showTrack(this.track);
        this.app.redraw();
    }
}
