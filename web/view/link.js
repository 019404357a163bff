/* link.js - the state in the address: view, selection, area, panel, search, notes. A link shows the same place.
 * Tracks are named by what they are, since engines number them as they like.
 * SPDX-License-Identifier: MIT */

/** A track's name in a link. */
export function trackKey(track) {
    return `${track.kind}:${track.pid}:${track.tid || ''}:${track.tid ? '' : track.name}`;
}

export function trackByKey(tracks, key) {
    return tracks.find((t) => trackKey(t) === key) || null;
}

/** The part behind '#'. */
export function writeLink(app) {
    const p = new URLSearchParams(), round = (t) => (Number.isInteger(t) ? String(t) : t.toFixed(1)), byId = new Map(app.trace.tracks.map((t) => [t.id, t]));
    if (!app.isWhole())
        p.set('v', `${round(app.view.from)},${round(app.view.to)}`);
    if (app.selection && byId.has(app.selection.track))
        p.set('s', JSON.stringify([trackKey(byId.get(app.selection.track)), app.selection.depth, app.selection.t0]));
    if (app.area) {
        const tracks = app.area.tracks ? app.area.tracks.map((id) => byId.get(id)).filter(Boolean).slice(0, 64).map(trackKey) : null;
        p.set('a', JSON.stringify([Math.round(app.area.from), Math.round(app.area.to), tracks]));
    }
    if (app.drawer.isOpen)
        p.set('p', app.drawer.current);
    if (app.search.text)
        p.set('q', app.search.text);
    if (app.found)
        p.set('z', app.names.name(app.found.loc));
    if (app.timeMode !== 'relative')
        p.set('t', app.timeMode);
    if (app.choice.pinned.length)
        p.set('k', JSON.stringify(app.choice.pinned.map((id) => byId.get(id)).filter(Boolean).map(trackKey)));
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
    const p = new URLSearchParams(hash.replace(/^#/, '')), out = {};
    const view = (p.get('v') || '').split(',').map(Number);
    if (view.length === 2 && view.every(Number.isFinite) && view[1] > view[0])
        out.view = {from: view[0], to: view[1]};
    const s = parse(p.get('s')), a = parse(p.get('a')), n = parse(p.get('n')), k = parse(p.get('k'));
    if (Array.isArray(s) && Number.isFinite(s[2]))
        out.selection = {key: String(s[0]), depth: Number(s[1]) || 0, t0: s[2]};
    if (Array.isArray(a) && Number.isFinite(a[0]) && Number.isFinite(a[1]))
        out.area = {from: a[0], to: a[1], keys: Array.isArray(a[2]) ? a[2].map(String) : null};
    if (Array.isArray(n))
        out.notes = n.filter(Array.isArray).map(([from, to, text]) => ({from, to, text}));
    if (Array.isArray(k))
        out.pinned = k.map(String);
    out.panel = p.get('p');
    out.search = p.get('q') || '';
    out.found = p.get('z') || '';
    out.timeMode = ['relative', 'utc', 'raw'].includes(p.get('t')) ? p.get('t') : 'relative';
    return out;
}
