/* linktracks.js - what was done to the tracks, in the address: pinned, hidden, collapsed, moved, limited, scaled, filtered, scrolled.
 * SPDX-License-Identifier: MIT */

export const MOST_KEYS = 200;

/** A track's name in a link. */
export function trackKey(track) {
    return `${track.kind}:${track.pid}:${track.tid || ''}:${track.tid ? '' : track.name}`;
}

/* Ids by key: of several tracks with one, that of the first. */
function keyMap(tracks) {
    return new Map(tracks.toReversed().map((t) => [trackKey(t), t.id]));
}

/* The ids of the tracks that keys name; those that are not there are left out. */
function idsOf(byKey, keys) {
    return (keys || []).map((key) => byKey.get(key)).filter((id) => id !== undefined);
}

/* The first track that is seen of those that scroll, and how many px of it are above. */
function topOf({layout, scroll}) {
    const row = scroll > 0 ? layout.between(scroll, scroll + 1)[0] : null;
    return row && row.track.kind !== 'asked' ? [row.track.id, Math.round(scroll - row.top)] : null;
}

/** Put it into the words of an address. */
export function writeTracks(p, {choice, timeline, trace}) {
    const byId = new Map(trace.tracks.map((t) => [t.id, trackKey(t)])), keys = (ids) => [...ids].map((id) => byId.get(id)).filter(Boolean).slice(0, MOST_KEYS);
    const put = (name, list) => list.length && p.set(name, JSON.stringify(list)), pairs = (map, f) => [...map].map(([id, v]) => [byId.get(id), f(v)]).filter(([key, v]) => key && v).slice(0, MOST_KEYS);
    put('k', keys(choice.pinned));
    put('h', keys(choice.hidden));
    put('c', keys(choice.collapsed));
    put('o', [...choice.order].map(([parent, ids]) => [byId.get(parent) || '', keys(ids)]));
    put('d', pairs(choice.limits, (n) => n));
    put('y', pairs(choice.plots, ({zero, log}) => `${zero ? 'z' : ''}${log ? 'l' : ''}`));
    const flags = `${choice.fitsHeight ? 'f' : ''}${choice.sharesScale ? 's' : ''}`, top = topOf(timeline);
    if (flags)
        p.set('w', flags);
    if (choice.filter)
        p.set('x', choice.filter);
    if (top && byId.has(top[0]))
        p.set('e', JSON.stringify([byId.get(top[0]), top[1]]));
}

/** What an address says of it; `parse` reads JSON, null: it makes no sense. */
export function readTracks(p, parse) {
    const out = {}, isPair = (one) => Array.isArray(one) && one.length === 2 && typeof one[0] === 'string';
    for (const [name, member] of [['k', 'pinned'], ['h', 'hidden'], ['c', 'collapsed']]) {
        const list = parse(p.get(name));
        if (Array.isArray(list))
            out[member] = list.map(String);
    }
    for (const [name, member] of [['o', 'order'], ['d', 'limits'], ['y', 'plots']]) {
        const list = parse(p.get(name));
        if (Array.isArray(list))
            out[member] = list.filter(isPair);
    }
    const top = parse(p.get('e'));
    if (isPair(top) && Number.isFinite(top[1]))
        out.top = top;
    if (p.get('x'))
        out.filter = p.get('x');
    if (p.get('w'))
        out.flags = p.get('w');
    return out;
}

/** Do to the tracks what an address says. */
export function takeTracks(app, link) {
    const {choice} = app, byKey = keyMap(app.trace.tracks), flags = link.flags || '';
    const map = (list, f) => new Map((list || []).filter(([key]) => byKey.has(key)).map(([key, v]) => [byKey.get(key), f(v)]));
    choice.pinned = idsOf(byKey, link.pinned);
    choice.hidden = new Set(idsOf(byKey, link.hidden));
    choice.collapsed = new Set(idsOf(byKey, link.collapsed));
    choice.order = new Map((link.order || []).filter(([key, keys]) => (!key || byKey.has(key)) && Array.isArray(keys)).map(([key, keys]) => [key ? byKey.get(key) : 0, idsOf(byKey, keys)]));
    choice.limits = map((link.limits || []).filter(([, n]) => Number.isInteger(n) && n > 0), (n) => n);
    choice.plots = map(link.plots, (how) => ({zero: String(how).includes('z'), log: String(how).includes('l')}));
    choice.filter = app.filter.value = link.filter || '';
    choice.fitsHeight = flags.includes('f');
    choice.sharesScale = flags.includes('s');
    app.timeline.relayout();
}

/** Scroll to where an address says; false: it does not. */
export function takeScroll(app, link) {
    const tl = app.timeline, track = link.top && app.trace.tracks.find((t) => trackKey(t) === link.top[0]), row = track && tl.layout.byTrack.get(track.id);
    if (!row)
        return false;
    tl.resize();
    tl.scrollTo(row.top + link.top[1]);
    return true;
}
