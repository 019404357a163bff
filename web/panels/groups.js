/* groups.js - the listed zones of "find zone", added up by thread, process, rank, text or parent.  SPDX-License-Identifier: MIT */
import {plainTable} from './parts.js';
import {rankOf} from '../view/ranks.js';
import {ownerOf} from '../view/share.js';
import * as format from '../view/format.js';

export const GROUPS = ['thread', 'process', 'rank', 'text', 'parent'];
const MOST_PARENTS = 400, AT_ONCE = 16, MOST_ROWS = 50;

/* Names of the zones around these: asked for a few at a time, as many questions at once would end the connection. */
async function parentsOf(app, rows, isWanted) {
    const out = new Map();
    for (let i = 0; i < rows.length && isWanted(); i += AT_ONCE) {
        const some = rows.slice(i, i + AT_ONCE).filter((r) => r.depth > 0);
        const answers = await Promise.all(some.map((r) => app.engine.ask({ask: 'zone', track: r.track, depth: r.depth - 1, at: r.t0})));
        await app.names.need(answers.map(({json}) => (json.zone ? json.zone.loc : 0)));
        some.forEach((r, k) => answers[k].json.zone && out.set(r, app.names.name(answers[k].json.zone.loc)));
    }
    return out;
}

const keys = {
    thread(app, r) {
        const track = app.trackOf(r.track);
        return track ? `${track.name} ${track.tid || ''}` : '?';
    },
    process(app, r) {
        const owner = ownerOf(app, app.trackOf(r.track));
        return owner ? `${owner.name} ${owner.pid}` : '?';
    },
    rank(app, r) {
        const rank = rankOf(ownerOf(app, app.trackOf(r.track)));
        return rank < 0 ? '(no rank)' : `rank ${rank}`;
    },
    text: (app, r) => r.text || '(no text)',
    parent: (app, r, parents) => parents.get(r) || '(outermost)',
};

/** Resolves to the content: a table of the groups, the longest first. `total`: how many zones there are beside those listed;
 * `isWanted`: false from when on the answer is of no use. */
export async function groupTable(app, by, rows, total, isWanted) {
    const some = by === 'parent' ? rows.slice(0, MOST_PARENTS) : rows, parents = by === 'parent' ? await parentsOf(app, some, isWanted) : null, sums = new Map();
    for (const r of some) {
        const key = keys[by](app, r, parents), s = sums.get(key) || sums.set(key, {key, n: 0, total: 0}).get(key);
        s.n++;
        s.total += r.t1 - r.t0;
    }
    const list = [...sums.values()].sort((a, b) => b.total - a.total), cells = (s) => [s.key, {number: `${format.count(s.n)} ×`}, {number: format.duration(s.total)}, {number: `mean ${format.duration(s.total / s.n)}`}];
    const left = [some.length < total ? `of the first ${format.count(some.length)} zones listed` : '', list.length > MOST_ROWS ? `${format.count(list.length - MOST_ROWS)} groups more` : ''].filter(Boolean).join(', ');
    return [plainTable(list.slice(0, MOST_ROWS).map(cells)), left];
}
