/* query.js - the panel of queries: SQL is typed, and its answer shown as a table, as a chart, as a track of the timeline. Tables, limits and numbers are
 * those of `strobe query` (docs/query.md).  SPDX-License-Identifier: MIT */
import {Table} from '../view/table.js';
import {copyText, download, fill, h} from '../view/dom.js';
import {keep, kept} from '../view/kept.js';
import {EXAMPLES, TABLES} from './query_examples.js';
import {QueryChart, isChartable} from './query_chart.js';
import {newest} from './parts.js';
import * as format from '../view/format.js';

const MOST_KEPT = 50, ROWS = 10000, TELL_MS = 200, SQL_WORD = /[\w"'`.]*/y;

/** A cell as text. */
export function cellText(value, type = '') {
    if (value === null || value === undefined)
        return '';
    if (typeof value === 'object')
        return value.i ?? value.r;
    return typeof value === 'number' && type === 'real' ? realText(value) : String(value);
}

/* As the command prints it: the shortest digits, with an exponent where the point is far from them. */
function realText(value) {
    const [digits, power] = value.toExponential().split('e'), exponent = Number(power);
    if (exponent <= 16 && exponent >= -4 || !value)
        return Object.is(value, -0) ? '-0' : String(value);
    return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** The rows as CSV, as `strobe query --format csv` writes it. */
export function csvOf({columns, types, rows}) {
    const quote = (text) => (/[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
    return [columns.map(quote).join(','), ...rows.map((row) => row.map((v, i) => quote(cellText(v, types[i]))).join(','))].map((line) => `${line}\n`).join('');
}

/* Numbers by size, texts by letters, NULL last. */
function compare(a, b) {
    if (a === null || b === null)
        return (a === null) - (b === null);
    const x = typeof a === 'object' ? Number(a.i ?? a.r) : a, y = typeof b === 'object' ? Number(b.i ?? b.r) : b;
    if (typeof x !== typeof y)
        return typeof x === 'number' ? -1 : 1;
    return x < y ? -1 : x > y ? 1 : 0;
}

function readHistory() {
    try {
        const list = JSON.parse(kept('queries', '[]'));
        return Array.isArray(list) ? list.filter((q) => typeof q === 'string') : [];
    } catch {
        return [];
    }
}

class Query {
    constructor(app) {
        Object.assign(this, {app, begin: newest(), answer: null, table: null, running: null, history: readHistory(), at: -1});
        this.text = h('textarea', {class: 'sql', 'aria-label': 'SQL', spellcheck: 'false', placeholder: 'SELECT * FROM hottest', onkeydown: (e) => this.key(e)});
        this.text.value = this.history[0] || EXAMPLES[0][1];
        this.runButton = h('button', {class: 'run', title: 'Ctrl+Enter', onclick: () => this.run()}, '▶ Run');
        this.stopButton = h('button', {class: 'halt', hidden: true, onclick: () => this.stop()}, '■ Stop');
        this.examples = this.choice('examples', 'Examples', () => EXAMPLES);
        this.past = this.choice('history', 'History', () => this.history.map((q) => [q.replace(/\s+/g, ' ').slice(0, 90), q]));
        this.tables = this.choice('tables', 'Tables', () => TABLES.map((t) => [t, `SELECT * FROM ${t} LIMIT 100`]));
        this.error = h('pre', {class: 'sqlerror', role: 'alert', hidden: true});
        this.state = h('span', {class: 'state'});
        this.chart = new QueryChart(app, (row) => this.go(row));
        this.place = h('div', {class: 'answer'});
        this.buildAnswer();
        this.element = h('div', {class: 'withbar query'}, h('div', {class: 'split'}, h('div', {class: 'left asking'}, h('div', {class: 'bar narrow'}, this.runButton, this.stopButton, this.examples, this.past, this.tables,
            h('button', {title: 'put the times of the area, or of the view, at the cursor', onclick: () => this.insertRange()}, 'ts BETWEEN')), this.text, this.error), this.right));
    }

    buildAnswer() {
        this.pickTable = h('button', {class: 'pickTable', onclick: () => this.show('table')}, 'Table');
        this.pickChart = h('button', {class: 'pickChart', onclick: () => this.show('chart')}, 'Chart');
        this.addTrack = h('button', {class: 'addTrack', title: 'rows that have a column ts, on the timeline', onclick: () => this.toTrack()}, 'As a track');
        this.copy = h('button', {class: 'copyCsv', onclick: () => this.copyCsv()}, 'Copy as CSV');
        this.save = h('button', {onclick: () => download('answer.csv', new Blob([csvOf(this.sorted())], {type: 'text/csv'}))}, 'Save as CSV');
        this.buttons = [this.pickTable, this.pickChart, this.addTrack, this.copy, this.save];
        this.right = h('div', {class: 'right answers'}, h('div', {class: 'bar narrow'}, ...this.buttons, h('button', {onclick: () => this.copyCommand()}, 'Copy as command'), this.state), this.place);
        this.enable();
    }

    /* A list that puts what is chosen into the field. */
    choice(id, title, rows) {
        const select = h('select', {'aria-label': id, onchange: () => {
            const row = rows()[Number(select.value)];
            select.value = '';
            if (row)
                this.setText(row[1]);
        }});
        const renew = () => fill(select, h('option', {value: ''}, title), rows().map(([text], i) => h('option', {value: String(i)}, text)));
        select.addEventListener('pointerdown', renew);
        select.addEventListener('focus', renew);
        renew();
        return select;
    }

    setText(sql) {
        this.text.value = sql;
        this.text.focus();
    }

    key(event) {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            this.run();
        } else if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
            event.preventDefault();
            this.at = Math.max(0, Math.min(this.history.length - 1, this.at + (event.key === 'ArrowUp' ? 1 : -1)));
            if (this.history[this.at])
                this.text.value = this.history[this.at];
        }
    }

    insertRange() {
        const {from, to} = this.app.area || this.app.view;
        this.text.setRangeText(`ts BETWEEN ${Math.floor(from)} AND ${Math.ceil(to)}`, this.text.selectionStart, this.text.selectionEnd, 'end');
        this.text.focus();
    }

    remember(sql) {
        this.history = [sql, ...this.history.filter((q) => q !== sql)].slice(0, MOST_KEPT);
        this.at = -1;
        keep('queries', JSON.stringify(this.history));
    }

    /** Put a statement into the field and ask it. */
    open(sql) {
        this.setText(sql);
        return this.run();
    }

    async run() {
        const isNewest = this.begin(), sql = this.text.value.trim(), began = performance.now();
        if (!sql)
            return;
        this.stop();
        this.remember(sql);
        this.error.hidden = true;
        this.setRunning(this.app.engine.askLong({ask: 'query', sql, limit: ROWS}), began);
        try {
            const {json} = await this.running.answer;
            if (isNewest())
                this.setAnswer(json, sql);
        } catch (error) {
            if (isNewest())
                this.fail(error, sql);
        }
        if (isNewest())
            this.setRunning(null);
    }

    /* While an answer is made: how long it takes, and a button that ends it. */
    setRunning(running, began = 0) {
        clearInterval(this.timer);
        this.running = running;
        this.stopButton.hidden = !running;
        this.runButton.hidden = Boolean(running);
        const tell = () => { this.state.textContent = `${((performance.now() - began) / 1000).toFixed(1)} s …`; };
        if (running) {
            tell();
            this.timer = setInterval(tell, TELL_MS);
        }
    }

    stop() {
        if (this.running)
            this.running.stop();
    }

    /* SQLite counts bytes of the statement. */
    fail(error, sql) {
        const at = error.json && error.json.at, skipped = this.text.value.length - this.text.value.trimStart().length;
        this.state.textContent = '';
        this.error.hidden = false;
        this.error.textContent = error.message;
        if (at === undefined)
            return;
        const bytes = new TextEncoder().encode(sql), place = new TextDecoder().decode(bytes.subarray(0, at)).length, lines = sql.slice(0, place).split('\n'), column = lines.at(-1).length;
        this.error.textContent = `${error.message}\n${sql.split('\n')[lines.length - 1]}\n${' '.repeat(column)}^ line ${lines.length}, column ${column + 1}`;
        SQL_WORD.lastIndex = place;
        const word = SQL_WORD.exec(sql);
        this.text.focus();
        this.text.setSelectionRange(skipped + place, skipped + place + Math.max(1, word ? word[0].length : 1));
    }

    setAnswer(answer, sql) {
        const missing = answer.emitted - answer.stored;
        this.answer = {...answer, sql};
        this.table = this.makeTable();
        this.state.textContent = `${answer.is_cut ? 'the first ' : ''}${format.several(answer.n_rows, 'row')}, ${format.duration(answer.took_ns)}, by ${answer.by}${missing ? `; ${format.count(missing)} of ${format.count(answer.emitted)} events are not in the trace` : ''}${answer.holes ? '; parts of the file are damaged' : ''}`;
        this.enable();
        this.show(this.view === 'chart' && isChartable(answer) ? 'chart' : 'table');
    }

    enable() {
        const {answer} = this, hasTime = answer && answer.rows.length && answer.types[answer.columns.indexOf('ts')] === 'int';
        for (const button of this.buttons)
            button.disabled = !answer;
        this.pickChart.disabled = !answer || !isChartable(answer);
        this.addTrack.disabled = !hasTime;
    }

    /* A row as {column: value}; of columns of one name the first counts. */
    asObject(row) {
        const out = {};
        this.answer.columns.forEach((name, i) => { out[name] = name in out ? out[name] : row[i]; });
        return out;
    }

    go(row) {
        return this.app.goToRow(this.asObject(row), this.answer.sql).catch((error) => this.app.say(error.message));
    }

    makeTable() {
        const {answer} = this, columns = answer.columns.map((name, i) => {
            const type = answer.types[i], isNumber = type === 'int' || type === 'real', longest = answer.rows.slice(0, 200).reduce((n, r) => Math.max(n, cellText(r[i], type).length), name.length + 2), px = Math.min(320, 24 + 8 * longest);
            return {key: String(i), title: name, number: isNumber, up: !isNumber, width: isNumber ? `${px}px` : `minmax(${Math.min(px, 140)}px, ${Math.max(1, Math.min(4, Math.round(longest / 16)))}fr)`, show: (r) => cellText(r[i], type)};
        });
        const table = new Table(columns, {sort: () => this.sortTable(), pick: (r) => this.go(r), copied: (words) => this.app.say(words)});
        table.set(answer.rows);
        return table;
    }

    /* The rows in the order that the table shows. */
    sorted() {
        const {answer, table} = this, {key, reversed} = table.order;
        if (key === null)
            return answer;
        const i = Number(key), isUp = Boolean(table.columns[i].up) !== reversed;
        return {...answer, rows: answer.rows.slice().sort((a, b) => (a[i] === null || b[i] === null ? compare(a[i], b[i]) : isUp ? compare(a[i], b[i]) : compare(b[i], a[i])))};
    }

    sortTable() {
        this.table.set(this.sorted().rows);
    }

    show(view) {
        this.view = view;
        this.pickTable.classList.toggle('on', view === 'table');
        this.pickChart.classList.toggle('on', view === 'chart');
        if (!this.answer)
            return;
        fill(this.place, view === 'chart' ? this.chart.element : this.table.element);
        if (view === 'chart')
            this.chart.set(this.sorted());
        else
            this.table.draw();
    }

    toTrack() {
        const {answer, app} = this, at = (name) => answer.columns.indexOf(name), ts = at('ts'), dur = at('dur'), named = at('name') >= 0 ? at('name') : answer.types.indexOf('text');
        const rows = answer.rows.filter((r) => typeof r[ts] === 'number').map((r) => ({t0: r[ts], t1: r[ts] + (dur >= 0 && typeof r[dur] === 'number' ? Math.max(0, r[dur]) : 0), label: named >= 0 ? cellText(r[named]) : '', from: this.asObject(r)}));
        const {sql} = answer;
        app.timeline.asked.add(sql.replace(/\s+/g, ' ').slice(0, 60), rows, (from) => app.goToRow(from, sql));
        app.say(`${format.several(rows.length, 'row')} above the other tracks; a right click on the track's name removes it.`);
    }

    async copyCsv() {
        await copyText(csvOf(this.sorted()));
        this.app.say(`${format.several(this.answer.rows.length, 'row')} copied as CSV`);
    }

    async copyCommand() {
        const quote = (text) => `'${text.replace(/'/g, '\'\\\'\'')}'`, words = `strobe query ${quote(this.app.trace.name)} ${quote(this.text.value.trim())}`;
        await copyText(words);
        this.app.say('copied as a command');
    }
}

/** Whether the page can answer long questions: an exported one may have come without them. */
export function hasSql() {
    return !window.strobeTrace || Boolean(window.strobeAskModule);
}

export function makeQuery(app) {
    const query = new Query(app);
    return {id: 'query', title: 'Query', element: query.element, update: () => {}, grows: () => false, isWhole: true, isOf: hasSql, query};
}
