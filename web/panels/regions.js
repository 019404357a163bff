/* regions.js - the panel of sums by region: what ran inside signposts, spans, zones or messages of a name, over all threads, processes and
 * devices: the rows of `strobe report --by-region`.  SPDX-License-Identifier: MIT */
import {Table} from '../view/table.js';
import {copyTable} from '../view/share.js';
import {copyText, fill, h} from '../view/dom.js';
import {filterField, newest, swatch} from './parts.js';
import * as format from '../view/format.js';

const KINDS = [['', 'signposts and spans'], ['signpost', 'signposts'], ['span', 'spans'], ['zone', 'zones'], ['message', 'messages']], SCOPES = [['all', 'all processes'], ['process', 'same process'], ['thread', 'same thread']];
const quote = (text) => `'${text.replace(/'/g, '\'\\\'\'')}'`;

class Regions {
    constructor(app) {
        Object.assign(this, {app, begin: newest(), regions: [], rows: [], chosen: null, of: null});
        const options = (list) => list.map(([value, text]) => h('option', {value}, text));
        this.kind = h('select', {'aria-label': 'kind of region', onchange: () => this.load()}, options(KINDS));
        this.name = filterField('Regions: step*', () => this.load());
        this.zone = filterField('Zones: load*', () => this.load());
        this.scope = h('select', {'aria-label': 'which zones', title: 'zones of all processes, or only of the region\'s own process or thread', onchange: () => this.load()}, options(SCOPES));
        this.state = h('span', {class: 'state'});
        this.list = this.makeList();
        this.table = this.makeTable();
        this.none = h('p', {class: 'empty nothing', hidden: true});
        this.split = h('div', {class: 'split'}, h('div', {class: 'left'}, this.list.element), h('div', {class: 'right'}, this.table.element));
        this.element = h('div', {class: 'withbar'}, h('div', {class: 'bar narrow'}, this.kind, this.name, this.zone, this.scope, this.state, h('span', {class: 'grow'}),
            h('button', {onclick: () => copyTable(app, this.table)}, 'Copy table'), h('button', {onclick: () => this.copyCommand()}, 'Copy as command')), this.none, this.split);
    }

    makeList() {
        return new Table([
            {key: 'name', title: 'region', width: 'minmax(130px, 2fr)', sort: false, show: (r) => h('span', {title: `${r.kind} ${r.name}`}, r.name)},
            {key: 'kind', title: 'kind', width: '78px', sort: false, show: (r) => r.kind},
            {key: 'stretches', title: 'times', number: true, width: '66px', sort: false, show: (r) => format.count(r.stretches)},
            {key: 'ns', title: 'length', number: true, width: '92px', sort: false, show: (r) => format.duration(r.ns), copy: (r) => String(r.ns)},
            {key: 'self', title: 'in zones', number: true, width: '92px', sort: false, show: (r) => format.duration(r.self), copy: (r) => String(r.self)},
        ], {pick: (r) => this.choose(r), open: (r) => this.app.goToTime(r.first), copied: (t) => this.app.say(t), isPicked: (r) => r === this.chosen});
    }

    makeTable() {
        const share = (r) => (r.of.self ? r.self / r.of.self : 0);
        return new Table([
            {key: 'zone', title: 'zone', up: true, width: 'minmax(130px, 2fr)', sort: false, show: (r) => h('span', {title: r.zone}, swatch({name: r.zone, color: 0}), r.zone), copy: (r) => r.zone},
            {key: 'count', title: 'count', number: true, width: '76px', sort: false, show: (r) => format.count(r.count), copy: (r) => String(r.count)},
            {key: 'total', title: 'total', number: true, width: '92px', sort: false, show: (r) => format.duration(r.total), copy: (r) => String(r.total)},
            {key: 'self', title: 'self', number: true, width: '92px', sort: false, show: (r) => format.duration(r.self), copy: (r) => String(r.self)},
            {key: 'share', title: '% self', number: true, width: '70px', sort: false, show: (r) => format.percent(share(r))},
        ], {pick: (r) => this.app.findByName(r.zone).then(() => this.app.found && this.app.drawer.show('find')), copied: (t) => this.app.say(t)});
    }

    choose(region) {
        this.chosen = region;
        this.list.markAll();
        this.table.set(region ? region.rows : []);
    }

    /* What the fields say, as a question has it. */
    question() {
        const kinds = this.kind.value ? [this.kind.value] : ['signpost', 'span'];
        return {ask: 'regions', regions: kinds.map((k) => `${k}:${this.name.value}`), zones: this.zone.value ? [this.zone.value] : undefined, scope: this.scope.value === 'all' ? undefined : this.scope.value};
    }

    async copyCommand() {
        const q = this.question(), words = ['strobe report --by-region', ...q.regions.map((r) => `--region ${quote(r)}`), ...(q.zones || []).map((z) => `--zone ${quote(z)}`), ...(q.scope ? [`--scope ${q.scope}`] : []), quote(this.app.trace.name)].join(' ');
        await copyText(words);
        this.app.say(`copied: ${words}`);
    }

    async load() {
        const isNewest = this.begin(), q = this.question(), {app} = this;
        this.state.textContent = 'adding up …';
        const {json, arrays} = await app.engine.ask(q);
        if (!isNewest())
            return;
        const key = this.chosen && `${this.chosen.kind} ${this.chosen.name}`;
        this.regions = json.regions.map((r) => ({...r, rows: []}));
        for (let i = 0; i < arrays.region.length; i++) {
            const of = this.regions[arrays.region[i]];
            of.rows.push({of, zone: json.names[arrays.name[i]], count: arrays.count[i], total: arrays.total[i], self: arrays.self[i]});
        }
        this.list.set(this.regions);
        this.choose(this.regions.find((r) => `${r.kind} ${r.name}` === key) || this.regions[0] || null);
        this.tell(json, arrays.region.length);
    }

    tell(json, n) {
        const isAny = this.name.value || this.kind.value;
        this.none.hidden = this.split.hidden = false;
        this.none.hidden = this.regions.length > 0;
        this.split.hidden = !this.regions.length;
        fill(this.none, isAny ? 'No region of this kind has such a name.' : 'This trace has no signposts and no asynchronous spans. Zones and messages make regions too: choose them above.');
        this.state.textContent = this.regions.length ? `${format.several(this.regions.length, 'region')}${n < json.n_rows ? `, the first ${format.count(n)} rows of ${format.count(json.n_rows)}` : ''}` : '';
    }
}

export function makeRegions(app) {
    const regions = new Regions(app);
    return {id: 'regions', title: 'Regions', element: regions.element, update: () => regions.load(), table: regions.table, list: regions.list, grows: () => false, isWhole: true};
}
