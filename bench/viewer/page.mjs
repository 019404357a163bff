/* page.mjs MODULES LINK LOADS [--move]: Strobe's page on one trace, in a real browser: how soon the whole is painted, and what
 * frames cost while the view moves. Prints "BENCH {json}".  SPDX-License-Identifier: MIT */
import {SIZE, emptyRate, heap, launch, quantile, round, scriptPerFrame, traced, words} from './browser.mjs';

const [modules, link, nLoads, moves] = process.argv.slice(2);
const browser = await launch(modules), context = await browser.newContext({viewport: SIZE, deviceScaleFactor: 1, colorScheme: 'light'});

/* Runs in the page before its own scripts: when was there a picture of the whole trace, when was it complete, with names and
 * overview? Counted from the start of the navigation. */
function watchLoading() {
    const look = () => {
        const s = window.strobe, drawn = s && s.trace && s.timeline.data.fine && s.timeline.frames.length;
        if (drawn && !window.paintedAt)
            window.paintedAt = performance.now();
        if (drawn && s.minimap.busy && !s.timeline.data.pending && !s.engine.waiting.size && !s.frame && s.names.rows.size)
            window.settledAt = performance.now();
        else
            requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}

async function load(page) {
    await page.goto('about:blank');
    await page.goto(link);
    await page.waitForFunction(() => window.settledAt, null, {timeout: 120000, polling: 20});
    return page.evaluate(() => ({painted: window.paintedAt, settled: window.settledAt}));
}

/* Runs in the page: moves the view a little in every frame: from all to a zone, sideways at several widths, out again.
 * Every 20th frame is looked at: how many colours are on it. */
async function move() {
    const s = window.strobe, whole = {...s.view}, span = whole.to - whole.from, tl = s.timeline, lane = tl.visibleRows().find((r) => r.row.lanes > 1).row;
    const items = tl.data.fine.lane(lane.track.id, 0), {t0, t1} = tl.data.fine.arrays, busy = items.first + Math.floor(items.n * 0.4);
    const {json} = await s.engine.ask({ask: 'zone', track: lane.track.id, depth: lane.lanes - 1, at: (t0[busy] + t1[busy]) / 2, slack: span / 100}), centre = (json.zone.t0 + json.zone.t1) / 2;
    const steps = [], zoom = (factor, n) => steps.push(...Array(n).fill(() => s.zoom(factor, centre)));
    const pan = (share, n) => steps.push(...Array(n).fill(() => s.pan((s.view.to - s.view.from) * share)));
    const scroll = (n) => steps.push(...Array(n).fill(() => tl.scrollTo(tl.scroll + 24)));
    const sideways = () => (pan(0.015, 30), pan(-0.015, 30), scroll(20));
    sideways();
    for (let width = span; width > 2000; width *= 0.95 ** 60) {
        zoom(0.95, 60);
        sideways();
    }
    zoom(1.08, Math.ceil(Math.log(span / 300) / Math.log(1.08)));
    const times = [], colours = [];
    function benchLook() {
        const area = tl.ctx.getImageData(260, 60, 800, 200).data, seen = new Set();
        for (let i = 0; i < area.length; i += 4)
            seen.add(area[i] << 16 | area[i + 1] << 8 | area[i + 2]);
        colours.push(seen.size);
    }
    tl.frames.length = 0;
    return new Promise((resolve) => {
        const step = (now) => {
            times.push(now);
            if (times.length % 20 === 0)
                setTimeout(benchLook);
            if (times.length <= steps.length) {
                steps[times.length - 1]();
                requestAnimationFrame(step);
            } else {
                performance.mark('moved');
                resolve({gaps: times.slice(1).map((t, i) => t - times[i]), frames: tl.frames, colours});
            }
        };
        performance.mark('moving');
        requestAnimationFrame(step);
    });
}

async function motion(page) {
    let seen;
    const events = await traced(browser, async () => { seen = await page.evaluate(move); });
    const script = scriptPerFrame(events, 'moving', 'moved', ['benchLook']), drawn = seen.frames.map((f) => f.ms);
    return {
        frames: seen.gaps.length, fps: round(1000 / quantile(seen.gaps, 0.5), 1), fps_slow: round(1000 / quantile(seen.gaps, 0.95), 1),
        script_ms: [0.5, 0.95, 1].map((q) => round(quantile(script.ms, q))), draw_ms: [0.5, 0.95, 1].map((q) => round(quantile(drawn, q))),
        shapes: Math.max(...seen.frames.map((f) => f.shapes)), labels: Math.max(...seen.frames.map((f) => f.labels)), looked: seen.colours.length, fewest_colours: Math.min(...seen.colours),
    };
}

const found = {browser: words(browser), painted_ms: [], settled_ms: []}, page = await context.newPage();
await page.addInitScript(watchLoading);
for (let i = 0; i < Number(nLoads); i++) {
    const {painted, settled} = await load(page);
    found.painted_ms.push(round(painted, 0));
    found.settled_ms.push(round(settled, 0));
}
if (moves) {
    found.empty_fps = round(await emptyRate(context), 1);
    await page.bringToFront();
    Object.assign(found, await motion(page));
    found.heap_mib = round(await heap(page), 1);
}
await browser.close();
console.log(`BENCH ${JSON.stringify(found)}`);
