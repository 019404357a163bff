/* mark.js - what Details tell of a sample, of a stretch in which a thread ran or waited, and of a processor's run.
 * SPDX-License-Identifier: MIT */
import {frameName, stateOf, stateText} from '../view/marks.js';
import {link, pairs, section} from './parts.js';
import {reasonText} from '../view/waits.js';
import {wakeOf} from '../view/wakes.js';
import {h} from '../view/dom.js';
import * as format from '../view/format.js';

/** Frames as a list; a click shows the function among all samples. */
export function stackList(app, stack) {
    return h('ol', {class: 'stack', start: '0'}, stack.map((frame) => h('li', {title: frame.address}, link(frameName(frame), () => app.showFunction(frameName(frame)), 'its samples'), ' ',
        h('small', {}, frame.file ? `${frame.file}${frame.line ? `:${frame.line}` : ''}` : frame.image || ''))));
}

function titleOf(app, mark) {
    const {kind, place, one} = mark;
    if (kind === 'samples')
        return mark.n > 1 ? `One of ${format.several(mark.n, 'sample')}` : 'Sample';
    if (kind === 'cpu')
        return one ? `${app.timeline.strips.whoText(mark.who)} on ${place.name}` : place.name;
    return one ? `${place.name} ${stateText(mark)}` : place.name;
}

/* The thread that woke it, to go to. */
function wakerOf(app, mark) {
    const wake = wakeOf(mark.track, mark), words = wake && app.timeline.strips.whoText(wake.by);
    return wake && app.trackOf(wake.by) ? link(words, () => app.timeline.wakes.goTo(wake), 'what it was doing then') : words || '';
}

/** The panel's content. */
export function aboutMark(app, mark) {
    const time = (t) => format.time(t, app.timeMode, app.trace, 1, true), {sample, one, kind} = mark, track = app.trackOf(mark.track), length = mark.t1 - mark.t0;
    const part = (ns) => (ns ? `${format.duration(ns)}  (${format.percent(Math.min(1, ns / length))})` : '');
    const facts = kind === 'samples' ? [['at', sample ? time(sample.t) : ''], ['CPU', sample && sample.cpu !== null ? String(sample.cpu) : '']]
        : one ? [['from', time(mark.t0)], ['to', time(mark.t1)], ['for', h('span', {title: format.exactNs(length)}, format.duration(length))], ['because', kind === 'state' && stateOf(mark) ? reasonText(mark.reason) : ''], ['woken by', wakerOf(app, mark)]]
            : [['from', time(mark.t0)], ['over', format.duration(length)], [kind === 'cpu' ? 'busy' : 'runs', part(mark.run)], ['is ready', kind === 'cpu' ? '' : part(mark.ready)], ['waits', kind === 'cpu' ? '' : part(mark.wait)],
                [kind === 'cpu' ? 'runs' : 'switches', format.count(mark.n)]];
    return [h('h2', {}, titleOf(app, mark)), h('div', {class: 'columns'}, h('section', {}, pairs([...facts, ['track', track ? link(track.name, () => app.showTrack(track.id), 'scroll to it') : '']]),
        h('div', {class: 'buttons'}, h('button', {onclick: () => app.zoomTo(mark)}, 'Zoom to it'), h('button', {onclick: () => app.samplesIn({from: Math.floor(mark.t0), to: Math.ceil(mark.t1) + 1, tracks: [mark.track], words: titleOf(app, mark)})}, 'Samples in it'))),
    sample ? section(kind === 'samples' ? 'Call stack' : `Call stack of the nearest sample, at ${time(sample.t)}`, stackList(app, sample.stack)) : null)];
}
