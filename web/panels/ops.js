/* ops.js - the panel of ops: what was launched on the devices, with the figures of `strobe report`, and how busy each core was in the
 * one that is picked (heat.js). A click goes to its kernels on the timeline, one on its host time to the zone that launched it.
 * SPDX-License-Identifier: MIT */
import {Table} from '../view/table.js';
import {Heat} from './heat.js';
import {copyTable} from '../view/share.js';
import {fill, h} from '../view/dom.js';
import {filterField, newest, setOptions, swatch} from './parts.js';
import * as format from '../view/format.js';

const MOST = 20000;

const BOUNDS = {
    host: 'the device waited for the host', dispatch: 'launching it and the firmware around it took longest', kernel: 'its kernels took longest',
    compute: 'its kernels took longest, those that compute', 'data movement': 'its kernels took longest, those that move data', waiting: 'its kernels mostly waited for data, or for room', unknown: '',
};

/** Rows out of the columns of an answer. */
function rowsOf({json, arrays}) {
    const keys = Object.keys(arrays).filter((k) => k !== 'name' && k !== 'bound'), devices = new Map(json.devices.map((d) => [d.track, d]));
    return [...arrays.row].map((_, i) => Object.assign(Object.fromEntries(keys.map((k) => [k, arrays[k][i]])),
        {name: json.names[arrays.name[i]], bound: json.bounds[arrays.bound[i]], of: devices.get(arrays.device[i]) || null}));
}

const known = (v) => !Number.isNaN(v);

class Ops {
    constructor(app) {
        this.app = app;
        this.begin = newest();
        this.picked = null; /* the row that is picked */
        this.heat = new Heat(app);
        this.table = this.makeTable();
        this.filter = filterField('Filter by op', () => this.load());
        this.device = h('select', {'aria-label': 'device', onchange: () => this.load()});
        this.bound = h('select', {'aria-label': 'what bounds it', onchange: () => this.load()}, h('option', {value: ''}, 'bound by anything'),
            Object.keys(BOUNDS).filter((b) => b !== 'unknown').map((b) => h('option', {value: b}, `bound by ${b}`)));
        this.state = h('span', {class: 'state'});
        this.none = h('p', {class: 'empty nothing', hidden: true});
        this.split = h('div', {class: 'split'}, h('div', {class: 'left ops'}, this.table.element), h('div', {class: 'right heatside'}, this.heat.element));
        this.bar = h('div', {class: 'bar narrow'}, this.filter, this.device, this.bound, this.state, h('span', {class: 'grow'}), h('button', {onclick: () => copyTable(app, this.table)}, 'Copy table'));
        this.element = h('div', {class: 'withbar'}, this.bar, this.none, this.split);
    }

    makeTable() {
        const ns = (key, title, show) => ({key, title, number: true, width: '82px', show: show || ((r) => format.duration(r[key])), copy: (r) => (known(r[key]) ? String(r[key]) : '')});
        return new Table([
            {key: 'name', title: 'op', up: true, width: 'minmax(120px, 2fr)', show: (r) => h('span', {title: this.words(r)}, swatch({name: r.name, color: 0}), r.name, r.session ? h('small', {}, ` replay ${r.session}`) : null), copy: (r) => r.name},
            {key: 'device', title: 'device', up: true, width: '70px', number: true, show: (r) => (r.of ? String(r.of.device) : '–')},
            ns('kernel', 'kernel'), ns('gap', 'gap'),
            ns('host', 'host', (r) => (r.host_track ? h('button', {class: 'link', title: 'go to the zone that launched it', onclick: (event) => this.goToHost(event, r)}, format.duration(r.host)) : format.duration(r.host))),
            {key: 'cores', title: 'cores', number: true, width: '56px', show: (r) => (known(r.cores) ? String(r.cores) : '–')},
            {key: 'bound', title: 'bound by', width: '132px', show: (r) => h('span', {class: `bound ${r.bound.split(' ')[0]}`, title: BOUNDS[r.bound]}, r.bound === 'unknown' ? '–' : r.bound), copy: (r) => r.bound},
            {key: 'util', title: 'FPU %', number: true, width: '62px', show: (r) => (known(r.util) ? r.util.toFixed(1) : '–'), copy: (r) => (known(r.util) ? String(r.util) : '')},
            ns('fw', 'firmware'),
            {key: 'op', title: 'number', number: true, width: '98px', sort: false, show: (r) => String(r.op)},
        ], {sort: () => this.load(), pick: (r) => this.pick(r), copied: (t) => this.app.say(t), isPicked: (r) => this.picked !== null && r.row === this.picked.row}, null);
    }

    words(r) {
        return `${r.name}${r.of ? `, ${r.of.name}` : ', on the host alone'}${r.session ? `, replay ${r.session} of its trace` : ''}`;
    }

    /** What a row's click does: its kernels are selected and fill the view; an op of the host alone has its zone there. */
    pick(r) {
        const shown = this.mark(r);
        if (!r.track && !r.host_track)
            this.app.say('Neither its kernels nor its host zone are in this trace.');
        else if (r.track)
            this.app.goInto(r.track, 0, {from: r.t0, to: r.t1});
        else
            this.app.goInto(r.host_track, r.host_depth, {from: r.host_t0, to: r.host_t1});
        return shown;
    }

    goToHost(event, r) {
        event.stopPropagation();
        this.app.goInto(r.host_track, r.host_depth, {from: r.host_t0, to: r.host_t1});
        return this.mark(r);
    }

    mark(r) {
        this.picked = r;
        this.table.markAll();
        return this.heat.show(r);
    }

    drawDevices(devices) {
        setOptions(this.device, [['', 'all devices'], ...devices.map((d) => [String(d.track), d.name])]);
        this.device.hidden = devices.length < 2;
    }

    async load() {
        const isNewest = this.begin(), {key, reversed} = this.table.order, {app} = this;
        const answer = await app.engine.ask({ask: 'ops', ...app.range(), tracks: undefined, filter: this.filter.value, device: Number(this.device.value) || undefined, bound: this.bound.value || undefined,
            sort: key || undefined, order: reversed ? 'reversed' : undefined, limit: MOST});
        if (!isNewest())
            return;
        const {json} = answer, rows = rowsOf(answer);
        this.drawDevices(json.devices);
        this.table.set(rows);
        if (this.picked && this.trace !== app.trace.uuid)
            this.picked = null;
        this.trace = app.trace.uuid;
        if (!this.picked)
            this.heat.clear();
        this.none.hidden = json.n_ops > 0;
        this.split.hidden = this.bar.hidden = !json.n_ops;
        fill(this.none, 'No op ran on a device in this trace. Ops are what a program launches on its devices: of a recording on the simulator, and of the logs that a run on hardware leaves (', h('code', {}, 'strobe view FOLDER'), ').');
        this.state.textContent = json.n_rows ? `${format.several(json.n_rows, 'op')}${json.n_rows < json.n_ops ? ` of ${format.count(json.n_ops)}` : ''}, ${this.sums(rows)}${rows.length < json.n_rows ? `, the first ${format.count(rows.length)} listed` : ''}` : 'No op fits.';
    }

    sums(rows) {
        const sum = (key) => rows.reduce((total, r) => total + (known(r[key]) ? Math.max(0, r[key]) : 0), 0);
        return `${format.duration(sum('kernel'))} in kernels, ${format.duration(sum('gap'))} in gaps`;
    }
}

export function makeOps(app) {
    const ops = new Ops(app);
    return {id: 'ops', title: 'Ops', element: ops.element, update: () => ops.load(), table: ops.table, heat: ops.heat, isOf: (trace) => trace.tracks.some((t) => t.kind === 'core')};
}
