/* find.js - "find zone": all zones of a name, with the histogram of their times; a brushed part of it
 * chooses which are listed, and stands out on the timeline.  SPDX-License-Identifier: MIT */
import {Chart} from '../view/chart.js';
import {Table} from '../view/table.js';
import {THEMES} from '../view/palette.js';
import {copyTable} from '../view/share.js';
import {fill, h} from '../view/dom.js';
import {GROUPS, groupTable} from './groups.js';
import {offerRanks} from '../view/ranks.js';
import {figure, newest, swatch} from './parts.js';
import * as format from '../view/format.js';

const BINS = 120, FIRST_ROWS = 1000, MORE = 8, MOST_ROWS = 2 ** 18;

/* Where the chart begins and ends: around the times, with room beside them where they are all but the same. */
function extent({min, max}) {
    return max > min * 1.02 + 2 ? [min, max] : [min * 0.98, max * 1.02 + 1];
}

/* Bars for the chart out of the file's fine buckets; nothing is outside of [least, most]. */
function makeBins(arrays, isLog, [from, to], least, most) {
    const {low, high, n} = arrays, count = new Float64Array(BINS), edges = new Float64Array(BINS + 1);
    const a = isLog ? Math.log(Math.max(1, from)) : from, b = isLog ? Math.log(Math.max(2, to)) : to;
    for (let i = 0; i <= BINS; i++)
        edges[i] = isLog ? Math.exp(a + (b - a) * i / BINS) : a + (b - a) * i / BINS;
    const place = (v) => ((isLog ? Math.log(Math.max(1, v)) : v) - a) / Math.max(1e-9, b - a) * BINS;
    for (let i = 0; i < n.length; i++) { /* a bucket may be wider than a bar: it is spread over those */
        const x0 = Math.min(BINS - 1e-6, Math.max(0, place(Math.max(least, low[i])))), x1 = Math.max(x0 + 1e-6, Math.min(BINS, place(Math.min(most, high[i]))));
        for (let bin = Math.floor(x0); bin < x1; bin++)
            count[bin] += n[i] * (Math.min(bin + 1, x1) - Math.max(bin, x0)) / (x1 - x0);
    }
    return {count: whole(count), edges};
}

/* The same as whole numbers: what is a part of a zone in one bar is in the next one. Their sum is the same. */
function whole(parts) {
    let sum = 0;
    return parts.map((part) => {
        const before = Math.round(sum);
        return Math.round(sum += part) - before;
    });
}

/* The rows of the list, out of the columns of an answer. */
function rowsOf({json, arrays}) {
    return [...arrays.t0].map((t0, i) => ({t0, t1: arrays.t1[i], self: arrays.self[i], track: arrays.track[i], depth: arrays.depth[i], text: json.texts ? json.texts[i] : ''}));
}

function makeTable(app, list, end) {
    return new Table([
        {key: 'time', title: 'begins', up: true, width: 'minmax(118px, 1fr)', show: (r) => format.time(r.t0, app.timeMode, app.trace, 1)},
        {key: 'duration', title: 'duration', number: true, width: 'minmax(88px, 110px)', show: (r) => format.duration(r.t1 - r.t0), copy: (r) => String(r.t1 - r.t0)},
        {key: 'self', title: 'self', number: true, width: 'minmax(84px, 110px)', sort: false, show: (r) => format.duration(r.self), copy: (r) => String(r.self)},
        {key: 'thread', title: 'track', width: 'minmax(80px, 1fr)', sort: false, show: (r) => (app.trackOf(r.track) || {name: ''}).name},
        {key: 'text', title: 'text', width: 'minmax(80px, 1fr)', sort: false, show: (r) => r.text || ''},
    ], {sort: list, pick: (r) => app.goTo(r.track, r.depth, r.t0, r.t1), copied: (t) => app.say(t), end}, 'duration');
}

function figuresOf(j) {
    return j.count ? [figure('count', format.count(j.count)), figure('total', format.duration(j.total)), figure('mean', format.duration(j.mean)), figure('median ~', format.duration(j.p50)),
        figure('90 % ~', format.duration(j.p90)), figure('99 % ~', format.duration(j.p99)), figure('min', format.duration(j.min)), figure('max', format.duration(j.max)), figure('deviation', format.duration(j.std))]
        : h('p', {class: 'empty'}, 'None begins in this range.');
}

class Find {
    constructor(app) {
        Object.assign(this, {app, chart: null, isLog: true, logCount: false, group: 'none', answer: null, brush: null});
        /* the app.found that all of this is of, that the field has the name of; what the list and its groups answer */
        Object.assign(this, {shown: undefined, named: undefined, listed: undefined});
        Object.assign(this, {limit: FIRST_ROWS, isMore: false}); /* rows that are asked for; are there more? */
        this.beginUpdate = newest();
        this.beginList = newest();
        this.table = makeTable(app, () => this.list(), () => this.listMore());
        Object.assign(this, {title: h('h2', {}), figures: h('div', {class: 'figures'}), place: h('div', {class: 'chart'}), groups: h('div', {class: 'groups'}), state: h('span', {class: 'state'})});
        this.name = h('input', {type: 'search', placeholder: 'Zone name', 'aria-label': 'zone name', spellcheck: 'false', onchange: () => this.byName(this.name.value.trim())});
        this.grouping = h('select', {'aria-label': 'group by', onchange: () => this.groupBy(this.grouping.value)}, ['none', ...GROUPS].map((g) => h('option', {value: g}, g === 'none' ? 'no groups' : `by ${g}`)));
        this.reset = h('button', {onclick: () => this.setBrush(null)}, 'Clear brush');
        this.element = h('div', {class: 'withbar find'}, h('div', {class: 'bar'}, this.name, this.box('log times', 'isLog'), this.box('log counts', 'logCount'),
            this.grouping, this.reset, this.state, h('span', {class: 'grow'}), h('button', {onclick: () => copyTable(app, this.table)}, 'Copy table')),
        h('div', {class: 'split'}, h('div', {class: 'left'}, this.title, this.figures, this.place), h('div', {class: 'right'}, this.groups, this.table.element)));
    }

    /* A check box for one of the chart's switches. */
    box(text, key) {
        const input = h('input', {type: 'checkbox', onchange: () => {
            this[key] = input.checked;
            this.draw();
        }});
        input.checked = this[key];
        return h('label', {}, input, ` ${text}`);
    }

    groupBy(group) {
        this.group = group;
        fill(this.groups);
        this.list();
    }

    async byName(text) {
        const {app} = this, {arrays} = await app.engine.ask({ask: 'stats', filter: text, sort: 'total', limit: 200});
        await app.names.need(arrays.loc);
        const exact = [...arrays.loc].find((loc) => app.names.name(loc) === text), loc = exact || arrays.loc[0];
        if (loc)
            app.findZone(loc);
        else
            this.state.textContent = 'No zone has this in its name.';
    }

    setBrush(range) {
        const {app} = this;
        this.brush = range;
        if (this.chart && !range)
            this.chart.setBrush(null);
        app.highlight = app.found && range ? {loc: app.found.loc, min: range[0], max: range[1]} : app.found ? {loc: app.found.loc} : null;
        app.redraw();
        this.list();
    }

    draw() {
        const {chart, answer} = this;
        if (chart && chart.isHeld && answer) /* what is being brushed is not taken from under the pointer */
            return;
        if (chart)
            chart.destroy();
        this.chart = null;
        fill(this.place);
        if (answer && answer.json.count)
            this.drawChart(answer);
    }

    drawChart({json, arrays}) {
        const {isLog, logCount} = this, theme = THEMES[this.app.theme], {count, edges} = makeBins(arrays, isLog, extent(json), json.min, json.max);
        const most = count.reduce((m, v) => Math.max(m, v), 1), curve = [{x: edges[0], percent: 0}];
        let sum = 0;
        const bars = Array.from(count, (value, i) => {
            curve.push({x: edges[i + 1], percent: 100 * (sum += value) / json.count});
            return {from: edges[i], to: edges[i + 1], value};
        });
        this.chart = new Chart(this.place, {
            name: 'histogram', told: (words) => this.app.announce(words), cleared: () => this.setBrush(null),
            theme, bars, curve,
            x: {min: edges[0] || (isLog ? 1 : 0), max: edges[BINS], log: isLog, show: format.duration},
            y: {min: logCount ? 0.5 : 0, max: most * 1.05, log: logCount, show: (v) => (Number.isInteger(v) ? format.shortCount(v) : '')},
            uprights: [{at: json.mean, text: 'mean', color: theme.hit}, {at: json.p50, text: 'median', color: theme.accent}, {at: json.p99, text: '99 %', color: theme.flow}],
            brushed: (from, to) => this.setBrush([from, to]),
        });
        this.chart.setBrush(this.brush);
    }

    async list() {
        const {app, table, brush: range, group: by} = this;
        if (!app.found)
            return;
        const isNewest = this.beginList(), {key, reversed} = table.order;
        const q = {ask: 'instances', loc: app.found.loc, ...app.range(), sort: key, order: reversed ? 'reversed' : undefined, limit: this.limit};
        if (range)
            Object.assign(q, {min: Math.floor(range[0]), max: Math.ceil(range[1])});
        const asked = JSON.stringify([q, by]);
        let json, rows;
        this.isMore = false;
        do { /* in steps: what is there is shown at once */
            const answer = await app.engine.ask(q);
            if (!isNewest())
                return;
            ({json} = answer);
            rows = rowsOf(answer);
            table.set(rows);
            this.say(json, rows.length, range);
        } while (!json.exact);
        const {total} = json;
        this.reset.hidden = !range;
        this.mark(rows, total);
        this.isMore = rows.length < total && this.limit < MOST_ROWS;
        if (this.isMore && this.limit === FIRST_ROWS) { /* those were the first at once: now more of them */
            this.listMore();
            return;
        }
        if (asked !== this.listed) /* these would be of other rows until those of a parent are known */
            fill(this.groups);
        this.listed = asked;
        const content = by === 'none' ? null : await groupTable(app, by, rows, total, isNewest);
        if (isNewest())
            fill(this.groups, content);
    }

    /* Where all of the zones are that stand out on the timeline, by lane: strips of zones too small to draw are then dimmed where none is. */
    mark(rows, total) {
        const {highlight} = this.app, places = new Map();
        if (!highlight || rows.length < total)
            return;
        for (const r of rows) {
            const key = `${r.track}/${r.depth}`, list = places.get(key);
            if (list)
                list.push(r.t1);
            else
                places.set(key, [r.t1]);
        }
        for (const [key, list] of places)
            places.set(key, Float64Array.from(list).sort());
        highlight.places = places;
        this.app.redraw();
    }

    /* How many there are, how many are listed; in red what never will be. */
    say(json, n, range) {
        const of = range ? ` between ${format.duration(range[0])} and ${format.duration(range[1])}` : ' zones', isCut = json.exact && n < json.total && this.limit >= MOST_ROWS;
        const left = !json.exact ? `: ${format.percent(json.share)} of the trace looked at` : isCut ? `: ${format.count(json.total - n)} of them are not listed; strobe csv prints all` :
            n < json.total ? `, the first ${format.count(n)} listed` : '';
        this.state.textContent = format.count(json.total) + of + left;
        this.state.classList.toggle('missing', isCut);
    }

    /* The last row is seen: more of them. */
    listMore() {
        if (!this.isMore)
            return;
        this.limit = Math.min(MOST_ROWS, this.limit * MORE);
        this.list();
    }

    /* Nothing of the zone before is left, not even while the answers about this one are waited for. */
    clear() {
        this.shown = this.app.found;
        this.answer = this.brush = null;
        this.limit = FIRST_ROWS;
        this.isMore = false;
        this.beginList();
        this.state.textContent = '';
        this.reset.hidden = true;
        this.table.set([]);
        fill(this.groups);
        fill(this.figures);
        this.draw();
    }

    showNone() {
        fill(this.title, 'Find zone');
        fill(this.figures, h('p', {class: 'empty'}, 'Ctrl+click a zone, pick one in the statistics, or type its name above.'));
        this.name.value = this.title.title = '';
        this.named = null;
    }

    showName(row) {
        this.title.title = row ? row.name : '';
        fill(this.title, swatch(row), this.title.title);
        if (this.named !== this.shown)
            this.name.value = this.title.title;
        this.named = this.shown;
    }

    async update() {
        const {app} = this, isNewest = this.beginUpdate();
        offerRanks(this.grouping, app.trace.tracks);
        this.group = this.grouping.value;
        if (app.found !== this.shown)
            this.clear();
        if (!app.found) {
            this.showNone();
            return;
        }
        await app.names.need([app.found.loc]);
        if (!isNewest())
            return;
        this.showName(app.names.rows.get(app.found.loc));
        const about = await app.engine.ask({ask: 'histogram', loc: app.found.loc, ...app.range()});
        if (!isNewest())
            return;
        this.answer = about;
        fill(this.figures, figuresOf(about.json));
        this.draw();
        await this.list();
    }
}

export function makeFind(app) {
    const find = new Find(app);
    return {id: 'find', title: 'Find zone', element: find.element, update: () => find.update(), table: find.table, setBrush: (range) => find.setBrush(range), chart: () => find.chart};
}
