/* plot.js - what is told of a place of a plot: its value there, and what it did over the whole trace.  SPDX-License-Identifier: MIT */
import {pairs, section} from './parts.js';
import {h} from '../view/dom.js';
import * as format from '../view/format.js';

/** Resolves to the panel's content. */
export async function aboutPlot(app, {track, t, item}) {
    const [from, to] = app.trace.range, {json, arrays} = await app.engine.ask({ask: 'pixels', from, to, width: 1, budget: 10000, lanes: [[track.id, 0, 1]]});
    const [, , , n, , first] = json.lanes.find((l) => l[0] === track.id) || [0, 0, 0, 0, 0, 0], show = (v) => format.plotValue(v, track.format);
    const all = (values, f) => values.slice(first, first + n).reduce((a, b) => f(a, b)), time = (at) => format.time(at, app.timeMode, app.trace, 1, true);
    return [h('h2', {}, track.name), h('div', {class: 'columns'}, section('Here', pairs([['value', show(item.last)], ['min', item.min === item.max ? '' : show(item.min)], ['max', item.min === item.max ? '' : show(item.max)],
        ['at', time(item.t0)], ['values', item.count > 1 ? `${format.count(item.count)}, too close together to be told apart: zoom in` : ''], ['pointed at', time(t)]])),
    n ? section('Whole trace', pairs([['min', show(all(arrays.min, Math.min))], ['max', show(all(arrays.max, Math.max))], ['last', show(arrays.last[first + n - 1])]])) : null)];
}
