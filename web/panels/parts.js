/* parts.js - what several panels are made of.  SPDX-License-Identifier: MIT */
import {THEMES, colorOf} from '../view/palette.js';
import {fill, h} from '../view/dom.js';
import * as format from '../view/format.js';

const PAUSE_MS = 150;

/** A square of a location's colour. */
export function swatch(row) {
    const s = h('span', {class: 'swatch'});
    s.style.background = row ? colorOf(row.name, row.color) : '#888';
    return s;
}

/** The same of a zone as it is drawn: of a lock, a frame, or with the colour that the program gave it. */
export function swatchOfZone(app, track, row, given) {
    const s = swatch(given ? {...row, color: given} : row), theme = THEMES[app.theme], own = track && {locks: theme.lock, frames: theme.frameA}[track.kind];
    if (own)
        s.style.background = own;
    return s;
}

/** A name with its colour. */
export function locName(app, loc) {
    return h('span', {}, swatch(app.names.rows.get(loc)), app.names.name(loc));
}

export function link(text, run, title) {
    return h('button', {class: 'link', onclick: run, title}, text);
}

/** A button that does what a row of the tables names. */
export function actButton(app, act, text, key) {
    return h('button', {'data-act': act, title: key ? `key: ${key}` : null, onclick: () => app.act(act)}, text);
}

/** Words with their values; those without a value are left out. */
export function pairs(rows) {
    return h('dl', {class: 'pairs'}, rows.filter(([, v]) => v !== '' && v !== null && v !== undefined).map(([k, v]) => [h('dt', {}, k), h('dd', {}, v)]));
}

/* The members of a JSON text as [path, value], of lists and objects in it each by its own path; null: it is none. */
export function jsonRows(text, most = 200) {
    let value;
    try {
        value = /^\s*[{[]/.test(text) ? JSON.parse(text) : null;
    } catch {
        return null;
    }
    const rows = [], visit = (v, path) => {
        if (v !== null && typeof v === 'object' && Object.keys(v).length)
            for (const [key, member] of Object.entries(v))
                visit(member, Array.isArray(v) ? `${path}[${key}]` : path ? `${path}.${key}` : key);
        else if (rows.length < most)
            rows.push([path, typeof v === 'string' ? v : JSON.stringify(v)]);
    };
    if (value === null)
        return null;
    visit(value, '');
    return rows;
}

export function section(title, ...content) {
    return h('section', {}, h('h3', {}, title), content);
}

/** A small table; rows: [[cell, …]], a cell with {number: text} stands on the right. */
export function plainTable(rows) {
    return h('table', {class: 'plain'}, rows.map((cells) => h('tr', {}, cells.map((c) => (c && c.number !== undefined ? h('td', {class: 'number'}, c.number) : h('td', {}, c))))));
}

/** Locations with how often and how long; `whole`: ns that are 100 %. */
export function tally(app, title, rows, whole) {
    return rows.length === 0 ? null : section(title, plainTable(rows.slice(0, 20).map((r) => [link(locName(app, r.loc), () => app.findZone(r.loc), 'find all of this name'),
        {number: `${format.count(r.count)} ×`}, {number: format.duration(r.total)}, {number: whole > 0 ? format.percent(r.total / whole) : ''}])));
}

/** Why a figure has a ~. */
export const ABOUT = 'from a histogram of 32 steps for each doubling: at most 3.2 % off';

export function figure(label, value) {
    return h('span', {class: 'figure', title: label.endsWith('~') ? ABOUT : null}, h('small', {}, label), value);
}

/** Only the newest of several runs counts: each calls `begin = newest()` at its start, and goes on after a wait if what that gave says so. */
export function newest() {
    let turn = 0;
    return () => {
        const mine = ++turn;
        return () => mine === turn;
    };
}

/** A field that calls `run` once the typing rests. */
export function filterField(hint, run) {
    let timer = 0;
    return h('input', {type: 'search', placeholder: hint, 'aria-label': hint, spellcheck: 'false', oninput: () => {
        clearTimeout(timer);
        timer = setTimeout(run, PAUSE_MS);
    }});
}

/** The choices of a list, [[value, text]]. What was chosen stays, and a list that is open does, too, where they are the same as before. */
export function setOptions(select, rows) {
    const chosen = select.value, {options} = select;
    if (rows.length !== options.length || rows.some(([value, text], i) => value !== options[i].value || text !== options[i].text))
        fill(select, rows.map(([value, text]) => h('option', {value}, text)));
    select.value = rows.some(([value]) => value === chosen) ? chosen : rows.length ? rows[0][0] : '';
}
