/* test_daily.mjs: the page as one who profiles every day uses it: colours, hidden tracks, menus of zones, views kept and undone. Arguments: browser.mjs.
 * SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import {clickZone, drag, fresh, near, open, page, panel, pixel, place, run, says, setView, settled, shot, state, text} from './browser.mjs';
import {THEMES, rgbOf} from '../../web/view/palette.js';

/* How much of a colour is at a place of the timeline: [r, g, b] of its middle. */
const isRed = ([r, g, b]) => r > 180 && g < 60 && b < 60;

const tests = {
    async 'a zone has the colour that the program gave it while it ran'() {
        await open('daily');
        await setView(-5, 105);
        const at = async (ms) => pixel(await place('handler', 0, ms));
        await page.waitForFunction(() => window.strobe.coloring.given.size > 0);
        await settled();
        assert.ok(isRed(await at(8)), 'the first request');
        assert.ok(!isRed(await at(18)), 'not the second');
        assert.ok(isRed(await at(58)), 'the sixth');
    },
    async 'a message has the colour that the program gave it'() {
        await open('daily');
        await setView(0, 60);
        await page.waitForFunction(() => window.strobe.coloring.messages.size > 0);
        await settled();
        const p = await state(() => {
            const s = window.strobe, tl = s.timeline, track = s.trace.tracks.find((t) => t.kind === 'messages'), box = tl.canvas.getBoundingClientRect();
            s.showTrack(track.id);
            const row = tl.visibleRows().find((r) => r.row.track.id === track.id);
            return {x: box.left + tl.xOf(10.0004e6) + 1, y: box.top + row.y + row.row.height / 2};
        });
        await settled();
        const seen = await Promise.all([-1, 0, 1, 2].map((dx) => pixel({x: p.x + dx, y: p.y})));
        assert.ok(seen.some(([r, g, b]) => g > 140 && r < 40 && b < 40), seen.join(' '));
    },
    async 'the square beside a lock’s or a frame’s name has the colour that it is drawn in'() {
        await open('rich');
        for (const [kind, color] of [['locks', 'lock'], ['frames', 'frameA']]) {
            await state(async (k) => {
                const s = window.strobe, track = s.trace.tracks.find((t) => t.kind === k), {json} = await s.engine.ask({ask: 'zone', track: track.id, depth: 0, at: 500e6, slack: 20e6});
                await s.selectZone(track.id, 0, json.zone.t0);
            }, kind);
            await settled();
            await page.waitForFunction((k) => window.strobe.trackOf(window.strobe.selection.track).kind === k, kind);
            await page.waitForFunction((name) => document.querySelector('.details h2').innerText.includes(name), kind === 'locks' ? 'tile queue' : 'frames');
            const shown = await state(() => document.querySelector('.details h2 .swatch').style.background);
            assert.equal(shown, `rgb(${rgbOf(THEMES.light[color]).join(', ')})`, kind);
        }
    },
    async 'in a low window the histogram keeps its axis'() {
        await page.setViewportSize({width: 1024, height: 600});
        await open('rich');
        await state(() => window.strobe.findByName('frame'));
        await panel('find');
        await page.waitForFunction(() => window.strobe.drawer.panel('find').chart());
        const [bottom, room] = await state(() => [document.querySelector('.find canvas').getBoundingClientRect().bottom, document.querySelector('.drawer').getBoundingClientRect().bottom]);
        await shot('find-low');
        assert.ok(bottom <= room + 1, `the chart ends at ${bottom}, the panel at ${room}`);
        const left = await state(() => document.querySelector('.find .left').getBoundingClientRect().bottom);
        assert.ok(bottom <= left + 1, `the chart ends at ${bottom}, its place at ${left}`);
        await page.setViewportSize({width: 1400, height: 860});
    },
    async 'strips without a brushed zone are dimmed, those with one are not'() {
        await open('rich');
        await state(() => window.strobe.findByName('shade'));
        await panel('find');
        await page.waitForFunction(() => window.strobe.drawer.panel('find').chart());
        await state(async () => {
            const s = window.strobe, {arrays} = await s.engine.ask({ask: 'instances', loc: s.found.loc, sort: 'duration', limit: 20});
            s.drawer.panel('find').setBrush([arrays.t1[9] - arrays.t0[9], 1e12]); /* the ten longest */
        });
        await page.waitForFunction(() => window.strobe.highlight && window.strobe.highlight.places);
        await settled();
        const bright = await state(() => {
            const s = window.strobe, tl = s.timeline, c = tl.canvas.getContext('2d');
            let n = 0;
            for (const {row, y} of tl.visibleRows().filter((r) => r.row.track.name.startsWith('worker'))) {
                const pixels = c.getImageData(210, y + 3 + 2 * 19 + 9, tl.width - 230, 1).data;
                for (let i = 0; i < pixels.length; i += 4)
                    n += Math.max(pixels[i], pixels[i + 1], pixels[i + 2]) - Math.min(pixels[i], pixels[i + 1], pixels[i + 2]) > 60;
            }
            return n;
        });
        assert.ok(bright > 0 && bright < 200, `${bright} pixels stand out, of ten zones`);
    },
    async 'the category of Chrome’s events is called so'() {
        await open('rich');
        await setView(395, 425);
        await clickZone('main', 1, 403);
        assert.match(await text('.details'), /function\s+frame_fn/);
        await state(() => {
            Object.assign(window.strobe.names.rows.get(window.strobe.selection.loc), {file: '', line: 0});
            window.strobe.drawer.spoil('details');
        });
        await says('.details', /category\s+frame_fn/);
    },
};

await run(tests);
