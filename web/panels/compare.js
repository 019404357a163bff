/* compare.js - the panel that compares runs: the trace that is shown with others of the server's folder, or with files that are chosen. The table is that of
 * `strobe diff`, by the same code (docs/diff.md); beside it the histograms of a zone in both, and a flame graph of the difference; the other trace can be shown
 * below the timeline.  SPDX-License-Identifier: MIT */
import {LocalEngine, RemoteEngine} from '../engines.js';
import {Beside} from '../view/beside.js';
import {Table} from '../view/table.js';
import {copyTable} from '../view/share.js';
import {fill, h} from '../view/dom.js';
import {TwoHistograms, makeDifferential, signed, treeOfBoth} from './compare_parts.js';
import {hasSql} from './query.js';
import {newest, setOptions} from './parts.js';
import * as format from '../view/format.js';

const SIDES = [['histogram', 'histograms'], ['flame', 'flame graph']], METRICS = ['mean', 'self', 'total'];

class Compare {
    constructor(app) {
        Object.assign(this, {app, begin: newest(), others: [], ownSet: 'a', folder: [], answer: null, chosen: '', beside: null, engine: null, flameOf: ''});
        const options = (list) => list.map(([value, text]) => h('option', {value}, text));
        this.metric = h('select', {'aria-label': 'what is compared', onchange: () => this.load()}, options(METRICS.map((m) => [m, m])));
        this.pickSide = h('select', {'aria-label': 'beside the table', onchange: () => this.showSide()}, options(SIDES));
        this.add = h('select', {'aria-label': 'add a trace', onchange: () => this.addNamed(this.add.value)});
        this.file = h('input', {type: 'file', multiple: true, hidden: true, 'aria-label': 'add files', onchange: () => this.addFiles([...this.file.files])});
        this.pickFiles = h('button', {onclick: () => this.file.click()}, 'Add files …');
        this.runs = h('div', {class: 'bar runs'});
        this.state = h('span', {class: 'state'});
        this.align = h('input', {type: 'search', placeholder: 'Align by zone', 'aria-label': 'align by zone', spellcheck: 'false', hidden: true, onchange: () => this.alignBy(this.align.value.trim())});
        this.below = h('button', {class: 'below', onclick: () => this.toggleBeside()}, 'Show below');
        this.histograms = new TwoHistograms(app);
        this.graph = makeDifferential(app, (name) => this.choose(name));
        this.place = h('div', {class: 'right'});
        this.table = this.makeTable();
        this.element = h('div', {class: 'withbar compare'}, h('div', {class: 'bar narrow'}, this.metric, this.add, this.pickFiles, this.file, this.below, this.align, this.pickSide, h('span', {class: 'grow'}),
            h('button', {onclick: () => copyTable(app, this.table)}, 'Copy table')), this.runs, h('div', {class: 'split'}, h('div', {class: 'left'}, this.table.element), this.place));
    }

    makeTable() {
        const share = (key, title, width) => ({key, title, number: true, width, sort: false, show: (r) => (r[key] === null ? '' : signed(r[key])), copy: (r) => (r[key] === null ? '' : String(r[key]))});
        const ns = (key, title) => ({key, title, number: true, width: '92px', sort: false, show: (r) => (r[key] === null ? '–' : format.duration(r[key])), copy: (r) => (r[key] === null ? '' : String(r[key]))});
        return new Table([
            {key: 'verdict', title: 'verdict', width: '82px', sort: false, show: (r) => h('span', {class: `verdict ${r.verdict.replace(/[^a-z]/g, '')}`}, r.verdict), copy: (r) => r.verdict},
            {key: 'name', title: 'zone', width: 'minmax(150px, 2fr)', sort: false, show: (r) => h('span', {title: `${r.name}\n${r.file}`}, r.name), copy: (r) => r.name},
            share('change', 'change', '78px'),
            {key: 'interval', title: '95 % interval', width: '128px', sort: false, show: (r) => (r.low === null ? '' : `${signed(r.low)} to ${signed(r.high)}`)},
            ns('a_ns', 'A'), ns('b_ns', 'B'),
            {key: 'counts', title: 'zones a run', width: '110px', number: true, sort: false, show: (r) => (r.a_count === r.b_count ? format.count(r.a_count) : `${format.count(Math.round(r.a_count))} → ${format.count(Math.round(r.b_count))}`)},
            {key: 'remark', title: 'remark', width: 'minmax(90px, 1fr)', sort: false, show: (r) => (r.need_runs ? `would need ${r.need_runs} runs a side` : '')},
        ], {pick: (r) => this.choose(r.name), copied: (t) => this.app.say(t), isPicked: (r) => r.name === this.chosen});
    }

    /* The folder's other traces, where a server has one. */
    async listFolder() {
        const {app} = this, isRemote = app.engine.kind === 'remote';
        this.add.hidden = !isRemote;
        this.pickFiles.hidden = isRemote;
        if (!isRemote)
            return;
        const {json} = await app.engine.ask({ask: 'traces'});
        this.folder = json.traces.map((t) => t.name).filter((n) => n.endsWith('.strobe') && n !== app.trace.name);
        setOptions(this.add, [['', 'Compare with …'], ...this.folder.map((n) => [n, n])]);
    }

    addNamed(name) {
        this.add.value = '';
        if (name && !this.others.some((o) => o.name === name))
            this.addOthers([{name, set: 'b'}]);
    }

    addFiles(files) {
        this.addOthers(files.filter((f) => !this.others.some((o) => o.name === f.name)).map((blob) => ({name: blob.name, blob, set: 'b'})));
        this.file.value = '';
    }

    addOthers(list) {
        this.others.push(...list);
        this.changed();
    }

    changed() {
        const {app} = this;
        if (app.engine.kind === 'local')
            app.engine.setOthers(this.others.map(({name, blob}) => ({name, blob})));
        this.flameOf = '';
        this.drawRuns();
        return this.load();
    }

    remove(other) {
        this.others = this.others.filter((o) => o !== other);
        if (this.beside && this.beside.other === other)
            this.hideBeside();
        this.closeEngine(other);
        this.changed();
    }

    closeEngine(other) {
        if (other.engine)
            other.engine.then((engine) => engine.close(), () => {});
    }

    drawRuns() {
        const chip = (name, set, flip, away) => h('span', {class: `run ${set}`}, h('button', {class: 'small', title: 'A is before, B is after: a click changes sides', onclick: flip}, set.toUpperCase()), name, away ? h('button', {class: 'small', title: 'leave it out', onclick: away}, '✕') : null);
        const flipped = (set) => (set === 'a' ? 'b' : 'a');
        fill(this.runs, chip(`${this.app.trace.name} (shown)`, this.ownSet, () => {
            this.ownSet = flipped(this.ownSet);
            this.changed();
        }), this.others.map((o) => chip(o.name, o.set, () => {
            o.set = flipped(o.set);
            this.changed();
        }, () => this.remove(o))), this.state);
    }

    names(set) {
        return [...(this.ownSet === set ? [''] : []), ...this.others.filter((o) => o.set === set).map((o) => o.name)];
    }

    async load() {
        const isNewest = this.begin(), {app} = this, a = this.names('a'), b = this.names('b');
        this.below.disabled = !this.others.length;
        if (!a.length || !b.length) {
            this.table.set([]);
            this.state.textContent = 'Add a trace to compare with; A is before, B after.';
            return;
        }
        this.state.textContent = 'comparing …';
        try {
            const {json} = await app.engine.askLong({ask: 'compare', a, b, metric: this.metric.value}).answer;
            if (isNewest())
                this.show(json);
        } catch (error) {
            if (isNewest())
                this.state.textContent = error.message;
        }
    }

    show(json) {
        const n = (verdict) => json.zones.filter((z) => z.verdict === verdict).length;
        this.answer = json;
        this.table.set(json.zones);
        this.state.textContent = `${json.a_runs} against ${format.several(json.b_runs, 'run')}, ${format.several(json.zones.length, 'zone')}: ${n('slower')} slower, ${n('faster')} faster, ${n('same')} the same, ${n('can\'t tell')} undecided${n('new') + n('gone') ? `, ${n('new')} new, ${n('gone')} gone` : ''}${n('no test') ? '; differences of fewer than three runs a side are no verdict' : ''}${json.shift === null ? '' : `; all zones together ${signed(json.shift)}`}`;
        if (!json.zones.some((z) => z.name === this.chosen))
            this.chosen = json.zones.length ? json.zones[0].name : '';
        this.showSide();
    }

    /* The engines of the first run of each side. */
    engines() {
        const of = (set) => (this.ownSet === set ? this.app.engine : this.engineOf(this.others.find((o) => o.set === set)));
        return Promise.all([of('a'), of('b')]);
    }

    engineOf(other) {
        other.engine = other.engine || this.openEngine(other);
        return other.engine;
    }

    async openEngine({name, blob}) {
        const {app} = this;
        if (app.engine.kind === 'local') {
            const engine = new LocalEngine(app.workerUrl());
            await engine.open({blob, name});
            return engine;
        }
        const url = new URL('ws', location.href);
        url.protocol = 'ws:';
        url.search = `?trace=${encodeURIComponent(name)}`;
        return new RemoteEngine(url.href);
    }

    choose(name) {
        this.chosen = name;
        this.table.markAll();
        this.pickSide.value = 'histogram';
        return this.showSide();
    }

    async showSide() {
        const isFlame = this.pickSide.value === 'flame';
        fill(this.place, isFlame ? this.graph.element : this.histograms.element);
        this.table.markAll();
        if (!this.answer || !this.others.length)
            return;
        try {
            const engines = await this.engines();
            if (!isFlame && this.chosen)
                await this.histograms.load(this.chosen, engines);
            const key = JSON.stringify([this.names('a')[0], this.names('b')[0]]);
            if (isFlame && this.flameOf !== key) {
                this.flameOf = key;
                this.graph.show(await treeOfBoth(engines));
            } else if (isFlame)
                this.graph.draw();
        } catch (error) {
            this.app.say(error.message);
        }
    }

    async toggleBeside() {
        const {app} = this, [other] = this.others;
        if (this.beside || !other)
            return this.hideBeside();
        const engine = await this.engineOf(other), {json} = await engine.ask({ask: 'trace'});
        this.beside = new Beside(app, engine, json);
        this.beside.other = other;
        app.showBeside(this.beside);
        this.below.textContent = 'Hide below';
        this.align.hidden = false;
        return undefined;
    }

    hideBeside() {
        this.app.showBeside(null);
        this.beside = null;
        this.below.textContent = 'Show below';
        this.align.hidden = true;
    }

    async alignBy(name) {
        if (this.beside && !await this.beside.alignBy(name))
            this.app.say(`Not both have a zone “${name}”.`);
    }

    /* Another trace is shown: begin anew. */
    async update() {
        const {app} = this;
        if (this.engine === app.engine)
            return;
        this.engine = app.engine;
        if (this.beside)
            this.hideBeside();
        for (const other of this.others)
            this.closeEngine(other);
        Object.assign(this, {others: [], answer: null, chosen: '', ownSet: 'a', flameOf: ''});
        await this.listFolder();
        this.drawRuns();
        await this.load();
    }
}

export function makeCompare(app) {
    const compare = new Compare(app);
    return {id: 'compare', title: 'Compare', element: compare.element, update: () => compare.update(), grows: () => false, isWhole: true, isOf: () => hasSql(), compare};
}
