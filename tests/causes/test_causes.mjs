/* test_causes.mjs: causes that were planted in programs without a mark, each as it is seen on the page, with a picture. Arguments: viewer/browser.mjs; the traces are those of
 * record_traces.py, as root. Figures are bounds that the cause passes by far, not measurements.  SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {open, page, panel, run, says, settled, shot, state, still, strobe, text, traces} from '../viewer/browser.mjs';

/* Shares of the time of threads whose name fits, by state; waits only of a reason, if one is given. */
function shares(pattern, reason = 0) {
    return state(async ([source, wanted]) => {
        const s = window.strobe, [from, to] = s.trace.range, sum = {run: 0, ready: 0, wait: 0, reason: 0};
        const tracks = s.trace.tracks.filter((t) => t.kind === 'thread' && t.marks & 1 && new RegExp(source).test(t.name)).map((t) => t.id);
        let answer = await s.engine.ask({ask: 'strips', from, to, width: 16000, tracks});
        while (!answer.json.exact)
            answer = await s.engine.ask({ask: 'strips', from, to, width: 16000, tracks});
        for (const [, kind, first, n] of answer.json.lanes)
            for (let i = first; kind === 0 && i < first + n; i++) {
                for (const key of ['run', 'ready', 'wait'])
                    sum[key] += answer.arrays[key][i];
                sum.reason += answer.arrays.reason[i] === wanted ? answer.arrays.wait[i] : 0;
            }
        const all = sum.run + sum.ready + sum.wait;
        return {n: tracks.length, run: sum.run / all, ready: sum.ready / all, wait: sum.wait / all, reason: sum.reason / all};
    }, [pattern.source, reason]);
}

/* Click the longest wait of a thread for a reason, in a view around it, and say who ended it. */
async function clickWait(pattern, reason, around = 4) {
    const found = await state(async ([source, wanted]) => {
        const s = window.strobe, [from, to] = s.trace.range, track = s.trace.tracks.find((t) => t.kind === 'thread' && t.marks & 1 && new RegExp(source).test(t.name));
        const {json, arrays} = await s.engine.ask({ask: 'strips', from, to, width: 16000, tracks: [track.id]}), [, , first, n] = json.lanes.find((l) => l[1] === 0);
        let best = -1;
        for (let i = first; i < first + n; i++)
            if (arrays.one[i] && arrays.wait[i] && arrays.reason[i] === wanted && arrays.who[i] && (best < 0 || arrays.wait[i] > arrays.wait[best]))
                best = i;
        return best < 0 ? null : {id: track.id, t0: arrays.t0[best], t1: arrays.t1[best]};
    }, [pattern.source, reason]);
    assert.ok(found, 'there is such a wait, and it is known who ended it');
    const {id, t0, t1} = found, length = t1 - t0;
    await state(([a, b]) => window.strobe.setView(a, b), [t0 - around * length / 2, t1 + around * length / 2]);
    await settled();
    const p = await still(([track, t]) => {
        const tl = window.strobe.timeline, box = tl.canvas.getBoundingClientRect();
        window.strobe.showTrack(track);
        const {row, y} = tl.visibleRows().find((r) => r.row.track.id === track && !r.row.header);
        return {x: box.left + tl.xOf(t), y: box.top + y + row.height - (row.track.marks & 2 ? 17 : 9)};
    }, [id, (t0 + t1) / 2]);
    await settled();
    await page.mouse.click(p.x, p.y);
    await says('.details h2', / waits$/);
    await page.waitForFunction(() => window.strobe.timeline.wakes.shown.length > 0);
    return text('.details');
}

/* The share of samples in functions whose name fits, and what they call. */
function inFunctions(pattern) {
    return state(async (source) => {
        let answer;
        do
            answer = await window.strobe.engine.ask({ask: 'samples'});
        while (!answer.json.exact);
        return Math.max(0, ...answer.json.functions.map((f, i) => (new RegExp(source).test(f[0]) ? answer.arrays.in_total[i] / answer.json.weight : 0)));
    }, pattern.source);
}

async function memoryBy(order, name) {
    await panel('memory');
    await page.locator('.memory select[aria-label=rows]').selectOption('function');
    await says('.memory .state', /place/);
    await settled();
    const rows = await state(() => window.strobe.drawer.panel('memory').table.rows), top = rows.slice().sort((a, b) => b[order] - a[order])[0];
    assert.equal(top.name, name, JSON.stringify(rows.slice(0, 3)));
    return {top, all: rows.reduce((sum, row) => sum + row[order], 0)};
}

const tests = {
    async 'a lock convoy: threads wait for the lock that the next one holds'() {
        await open('convoy');
        const {n, reason, wait} = await shares(/^clerk/, 129);
        assert.equal(n, 4);
        assert.ok(wait > 0.3 && reason > 0.8 * wait, `${wait} of their time they wait, ${reason} for a lock`);
        assert.match(await clickWait(/^clerk 1/, 129), /lock \(futex\)[\s\S]*woken by\s+clerk [234]/);
        await shot('cause-convoy');
    },
    async 'a blocking read: the thread waits for data that another sends'() {
        await open('read');
        const {reason, wait} = await shares(/^reader/, 133);
        assert.ok(wait > 0.15 && reason > 0.8 * wait, `${wait} of its time it waits, ${reason} for data`);
        assert.match(await clickWait(/^reader/, 133), /data of a pipe or socket[\s\S]*woken by\s+sender/);
        await shot('cause-read');
    },
    async 'a storm of page faults: most samples are in the kernel, below the function that touches'() {
        await open('faults');
        assert.ok(await inFunctions(/page_fault|exc_page/) > 0.3);
        assert.ok(await inFunctions(/^touch_pages$/) > 0.8);
        await panel('samples');
        await page.locator('.bar select[aria-label="kind of view"]:visible').selectOption('tree');
        await settled();
        await shot('cause-faults');
    },
    async 'one processor with too much to do: threads are ready and do not run'() {
        await open('crowd');
        const {n, ready, run: runs} = await shares(/^worker/);
        assert.equal(n, 4);
        assert.ok(ready > 0.5 && runs < 0.45, `${ready} of their time they are ready, ${runs} they run`);
        const names = await state(() => window.strobe.trace.tracks.filter((t) => t.kind === 'cpu').map((t) => t.name));
        assert.ok(names.includes('CPU 0'), 'and maybe the one that the program began on');
        const rows = execFileSync(strobe, ['csv', '--kind', 'switches', path.join(traces, 'crowd.strobe')], {encoding: 'utf8'}).split('\n').map((row) => row.split(','));
        const workers = rows.filter((row) => /^worker/.test(row[2]) && row[5] === 'switch_in'); /* process, pid, thread, tid, time, what, cpu */
        assert.ok(workers.length > 8 && workers.every((row) => row[6] === '0'), 'the workers ran on one alone');
        await state(() => window.strobe.setView(window.strobe.trace.range[0] + 2e8, window.strobe.trace.range[0] + 3e8));
        await settled();
        await shot('cause-crowd');
    },
    async 'a leak: what lives at the end was allocated in one place'() {
        await open('leak');
        const {top, all} = await memoryBy('live_bytes', 'keep_session');
        assert.ok(top.live_bytes > 0.9 * all);
        await shot('cause-leak');
    },
    async 'a storm of allocations: one place makes nearly all of them, and none lives'() {
        await open('storm');
        const {top, all} = await memoryBy('allocs', 'parse_words');
        assert.ok(top.allocs > 0.95 * all && top.temporary > 0.9 * top.allocs);
        await shot('cause-storm');
    },
    async 'sqlite3 waits for the disk at every insert'() {
        await open('sqlite');
        const {reason, wait} = await shares(/^sqlite3/, 131);
        assert.ok(reason > 0.5 * wait, `${wait} of its time it waits, ${reason} for the disk`);
        await state(() => {
            const s = window.strobe, busy = s.trace.tracks.filter((t) => t.kind === 'thread' && t.name.startsWith('sqlite3')).pop();
            s.showTrack(busy.id);
            s.setView((s.trace.range[0] + s.trace.range[1]) / 2, (s.trace.range[0] + s.trace.range[1]) / 2 + 2e8);
        });
        await settled();
        await shot('cause-sqlite');
    },
    async 'redis-server and its clients share one processor'() {
        await open('redis');
        const {ready} = await shares(/^redis-server|^redis-benchmark/);
        assert.ok(ready > 0.15, `${ready} of their time they are ready`);
        await state(() => {
            const s = window.strobe, [from, to] = s.trace.range;
            s.showTrack(s.trace.tracks.find((t) => t.kind === 'thread' && t.name.startsWith('redis-server')).id);
            s.setView((from + to) / 2, (from + to) / 2 + 2e8);
        });
        await settled();
        await shot('cause-redis');
    },
    async 'perl allocates for each row and frees it at once'() {
        await open('perl');
        await panel('memory');
        await page.locator('.memory select[aria-label=rows]').selectOption('function');
        await says('.memory .state', /place/);
        await settled();
        const rows = await state(() => window.strobe.drawer.panel('memory').table.rows), sum = (key) => rows.reduce((n, row) => n + row[key], 0);
        assert.ok(sum('allocs') > 300000 && sum('live') < 0.1 * sum('allocs'), `${sum('allocs')} allocations, ${sum('live')} live`);
        await shot('cause-perl');
    },
};

const there = (name) => fs.existsSync(path.join(traces, `${name}.strobe`));
for (const [words, name] of [['sqlite3 waits', 'sqlite'], ['redis-server and', 'redis'], ['perl allocates', 'perl']])
    if (!there(name)) {
        console.log(`skip  ${words}: it is not installed`);
        delete tests[Object.keys(tests).find((key) => key.startsWith(words))];
    }
await run(tests);
