/* share.js - what leaves the page: a command that prints the same, a picture of the view.  SPDX-License-Identifier: MIT */
import {copyText, download, h} from './dom.js';
import {isZones} from './layout.js';
import * as format from './format.js';

const IMPORTED = /\.(tracy|json|json\.gz)$/;
const quote = (text) => `'${text.replace(/'/g, '\'\\\'\'')}'`;

/** The process that a track is of, null: none. */
export function ownerOf(app, track) {
    let t = track;
    while (t && t.kind !== 'process')
        t = app.trackOf(t.parent);
    return t;
}

/* The pid of the process whose tracks with zones these are, all of them and no other; null if there is none. */
function processOf(app, ids) {
    const chosen = ids.map((id) => app.trackOf(id)).filter((t) => t && isZones(t.kind)), owner = chosen.length ? ownerOf(app, chosen[0]) : null;
    const all = app.trace.tracks.filter((t) => isZones(t.kind) && ownerOf(app, t) === owner);
    return owner && chosen.every((t) => all.includes(t)) && chosen.length === all.length ? owner.pid : null;
}

/** The command line that prints the statistics shown: {words, isSame}. It knows ranges and processes, but no single tracks; a file of another
 * profiler is made a trace first. */
export function statsCommand(app, sort, filter) {
    const {name} = app.trace, isImported = IMPORTED.test(name), r = app.range(), words = ['strobe stats'], pid = r.tracks ? processOf(app, r.tracks) : null;
    if (sort !== 'total')
        words.push(`--sort ${sort}`);
    if (filter)
        words.push(`--filter ${quote(filter)}`);
    if (r.from !== undefined)
        words.push(`--range ${format.commandTime(r.from)}..${format.commandTime(r.to)}`);
    if (pid !== null)
        words.push(`--process ${pid}`);
    words.push(quote(isImported ? `${name}.strobe` : name));
    return {words: (isImported ? `strobe import -f -o ${quote(`${name}.strobe`)} ${quote(name)} && ` : '') + words.join(' '), isSame: !r.tracks || pid !== null};
}

export async function copyCommand(app, sort = 'total', filter = '') {
    const {words, isSame} = statsCommand(app, sort, filter);
    await copyText(words);
    app.say(isSame ? `copied: ${words}` : `copied: ${words} – it counts all tracks, as commands know no single ones`);
}

export async function copyTable(app, table) {
    await copyText(table.text());
    app.say('table copied');
}

/** Minimap and timeline as they are seen, as a file. */
export function savePng(app) {
    const a = app.minimap.canvas, b = app.timeline.canvas, out = h('canvas'), ctx = out.getContext('2d');
    out.width = Math.max(a.width, b.width);
    out.height = a.height + b.height;
    ctx.drawImage(a, 0, 0);
    ctx.drawImage(b, 0, a.height);
    return new Promise((resolve) => out.toBlob((blob) => {
        download(`${app.trace.name.replace(/\.[a-z]+$/, '')}.png`, blob);
        resolve(blob);
    }, 'image/png'));
}
