/* browser.mjs - a real browser for measurements: launching it, the pace of its frames, what its scripts took, what a page holds.
 * SPDX-License-Identifier: MIT */
import fs from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

export const SIZE = {width: 1920, height: 1080};
const FLAGS = ['--force-device-scale-factor=1', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])];
const SCRIPT = new Set(['FunctionCall', 'EvaluateScript', 'RunMicrotasks', 'v8.callFunction', 'V8.GCScavenger', 'MinorGC', 'MajorGC']);

export async function launch(modules) {
    const {chromium} = await import(pathToFileURL(path.join(modules, 'playwright-core', 'index.mjs')).href);
    const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => fs.existsSync(p));
    return chromium.launch({executablePath, args: FLAGS});
}

export function words(browser) {
    return `Chromium ${browser.version()}, headless, ${FLAGS.join(' ')}, ${SIZE.width} × ${SIZE.height}`;
}

export function quantile(values, share) {
    const sorted = Float64Array.from(values).sort();
    return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] : null;
}

export const round = (value, digits = 2) => value === null ? null : Number(value.toFixed(digits));

/** Frames per second of a page that does nothing, by the median time between two. */
export async function emptyRate(context) {
    const page = await context.newPage();
    const gaps = await page.evaluate(() => new Promise((resolve) => {
        const times = [];
        const step = (now) => times.push(now) < 180 ? requestAnimationFrame(step) : resolve(times.slice(1).map((t, i) => t - times[i]));
        requestAnimationFrame(step);
    }));
    await page.close();
    return 1000 / quantile(gaps, 0.5);
}

/** MiB of a page's heap: objects and the buffers that they hold. */
export async function heap(page) {
    const session = await page.context().newCDPSession(page), used = await session.send('Runtime.getHeapUsage');
    await session.detach();
    return (used.usedSize + (used.backingStorageSize || 0)) / 1048576;
}

/** Run `work` while the browser traces itself; its events. */
export async function traced(browser, work) {
    const session = await browser.newBrowserCDPSession(), events = [];
    session.on('Tracing.dataCollected', ({value}) => events.push(...value));
    await session.send('Tracing.start', {transferMode: 'ReportEvents', traceConfig: {includedCategories: ['devtools.timeline', 'blink.user_timing', 'v8'], excludedCategories: ['*']}});
    await work();
    const done = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
    await session.send('Tracing.end');
    await done;
    await session.detach();
    return events;
}

/** ms of script in each frame between the marks `begin` and `end` of the page: all that its main thread ran of ours from one
 * frame to the next, garbage collection too. What the functions named in `others` took is no part of it. */
export function scriptPerFrame(events, begin, end, others) {
    const mark = (name) => events.find((e) => e.name === name && e.cat.includes('blink.user_timing')), first = mark(begin), last = mark(end);
    const mine = events.filter((e) => e.pid === first.pid && e.tid === first.tid && e.ts >= first.ts && e.ts <= last.ts).sort((a, b) => a.ts - b.ts);
    const frames = mine.filter((e) => e.name === 'FireAnimationFrame').map((e) => e.ts), sums = [];
    let until = 0, at = 0, start = 0;
    for (const event of mine) {
        if (event.name === 'FireAnimationFrame' && event.ts - start > 2000) {
            start = event.ts;
            at = sums.push(0) - 1;
        }
        if (!SCRIPT.has(event.name) || !event.dur || !sums.length)
            continue;
        const isOther = event.args.data && others.includes(event.args.data.functionName);
        if (event.ts >= until) {
            sums[at] += isOther ? 0 : (event.tdur ?? event.dur) / 1000; /* tdur: CPU time of the thread */
            until = event.ts + event.dur;
        } else if (isOther) {
            sums[at] -= (event.tdur ?? event.dur) / 1000;
        }
    }
    return {ms: sums, n: frames.length};
}
