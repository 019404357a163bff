/* page.mjs MODULES LINK PID SECONDS: follows a recording in a real browser and prints, as one line "BENCH {json}", how old the newest
 * drawn event was, how soon each was drawn, and the memory of page and server (PID) over time. It leaves after SECONDS, while
 * the recording goes on: its end is the server's.
 *
 * What is drawn is asked of the page at every frame that it draws: the newest time among the items of the answer that the frame
 * was painted from. Its age is that of the wall clock, which the trace knows its events' times by.
 * SPDX-License-Identifier: MIT */
import fs from 'node:fs';
import {launch, openPage, shown} from '../../tests/viewer/served.mjs';

const [modules, link, pid, seconds] = process.argv.slice(2);

/* Runs in the page. A cell is many zones: something happened in its last bucket, which counts from the bucket's begin, so that what is
 * drawn is never thought younger than it is. What is noted has its room from the start, so that it is no growth of the page's. */
function watch() {
    const s = window.strobe, {timeline} = s, note = timeline.note.bind(timeline), now = () => performance.timeOrigin + performance.now();
    window.realMs = (t) => Number(BigInt(s.trace.origin_real_ns) / 1000n) / 1000 + t / 1e6;
    window.watched = {newest: -1, ages: new Float64Array(20000), nAges: 0, drawn: new Float64Array(20000), sums: new Float64Array(20000), nSums: 0, frames: 0};
    timeline.note = (ms) => {
        note(ms);
        const {fine} = timeline.data, out = window.watched;
        if (!fine)
            return;
        const {t1, flags, count} = fine.arrays;
        let sum = 0;
        out.frames++;
        for (const lanes of fine.lanes.values())
            for (const {first, n, bucket} of lanes.values())
                for (let i = first; i < first + n; i++) {
                    sum += count[i];
                    out.newest = Math.max(out.newest, (flags[i] & 3) === 1 ? t1[i] : t1[i] - bucket);
                }
        if (out.nSums < out.sums.length && (!out.nSums || out.sums[out.nSums - 1] < sum)) {
            out.drawn[out.nSums] = now();
            out.sums[out.nSums++] = sum;
        }
    };
    setInterval(() => {
        const out = window.watched;
        if (out.newest >= 0 && s.trace.live && out.nAges < out.ages.length)
            out.ages[out.nAges++] = now() - window.realMs(out.newest);
    }, 20);
}

/* Runs in the page, at the end: how long after its end each zone was drawn first. */
async function delays() {
    const s = window.strobe, {arrays} = await s.engine.ask({ask: 'stats'}), out = [];
    if (arrays.count.reduce((sum, n) => sum + n, 0) > 10000)
        return out;
    const ends = [];
    for (const loc of arrays.loc)
        ends.push(...(await s.engine.ask({ask: 'instances', loc, sort: 'time', limit: 10000})).arrays.t1);
    ends.sort((x, y) => x - y);
    const {drawn, sums, nSums} = window.watched;
    for (let k = 0, i = sums[0]; k < nSums; k++) /* those of the first sum were there before the page was */
        for (; i < sums[k]; i++)
            out.push(drawn[k] - window.realMs(ends[i]));
    return out;
}

function memoryOf(process) {
    const text = fs.readFileSync(`/proc/${process}/status`, 'latin1'), row = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)[1]) / 1024;
    return row('RssAnon');
}

const quantile = (list, q) => (list.length ? [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))] : null);

const browser = await launch(modules), page = await openPage(browser, {viewport: {width: 1600, height: 1000}});
await page.goto(link);
await shown(page);
const cdp = await page.context().newCDPSession(page);
await cdp.send('Performance.enable');
await page.evaluate(watch);
const memory = [], began = performance.now();
let isNear = false;
const isServed = () => fs.existsSync(`/proc/${pid}`);
while (performance.now() - began < Number(seconds) * 1000 && isServed()) {
    await page.waitForTimeout(2000);
    if (!isNear && performance.now() - began > 4000 && await page.evaluate(() => window.watched.sums[window.watched.nSums - 1] > 100000)) { /* the last ten seconds */
        isNear = true;
        await page.evaluate(() => window.strobe.setView(window.strobe.trace.range[1] - 1e10, window.strobe.trace.range[1], true));
    }
    await cdp.send('HeapProfiler.collectGarbage').catch(() => {});
    const {metrics} = await cdp.send('Performance.getMetrics');
    if (isServed())
        memory.push({s: (performance.now() - began) / 1000, page: metrics.find((m) => m.name === 'JSHeapUsedSize').value / 1048576, server: memoryOf(pid)});
}
const {ages, frames} = await page.evaluate(() => ({ages: [...window.watched.ages.subarray(0, window.watched.nAges)], frames: window.watched.frames})), late = isServed() ? await page.evaluate(delays) : [];
console.log(`BENCH ${JSON.stringify({n_ages: ages.length, age_p50_ms: quantile(ages, 0.5), age_p95_ms: quantile(ages, 0.95), age_max_ms: quantile(ages, 1), n_drawn: late.length, delay_p50_ms: quantile(late, 0.5),
    delay_max_ms: quantile(late, 1), frames, memory, errors: page.errors})}`);
await browser.close();
