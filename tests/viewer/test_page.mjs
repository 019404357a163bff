/* test_page.mjs: every view, panel and act of the page, used as a user would. Arguments: browser.mjs.
 * SPDX-License-Identifier: MIT */
import {execFileSync} from 'node:child_process';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {clickZone, clipboard, drag, fresh, near, open, page, panel, pixel, place, run, says, search, server, setView, settled, shot, state, strobe, text, traces, view} from './browser.mjs';

const tests = {
    async 'the whole trace is shown, every process and kind of track'() {
        await open('rich');
        const kinds = await state(() => [...new Set(window.strobe.timeline.layout.rows.map((r) => r.track.kind))].sort());
        assert.deepEqual(kinds, ['fiber', 'frames', 'locks', 'messages', 'plot', 'process', 'spans', 'thread']);
        const p = await place('main', 0, 500);
        assert.notDeepEqual(await pixel(p), [244, 246, 248]);
        await shot('timeline');
    },
    async 'a dropped file opens'() {
        await page.goto(`${server.url}/`);
        await page.waitForFunction(() => window.strobe && !document.querySelector('.start').hidden);
        await shot('start');
        await page.locator('input[type=file]').setInputFiles(path.join(traces, 'one.strobe'));
        await settled();
        assert.equal(await text('.name'), 'one.strobe');
    },
    async 'what is no trace is refused in words'() {
        await page.goto(`${server.url}/?url=/style.css`);
        await page.waitForFunction(() => /no \.strobe trace/.test(document.querySelector('.startstate').textContent));
    },
    async 'a tooltip and outlines follow the pointer'() {
        await open('rich');
        await setView(399, 412);
        const p = await place('worker 1', 1, 403);
        await page.mouse.move(p.x, p.y);
        await page.waitForFunction(() => !document.querySelector('.tip').hidden);
        assert.match(await text('.tip'), /trace rays[\s\S]*duration[\s\S]*render\.c:70/);
        assert.ok(await state(() => window.strobe.hover.loc > 0));
        await shot('hover');
        const f = await place('main', 1, 405);
        await page.mouse.move(f.x, f.y);
        await page.waitForFunction(() => /frame number 40/.test(document.querySelector('.tip').textContent));
    },
    async 'details tell times, text, source, parents and children'() {
        await open('rich');
        await setView(395, 425);
        await clickZone('main', 1, 403);
        const said = await text('.details');
        for (const word of [/frame number 40/, /9,999,9/, /src\/render\.c:20/, /Inside of\s+0\s+run/, /update/, /wait/, /Messages inside[\s\S]*checkpoint 40/])
            assert.match(said, word);
        await shot('details');
        await page.locator('.details button.link', {hasText: 'src/render.c:20'}).click();
        await page.waitForFunction(() => !document.querySelector('.source').hidden);
    },
    async 'statistics are sortable, filtered, and those of the command'() {
        await open('rich');
        await state(() => window.strobe.drawer.show('stats'));
        await settled();
        const command = JSON.parse(execFileSync(strobe, ['stats', '--json', path.join(traces, 'rich.strobe')])), mine = await statsShown();
        for (const row of command.zones)
            assert.deepEqual(mine[row.name], [row.count, row.total_ns, row.self_ns], row.name);
        await page.locator('.thead button[data-key=count]').click();
        await settled();
        assert.match(await text('.trow'), /tile/);
        await shot('statistics');
        await page.locator('.bar input').fill('encode');
        await page.waitForFunction(() => /^1 name,/.test(document.querySelector('.state').textContent));
        assert.match(await text('.trow'), /encode/);
    },
    async 'find zone shows the histogram, and a brush chooses from it'() {
        await open('rich');
        await state(() => window.strobe.findByName('trace rays'));
        await state(() => window.strobe.drawer.show('find'));
        await settled();
        assert.match(await text('.figures'), /1,800/);
        await page.waitForFunction(() => /1,800 zones/.test(document.querySelector('.find .state').textContent));
        const box = await page.locator('.find .plotarea').boundingBox();
        await shot('find');
        await drag({x: box.x + box.width * 0.6, y: box.y + 20}, {x: box.x + box.width * 0.9, y: box.y + 30});
        await page.waitForFunction(() => / between /.test(document.querySelector('.find .state').textContent));
        assert.ok(await state(() => window.strobe.highlight.min > 0));
        for (const by of ['thread', 'process', 'text', 'parent']) {
            await page.locator('.find select').selectOption(by);
            await page.waitForFunction(() => document.querySelectorAll('.groups tr').length > 0);
        }
        await page.locator('.find .trow').first().click();
        await settled();
        assert.equal(await state(() => window.strobe.names.name(window.strobe.selection.loc)), 'trace rays');
    },
    async 'flame graph and tables add up'() {
        await open('rich');
        await state(() => window.strobe.drawer.show('flame'));
        await settled();
        const boxes = await state(() => window.strobe.drawer.panel('flame').boxes().map((b) => [window.strobe.names.name(b.node.loc), b.node.total]));
        assert.ok(boxes.some(([name]) => name === 'shade'));
        await shot('flame');
        for (const mode of ['down', 'up']) {
            await page.locator('.panel select').selectOption(mode);
            await page.waitForFunction(() => document.querySelectorAll('.treerow').length > 3);
        }
        await page.locator('.treerow').nth(1).click();
        await shot('bottom-up');
    },
    async 'messages are filtered, and a click goes there'() {
        await open('rich');
        await state(() => window.strobe.drawer.show('messages'));
        await settled();
        assert.match(await text('.state'), /10 messages/);
        await page.locator('.bar input').fill('checkpoint 5');
        await page.waitForFunction(() => /^1 message$/.test(document.querySelector('.state').textContent));
        await page.locator('.trow').first().click();
        await settled();
        const v = await view();
        assert.ok(v.from < 500e6 && v.to > 500e6 && v.to - v.from < 200e6);
        await shot('messages');
    },
    async 'frames have a chart with target lines'() {
        await open('rich');
        await state(() => window.strobe.drawer.show('frames'));
        await settled();
        assert.match(await text('.figures'), /99/);
        await shot('frames');
        const box = await page.locator('.chart .plotarea').boundingBox();
        await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
        await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
        await page.waitForFunction(() => window.strobe.selection && window.strobe.trackOf(window.strobe.selection.track).kind === 'frames');
    },
    async 'info tells coverage, overhead and processes'() {
        await open('rich', '#p=info');
        const said = await text('.info');
        for (const word of [/coverage\s+100\.0 %/, /one event\s+11\.0 ns/, /build-7/, /Process 4001/, /\/usr\/bin\/renderer/])
            assert.match(said, word);
        await shot('info');
    },
    async 'an area of time and tracks has zones, counters and flows of its own'() {
        await open('rich');
        await setView(0, 1000);
        const a = await place('main', 0, 200), b = await place('worker 2', 2, 300);
        await drag(a, b);
        const said = await text('.details');
        assert.match(said, /Area of (99|100|101)/);
        assert.match(said, /Zones by name[\s\S]*tile/);
        assert.match(said, /Flows\s+main → worker 0\s+10 ×\s+mean 1\.0/);
        await shot('area');
        const range = await state(() => window.strobe.range()), command = JSON.parse(execFileSync(strobe, ['stats', '--json', '--process', 'renderer', '--range', `${range.from}ns..${range.to}ns`, path.join(traces, 'rich.strobe')]));
        await page.locator('[data-panel=stats]').click();
        await settled();
        const mine = await statsShown(), tile = command.zones.find((z) => z.name === 'tile');
        assert.deepEqual(mine.tile, [tile.count, tile.total_ns, tile.self_ns]);
        await page.locator('.panel button', {hasText: 'Copy as command'}).click();
        await says('.toast', /copied/);
        assert.match(await clipboard(), /^strobe stats --range \d+ns\.\.\d+ns 'rich\.strobe'$/);
        const edge = await state(() => window.strobe.timeline.xOf(window.strobe.area.to));
        await drag({x: edge, y: 200}, {x: edge + 100, y: 200});
        assert.ok(await state(() => window.strobe.area.to > 330e6));
    },
    async 'limit to view makes panels count what is seen'() {
        await open('rich', '#p=stats');
        await setView(100, 200);
        await page.locator('#limit').check();
        await page.waitForFunction(() => /^view of/.test(document.querySelector('.rangenote').textContent));
        await settled();
        await page.waitForTimeout(150);
        await settled();
        assert.equal((await statsShown()).frame[0], 10);
    },
    async 'search finds zones, texts, messages and tracks, and steps through them'() {
        await open('rich');
        await search('checkpoint 3');
        await page.waitForFunction(() => /^1 hit$/.test(document.querySelector('.hits').textContent));
        await search('frame number 4');
        await page.waitForFunction(() => /11 hits/.test(document.querySelector('.hits').textContent));
        await page.locator('.search').press('Enter');
        await page.waitForFunction(() => /1 of 11/.test(document.querySelector('.hits').textContent));
        await page.locator('.search').press('Enter');
        await page.waitForFunction(() => /2 of 11/.test(document.querySelector('.hits').textContent));
        await settled();
        near(await state(() => window.strobe.selection.t0), 400e6, 1e6);
        await page.locator('.search').press('Shift+Enter');
        await page.waitForFunction(() => /1 of 11/.test(document.querySelector('.hits').textContent));
        await search('worker');
        await page.waitForFunction(() => /3 tracks/.test(document.querySelector('.hits').textContent));
        await search('shade');
        await shot('search');
    },
    async 'the link holds view, selection, panel and notes'() {
        await open('rich');
        await setView(395, 425);
        await clickZone('main', 1, 413);
        await state(() => window.strobe.notes.add(410e6, 412e6, 'slow here'));
        await settled();
        const link = page.url();
        await fresh();
        await page.goto(link);
        await settled();
        near((await view()).from, 395e6, 10);
        assert.equal(await state(() => window.strobe.names.name(window.strobe.selection.loc)), 'frame');
        assert.equal(await state(() => window.strobe.notes.list[0].text), 'slow here');
        assert.match(await text('.tab.current'), /Details/);
        await page.locator('[data-panel=notes]').click();
        await settled();
        assert.equal(await page.locator('.noterow input').inputValue(), 'slow here');
        await shot('notes');
    },
    async 'tracks are filtered, limited, pinned'() {
        await open('rich');
        await page.locator('.trackfilter').fill('worker');
        await settled();
        assert.equal(await state(() => window.strobe.timeline.layout.rows.filter((r) => !r.header).length), 3);
        await page.locator('.trackfilter').fill('');
        await state(() => window.strobe.setDepthLimit(window.strobe.trace.tracks.find((t) => t.name === 'worker 0').id, 1));
        await settled();
        assert.equal(await state(() => window.strobe.timeline.layout.rows.find((r) => r.track.name === 'worker 0').lanes), 1);
        await state(() => window.strobe.togglePin(window.strobe.trace.tracks.find((t) => t.name === 'encoder' && t.kind === 'thread').id));
        await settled();
        await shot('pinned');
    },
    async 'times are relative, UTC or raw'() {
        await open('rich');
        await page.locator('[data-act=timeMode]').click();
        assert.equal(await text('[data-act=timeMode]'), 'UTC');
        await page.locator('[data-act=timeMode]').click();
        assert.equal(await text('[data-act=timeMode]'), 'raw');
    },
    async 'light and dark, 100 % and 200 %'() {
        for (const scheme of ['light', 'dark'])
            for (const scale of [1, 2]) {
                await fresh({colorScheme: scheme, deviceScaleFactor: scale, viewport: {width: 1400 / scale, height: 860 / scale}});
                await open('rich', '#v=395000000,425000000');
                assert.equal(await state(() => document.documentElement.dataset.theme), scheme);
                await shot(`${scheme}-${scale}00`);
            }
        await fresh();
    },
    async 'a picture of the view is saved by a button'() {
        await open('rich');
        const [file] = await Promise.all([page.waitForEvent('download'), page.locator('[data-act=png]').click()]);
        const bytes = fs.readFileSync(await file.path());
        assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
        assert.ok(bytes.length > 10000);
    },
    async 'a frame has at most 5,000 shapes and 500 labels'() {
        for (const name of ['rich', 'tracks']) {
            await open(name);
            await state(() => { window.strobe.timeline.frames.length = 0; });
            await page.mouse.move(800, 300);
            for (const key of 'wwwwddddssssaaaawwwwwwwwdddd')
                await page.keyboard.press(`Key${key.toUpperCase()}`);
            await settled();
            const most = await state(() => window.strobe.timeline.frames.reduce((m, f) => [Math.max(m[0], f.shapes), Math.max(m[1], f.labels)], [0, 0]));
            assert.ok(most[0] > 20 && most[0] <= 5000 && most[1] <= 500, `${name}: ${most}`);
        }
        await shot('tracks');
    },
};

async function statsShown() {
    return state(() => Object.fromEntries(window.strobe.drawer.panel('stats').table.rows.map((r) => [r.row.name, [r.count, r.total, r.self]])));
}

await run(tests, /dropped|no trace/);
