/* walk.js - from zone to zone, track to track, message to message with keys alone; what is reached is announced in words, for those who can't see it.
 * SPDX-License-Identifier: MIT */
import {isZones} from './layout.js';
import * as format from './format.js';

const spanOf = (app) => app.view.to - app.view.from;

/* Show a zone that was found, with as little movement as needed. */
async function arrive(app, json, track) {
    const z = json.zone, end = z.t1 ?? app.trace.range[1], span = spanOf(app);
    z.track = z.track ?? track;
    if (z.t0 < app.view.from || z.t0 > app.view.to || end > app.view.to && end - z.t0 < span) {
        app.remember();
        app.setView((z.t0 + Math.min(end, z.t0 + span) - span) / 2, (z.t0 + Math.min(end, z.t0 + span) + span) / 2);
    }
    app.showTrack(z.track, z.depth);
    app.setSelection(json);
    await app.names.need([z.loc]);
    app.announce(`${z.name || app.names.name(z.loc)}, ${z.t1 === null ? 'not ended' : format.duration(z.t1 - z.t0)}, depth ${z.depth}, ${app.trackOf(z.track).name}`);
}

/* The first zone of a track in view, else the one nearest to its middle. */
async function firstOf(app, track) {
    const {json} = await app.engine.ask({ask: 'step', track, depth: 0, at: app.view.from - 1, to: 'next', same: 'depth'});
    if (json.zone && json.zone.t0 <= app.view.to)
        return json;
    const around = await app.engine.ask({ask: 'zone', track, depth: 0, at: (app.view.from + app.view.to) / 2, slack: app.trace.range[1] - app.trace.range[0]});
    return around.json.zone ? around.json : json;
}

/** Onto the first zone in view of the first track in sight; false: there is none. */
async function enter(app) {
    for (const {row} of app.timeline.visibleRows())
        if (!row.header && isZones(row.track.kind)) {
            const json = await firstOf(app, row.track.id);
            if (json.zone) {
                await arrive(app, json, row.track.id);
                return true;
            }
        }
    app.say('No zone is in sight.');
    return false;
}

/** The zone before or after, on the same depth. */
export async function sideways(app, to) {
    const s = app.selection;
    if (!s)
        return enter(app);
    const q = {ask: 'step', track: s.track, depth: s.depth, at: s.t0, to, same: 'depth'};
    let {json} = await app.engine.ask(q);
    if (json.zone && json.zone.t0 === s.t0)
        ({json} = await app.engine.ask({...q, at: to === 'next' ? s.t0 + 1 : s.t0 - 1}));
    return json.zone ? arrive(app, json, s.track) : app.say(to === 'next' ? 'It is the last one of its depth.' : 'It is the first one of its depth.');
}

/** The zone around it. */
export async function up(app) {
    const s = app.selection, p = s && s.detail.parents[s.detail.parents.length - 1];
    if (!s)
        return enter(app);
    if (!p)
        return app.say('This zone is the outermost one.');
    const {json} = await app.engine.ask({ask: 'zone', track: s.track, depth: p.depth, at: p.t0, slack: 2});
    return json.zone ? arrive(app, json, s.track) : undefined;
}

/** The first zone in it. */
export async function down(app) {
    const s = app.selection;
    if (!s)
        return enter(app);
    const {json} = await app.engine.ask({ask: 'step', track: s.track, depth: s.depth + 1, at: s.t0 - 1, to: 'next', same: 'depth'});
    return json.zone && json.zone.t0 >= s.t0 && (s.t1 === null || json.zone.t0 <= s.t1) ? arrive(app, json, s.track) : app.say('There is no zone in this one.');
}

/** A track up or down, at about the same time. */
export async function otherTrack(app, step) {
    const s = app.selection, rows = app.timeline.layout.rows.filter((r) => !r.header && isZones(r.track.kind));
    if (!s)
        return enter(app);
    for (let i = rows.findIndex((r) => r.track.id === s.track) + step; rows[i]; i += step) {
        const {track} = rows[i], {json} = await app.engine.ask({ask: 'zone', track: track.id, depth: 0, at: s.t0, slack: app.trace.range[1] - app.trace.range[0]});
        if (json.zone)
            return arrive(app, json, track.id);
    }
    return app.say(step > 0 ? 'It is the last track with zones.' : 'It is the first track with zones.');
}

const middle = (app) => (app.view.from + app.view.to) / 2;

/* Where the last step led, as long as the view has not been moved since. */
function placeOf(app, kind) {
    const at = app.walked;
    return at && at.kind === kind && at.from === app.view.from && at.to === app.view.to ? at.t : middle(app);
}

function went(app, kind, t, words) {
    app.walked = {kind, t, ...app.view};
    app.announce(words);
    app.say(words, 6000);
}

/** The message after or before. */
export async function message(app, step) {
    const at = placeOf(app, 'message'), {json} = await app.engine.ask(step > 0 ? {ask: 'messages', after: at, limit: 1} : {ask: 'messages', to: at, limit: 100000});
    const found = step > 0 ? json.messages[0] : json.messages.filter((m) => m.t < at).pop();
    if (!found)
        return app.say(step > 0 ? 'There is no later message.' : 'There is no earlier message.');
    app.goToTime(found.t, found.track);
    return went(app, 'message', found.t, `${format.time(found.t, app.timeMode, app.trace, 1000)}: ${found.text}`);
}

/** The note after or before. */
export function note(app, step) {
    const at = placeOf(app, 'note'), list = app.notes.list, found = step > 0 ? list.find((n) => n.from > at) : list.filter((n) => n.from < at).pop();
    if (!found)
        return app.say(step > 0 ? 'There is no later note.' : 'There is no earlier note.');
    app.showNote(found);
    return went(app, 'note', found.from, `note: ${found.text}`);
}
