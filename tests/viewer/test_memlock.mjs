/* test_memlock.mjs: the panels of memory and locks, against the commands. Arguments: browser.mjs; the traces are those of memlock/record_traces.py.
 * SPDX-License-Identifier: MIT */
import {execFileSync} from 'node:child_process';
import assert from 'node:assert/strict';
import path from 'node:path';
import {open, page, panel, run, says, settled, shot, state, still, strobe, text, traces, view} from './browser.mjs';

const command = (...words) => JSON.parse(execFileSync(strobe, [...words, '--json', path.join(traces, 'marked.strobe')], {encoding: 'utf8'}));
const rowsOf = (id) => state((panelId) => window.strobe.drawer.panel(panelId).table.rows, id);

async function openPanel(id, pattern) {
    await open('marked');
    await panel(id);
    await says(`.${id} .state`, pattern);
}

const tests = {
    async 'the rows of memory are those of the command'() {
        await openPanel('memory', /place/);
        await page.locator('.memory select[aria-label=rows]').selectOption('zone');
        await says('.memory .state', /^3 places/);
        const want = command('memory', '--by', 'zone').rows, rows = await rowsOf('memory');
        assert.deepEqual(rows.map((r) => [r.name, r.live_bytes, r.live, r.peak_bytes, r.allocs, r.bytes, r.temporary]),
            want.map((r) => [r.zone, r.live_bytes, r.live, r.peak_bytes, r.allocs, r.bytes, r.temporary]));
        assert.equal(rows[0].name, 'leak');
        assert.match(await text('.memory .figures'), /never freed\s*20\.0 KiB in 5 blocks/);
        await shot('memory');
    },
    async 'a click on the use over time shows what lives there'() {
        await openPanel('memory', /place/);
        await page.locator('.memory select[aria-label=rows]').selectOption('zone');
        await page.locator('.memory select[aria-label="beside the table"]').selectOption('blocks');
        const ns = command('memory').peak_ns, bar = await still((t) => {
            const {chart} = window.strobe.drawer.panel('memory').memory, box = chart.over.getBoundingClientRect();
            return {x: box.left + chart.x.place(t) - 58, y: box.top + box.height / 2};
        }, ns);
        await page.mouse.click(bar.x + 1, bar.y);
        await says('.memory', /live at/);
        await settled();
        const rows = await rowsOf('memory');
        assert.ok(rows.find((r) => r.name === 'load').allocs > 0);
        await page.locator('.memory .bar button', {hasText: 'live at'}).click();
        await says('.memory .state', /^3 places/);
        await settled();
        assert.equal((await rowsOf('memory'))[0].live_bytes, 20480);
    },
    async 'a click on a live block goes where it was allocated'() {
        await openPanel('memory', /place/);
        await page.locator('.memory select[aria-label="beside the table"]').selectOption('blocks');
        await settled();
        const block = command('memory', '--blocks').blocks[0];
        await page.locator('.memory .right .trow').first().click();
        await settled();
        const v = await view();
        assert.ok(v.from <= block.time_ns && block.time_ns <= v.to, JSON.stringify([v, block]));
    },
    async 'the flame graph by bytes has the paths of what lives, and a box fills its width, by mouse and keys'() {
        await openPanel('memory', /place/);
        const boxes = () => state(() => window.strobe.drawer.panel('memory').memory.flame.boxes.map((b) => [b.node.key, b.node.total])), all = await boxes();
        assert.deepEqual(all[0], ['', command('memory').live_bytes]);
        assert.ok(all.length > 1, JSON.stringify(all));
        await page.locator('.byteflame').click({position: {x: 40, y: 30}});
        assert.deepEqual((await boxes())[0], all[1]);
        await page.keyboard.press('ArrowUp');
        await page.keyboard.press('Enter');
        assert.deepEqual(await boxes(), all);
    },
    async 'the rows of locks are those of the command, and hints are said'() {
        await openPanel('locks', /lock/);
        const want = command('locks').locks, rows = await rowsOf('locks');
        assert.deepEqual(rows.map((r) => [r.name, r.wait, r.waits, r.held, r.obtains, r.most_waiters, r.convoy]), want.map((r) => [r.lock, r.wait_ns, r.waits, r.held_ns, r.obtains, r.most_waiters, r.convoy]));
        assert.equal(rows[0].name, 'table');
        assert.match(await text('.locks .hints'), /convoy at table[\s\S]*inversion: first, then second[\s\S]*inversion: second, then first/);
        await shot('locks');
    },
    async 'a click on a wait shows it, with waiter and holder named'() {
        await openPanel('locks', /lock/);
        const first = page.locator('.locks .right .trow').first(), pair = command('locks').waits.find((w) => w.lock === 'table');
        assert.match(await first.innerText(), new RegExp(`${pair.waiter} ${pair.waiter_tid} in turn[\\s\\S]*${pair.holder} ${pair.holder_tid}`));
        await first.click();
        await settled();
        const v = await view();
        assert.ok(v.from <= pair.longest_at_ns && v.to >= pair.longest_at_ns + pair.longest_ns && v.to - v.from < 4 * pair.longest_ns, JSON.stringify([v, pair]));
    },
};

await run(tests);
