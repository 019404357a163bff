/* test_ops.mjs: the panels of ops and regions, used as a user would. Arguments: browser.mjs; the traces are those of traces_ops.py.
 * SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {clipboard, fresh, near, open, page, panel, run, says, settled, shot, state, text, traces, view} from './browser.mjs';

const hasSim = fs.existsSync(path.join(traces, 'sim.strobe'));
const cells = (row) => page.locator('.ops .trow').nth(row).locator('> span').allInnerTexts();
const column = async (n) => (await page.locator('.ops .trow').all()).length && Promise.all((await page.locator('.ops .trow').all()).map((row) => row.locator('> span').nth(n).innerText()));
const selected = () => state(() => {
    const s = window.strobe.selection, track = s && window.strobe.trackOf(s.track);
    return s && {track: track.name, kind: track.kind, t0: s.t0, t1: s.t1, depth: s.depth};
});

/* A click on a row's name: its host time is a link of its own. */
async function pickRow(n) {
    await page.locator('.ops .trow').nth(n).click({position: {x: 40, y: 10}});
    await settled();
}

async function openOps(name) {
    await open(name);
    await panel('ops');
    await says('.drawer .state', /op/);
}

const tests = {
    async 'the table has the rows of the report'() {
        await openOps('golden_A');
        assert.deepEqual(await cells(1), ['MatmulDeviceOperation', '0', '2.534 µs', '17.53 µs', '300 ns', '2', 'dispatch', '2.2', '5.007 µs', '2048']);
        assert.deepEqual((await cells(3)).slice(0, 7), ['torch.nn.functional.relu', '–', '–', '–', '800 ns', '–', '–']);
        assert.match(await text('.drawer .state'), /^4 ops, 7\.512 µs in kernels, 39\.99 µs in gaps$/);
    },
    async 'a click on an op selects its kernels, and they fill the view'() {
        await openOps('golden_A');
        await pickRow(1);
        const s = await selected(), v = await view();
        assert.deepEqual([s.track, s.kind, s.t0], ['core 1,1 BRISC', 'thread', 20000]);
        assert.ok(v.from < 20000 && v.to > 25007 && v.to - v.from < 7000, JSON.stringify(v));
        assert.equal(await page.locator('.ops .trow.picked').count(), 1);
        await page.goBack();
        await settled();
        assert.ok((await view()).to > 50000, 'Back leads to where one was');
    },
    async 'a click on the host time goes to the zone that launched it'() {
        await openOps('hosted');
        await page.locator('.ops .trow').nth(2).locator('button.link').click();
        await settled();
        const s = await selected(), v = await view();
        assert.deepEqual([s.t0, s.t1, s.depth], [49000, 55000, 1]);
        assert.ok(v.from < 49000 && v.to > 55000 && v.to - v.from < 10000, JSON.stringify(v));
        assert.equal(await state(() => window.strobe.names.name(window.strobe.selection.loc)), 'TT_DNN_DEVICE_OP');
        assert.ok(await page.locator('.heatmap .cell[data-core]').count() === 3, 'and its cores are shown');
    },
    async 'columns sort, a second click turns the order around'() {
        await openOps('large');
        const ns = (words) => parseFloat(words) * ({ns: 1, µs: 1e3, ms: 1e6}[words.split(' ')[1]]), isFalling = (a) => a.every((v, i) => !i || a[i - 1] >= v);
        await page.locator('.ops .thead [data-key=kernel]').click();
        await settled();
        const first = (await column(2)).map(ns);
        assert.ok(first.length > 4 && isFalling(first), first.join());
        await page.locator('.ops .thead [data-key=kernel]').click();
        await settled();
        const second = (await column(2)).map(ns);
        assert.ok(isFalling([...second].reverse()) && second[0] < first[0], second.join());
        await page.locator('.ops .thead [data-key=name]').click();
        await settled();
        assert.equal((await cells(0))[0], 'AddDeviceOperation');
    },
    async 'filters by name, device and bound leave what fits'() {
        await openOps('large');
        await page.locator('.bar input[placeholder="Filter by op"]').fill('conv');
        await says('.drawer .state', /^50 ops of 600/);
        await page.locator('.bar select[aria-label=device]').selectOption({label: 'Device 1: blackhole'});
        await says('.drawer .state', /^25 ops of 600/);
        assert.deepEqual([...new Set(await column(1))], ['1']);
        await page.locator('.bar input[placeholder="Filter by op"]').fill('');
        await page.locator('.bar select[aria-label="what bounds it"]').selectOption('dispatch');
        await says('.drawer .state', /^1?\d\d ops of 600/);
        assert.deepEqual([...new Set(await column(6))], ['dispatch']);
        await page.locator('.bar input[placeholder="Filter by op"]').fill('no such op');
        await says('.drawer .state', /No op fits/);
    },
    async 'the map of cores has the numbers, and a click goes to the core'() {
        await openOps('large');
        await pickRow(3);
        await says('.heatscale', /30 cores/);
        const cell = page.locator('.heatmap .cell[data-core="4,5"]'), op = await state(() => window.strobe.drawer.panel('ops').heat.op);
        await cell.hover();
        await says('.tip', /core 4,5/);
        const lanes = await state(() => window.strobe.drawer.panel('ops').heat.cores.find((c) => c.x === 4 && c.y === 5).lanes);
        const words = await text('.tip');
        for (const lane of lanes)
            assert.match(words, new RegExp(`${lane.risc}\\s*${(lane.kernel / 1000).toPrecision(4)} µs · ${(100 * lane.kernel / op.kernel).toFixed(1)} %`));
        await page.locator('.heatbar select[aria-label=processor]').selectOption('NCRISC');
        await cell.click();
        await settled();
        const s = await selected();
        assert.equal(s.track, 'core 4,5 NCRISC');
        assert.ok(s.t0 >= op.t0 && s.t1 <= op.t1, JSON.stringify([s, op]));
    },
    async 'colours of the map follow the numbers, as times and as shares'() {
        await openOps('large');
        await pickRow(3);
        const colors = () => state(() => [...document.querySelectorAll('.heatmap .cell[data-core]')].map((c) => [Number(c.innerText), Number(/\d+/.exec(getComputedStyle(c).backgroundColor)[0])]));
        for (const measure of ['kernel', 'share']) {
            await page.locator('.heatbar select[aria-label="what colours mean"]').selectOption(measure);
            const list = (await colors()).sort((a, b) => a[0] - b[0] || b[1] - a[1]);
            assert.ok(list.length === 30 && list.every((c, i) => !i || list[i - 1][1] >= c[1]), JSON.stringify(list)); /* the longer, the darker */
            assert.ok(list[0][1] > list[29][1]);
        }
        assert.match(await text('.heatscale'), /^0 %[^]*100 %/);
    },
    async 'an op of the host alone has no cores, and says so'() {
        await openOps('golden_A');
        await pickRow(3);
        assert.match(await text('.heat .empty'), /host alone/);
        assert.match(await text('.toast'), /Neither its kernels/);
    },
    async 'replays of a trace are told apart'() {
        await openOps('golden_B');
        assert.deepEqual((await column(0)).map((w) => w.replace(/\s+/g, ' ')), ['AddDeviceOperation', 'AddDeviceOperation', 'AddDeviceOperation', 'AddDeviceOperation replay 1', 'AddDeviceOperation replay 1',
            'AddDeviceOperation replay 2', 'AddDeviceOperation replay 2', 'AddDeviceOperation']);
    },
    async 'a recording on the simulator has its ops, and leads to what launched them'() {
        if (!hasSim)
            return;
        await openOps('sim');
        assert.match(await text('.drawer .state'), /^4 ops/);
        await pickRow(2);
        assert.match(await text('.heatscale'), /64 cores/);
        const s = await selected();
        assert.equal(s.kind, 'thread');
        assert.match(s.track, /^core \d,\d /);
        await page.locator('.ops .trow').nth(2).locator('button.link').click();
        await settled();
        assert.equal(await state(() => window.strobe.names.name(window.strobe.selection.loc)), 'EnqueueProgram');
        await page.keyboard.press('BracketRight'); /* along the flow, back to the kernels */
        await settled();
        assert.match((await selected()).track, /^core \d,\d /);
    },
    async 'a trace without a device has no tab for ops'() {
        await open('regions');
        await panel('info');
        assert.equal(await page.locator('[data-panel=ops]').count(), 0);
        await openOps('golden_A');
        assert.equal(await page.locator('[data-panel=ops]').count(), 1);
    },
    async 'a table of ops is copied with all digits'() {
        await openOps('golden_A');
        await page.locator('.bar button', {hasText: 'Copy table'}).click();
        await page.waitForFunction(() => !document.querySelector('.toast').hidden);
        assert.match(await clipboard(), /^op\tdevice\tkernel\t[^\n]*\nMatmulDeviceOperation\t0\t2473\t0\t700\t3\tdispatch\t2\.305\t5014\t1024\n/);
    },
    async 'regions: signposts and spans with what ran in them'() {
        await open('regions');
        await panel('regions');
        await says('.drawer .state', /3 regions/);
        const rows = (side) => page.locator(`.drawer .${side} .trow`).allInnerTexts().then((list) => list.map((t) => t.split(/\n+/).map((w) => w.trim()).filter(Boolean).join(' | ')));
        assert.deepEqual(await rows('left'), ['warm up | signpost | 2 | 1.800 ms | 1.320 ms', 'request | span | 8 | 5.600 ms | 4.200 ms', 'measure | signpost | 4 | 5.900 ms | 4.340 ms']);
        await page.locator('.drawer .left .trow').nth(2).click();
        assert.equal((await rows('right'))[0], 'step 1 | 8 | 2.400 ms | 960.0 µs | 22.1 %');
        await shot('regions');
    },
    async 'regions of zones by name, for the zones that are asked for'() {
        await open('regions');
        await panel('regions');
        await page.locator('.bar select[aria-label="kind of region"]').selectOption('zone');
        await page.locator('.bar input[placeholder^="Regions"]').fill('step*');
        await says('.drawer .state', /2 regions/);
        await page.locator('.bar input[placeholder^="Zones"]').fill('load');
        await page.waitForFunction(() => document.querySelectorAll('.drawer .right .trow').length === 1);
        await page.locator('.bar select[aria-label="which zones"]').selectOption('thread');
        await page.waitForFunction(() => !/adding up/.test(document.querySelector('.drawer .state').textContent));
        await page.locator('.bar button', {hasText: 'Copy as command'}).click();
        await says('.toast', /copied/);
        assert.equal(await clipboard(), 'strobe report --by-region --region \'zone:step*\' --zone \'load\' --scope thread \'regions.strobe\'');
    },
    async 'a region leads to its first place, a zone in it to all of its name'() {
        await open('regions');
        await panel('regions');
        await says('.drawer .state', /3 regions/);
        await page.locator('.drawer .left .trow').nth(2).dblclick();
        await settled();
        const v = await view();
        near((v.from + v.to) / 2, 1000000, 1, 'the middle of the view');
        await page.locator('.drawer .right .trow').nth(0).click();
        await says('.find h2', /step 1/);
    },
    async 'no regions: it says what makes some'() {
        await open('golden_C');
        await panel('regions');
        await says('.nothing', /no signposts/);
    },
    async 'the panels look as they should at any size'() {
        for (const [width, height] of [[1024, 600], [1920, 1080]])
            for (const colorScheme of ['light', 'dark']) {
                await fresh({viewport: {width, height}, colorScheme});
                await openOps('large');
                await page.locator('.ops .thead [data-key=kernel]').click();
                await pickRow(1);
                const [table, heat, drawer] = await Promise.all(['.left.ops', '.right.heatside', '.drawer'].map((s) => page.locator(s).boundingBox()));
                assert.ok(table.x + table.width <= heat.x + 1 && heat.x + heat.width <= width + 1 && heat.y + heat.height <= drawer.y + drawer.height + 1, JSON.stringify([table, heat, drawer]));
                assert.ok((await page.locator('.drawer .bar').boundingBox()).height < 44, 'one line of fields');
                await shot(`ops-${width}-${colorScheme}`);
                await open('regions');
                await panel('regions');
                await says('.drawer .state', /3 regions/);
                assert.ok((await page.locator('.drawer .bar').boundingBox()).height < 44, 'one line of fields');
                await shot(`regions-${width}-${colorScheme}`);
            }
    },
};

await run(tests);
