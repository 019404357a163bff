/* test_odd.mjs: traces that a careless page would break on, and pages that are one file. Arguments: browser.mjs.
 * SPDX-License-Identifier: MIT */
import {execFileSync} from 'node:child_process';
import assert from 'node:assert/strict';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {clickZone, fresh, near, open, page, place, run, search, setView, settled, shot, shots, state, strobe, text, traces, view} from './browser.mjs';

const tests = {
    async 'names in any script are shown, HTML in names never runs'() {
        await open('names');
        await setView(0, 900);
        for (const ms of [150, 250, 350, 450, 550, 650, 750]) {
            await clickZone('主线程', 0, ms);
            const p = await place('主线程', 0, ms);
            await page.mouse.move(p.x + 3, p.y);
            await page.waitForTimeout(100);
        }
        for (const panel of ['stats', 'messages', 'flame', 'info', 'find']) {
            await state((id) => window.strobe.drawer.show(id), panel);
            await settled();
        }
        await search('<img');
        assert.equal(await state(() => window.hacked), undefined);
        assert.equal(await page.locator('img[src=x]').count(), 0);
        await state(() => window.strobe.drawer.show('stats'));
        await settled();
        assert.match(await text('.tbody'), /渲染一帧/);
        await shot('names');
    },
    async 'a name of thousands of letters leaves room for the histogram'() {
        await open('names');
        await state(() => window.strobe.findByName('a'.repeat(4000)));
        await state(() => window.strobe.drawer.show('find'));
        await settled();
        const [title, chart, split] = await Promise.all(['.find h2', '.find .chart', '.find .split'].map((s) => page.locator(s).boundingBox()));
        assert.ok(title.height < 30 && chart.height >= 120 && chart.y + chart.height <= split.y + split.height + 1, JSON.stringify([title, chart, split]));
    },
    async 'a zone of three days and one of a nanosecond'() {
        await open('ages');
        const day = 86400e9;
        const begins = await state(async () => {
            const s = window.strobe, {arrays} = await s.engine.ask({ask: 'stats', filter: 'one ns'}), found = await s.engine.ask({ask: 'instances', loc: arrays.loc[0], limit: 5, sort: 'time'});
            s.setView(found.arrays.t0[4] - 10, found.arrays.t0[4] + 10);
            return found.arrays.t0[4];
        });
        await settled();
        await clickZoneAt('fast', 0, begins + 0.5);
        assert.match(await text('.details'), /1 ns/);
        await page.keyboard.press('Home');
        await settled();
        await clickZoneAt('slow', 0, day * 1.5);
        assert.match(await text('.details'), /3 d 0 h/);
        await shot('ages');
    },
    async 'one zone, none, and zones that never end'() {
        await open('one');
        await clickZone('main', 0, 1.2);
        assert.match(await text('.details h2'), /only zone/);
        await open('none');
        assert.match(await text('.hollow'), /no events/);
        await shot('none');
        await open('open');
        await clickZone('main', 0, 2.5);
        assert.match(await text('.details'), /not ended/);
        await shot('never-ends');
    },
    async '100,000 locations'() {
        await open('locs', '#p=stats');
        await page.waitForFunction(() => /100,000 names/.test(document.querySelector('.state').textContent));
    },
    async 'a cut file opens, and says so'() {
        await open('cut', '#p=info');
        assert.match(await text('.info'), /not closed/);
        assert.ok(await state(() => window.strobe.timeline.data.fine.arrays.t0.length > 100));
    },
    async 'a clock that jumps and one that is uncertain are drawn where they are'() {
        await open('clocks', '#p=info');
        const jump = await state(() => {
            const s = window.strobe, tl = s.timeline, at = tl.xOf(s.trace.clock.jumps[0]), pixels = tl.canvas.getContext('2d').getImageData(Math.round(at) - 1, 300, 2, 1).data;
            return {ms: s.trace.clock.jumps[0] / 1e6, pixel: [...pixels].slice(0, 3)};
        });
        near(jump.ms, 65, 0.1);
        assert.deepEqual(jump.pixel, [138, 90, 0]);
        assert.match(await text('.info'), /its own clock\s+give or take 2\.000 ms/);
        const shades = (name) => state((n) => {
            const tl = window.strobe.timeline, row = tl.visibleRows().find((r) => r.row.track.name === n), pixels = new Uint32Array(tl.canvas.getContext('2d').getImageData(900, row.y + 4, 60, 16).data.buffer);
            return new Set(pixels).size;
        }, name);
        assert.ok(await shades('far away') > await shades('host'));
        await shot('clocks');
    },
    async 'losses are drawn where they are'() {
        await open('losses', '#p=info');
        assert.match(await text('.info'), /1,234: pool full/);
        const inside = await state(() => {
            const s = window.strobe, tl = s.timeline, row = tl.visibleRows().find((r) => r.row.track.name === 'lossy'), c = tl.canvas.getContext('2d');
            return [...c.getImageData(Math.round(tl.xOf(50e6)), Math.round(row.y + row.row.height - 3), 1, 1).data].slice(0, 3);
        });
        assert.deepEqual(inside, [179, 38, 30]);
        await shot('losses');
    },
};

async function clickZoneAt(track, depth, ns) {
    return clickZone(track, depth, ns / 1e6);
}

await run(tests, /exported/);
