/* test_picture.mjs STROBE TRACE: the picture is right. Random views of a trace are asked for as the page does; every zone that is drawn
 * wider than 3 pixels must stand where `strobe csv` says, to half a pixel, with its name; every frame has its duration; the server and the
 * page's module give the same. Lists of all zones of a name are those of the command, in each order. STROBE_VIEWS: how many views (25), STROBE_SEED: which.  SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import fs from 'node:fs';
import {Engine} from './engine.mjs';
import {Socket, serve} from './socket.mjs';

const [strobe, file] = process.argv.slice(2), VIEWS = Number(process.env.STROBE_VIEWS || 25);
const PIXEL_ZONE = 1, PIXEL_ABOUT = 2, PIXEL_BEYOND = 4, PIXEL_OPEN = 8; /* docs/viewer-protocol.md */
const WIDE_PX = 3, OFF_PX = 0.5, BUDGET = 40000;

function random(seed) {
    let state = seed >>> 0;
    return () => (state = Math.imul(state, 1664525) + 1013904223 >>> 0) / 2 ** 32;
}

/* Lines of a command, one by one: there may be millions. No cell of these traces has a quote in it. */
async function lines(args, take) {
    const child = spawn(strobe, args, {stdio: ['ignore', 'pipe', 'inherit']});
    let rest = '';
    for await (const bytes of child.stdout) {
        const text = rest + bytes.toString('latin1');
        let at = 0;
        for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
            take(text.slice(at, end).replace('\r', '').split(','));
            at = end + 1;
        }
        rest = text.slice(at);
    }
}

class Column {
    constructor() {
        this.t0 = new Float64Array(1024);
        this.length = new Float64Array(1024); /* -1: it never ended */
        this.name = new Uint32Array(1024);
        this.n = 0;
    }

    add(t0, length, name) {
        if (this.n === this.t0.length)
            for (const key of ['t0', 'length', 'name']) {
                const more = new this[key].constructor(2 * this.n);
                more.set(this[key]);
                this[key] = more;
            }
        Object.assign(this, {n: this.n + 1});
        [this.t0[this.n - 1], this.length[this.n - 1], this.name[this.n - 1]] = [t0, length, name];
    }

    sort() {
        const order = Uint32Array.from({length: this.n}, (_, i) => i).sort((a, b) => this.t0[a] - this.t0[b]);
        for (const key of ['t0', 'length', 'name'])
            this[key] = this[key].constructor.from(order, (i) => this[key][i]);
    }

    /* Is there a zone of that name from t0 to t1 (-1: it never ends; null: after `after`), give or take? */
    has(name, t0, t1, after, off) {
        let low = 0, high = this.n;
        while (low < high) {
            const mid = low + high >> 1;
            if (this.t0[mid] < t0 - off)
                low = mid + 1;
            else
                high = mid;
        }
        for (; low < this.n && this.t0[low] <= t0 + off; low++) {
            const length = this.length[low], end = this.t0[low] + length;
            const isEnd = t1 === -1 ? length < 0 : t1 === null ? length < 0 || end >= after - off : length >= 0 && Math.abs(end - t1) <= off;
            if (isEnd && (name === null || this.name[low] === name))
                return true;
        }
        return false;
    }
}

/* What the command prints: zones by pid, tid and depth, and frames. */
async function truth() {
    const zones = new Map(), names = new Map(), marks = [];
    let fields = null;
    await lines(['csv', '--kind', 'zones', file], (row) => {
        if (!fields) {
            fields = Object.fromEntries(row.map((f, i) => [f, i]));
            return;
        }
        const key = `${row[fields.pid]}/${row[fields.tid]}/${row[fields.depth]}`, state = row[fields.state], name = row[fields.name];
        if (state !== 'ended' && state !== 'open')
            return;
        if (!names.has(name))
            names.set(name, names.size);
        if (!zones.has(key))
            zones.set(key, new Column());
        zones.get(key).add(Number(row[fields.start_ns]), state === 'ended' ? Number(row[fields.duration_ns]) : -1, names.get(name));
    });
    for (const column of zones.values())
        column.sort();
    fields = null;
    await lines(['csv', '--kind', 'frames', file], (row) => {
        if (!fields)
            fields = Object.fromEntries(row.map((f, i) => [f, i]));
        else
            marks.push(Number(row[fields.time_ns ?? fields.start_ns]));
    });
    const frames = new Column();
    marks.sort((a, b) => a - b).forEach((t, i) => i + 1 < marks.length && frames.add(t, marks[i + 1] - t, 0));
    return {zones, names, frames, lists: new Map(), n: [...zones.values()].reduce((n, c) => n + c.n, 0)};
}

function aView(trace, next) {
    const [a, b] = trace.range, span = (b - a) * Math.min(1, Math.exp(-12 * next() ** 1.5)), from = a + (b - a - span) * next(), width = 300 + Math.floor(1700 * next());
    return {from: Math.floor(from), to: Math.ceil(from + span) + 1, width};
}

/* Items of an answer that are not as they should be, in words. */
function wrongs({json, arrays}, view, known, counts) {
    const {t0, t1, loc, flags} = arrays, perPixel = (view.to - view.from) / view.width, found = [], off = OFF_PX * perPixel + 1;
    for (const [id, depth, first, n] of json.lanes) {
        const track = known.tracks.get(id), column = track.kind === 'frames' ? known.frames : known.zones.get(`${track.pid}/${track.tid}/${depth}`);
        for (let i = first; i < first + n; i++) {
            if (!(flags[i] & PIXEL_ZONE) || (t1[i] - t0[i]) / perPixel <= WIDE_PX)
                continue;
            const isFrame = track.kind === 'frames', end = flags[i] & PIXEL_OPEN ? -1 : flags[i] & PIXEL_BEYOND && !isFrame ? null : t1[i];
            counts.wide++;
            counts.about += flags[i] & PIXEL_ABOUT ? 1 : 0;
            if (!column || !column.has(isFrame ? null : known.names.get(known.locs.get(loc[i])), t0[i], end, view.to, isFrame ? 1 : off))
                found.push(`${track.name} depth ${depth}: ${known.locs.get(loc[i])} ${t0[i]}..${t1[i]} flags ${flags[i]}, ${((t1[i] - t0[i]) / perPixel).toFixed(1)} px`);
        }
    }
    return found;
}

/* An answer that comes in steps. */
async function whole(ask, q) {
    for (let share = -1; ;) {
        const answer = await ask(q);
        assert.equal(answer.json.error, undefined);
        if (answer.json.exact)
            return answer;
        assert.ok(answer.json.share > share, 'no progress');
        share = answer.json.share;
    }
}

/* Starts and durations of all zones of a name, by start, or the longest first. */
function listOf(known, name, byDuration) {
    const rows = [];
    for (const column of known.zones.values())
        for (let i = 0; i < column.n; i++)
            if (column.name[i] === name && column.length[i] >= 0)
                rows.push([column.t0[i], column.length[i]]);
    return rows.sort(byDuration ? (a, b) => b[1] - a[1] || a[0] - b[0] : (a, b) => a[0] - b[0] || a[1] - b[1]);
}

/* What the page lists of a name against what the command prints. */
async function checkLists(ask, known, limit) {
    for (const [loc, name] of [...known.locs].slice(0, known.n < 5e6 ? undefined : 2)) /* of a large trace, two names */
        for (const [sort, order] of [['time'], ['duration'], ['duration', 'reversed'], ['time', 'reversed']]) {
            const key = `${name} ${sort}`, rows = known.lists.get(key) || known.lists.set(key, listOf(known, known.names.get(name), sort === 'duration')).get(key), {json, arrays} = await whole(ask, {ask: 'instances', loc, sort, order, limit});
            assert.equal(json.total, rows.length, `${name} by ${sort}`);
            const mine = [...arrays.t0].map((t0, i) => [t0, arrays.t1[i] - t0]), n = Math.min(limit, rows.length);
            const theirs = order ? rows.slice(rows.length - n).reverse() : rows.slice(0, n);
            assert.equal(mine.length, n);
            const at = sort === 'duration' ? 1 : 0; /* equal ones may come in another order of ns */
            assert.deepEqual(mine.map((r) => r[at]), theirs.map((r) => r[at]), `${name} by ${sort} ${order || ''}`);
        }
}

fs.utimesSync(file, 1e9, 1e9); /* long ago: it is not being written */
const known = await truth(), server = await serve(strobe, file), socket = await Socket.open(server.link), engine = Engine.openFile(strobe, file);
const counts = {wide: 0, about: 0}, wrong = [], differ = [], took = [];
try {
    while ((await socket.ask({ask: 'trace'})).json.read < 1 || engine.answer({id: 1, ask: 'trace'}).json.read < 1); /* frames come in steps */
    const {json: trace} = await socket.ask({ask: 'trace'});
    const {json: named} = await socket.ask({ask: 'names', locs: Array.from({length: 4096}, (_, i) => i + 1)});
    Object.assign(known, {tracks: new Map(trace.tracks.map((t) => [t.id, t])), locs: new Map(named.locs.map((l) => [l.id, l.name]))});
    const lanes = trace.tracks.filter((t) => t.kind === 'thread' || t.kind === 'frames').map((t) => [t.id, 0, t.n_depths]), next = random(Number(process.env.STROBE_SEED || 7));
    for (let i = 0; i < VIEWS; i++) {
        const view = aView(trace, next), q = {ask: 'pixels', ...view, budget: BUDGET, lanes}, start = performance.now(), theirs = await socket.ask(q);
        took.push(performance.now() - start);
        const mine = engine.answer({id: 1, ...q});
        wrong.push(...wrongs(theirs, view, known, counts).map((w) => `view ${i} ${JSON.stringify(view)}: ${w}`));
        if (JSON.stringify([theirs.json.lanes, ...Object.values(theirs.arrays).map((a) => [...a])]) !== JSON.stringify([mine.json.lanes, ...Object.values(mine.arrays).map((a) => [...a])]))
            differ.push(JSON.stringify(q));
    }
    took.sort((a, b) => a - b);
    for (const limit of known.n < 1e6 ? [1000, 2 ** 18] : [1000])
        await checkLists((q) => socket.ask(q), known, limit);
    await checkLists((q) => engine.answer({id: 1, ...q}), known, 50);
    console.log(`${known.n} zones, ${VIEWS} views: ${counts.wide} zones wider than ${WIDE_PX} px, ${counts.about} of them known to a bucket only, ${wrong.length} not where they were, ` +
        `${differ.length} answers differ; server ${(took[took.length >> 1] || 0).toFixed(1)} ms, at most ${(took.at(-1) || 0).toFixed(1)} ms`);
} finally {
    socket.close();
    server.stop();
}
assert.deepEqual(wrong.slice(0, 10), []);
assert.deepEqual(differ.slice(0, 3), []);
assert.ok(counts.wide >= VIEWS, 'no zones were looked at');
