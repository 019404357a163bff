/* test_sizes.mjs: the page on any screen: small and large windows, high resolutions, large texts. Nothing is cut off or lies over something else, the timeline is sharp, and what
 * is pointed at is what is there. Arguments: browser.mjs.  SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import {fresh, near, open, page, panel, run, settled, shot, state, still, text} from './browser.mjs';

const SCREENS = {small: {width: 1024, height: 600}, usual: {width: 1920, height: 1080}, large: {width: 3840, height: 2160}};

/* Buttons, tabs, fields and headings that are cut by the window, or by what they are in, or lie over each other; in words. */
const faults = () => state(() => {
    const out = [], seen = [...document.querySelectorAll('.topbar > *, .topbar button, .tab, .overview > input, .overview > button, .drawer .bar > *, .drawer .bar button')].filter((e) => e.offsetWidth && e.offsetHeight);
    const name = (e) => `${e.className || e.tagName} “${(e.textContent || e.placeholder || '').slice(0, 20)}”`;
    for (const e of seen) {
        const box = e.getBoundingClientRect();
        if (box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1)
            out.push(`${name(e)} is cut by the window`);
        if (e.matches('button, .tab') && !e.matches('.small') && e.scrollWidth > e.clientWidth + 1)
            out.push(`${name(e)} is wider than its place`);
    }
    for (const [i, a] of seen.entries())
        for (const b of seen.slice(i + 1)) {
            const x = a.getBoundingClientRect(), y = b.getBoundingClientRect(), w = Math.min(x.right, y.right) - Math.max(x.left, y.left), t = Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top);
            if (!a.contains(b) && !b.contains(a) && w > 2 && t > 2)
                out.push(`${name(a)} lies over ${name(b)}`);
        }
    if (document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight)
        out.push('the page is larger than the window');
    return out;
});

/* The canvas has as many pixels as the screen has for it. */
const isSharp = () => state(() => [window.strobe.timeline.canvas, window.strobe.minimap.canvas].map((c) => {
    const box = c.getBoundingClientRect();
    return Math.max(Math.abs(c.width - box.width * devicePixelRatio), Math.abs(c.height - box.height * devicePixelRatio));
}));

/* A click in the middle of a zone of the main thread shows its details, whatever the scale. */
async function clickFrame() {
    const p = await still(() => {
        const s = window.strobe, tl = s.timeline, track = s.trace.tracks.find((t) => t.name === 'main'), box = tl.canvas.getBoundingClientRect();
        s.showTrack(track.id, 1);
        const row = tl.visibleRows().find((r) => r.row.track.id === track.id && !r.row.header);
        return {x: box.left + tl.xOf(403e6) * tl.zoom, y: box.top + (row.y + 3 + 19 + 9) * tl.zoom};
    });
    await page.mouse.click(p.x, p.y);
    await settled();
    assert.match(await text('.details h2'), /frame/);
}

async function look(name) {
    await open('rich', '#v=395000000,425000000');
    for (const off of await isSharp())
        near(off, 0, 1, 'pixels that the canvas is off by');
    await clickFrame();
    await state(() => window.strobe.findByName('frame'));
    for (const id of ['details', 'stats', 'find', 'messages', 'frames', 'info']) {
        await panel(id);
        await page.waitForFunction(() => window.strobe.drawer.nRunning === 0);
        assert.deepEqual(await faults(), [], `${name}, ${id}`);
        if (id === 'find' || id === 'stats')
            await shot(`size-${name}-${id}`);
    }
}

/* Texts as large as a browser can be told to make them. */
async function browserText(px) {
    const session = await page.context().newCDPSession(page);
    await session.send('Page.enable');
    await session.send('Page.setFontSizes', {fontSizes: {standard: px, fixed: px}});
}

const tests = {};
for (const [name, viewport] of Object.entries(SCREENS))
    for (const colorScheme of ['light', 'dark'])
        tests[`a window of ${viewport.width} × ${viewport.height}, ${colorScheme}: nothing is cut off, nothing lies over another`] = async () => {
            await fresh({viewport, colorScheme});
            await look(`${name}-${colorScheme}`);
        };

Object.assign(tests, {
    async 'texts of 150 %, as the browser has them: timeline and panels grow along'() {
        await fresh({viewport: SCREENS.usual});
        await browserText(24);
        await open('rich');
        near(await state(() => window.strobe.timeline.zoom), 1.5, 0.001);
        await look('text-150');
        await fresh({viewport: SCREENS.small});
        await browserText(24);
        await look('small-text-150');
    },
    async 'texts of another size are chosen here, and kept'() {
        await fresh({viewport: SCREENS.usual});
        await open('rich', '#v=395000000,425000000');
        for (const size of [1.25, 1.5]) {
            await state(() => window.strobe.act('textSize'));
            await settled();
            near(await state(() => window.strobe.timeline.zoom), size, 0.001);
        }
        await page.reload();
        await settled();
        near(await state(() => window.strobe.timeline.zoom), 1.5, 0.001);
        near(Number.parseFloat(await state(() => getComputedStyle(document.querySelector('.trackfilter')).fontSize)), 19.5, 0.01);
        await clickFrame();
        await page.mouse.move(700, 300);
        await state(() => window.strobe.findByName('frame'));
        await panel('find');
        await page.waitForFunction(() => window.strobe.drawer.panel('find').chart());
        const box = await page.locator('.find .chart').boundingBox();
        await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2); /* a brush is where the pointer is */
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2, {steps: 3});
        await page.mouse.up();
        const brush = await page.locator('.find .brush').boundingBox();
        near(brush.x, box.x + box.width * 0.3, 2);
        near(brush.x + brush.width, box.x + box.width * 0.7, 2);
        await fresh();
    },
    async 'nothing moves by itself where that is not wanted'() {
        await fresh({reducedMotion: 'reduce'});
        await open('rich');
        await panel('stats');
        const moving = await state(() => [...document.querySelectorAll('*')].filter((e) => {
            const style = getComputedStyle(e);
            return style.transitionDuration.split(', ').some((t) => Number.parseFloat(t) > 0) || style.animationName !== 'none' || style.scrollBehavior === 'smooth';
        }).map((e) => e.className));
        assert.deepEqual(moving, []);
        await fresh();
    },
});

await run(tests);
