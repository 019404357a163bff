/* test_drawn.mjs STROBE TRACE: what the page paints is what `strobe csv` prints. The page's own code draws random views of a trace (ranges,
 * six decades of zoom, sizes of the window, tracks that are collapsed, pinned and limited) onto a canvas that keeps every call, with the server's
 * answers and with those of the page's reader. Every zone that is painted wider than 3 pixels must begin and end within half a pixel of where the
 * command says, in the colour of its name and with that name on it; none that is wide may be missing; strips are where zones are and nowhere else;
 * frames say their durations; tips say name, begin and duration, and "never ends" of those that are open; the minimap adds up all tracks.
 * STROBE_VIEWS: how many views (40), STROBE_SEED: which.  SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {Engine} from './engine.mjs';
import {PaperPage, modulesOf} from './paper.mjs';
import {random} from './questions.mjs';
import {Socket, serve} from './socket.mjs';
import {Truth} from './truth.mjs';

const [strobe, file] = process.argv.slice(2), VIEWS = Number(process.env.STROBE_VIEWS || 40), SEED = Number(process.env.STROBE_SEED || 7);
const WIDE_PX = 3, OFF_PX = 0.5, DECADES = 6, SCANNED = 20000, PROBES = 12, TIPS = 3, COMPARED = 4;

/* A view, a window and a choice of tracks. */
function aScene(trace, modules, next) {
    const [a, b] = trace.range, span = Math.max(1, (b - a) * 10 ** (-DECADES * next())), from = a + (b - a - span) * next(), choice = new modules.layout.TrackChoice();
    for (const track of trace.tracks) {
        if (next() < 0.1)
            choice.collapsed.add(track.id);
        if (next() < 0.08 && track.kind !== 'process')
            choice.pinned.push(track.id);
        if (next() < 0.1)
            choice.limits.set(track.id, 1 + Math.floor(6 * next()));
    }
    return {view: {from, to: from + span}, width: 400 + Math.floor(2000 * next()), height: 200 + Math.floor(1400 * next()), dpr: 1 + Math.floor(2 * next()), choice, scrolled: 1500 * next() ** 2};
}

/* One view that was painted, held against the truth. What is wrong goes to `wrong`, in words. */
class Check {
    constructor(page, truth, scene, counts, next) {
        const {timeline, layout, palette} = page.modules, painter = page.timeline.painter;
        Object.assign(this, {page, truth, scene, counts, next, painter, wrong: [], left: timeline.LABEL, ruler: timeline.RULER, lane: layout.LANE, theme: palette.THEMES.light,
            right: scene.width - timeline.LABEL, scale: (scene.width - timeline.LABEL) / (scene.view.to - scene.view.from)});
        this.tracks = new Map(page.trace.tracks.map((t) => [t.id, t]));
        this.lanes = painter.lanes.map((lane, index) => ({...lane, index, track: this.tracks.get(lane.id), column: truth.lane(this.tracks.get(lane.id), lane.depth), rects: []}));
        this.off = OFF_PX + 1e-3 + this.scale; /* times are whole ns */
    }

    fail(...words) {
        this.wrong.push(words.join(' '));
    }

    x(t) {
        return (t - this.scene.view.from) * this.scale;
    }

    t(x) {
        return this.scene.view.from + x / this.scale;
    }

    colour(name) {
        return this.page.modules.palette.colorOf(name);
    }

    nameOf(lane, i) {
        return this.truth.names[lane.column.name[i]];
    }

    /* Where a zone of the truth is to be drawn. */
    place(column, i) {
        return [Math.max(-2, this.x(column.t0[i])), Math.min(this.right + 2, this.x(Math.min(column.end(i), this.page.trace.range[1])))];
    }

    lanesAt(y) {
        return this.lanes.filter((lane) => Math.abs(lane.y - y) < 1e-6);
    }

    run() {
        for (const done of this.page.painted)
            if (done.kind === 'rect' && done.h === this.lane - 1 && done.x > this.left - 3 && done.style !== this.theme.loss)
                this.checkZone(done);
        for (const done of this.page.painted)
            if (done.kind === 'text' && done.x > this.left)
                this.checkText(done);
        for (const lane of this.lanes) {
            this.checkMissing(lane);
            this.checkStrip(lane);
        }
        this.checkFrames();
        return this.wrong;
    }

    checkZone(done) {
        const lanes = this.lanesAt(done.y), x0 = done.x - this.left, x1 = x0 + done.w, words = [];
        for (const lane of lanes) {
            if (!lane.row.pinned && done.top < this.ruler + this.page.timeline.layout.pinnedHeight - 0.5)
                this.counts.covered++;
            lane.rects.push([x0, x1]);
            if (done.w <= WIDE_PX)
                return;
            this.counts.wide++;
            const i = lane.column ? lane.column.at(this.t((x0 + x1) / 2)) : -1, at = i < 0 ? null : this.place(lane.column, i);
            if (at && Math.abs(at[0] - x0) <= this.off && Math.abs(at[1] - x1) <= this.off && done.style === this.colour(this.nameOf(lane, i)))
                return;
            words.push(`${lane.track.name} ${lane.depth}: painted ${x0.toFixed(2)}..${x1.toFixed(2)} ${done.style}, is ${at ? `${at[0].toFixed(2)}..${at[1].toFixed(2)} ${this.nameOf(lane, i)} ${this.colour(this.nameOf(lane, i))}` : 'nothing'}`);
        }
        this.fail('zone', ...words);
    }

    checkText(done) {
        const lanes = this.lanes.filter((lane) => Math.abs(lane.y + this.lane / 2 - done.y) < 1e-6), x = done.x - this.left - 1;
        if (!lanes.length)
            return;
        this.counts.labels++;
        const isOf = (name) => done.text === name || done.text.endsWith('…') && name.startsWith(done.text.slice(0, -1));
        for (const lane of lanes) {
            const i = lane.column ? lane.column.at(this.t(x)) : -1;
            if (i >= 0 && isOf(this.nameOf(lane, i)) && this.place(lane.column, i)[1] + 1 >= x + done.w)
                return;
        }
        this.fail('label', done.text, 'at', done.x, done.y);
    }

    bucketPx(lane) {
        const items = this.page.timeline.data.fine.lane(lane.id, lane.depth);
        return items ? items.bucket * this.scale : 0;
    }

    /* Indices of zones of the view, or, where they are too many, of the longest of the trace that are in it. */
    *seen({column}) {
        const {from, to} = this.scene.view, first = Math.max(0, column.before(from) - 1), last = column.before(to);
        if (last - first <= SCANNED)
            for (let i = first; i < last; i++)
                yield i;
        else
            for (const i of longestOf(column))
                if (i >= first && i < last)
                    yield i;
    }

    checkMissing(lane) {
        if (!lane.column)
            return;
        const least = Math.max(WIDE_PX, this.painter.minWide, this.bucketPx(lane)) + 1;
        for (const i of this.seen(lane)) {
            const [x0, x1] = this.place(lane.column, i);
            if (x1 - x0 < least || x1 <= 0 || x0 >= this.right)
                continue;
            this.counts.due++;
            if (!lane.rects.some(([a, b]) => Math.abs(a - x0) <= this.off && Math.abs(b - x1) <= this.off))
                this.fail('missing', lane.track.name, lane.depth, this.nameOf(lane, i), x0, x1, 'px');
        }
    }

    /* Is a pixel of a lane painted, by a zone or by its strip? */
    isPainted(lane, x) {
        const {painter} = this, {width} = painter.image, dpr = this.scene.dpr, from = Math.floor(x * dpr), pixels = painter.pixels.subarray(lane.index * width, (lane.index + 1) * width);
        return pixels.subarray(Math.max(0, from), Math.min(width, from + dpr)).some((p) => p >>> 24) || lane.rects.some(([a, b]) => a - 1 <= x && x <= b + 1);
    }

    /* What is over a pixel is painted there, or in the buckets beside it: a zone that is shorter than a bucket is in the cell of the one in which it ends. */
    checkStrip(lane) {
        const {column} = lane, bucket = this.bucketPx(lane), slack = (2 + bucket) / this.scale, isNear = (x, far) => {
            const last = column ? column.before(this.t(x + 1) + far) - 1 : -1;
            return last >= 0 && column.end(last) >= this.t(x) - far;
        };
        for (let n = 0; n < PROBES; n++) {
            const x = Math.floor(this.right * this.next()), last = column ? column.before(this.t(x)) - 1 : -1, isOver = last >= 0 && column.end(last) >= this.t(x + 1) && this.t(x) < this.page.trace.range[1];
            this.counts.probes++;
            let isPainted = this.isPainted(lane, x);
            if (!isPainted && !isNear(x, slack))
                continue;
            if (isPainted && !isNear(x, slack))
                this.fail('painted where nothing is', lane.track.name, lane.depth, 'pixel', x);
            for (let d = 1; isOver && !isPainted && d <= bucket + 1; d++)
                isPainted = this.isPainted(lane, x + d) || this.isPainted(lane, x - d);
            if (isOver && !isPainted)
                this.fail('nothing painted', lane.track.name, lane.depth, 'pixel', x, 'zone', this.nameOf(lane, last), 'bucket', bucket);
        }
    }

    /* Rectangles and labels of frames. */
    checkFrames() {
        const pinned = this.page.timeline.layout.pinnedHeight;
        for (const {row, y} of this.page.timeline.visibleRows().filter((r) => r.row.track.kind === 'frames')) {
            const frames = this.truth.lane(row.track), middle = y + row.height / 2;
            for (const done of this.page.painted) {
                const x0 = done.x - this.left, x1 = x0 + done.w;
                if (done.kind === 'text' && Math.abs(done.y - middle) < 1e-6 && x0 > 0) {
                    const i = frames.at(this.t(x0 - 4));
                    this.counts.frames++;
                    if (i < 0 || done.text !== this.page.modules.format.duration(frames.length[i]))
                        this.fail('frame says', done.text, 'is', i < 0 ? 'none' : frames.length[i]);
                } else if (done.kind === 'rect' && done.h === row.height - 7 && Math.abs(done.y - y - 3) < 1e-6 && done.w > WIDE_PX) {
                    this.checkFrame(frames, x0, x1);
                    this.counts.covered += !row.pinned && done.top < this.ruler + pinned - 0.5;
                }
            }
        }
    }

    /* From the begin of a frame to the end of one; many narrow ones may be painted as one. */
    checkFrame(frames, x0, x1) {
        const near = (x, f) => {
            const i = frames.before(this.t(x));
            return [i - 1, i].some((k) => k >= 0 && k < frames.n && Math.abs(Math.min(this.right + 2, Math.max(-2, this.x(f(k)))) - x) <= this.off);
        };
        this.counts.wide++;
        if (!near(x0, (k) => frames.t0[k]) && x0 > -2 || !near(x1, (k) => frames.end(k)) && x1 < this.right)
            this.fail('frame', x0, x1);
    }

    /* What is told of some zones that were painted. */
    async checkTips() {
        const {format} = this.page.modules, lanes = this.lanes.filter((l) => l.rects.some(([a, b]) => b - a > WIDE_PX) && l.y > this.ruler + this.page.timeline.layout.pinnedHeight && l.y + this.lane < this.scene.height && !l.row.pinned);
        for (let n = 0; n < TIPS && lanes.length; n++) {
            const lane = lanes[Math.floor(lanes.length * this.next())], rects = lane.rects.filter(([a, b]) => b - a > WIDE_PX), [a, b] = rects[Math.floor(rects.length * this.next())];
            const x = Math.min(this.right - 1, Math.max(0, a + (b - a) * (0.3 + 0.4 * this.next()))), tip = await this.page.tip(this.left + x, lane.y + 9), i = lane.column.at(this.t(x));
            const length = lane.column.length[i], due = [this.nameOf(lane, i), length < 0 ? 'never ends' : format.duration(length), format.time(lane.column.t0[i], 'relative', this.page.trace, 1), length < 0 ? '' : format.duration(lane.column.self[i])];
            this.counts.tips++;
            this.counts.open += length < 0;
            const told = tip && [tip.title, tip.rows.get('duration'), tip.rows.get('begins'), tip.rows.get('self')];
            if (JSON.stringify(told) !== JSON.stringify(due))
                this.fail('tip', JSON.stringify(told), 'is', JSON.stringify(due));
        }
    }
}

/* The longest zones of a column, at most about so many. */
function longestOf(column) {
    if (column.longest)
        return column.longest;
    const sizes = new Uint32Array(64), sizeOf = (length) => (length < 0 ? 63 : Math.floor(Math.log2(length + 1)));
    for (let i = 0; i < column.n; i++)
        sizes[sizeOf(column.length[i])]++;
    let least = 63;
    for (let n = sizes[63]; least > 0 && n + sizes[least - 1] <= SCANNED; least--)
        n += sizes[least - 1];
    column.longest = [];
    for (let i = 0; i < column.n; i++)
        if (sizeOf(column.length[i]) >= least)
            column.longest.push(i);
    return column.longest;
}

/* The minimap's curve, in a hundredth of the trace each, against the outermost zones of all threads. */
async function checkMinimap(page, truth) {
    const {minimap} = page, [from, to] = page.trace.range, parts = 100, mine = new Float64Array(parts), due = new Float64Array(parts);
    minimap.width = page.modules.timeline.LABEL + 1000;
    await minimap.ask();
    minimap.busy.forEach((v, i) => {
        mine[Math.floor(i * parts / minimap.busy.length)] += v * parts / minimap.busy.length;
    });
    const width = (to - from) / parts, partOf = (t) => Math.min(parts - 1, Math.max(0, Math.floor((t - from) / width)));
    for (const [key, column] of truth.zones)
        for (let i = 0; key.endsWith('/0') && i < column.n; i++)
            for (let part = partOf(column.t0[i]), end = Math.min(to, column.end(i)); part <= partOf(end); part++)
                due[part] += Math.max(0, Math.min(end, from + (part + 1) * width) - Math.max(column.t0[i], from + part * width)) / width;
    const off = Math.max(...mine.map((v, i) => Math.abs(v - due[i])));
    assert.ok(off < 0.05, `the minimap is off by ${off} threads: ${[...mine].map((v) => v.toFixed(2))} are ${[...due].map((v) => v.toFixed(2))}`);
    return off;
}

/* What is painted, to be compared between engines. */
const pictureOf = (page) => JSON.stringify(page.painted) + Buffer.from(page.timeline.painter.pixels.buffer).toString('latin1');

/* Server and page by turns; every COMPARED-th view is drawn with both and compared. */
async function views(pages, truth, modules) {
    const counts = {wide: 0, due: 0, labels: 0, frames: 0, probes: 0, tips: 0, open: 0, covered: 0, differ: 0}, wrong = [], next = random(SEED);
    for (let n = 0; n < VIEWS; n++) {
        const scene = aScene(pages[0].trace, modules, next), pictures = [];
        for (const page of n % COMPARED ? [pages[n % pages.length]] : pages) {
            page.scrolled = scene.scrolled;
            if (n % COMPARED === 0)
                page.timeline.data.spoil(); /* what is at hand may serve, and be another on each */
            await page.show(scene.view, scene.width, scene.height, scene.dpr, scene.choice);
            pictures.push(n % COMPARED ? '' : pictureOf(page));
        }
        const page = pages[n % pages.length], check = new Check(page, truth, scene, counts, next);
        check.run();
        await check.checkTips();
        wrong.push(...check.wrong.map((words) => `view ${n} of ${page.called}, ${JSON.stringify(scene.view)} ${scene.width}x${scene.height}: ${words}`));
        counts.differ += new Set(pictures).size > 1;
        if (process.env.STROBE_SAY && (n % 50 === 49 || check.wrong.length))
            console.log(n + 1, 'views', JSON.stringify(counts), wrong.length, 'wrong', ...wrong.slice(wrong.length - check.wrong.length, wrong.length).slice(0, 3));
    }
    return {counts, wrong};
}

fs.utimesSync(file, 1e9, 1e9); /* long ago: it is not being written */
const truth = await Truth.of(strobe, file), modules = await modulesOf(strobe), server = await serve(strobe, file), socket = await Socket.open(server.link), engine = Engine.openFile(strobe, file);
try {
    const asks = {'the server': (q) => socket.ask(q), 'the page': async (q) => engine.answer({id: 1, ...q})}, pages = [];
    for (const [called, ask] of Object.entries(asks)) {
        let trace;
        do /* frames come in steps */
            trace = (await ask({ask: 'trace'})).json;
        while (trace.read < 1);
        pages.push(Object.assign(new PaperPage(modules, ask, trace), {called}));
    }
    const {counts, wrong} = await views(pages, truth, modules), off = [];
    for (const page of pages)
        off.push(await checkMinimap(page, truth));
    console.log(`${truth.n} zones, ${VIEWS} views: ${counts.wide} zones and frames painted wider than ${WIDE_PX} px, ${counts.due} that had to be, ${counts.labels} names, ${counts.frames} durations of frames, ` +
        `${counts.probes} pixels of lanes, ${counts.tips} tips (${counts.open} of zones that are open): ${wrong.length} wrong; ${counts.covered} over pinned tracks; ${counts.differ} views differ between server and page; minimap off by ${Math.max(...off).toFixed(4)} of a thread`);
    assert.deepEqual(wrong.slice(0, 10), []);
    assert.equal(counts.covered, 0, 'painted over pinned tracks');
    assert.equal(counts.differ, 0, 'views differ');
    assert.ok(counts.wide >= VIEWS && counts.due >= VIEWS && counts.tips >= VIEWS, 'too little was looked at');
} finally {
    socket.close();
    server.stop();
}
