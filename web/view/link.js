/* link.js - the state in the address: view, selection, area, panel, search, tracks, notes. A link shows the same place.
 * Tracks are named by what they are, since engines number them as they like.
 * SPDX-License-Identifier: MIT */

import {MOST_KEYS, readTracks, trackKey, writeTracks} from './linktracks.js';

export function trackByKey(tracks, key) {
    return tracks.find((t) => trackKey(t) === key) || null;
}

const ALL = '*'; /* before a key: the tracks right below that one */

/** An area's tracks in a link: {keys, nLeft}, `nLeft` of them without room. */
export function areaKeys(tracks, ids) {
    const chosen = new Set(ids), kids = new Map();
    for (const t of tracks)
        (kids.get(t.parent) || kids.set(t.parent, []).get(t.parent)).push(t.id);
    const groups = tracks.filter((t) => kids.has(t.id) && kids.get(t.id).every((id) => chosen.has(id)));
    for (const id of groups.flatMap((t) => kids.get(t.id)))
        chosen.delete(id);
    const keys = [...groups.map((t) => ALL + trackKey(t)), ...tracks.filter((t) => chosen.has(t.id)).map(trackKey)];
    return {keys: keys.slice(0, MOST_KEYS), nLeft: Math.max(0, keys.length - MOST_KEYS)};
}

/** The ids of the tracks that keys name; those that are not there are left out. */
export function tracksByKeys(tracks, keys) {
    return keys.flatMap((key) => {
        const isAll = key.startsWith(ALL), track = trackByKey(tracks, isAll ? key.slice(1) : key);
        return !track ? [] : isAll ? tracks.filter((t) => t.parent === track.id).map((t) => t.id) : [track.id];
    });
}

/** The part behind '#'. */
export function writeLink(app) {
    const p = new URLSearchParams(), round = (t) => (Number.isInteger(t) ? String(t) : t.toFixed(1)), byId = new Map(app.trace.tracks.map((t) => [t.id, t]));
    if (!app.isWhole())
        p.set('v', `${round(app.view.from)},${round(app.view.to)}`);
    if (app.selection && byId.has(app.selection.track))
        p.set('s', JSON.stringify([trackKey(byId.get(app.selection.track)), app.selection.depth, app.selection.t0]));
    if (app.area)
        p.set('a', JSON.stringify([Math.round(app.area.from), Math.round(app.area.to), app.area.tracks ? areaKeys(app.trace.tracks, app.area.tracks).keys : null]));
    if (app.drawer.isOpen)
        p.set('p', app.drawer.current);
    if (app.search.text)
        p.set('q', app.search.text);
    if (app.found)
        p.set('z', app.names.name(app.found.loc));
    if (app.timeMode !== 'relative')
        p.set('t', app.timeMode);
    writeTracks(p, app);
    if (app.notes.list.length)
        p.set('n', JSON.stringify(app.notes.list.slice(0, 50).map((n) => [n.from, n.to, n.text])));
    const text = p.toString();
    return text ? `#${text}` : '';
}

function parse(text) {
    try {
        return JSON.parse(text);
    } catch {
        return null;
    }
}

/** What an address says; parts that make no sense are left out. */
export function readLink(hash) {
    const p = new URLSearchParams(hash.replace(/^#/, '')), out = readTracks(p, parse);
    const view = (p.get('v') || '').split(',').map(Number);
    if (view.length === 2 && view.every(Number.isFinite) && view[1] > view[0])
        out.view = {from: view[0], to: view[1]};
    const s = parse(p.get('s')), a = parse(p.get('a')), n = parse(p.get('n'));
    if (Array.isArray(s) && Number.isFinite(s[2]))
        out.selection = {key: String(s[0]), depth: Number(s[1]) || 0, t0: s[2]};
    if (Array.isArray(a) && Number.isFinite(a[0]) && Number.isFinite(a[1]))
        out.area = {from: a[0], to: a[1], keys: Array.isArray(a[2]) ? a[2].map(String) : null};
    if (Array.isArray(n))
        out.notes = n.filter(Array.isArray).map(([from, to, text]) => ({from, to, text}));
    out.panel = p.get('p');
    out.search = p.get('q') || '';
    out.found = p.get('z') || '';
    out.timeMode = ['relative', 'utc', 'raw'].includes(p.get('t')) ? p.get('t') : 'relative';
    return out;
}
