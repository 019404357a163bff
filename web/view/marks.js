/* marks.js - the tip of a strip, a tick or a processor under the pointer, and what a click on one of them does.
 * SPDX-License-Identifier: MIT */
import {STATE_NAMES} from './strips.js';
import {reasonText} from './waits.js';
import * as format from './format.js';

const MOST_FRAMES = 14;

/** The state of one stretch: 0 runs, 1 is ready, 2 waits. */
export function stateOf(mark) {
    return mark.run ? 0 : mark.ready ? 1 : 2;
}

/** A stretch in words. */
export function stateText(mark) {
    const state = stateOf(mark);
    return state === 0 ? `runs on CPU ${mark.cpu}` : STATE_NAMES[state];
}

function share(ns, mark) {
    return ns ? `${format.percent(Math.min(1, ns / (mark.t1 - mark.t0)))}  (${format.duration(ns)})` : '';
}

function aboutState(app, {mark, row}) {
    if (mark.one)
        return [stateText(mark), [['for', format.duration(mark.t1 - mark.t0)], ['because', stateOf(mark) ? reasonText(mark.reason) : ''], ['woken by', stateOf(mark) && mark.who ? app.timeline.strips.whoText(mark.who) : ''], ['from', app.tips.time(mark.t0)], ['thread', row.track.name]]];
    return [row.track.name, [['runs', share(mark.run, mark)], ['is ready', share(mark.ready, mark)], ['waits', share(mark.wait, mark)], ['switches', format.count(mark.n)],
        ['over', format.duration(mark.t1 - mark.t0)], ['', 'too short to draw: zoom in']]];
}

function aboutCpu(app, {mark, row}) {
    const who = app.timeline.strips.whoText(mark.who);
    return mark.one ? [who, [['ran for', format.duration(mark.t1 - mark.t0)], ['on', row.track.name], ['from', app.tips.time(mark.t0)]]]
        : [row.track.name, [['busy', share(mark.run, mark)], ['runs', format.count(mark.n)], ['longest', `${who}, ${format.duration(mark.ready)}`], ['over', format.duration(mark.t1 - mark.t0)]]];
}

/** A frame of a stack, in one line. */
export function frameName(frame) {
    return frame.name || (frame.image ? `[${frame.image.split('/').pop()}]` : frame.address);
}

/** The sample that is nearest to a place; null: none is near. */
export async function sampleAt(app, track, mark, t) {
    const at = mark.n === 1 ? mark.t0 : Math.min(Math.max(t, mark.t0), mark.t1), {json} = await app.engine.ask({ask: 'sample', track, at, slack: Math.max(1000, mark.t1 - mark.t0)});
    return json.sample;
}

async function addStack(app, hit, p, title) {
    const sample = await sampleAt(app, hit.row.track.id, hit.mark, hit.t);
    if (!sample || !app.tips.isAt(p))
        return;
    const rows = sample.stack.slice(0, MOST_FRAMES).map((frame, i) => [i ? '' : 'in', frameName(frame)]), left = sample.stack.length - rows.length;
    app.tips.put(p, title, [['at', app.tips.time(sample.t)], ['CPU', sample.cpu === null ? '' : String(sample.cpu)], ['in', rows.map((r) => r[1]).join('\n')], ['', left > 0 ? `and ${format.several(left, 'frame')} around it` : '']]);
}

/** Beside the pointer. */
export function showMark(app, hit, p) {
    const {mark} = hit;
    if (mark.kind === 'asked')
        return app.timeline.asked.tip(mark, p);
    if (mark.kind === 'ghost')
        return app.tips.put(p, mark.name, [['for about', format.duration(mark.t1 - mark.t0)], ['samples', format.count(mark.n)], ['from', app.tips.time(mark.t0)], ['', 'seen in samples, not marked']]);
    if (mark.kind !== 'samples')
        return app.tips.put(p, ...(mark.kind === 'cpu' ? aboutCpu : aboutState)(app, hit));
    const title = format.several(mark.n, 'sample');
    app.tips.put(p, title, []);
    app.tips.timer = setTimeout(() => addStack(app, hit, p, mark.n > 1 ? `${title}: one of them` : 'sample'), 30);
    return undefined;
}

/** A click: Details are of it; of a processor's run, of the thread that ran. What was selected before stays until the answer is there. */
export async function selectMark(app, hit) {
    const {mark, row} = hit, {track} = row;
    if (mark.kind === 'asked')
        return app.timeline.asked.select(mark);
    if (mark.kind === 'ghost')
        return app.showFunction(mark.name);
    if (mark.kind === 'cpu' && mark.one && app.trackOf(mark.who))
        app.showTrack(mark.who);
    const about = {...mark, track: mark.kind === 'cpu' && app.trackOf(mark.who) ? mark.who : track.id, place: track, sample: null}, turn = ++app.turn;
    if (mark.kind === 'samples' || mark.one)
        about.sample = mark.kind === 'samples' ? await sampleAt(app, track.id, mark, hit.t) : (await app.engine.ask({ask: 'sample', track: about.track, at: mark.t0, slack: 2e7})).json.sample;
    if (turn !== app.turn)
        return undefined;
    app.setSelection(null); /* only now: Details that are made anew before the answer would stay empty */
    app.mark = about;
    return app.drawer.show('details');
}
