/* locks.js - the panel of locks: who waited for which one, who held it meanwhile, convoys and inversions. The figures are those of `strobe locks`.
 * SPDX-License-Identifier: MIT */
import {Table} from '../view/table.js';
import {copyTable} from '../view/share.js';
import {copyText, fill, h} from '../view/dom.js';
import {locName, newest} from './parts.js';
import {inward} from './memory.js';
import * as format from '../view/format.js';

const ROWS = 5000;
const quote = (text) => `'${text.replace(/'/g, '\'\\\'\'')}'`;

class Locks {
    constructor(app) {
        Object.assign(this, {app, begin: newest(), locks: [], waits: [], chosen: null});
        this.state = h('span', {class: 'state'});
        this.hints = h('div', {class: 'bar hints'});
        this.table = this.makeTable();
        this.pairs = this.makePairs();
        this.element = h('div', {class: 'withbar locks'}, h('div', {class: 'bar narrow'}, this.state, h('span', {class: 'grow'}), h('button', {onclick: () => copyTable(app, this.table)}, 'Copy table'),
            h('button', {onclick: () => this.copyCommand()}, 'Copy as command')), this.hints,
        h('div', {class: 'split'}, h('div', {class: 'left'}, this.table.element), h('div', {class: 'right'}, this.pairs.element)));
    }

    makeTable() {
        const time = (key, title) => ({key, title, number: true, width: '88px', show: (r) => (r.only_waits && /held/.test(key) ? '–' : format.duration(r[key])), copy: (r) => String(r[key])});
        const number = (key, title) => ({key, title, number: true, width: '72px', show: (r) => (r.only_waits && key === 'obtains' ? '–' : format.count(r[key])), copy: (r) => String(r[key])});
        return new Table([
            {key: 'name', title: 'lock', up: true, width: 'minmax(130px, 2fr)', show: (r) => h('span', {title: r.stack ? `${r.name}\n${inward(r.stack)}` : r.name}, r.name, r.convoy ? h('b', {class: 'warning'}, ' convoy') : ''), copy: (r) => r.name},
            time('wait', 'waited'), number('waits', 'waits'), time('longest', 'longest'), time('held', 'held'), number('obtains', 'obtains'), number('most_waiters', 'at once'),
        ], {sort: () => this.sort(), pick: (r) => this.choose(r), open: (r) => this.app.goToTime(r.longest_at, r.longest_track || undefined), copied: (t) => this.app.say(t), isPicked: (r) => r === this.chosen}, 'wait');
    }

    makePairs() {
        const who = (track, tid) => (track ? `${this.app.trackOf(track).name} ${this.app.trackOf(track).tid}` : tid ? `thread ${tid}` : 'not known');
        const zone = (loc) => (loc ? [' in ', locName(this.app, loc)] : '');
        return new Table([
            {key: 'waiter', title: 'waited', width: 'minmax(120px, 1fr)', sort: false, show: (p) => h('span', {title: p.stack ? inward(p.stack) : ''}, who(p.waiter), zone(p.waiter_loc)), copy: (p) => who(p.waiter)},
            {key: 'holder', title: 'for', width: 'minmax(120px, 1fr)', sort: false, show: (p) => h('span', {}, who(p.holder, p.holder_tid), zone(p.holder_loc)), copy: (p) => who(p.holder, p.holder_tid)},
            {key: 'wait', title: 'time', number: true, width: '88px', sort: false, show: (p) => format.duration(p.wait), copy: (p) => String(p.wait)},
            {key: 'count', title: 'times', number: true, width: '64px', sort: false, show: (p) => format.count(p.count), copy: (p) => String(p.count)},
            {key: 'longest', title: 'longest', number: true, width: '88px', sort: false, show: (p) => format.duration(p.longest), copy: (p) => String(p.longest)},
        ], {pick: (p) => this.show(p), copied: (t) => this.app.say(t)});
    }

    /* The longest stretch that one waited for the other. */
    show(pair) {
        this.app.remember();
        this.app.fit({from: pair.longest_at, to: pair.longest_at + pair.longest}, 0.5);
        if (pair.waiter)
            this.app.showTrack(pair.waiter);
    }

    sort() {
        const {key, reversed} = this.table.order, up = key === 'name', sign = up !== reversed ? 1 : -1;
        this.locks.sort((a, b) => sign * (up ? a.name.localeCompare(b.name) : a[key] - b[key]));
        this.table.set(this.locks);
    }

    choose(lock) {
        this.chosen = lock;
        this.table.markAll();
        this.pairs.set(lock ? this.waits.filter((p) => p.lock === lock.lock) : []);
    }

    async copyCommand() {
        const q = this.app.range(), words = `strobe locks${q.from === undefined ? '' : ` --range ${format.commandTime(q.from)}..${format.commandTime(q.to)}`} ${quote(this.app.trace.name)}`;
        await copyText(words);
        this.app.say(`copied: ${words}`);
    }

    async load() {
        const isNewest = this.begin(), {app} = this, {from, to} = app.range(), number = this.chosen && this.chosen.lock;
        this.state.textContent = 'adding up …';
        const {json} = await app.engine.ask({ask: 'locks', from, to, limit: ROWS});
        await app.names.need([...new Set(json.waits.flatMap((p) => [p.waiter_loc, p.holder_loc]).filter(Boolean))]);
        if (!isNewest())
            return;
        Object.assign(this, {locks: json.locks, waits: json.waits});
        this.sort();
        this.choose(this.locks.find((l) => l.lock === number) || this.locks[0] || null);
        const waited = json.locks.reduce((s, l) => s + l.wait, 0);
        this.state.textContent = json.n_locks ? `${format.several(json.n_locks, 'lock')}, ${format.duration(waited)} waited` : 'No locks were recorded in this range.';
        this.hint(json);
    }

    hint(json) {
        const convoys = json.locks.filter((l) => l.convoy), inversions = json.orders.filter((o) => o.inverted);
        this.hints.hidden = !convoys.length && !inversions.length;
        fill(this.hints, convoys.slice(0, 5).map((l) => h('button', {class: 'link convoy', title: 'most of what obtains it waits for it, in company', onclick: () => this.choose(l)}, `convoy at ${l.name}`)),
            inversions.slice(0, 6).map((o) => h('button', {class: 'link inversion', title: 'these locks are acquired in two orders: both threads can block for good', onclick: () => this.app.goToTime(o.t, o.track || undefined)},
                `inversion: ${o.held_name}, then ${o.wanted_name}`)));
    }
}

export function makeLocks(app) {
    const locks = new Locks(app);
    return {id: 'locks', title: 'Locks', element: locks.element, update: () => locks.load(), locks, table: locks.table, isOf: ({totals}) => totals.locks === undefined || totals.locks > 0};
}
