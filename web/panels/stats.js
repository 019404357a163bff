/* stats.js - the panel of statistics by location: the rows of `strobe stats`.  SPDX-License-Identifier: MIT */
import {Table} from '../view/table.js';
import {copyCommand, copyTable} from '../view/share.js';
import {h} from '../view/dom.js';
import {ABOUT, filterField, newest, swatch} from './parts.js';
import {BY, groupedStats} from './stats_groups.js';
import {offerRanks} from '../view/ranks.js';
import * as format from '../view/format.js';

export function makeStats(app) {
    let whole = 0;
    const begin = newest();
    const ns = (key, title) => ({key, title, number: true, width: '106px', show: (r) => format.duration(r[key]), copy: (r) => String(r[key])});
    const columns = [
        {key: 'name', title: 'zone', up: true, width: 'minmax(160px, 2fr)', show: (r) => h('span', {title: r.row ? r.row.name : ''}, swatch(r.row), r.row ? r.row.name : '…', r.group ? h('small', {}, `  ${r.group}`) : null)},
        {key: 'count', title: 'count', number: true, width: '92px', show: (r) => format.count(r.count), copy: (r) => String(r.count)},
        ns('total', 'total'), Object.assign(ns('inclusive', 'inclusive'), {show: (r) => (r.inclusive === undefined ? '–' : format.duration(r.inclusive))}),
        {key: 'share', title: '% self', number: true, width: '72px', sort: false, show: (r) => (whole ? format.percent(r.self / whole) : '–')},
        ns('self', 'self'), ns('mean', 'mean'), ns('min', 'min'), ns('max', 'max'), ns('std', 'deviation'),
        Object.assign(ns('p50', 'median ~'), {sort: false, why: ABOUT}), Object.assign(ns('p99', '99 % ~'), {sort: false, why: ABOUT}),
        {key: 'place', title: 'source', width: 'minmax(100px, 1fr)', sort: false, fromEnd: true, show: (r) => (r.row && r.row.file ? `${r.row.file}:${r.row.line}` : '')},
    ];
    const table = new Table(columns, {
        sort: () => load(), pick: (r) => app.findZone(r.loc), hover: (r) => app.setHover(r ? {loc: r.loc} : null), copied: (t) => app.say(t),
    }, 'total');
    const by = h('select', {'aria-label': 'put together', onchange: () => load()}, BY.map(([value, words]) => h('option', {value}, words)));
    const filter = filterField('Filter by name', () => load()), state = h('span', {class: 'state'}), element = h('div', {class: 'withbar'}, h('div', {class: 'bar'}, filter, by, state, h('span', {class: 'grow'}),
        h('button', {onclick: () => copyTable(app, table)}, 'Copy table'),
        h('button', {onclick: () => copyCommand(app, table.order.key, filter.value)}, 'Copy as command')), table.element);

    function rowsOf(arrays, group = '') {
        const keys = columns.map((c) => c.key).filter((k) => arrays[k]);
        return [...arrays.loc].map((loc, i) => Object.assign({loc, group, row: app.names.rows.get(loc)}, Object.fromEntries(keys.map((k) => [k, arrays[k][i]]))));
    }

    /* The rows of all groups, in one order. */
    function showGroups({answers, nLeft}) {
        const {key, reversed} = table.order, rows = answers.flatMap(({name, arrays}) => rowsOf(arrays, name)), turn = reversed ? -1 : 1;
        const nameOf = (r) => `${r.row ? r.row.name : ''} ${r.group}`;
        table.set(rows.sort((a, b) => turn * (key === 'name' ? nameOf(a).localeCompare(nameOf(b)) : (b[key] ?? 0) - (a[key] ?? 0))));
        state.textContent = `${format.several(rows.length, 'row')} of ${format.several(answers.length, by.value).replace('processs', 'processes')}${nLeft ? `; ${format.count(nLeft)} more were not asked for: select an area of tracks` : ''}`;
    }

    async function load() {
        offerRanks(by, app.trace.tracks);
        const isNewest = begin(), {key, reversed} = table.order, question = {ask: 'stats', ...app.range(), sort: key, order: reversed ? 'reversed' : undefined, filter: filter.value, limit: 10000};
        const {json, arrays} = await app.engine.ask(question), groups = by.value === 'name' ? null : await groupedStats(app, by.value, question, isNewest);
        await app.names.need(arrays.loc);
        if (!isNewest())
            return;
        const n = arrays.loc.length;
        whole = json.whole_self;
        if (groups)
            return showGroups(groups);
        table.set(rowsOf(arrays));
        state.textContent = json.n_rows ? `${format.several(json.n_rows, 'name')}, ${format.several(json.n_zones, 'zone')}${n < json.n_rows ? `, the first ${format.count(n)} listed` : ''}` :
            filter.value ? 'No zone has this in its name.' : 'No zones begin in this range.';
    }
    return {id: 'stats', title: 'Statistics', element, update: load, table};
}
