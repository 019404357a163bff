/* stats_groups.js - statistics by name, and by thread, process or rank, too: one question for each of these.  SPDX-License-Identifier: MIT */
import {isZones} from '../view/layout.js';
import {rankOf} from '../view/ranks.js';
import {ownerOf} from '../view/share.js';

const MOST_GROUPS = 64, AT_ONCE = 8;

/** [what it is called, how rows are put together] */
export const BY = [['name', 'by name'], ['thread', 'by name and thread'], ['process', 'by name and process'], ['rank', 'by name and rank']];

function groupOf(app, by, track) {
    const owner = by === 'thread' ? track : ownerOf(app, track) || track, rank = by === 'rank' ? rankOf(owner) : -1;
    if (by === 'rank')
        return {key: rank, name: rank < 0 ? 'no rank' : `rank ${rank}`};
    return {key: owner.id, name: `${owner.name} ${(owner.kind === 'process' ? owner.pid : owner.tid) || ''}`};
}

/* [name, ids] of what is asked for one by one. */
function groupsOf(app, by, ids) {
    const chosen = ids ? new Set(ids) : null, groups = new Map();
    for (const t of app.trace.tracks) {
        if (!isZones(t.kind) || chosen && !chosen.has(t.id) && !chosen.has(t.parent))
            continue;
        const {key, name} = groupOf(app, by, t);
        (groups.get(key) || groups.set(key, {name: name.trim(), ids: []}).get(key)).ids.push(t.id);
    }
    return [...groups.values()];
}

/** Answers of `stats`, one for each group that has zones: {answers: [{name, json, arrays}], nLeft: groups that were not asked for}. */
export async function groupedStats(app, by, question, isWanted) {
    const groups = groupsOf(app, by, question.tracks), answers = [];
    for (let i = 0; i < Math.min(MOST_GROUPS, groups.length) && isWanted(); i += AT_ONCE)
        answers.push(...await Promise.all(groups.slice(i, Math.min(MOST_GROUPS, i + AT_ONCE)).map(async ({name, ids}) => ({name, ...await app.engine.ask({...question, tracks: ids})}))));
    return {answers: answers.filter(({json}) => json.n_rows), nLeft: Math.max(0, groups.length - MOST_GROUPS)};
}
