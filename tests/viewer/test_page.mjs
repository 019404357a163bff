/* test_page.mjs: every view, panel and act of the page, used as a user would. Arguments: browser.mjs.
 * SPDX-License-Identifier: MIT */
import {execFileSync} from 'node:child_process';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {clickZone, clipboard, drag, fresh, near, open, page, panel, pixel, place, run, says, search, server, setView, settled, shot, state, still, strobe, text, traces, view} from './browser.mjs';

const tests = {
    async 'the whole trace is shown, every process and kind of track'() {
        await open('rich');
        const kinds = await state(() => [...new Set(window.strobe.timeline.layout.rows.map((r) => r.track.kind))].sort());
        assert.deepEqual(kinds, ['fiber', 'frames', 'locks', 'messages', 'plot', 'process', 'spans', 'thread']);
        for (const [name, ms] of [['main', 500], ['camera script', 402.5], ['tiles waiting', 400], ['encoder', 405], ['spans', 1003]])
            assert.ok(await isPainted(name, ms), name);
        await shot('timeline');
    },
    async 'a name has the same colour in every trace and place'() {
        const colours = [];
        for (const [trace, track, ms] of [['losses', 'lossy', 10.3], ['clocks', 'main 1', 20.3], ['clocks', 'main 2', 30.3]]) {
            await open(trace);
            await setView(ms - 0.3, ms + 0.7);
            const p = await place(track, 0, ms);
            colours.push(await pixel({x: p.x, y: p.y - 7}));
        }
        assert.deepEqual(colours[1], colours[0]);
        assert.deepEqual(colours[2], colours[0]);
    },
    async 'a dropped file opens'() {
        await page.goto(`${server.url}/`);
        await page.waitForFunction(() => window.strobe && !document.querySelector('.start').hidden);
        await shot('start');
        await page.locator('input[type=file]').first().setInputFiles(path.join(traces, 'one.strobe'));
        await settled();
        assert.equal(await text('.name'), 'one.strobe');
    },
    async 'a trace put on a shown one starts anew, and Back leads to the other one'() {
        await open('rich', `#n=${encodeURIComponent('[[1500000,1500000,"of the first"]]')}`);
        await setView(1.42, 2.17);
        await search('rays');
        await page.locator('.trackfilter').fill('worker');
        const isNoted = () => state(() => window.strobe.notes.list.some((n) => n.text === 'of the first'));
        assert.ok(await isNoted());
        const v = await view(), p = await place('worker 1', 0, 1.6);
        await page.mouse.move(60, p.y);
        await page.waitForFunction(() => !document.querySelector('.tip').hidden);
        await drop('one');
        assert.ok(await state(() => window.strobe.isWhole()), 'all of it is seen');
        assert.deepEqual(await state(() => { const s = window.strobe; return [s.area, s.search.text, s.filter.value, s.tips.element.hidden]; }), [null, '', '', true]);
        assert.equal(await isNoted(), false);
        assert.doesNotMatch(page.url(), /rich/);
        await setView(1.1, 1.3);
        await page.goBack();
        await says('.name', /rich\.strobe/);
        await settled();
        near((await view()).from, v.from, 10);
        assert.ok(await isNoted());
    },
    async 'the start page over a trace goes with Back or Esc, and keys leave the trace alone'() {
        await open('rich');
        await setView(395, 425);
        const v = await view(), isSeen = (is) => page.waitForFunction((want) => window.strobe.main.hidden !== want, is);
        for (const away of [() => page.keyboard.press('Escape'), () => page.goBack()]) {
            await page.locator('button.logo').click();
            await isSeen(false);
            for (const key of ['KeyW', 'Home', 'KeyQ'])
                await page.keyboard.press(key);
            await away();
            await isSeen(true);
            await settled();
            near((await view()).from, v.from, 1);
            near((await view()).to, v.to, 1);
            assert.equal(await page.locator('.drawer').isHidden(), true);
        }
        await page.goForward();
        await isSeen(false);
        await page.goBack();
        await isSeen(true);
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
        const inTime = await state(({x, y}) => {
            const s = window.strobe;
            s.tips.hide();
            s.timeline.canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: x + 1, clientY: y}));
            return !document.querySelector('.tip').hidden;
        }, p);
        assert.ok(inTime, 'the tip is there before the next frame');
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
        await says('.source', /src\/render\.c:20/);
        await clickZone('main', 2, 400.5);
        await says('.details h2', /^update$/);
        await page.locator('.details button.link', {hasText: /^frame$/}).click();
        await says('.details h2', /^frame$/);
    },
    async 'details tell what a zone waited for'() {
        await open('rich');
        await setView(399, 412);
        await clickZone('worker 0', 0, 402.3);
        await says('.details', /waited\s+\d+ ns for locks[\s\S]*Waited for locks\s+402\.\d+ ms\s+tile queue/);
    },
    async 'details tell the call stack of a zone'() {
        await open('all', '#v=7000390,7000420');
        await clickZone('thread 0', 0, 7.0004045);
        await says('.details', /Call stack[\s\S]*inner\s+in\.c:11[\s\S]*outer\s+out\.c:12[\s\S]*0x999999/);
        await shot('stack');
    },
    async 'zones of GPUs, and of devices, cores and RISCs, are lanes like others'() {
        await open('all', '#v=60000000,70000000');
        for (const name of ['GPU context 2', 'TRISC_0']) {
            await clickZone(name, 0, await state(async (n) => {
                const s = window.strobe, {json} = await s.engine.ask({ask: 'zone', track: s.trace.tracks.find((t) => t.name === n).id, depth: 0, at: 65e6, slack: 5e6});
                return (Math.max(json.zone.t0, 60e6) + Math.min(json.zone.t1 ?? 70e6, 70e6)) / 2e6;
            }, name));
            await says('.details', new RegExp(`track\\s+${name}`));
            await page.keyboard.press('Escape');
        }
        const levels = await state(() => window.strobe.timeline.layout.rows.filter((r) => ['device', 'core', 'risc'].includes(r.track.kind)).map((r) => [r.track.kind, r.level]));
        assert.deepEqual(levels, [['device', 1], ['core', 2], ['risc', 3], ['risc', 3]]);
        await page.keyboard.press('KeyQ');
        await settled();
        await shot('devices');
    },
    async 'a zone that was clicked stays in sight when the panels open'() {
        await open('rich');
        await setView(395, 425);
        await clickZone('encoder', 0, 405);
        await page.waitForFunction(() => !window.strobe.drawer.element.hidden);
        await settled();
        assert.ok(await coloured([17, 24, 32]) > 50, 'its outline');
    },
    async 'a double click zooms to the zone, though the first click opens the panels over it'() {
        await open('rich');
        for (let ms = 1000; ms > 350;) { /* a busy machine makes two clicks of it */
            await state(() => window.strobe.drawer.hide());
            await setView(395, 425);
            const p = await place('encoder', 0, 405);
            await settled();
            await page.mouse.click(p.x, p.y);
            const start = performance.now();
            await page.waitForTimeout(160);
            await page.mouse.down();
            ms = performance.now() - start;
            await page.mouse.up();
        }
        await settled();
        assert.ok(await page.locator('.drawer').isVisible());
        const {t0, t1} = await state(() => window.strobe.selection), v = await view();
        near((v.to - v.from) / (t1 - t0), 1.2, 0.01);
        assert.match(await text('.tab.current'), /Details/);
    },
    async 'flow arrows lead from the selected zone'() {
        await open('rich');
        await setView(399, 405);
        await clickZone('main', 2, 401.5);
        await page.waitForFunction(() => window.strobe.flows.length > 0 && !window.strobe.frame);
        assert.ok(await coloured([138, 43, 226]) > 20);
        await page.keyboard.press('Escape');
        await settled();
        assert.equal(await coloured([138, 43, 226]), 0);
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
        await shot('find');
        const axis = () => state(() => { const {x, y} = window.strobe.drawer.panel('find').chart(); return [x.log, y.log]; });
        assert.deepEqual(await axis(), [true, false]);
        await page.locator('.find label', {hasText: 'log times'}).click();
        await page.locator('.find label', {hasText: 'log counts'}).click();
        assert.deepEqual(await axis(), [false, true]);
        const box = await page.locator('.find .plotarea').boundingBox();
        await drag({x: box.x + box.width * 0.6, y: box.y + 20}, {x: box.x + box.width * 0.9, y: box.y + 30});
        await says('.find .state', / between /);
        await checkBrush();
        for (const by of ['thread', 'process', 'text', 'parent']) {
            await page.locator('.find select').selectOption(by);
            await page.waitForFunction(() => document.querySelectorAll('.groups tr').length > 0);
        }
        await page.locator('.find .trow').first().click();
        await settled();
        assert.equal(await state(() => window.strobe.names.name(window.strobe.selection.loc)), 'trace rays');
    },
    async 'statistics of very many names say how many they are, and which are listed'() {
        await open('locs', '#p=stats');
        await says('.state', /^100,000 names, 100,000 zones, the first 10,000 listed$/);
    },
    async 'a share of the self time stays what it is when the names are filtered'() {
        await open('rich', '#p=stats');
        await says('.trow', /tile/);
        const share = () => state(() => [...document.querySelectorAll('.trow')].find((r) => /shade/.test(r.textContent)).children[4].textContent), was = await share();
        assert.match(was, /^4\d\.\d %$/);
        await page.locator('.bar input').fill('shade');
        await says('.state', /^1 name,/);
        assert.equal(await share(), was);
    },
    async 'a second click on a column turns the order around, and its arrow says which it is'() {
        await open('rich', '#p=stats');
        await says('.trow', /tile/);
        const arrows = () => state(() => [...document.querySelectorAll('.thead [role=columnheader]')].filter((b) => b.getAttribute('aria-sort') !== 'none').map((b) => `${b.textContent} ${b.getAttribute('aria-sort')}`));
        const shown = (id, key) => state(([panelId, k]) => window.strobe.drawer.panel(panelId).table.rows.map((r) => (k === 'name' ? r.row.name : r[k])), [id, key]);
        const check = async (id, key, column, isUp, head) => {
            await page.locator(`.thead button[data-key=${column}]`).click();
            await settled();
            const values = await shown(id, key), sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
            assert.deepEqual(values, isUp ? sorted : sorted.reverse());
            assert.deepEqual(await arrows(), [`${head} ${isUp ? '▴ ascending' : '▾ descending'}`]);
        };
        assert.deepEqual(await arrows(), ['total ▾ descending']);
        await check('stats', 'total', 'total', true, 'total');
        await check('stats', 'name', 'name', true, 'zone');
        await check('stats', 'name', 'name', false, 'zone');
        await check('stats', 'count', 'count', false, 'count');
        await state(() => window.strobe.findByName('trace rays'));
        await panel('find');
        await check('find', 't0', 'time', true, 'begins');
        await check('find', 't0', 'time', false, 'begins');
    },
    async 'tables are whole in a narrow window, and all tabs are seen'() {
        await fresh({viewport: {width: 700, height: 860}});
        await open('rich', '#p=stats');
        await says('.trow', /tile/);
        const seen = await state(() => [...document.querySelectorAll('.tab')].map((tab) => {
            const box = tab.getBoundingClientRect();
            return document.elementFromPoint(box.right - 3, box.top + box.height / 2) === tab;
        }));
        assert.ok(seen.length >= 9, `${seen.length} tabs`);
        assert.deepEqual(seen, seen.map(() => true));
        await state(() => { document.querySelector('.table').scrollLeft = 1e6; });
        await shot('narrow');
        const cells = await state(() => {
            const heads = [...document.querySelector('.thead').children], box = (e) => e.getBoundingClientRect();
            return [...document.querySelector('.trow').children].map((cell, i) => {
                const b = box(cell), x = (b.left + b.right) / 2;
                return {name: heads[i].textContent, off: Math.abs(b.left - box(heads[i]).left), isIn: x > 10 && x < 690, isSeen: cell.contains(document.elementFromPoint(x, (b.top + b.bottom) / 2))};
            });
        });
        assert.ok(cells.every((c) => c.off < 1), JSON.stringify(cells));
        assert.ok(cells.filter((c) => c.isIn).length > 4 && cells.filter((c) => c.isIn).every((c) => c.isSeen), JSON.stringify(cells));
        assert.ok(cells.at(-1).isIn);
        await fresh();
    },
    async 'nothing of a zone is left when another one is found while its answers are waited for'() {
        for (const kind of ['histogram', 'instances', 'zone']) {
            await open('rich');
            await state((k) => { /* answers of this kind wait until they are let go */
                const {engine} = window.strobe, ask = engine.ask.bind(engine);
                window.asked = 0;
                const gate = new Promise((resolve) => { window.letGo = resolve; });
                engine.ask = async (q) => {
                    const answer = ask(q);
                    if (q.ask === k && window.asked++ < 16)
                        await gate;
                    return answer;
                };
            }, kind);
            await panel('find');
            await page.locator('.find select').selectOption('parent');
            await state(() => window.strobe.findByName('trace rays'));
            await page.waitForFunction(() => window.asked > 0);
            await state(async () => {
                window.asked = 1e6;
                await window.strobe.findByName('encode');
            });
            await says('.find .groups', /^\(outermost\)\s+100 ×/);
            await state(() => window.letGo());
            await page.waitForTimeout(300);
            await settled();
            assert.match(await text('.find .groups'), /^\(outermost\)\s+100 ×/, kind);
            assert.equal(await text('.find .state'), '100 zones', kind);
            assert.match(await text('.find .figures'), /^count\s*100\b/, kind);
            assert.equal(await text('.find h2'), 'encode');
        }
    },
    async 'a brush stays when theme or range change, and goes with the zone'() {
        await open('rich');
        await state(() => window.strobe.findByName('trace rays'));
        await panel('find');
        await page.waitForFunction(() => /1,800 zones/.test(document.querySelector('.find .state').textContent));
        const box = await page.locator('.find .plotarea').boundingBox();
        await drag({x: box.x + box.width * 0.6, y: box.y + 20}, {x: box.x + box.width * 0.9, y: box.y + 30});
        await says('.find .state', / between /);
        const brushed = await text('.find .state'), marked = await state(() => window.strobe.highlight);
        const isThere = async () => {
            await page.waitForTimeout(150); /* panels are made anew a moment later */
            await settled();
            assert.deepEqual(await state(() => window.strobe.highlight), marked);
            assert.ok(await page.locator('.find .brush').isVisible() && await page.getByText('Clear brush').isVisible());
            return text('.find .state');
        };
        await page.locator('[data-act=theme]').click();
        assert.equal(await isThere(), brushed);
        await setView(100, 200);
        await page.locator('#limit').check();
        assert.match(await isThere(), / between /);
        await page.locator('#limit').uncheck();
        assert.equal(await isThere(), brushed);
        await page.locator('[data-act=theme]').click();
        await state(() => window.strobe.findByName('shade'));
        await says('.find .state', /^1,800 zones$/);
        assert.ok(!await page.locator('.find .brush').isVisible() && !await page.getByText('Clear brush').isVisible());
        assert.equal(await state(() => window.strobe.highlight.min), undefined);
    },
    async 'processes of one name are groups of their own'() {
        await open('tracks');
        await state(() => {
            for (const track of window.strobe.trace.tracks.filter((t) => t.kind === 'process'))
                track.name = 'server';
            return window.strobe.findByName('request 1');
        });
        await panel('find');
        await page.locator('.find select').selectOption('process');
        await page.waitForFunction(() => document.querySelectorAll('.groups tr').length === 4);
        assert.match(await text('.groups'), /^server 600\d\s/);
    },
    async 'flame graph and tables add up'() {
        await open('rich');
        await state(() => window.strobe.drawer.show('flame'));
        await settled();
        const boxes = await state(() => window.strobe.drawer.panel('flame').boxes().map((b) => [window.strobe.names.name(b.node.key), b.node.total]));
        assert.ok(boxes.some(([name]) => name === 'shade'));
        await shot('flame');
        const clickBox = async (name, options) => {
            const box = await still((n) => {
                const {x, y, w} = window.strobe.drawer.panel('flame').boxes().find((b) => window.strobe.names.name(b.node.key) === n);
                return {x, y, w};
            }, name), at = await page.locator('canvas.flame').boundingBox();
            await page.mouse.click(at.x + box.x + box.w / 2, at.y + box.y + 8, options);
            await settled();
        };
        await clickBox('frame');
        const outer = () => state(() => window.strobe.names.name(window.strobe.drawer.panel('flame').boxes()[0].node.key));
        assert.equal(await outer(), 'frame');
        await state(() => window.strobe.drawer.panel('flame').update());
        assert.equal(await outer(), 'frame', 'made anew it shows the same');
        await page.locator('.bar button', {hasText: 'Whole graph'}).click();
        await page.keyboard.down('Control');
        await clickBox('shade');
        await page.keyboard.up('Control');
        await says('.find h2', /shade/);
        await panel('flame');
        for (const mode of ['down', 'up']) {
            await page.locator('.panel select').selectOption(mode);
            await page.waitForFunction(() => document.querySelectorAll('.treerow').length > 3);
        }
        const closed = await page.locator('.treerow').count();
        await page.locator('.treerow').nth(1).click();
        assert.ok(await page.locator('.treerow').count() > closed);
        await state(() => window.strobe.drawer.panel('flame').update());
        assert.ok(await page.locator('.treerow').count() > closed, 'what is open stays open');
        await shot('bottom-up');
    },
    async 'messages are filtered, and a click goes there'() {
        await open('rich');
        await state(() => window.strobe.drawer.show('messages'));
        await settled();
        assert.match(await text('.state'), /10 messages/);
        await page.locator('.bar select[aria-label=severity]').selectOption({label: 'warning and above'});
        await says('.state', /^5 messages$/);
        await page.locator('.bar select[aria-label=severity]').selectOption({label: 'all'});
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
        await page.locator('.details button', {hasText: 'Flame graph'}).click();
        await settled();
        assert.ok(await state(() => window.strobe.drawer.panel('flame').boxes()[0].node.total) < 300e6, 'the flame graph is of the area');
        await panel('stats');
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
        const hits = () => state(() => {
            const m = window.strobe.minimap, pixels = new Uint32Array(m.ctx.getImageData(208, 2, m.width - 208, 1).data.buffer);
            return pixels.filter((p) => p === 0xff1e26b3).length;
        });
        assert.equal(await hits(), 0);
        await search('shade');
        await settled();
        assert.ok(await hits() > 200, 'hits on the minimap');
        await shot('search');
    },
    async 'tracks that are searched for are gone through one by one'() {
        await open('tracks');
        const {length} = await state(() => window.strobe.trace.tracks.filter((t) => t.name.includes('pool 99')));
        await search('pool 99');
        await says('.hits', new RegExp(`^${length} tracks$`));
        for (const [key, nth, name] of [['Enter', 1, 'pool 99'], ['Enter', 2, 'pool 990'], ['Enter', 3, 'pool 991'], ['Shift+Enter', 2, 'pool 990']]) {
            await page.locator('.search').press(key);
            await says('.hits', new RegExp(`^${nth} of ${length} tracks$`));
            await settled();
            assert.ok(await isSeen(name), name);
        }
    },
    async 'a track is found below what is collapsed, and in spite of a filter'() {
        await open('all');
        await state(() => { const s = window.strobe; for (const t of s.trace.tracks) if (['process', 'device', 'core'].includes(t.kind)) s.toggleCollapse(t.id); });
        await findTrack('TRISC_0');
        assert.ok(await isSeen('TRISC_0'));
        await page.locator('.trackfilter').fill('thread 0');
        await settled();
        await findTrack('TRISC_0');
        assert.ok(await isSeen('TRISC_0'));
        assert.equal(await page.locator('.trackfilter').inputValue(), '');
        await says('.toast', /The filter “thread 0” hid TRISC_0/);
    },
    async 'panels that open or close leave the tracks where they are'() {
        await open('tracks');
        await clickZone('pool 1', 0, await state(() => { const d = window.strobe.timeline.data.fine, {first} = d.lane(window.strobe.trace.tracks.find((t) => t.name === 'pool 1').id, 0); return (d.arrays.t0[first] + d.arrays.t1[first]) / 2e6; }));
        assert.ok(await state(() => window.strobe.selection));
        await state(() => window.strobe.timeline.scrollTo(20000));
        for (let i = 0; i < 2; i++) {
            await page.keyboard.press('KeyQ');
            await settled();
            assert.equal(await state(() => window.strobe.timeline.scroll), 20000);
        }
    },
    async 'a track that is dragged shows where it will land'() {
        await open('rich');
        const main = await place('main', 0, 500), worker = await place('worker 2', 0, 500), encoder = await place('encoder', 0, 500);
        const line = () => state(() => {
            const tl = window.strobe.timeline, pixels = new Uint32Array(tl.ctx.getImageData(100, 0, 1, tl.height).data.buffer);
            return [...pixels].flatMap((p, y) => (p === 0xffb5620b ? [y] : []));
        });
        await page.mouse.move(60, main.y);
        await page.mouse.down();
        await page.mouse.move(60, worker.y - 20, {steps: 3});
        await page.mouse.move(60, worker.y + 2);
        await settled();
        const [y] = await line(), bottom = await state(() => { const tl = window.strobe.timeline, r = tl.visibleRows().find((x) => x.row.track.name === 'worker 2'); return [r.y, r.y + r.row.height]; });
        assert.ok(Math.min(...bottom.map((b) => Math.abs(y - b))) <= 2, `${y} is at an edge of ${bottom}`);
        await page.mouse.move(60, encoder.y);
        await settled();
        assert.deepEqual(await line(), [], 'not below another process');
        await page.mouse.up();
        await settled();
        assert.equal(await state(() => window.strobe.choice.order.size), 0);
    },
    async 'tracks are filtered, limited, pinned'() {
        await open('rich');
        await page.locator('.trackfilter').fill('worker');
        await settled();
        assert.equal(await state(() => window.strobe.timeline.layout.rows.filter((r) => !r.header).length), 3);
        await page.locator('.trackfilter').fill('no such');
        await says('.hollow', /No track has “no such” in its name/);
        await page.locator('.trackfilter').fill('');
        assert.equal(await page.locator('.hollow').isHidden(), true);
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
        await setView(395, 425);
        await clickZone('main', 1, 403);
        await says('.details', /begins\s+2023-11-14 22:13:25\.400\d{6}/);
        await page.locator('[data-act=timeMode]').click();
        assert.equal(await text('[data-act=timeMode]'), 'raw');
        await says('.details', /begins\s+\d{9,} ns/);
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
};

/* Drop a file on the page. */
async function drop(name) {
    await state(([bytes, file]) => {
        const files = new DataTransfer();
        files.items.add(new File([Uint8Array.from(bytes)], file));
        window.dispatchEvent(new DragEvent('drop', {dataTransfer: files, cancelable: true}));
    }, [[...fs.readFileSync(path.join(traces, `${name}.strobe`))], `${name}.strobe`]);
    await says('.name', new RegExp(`${name}\\.strobe`));
    await settled();
}

async function findTrack(name) {
    await page.locator('.timeline').focus();
    await page.keyboard.press('Control+KeyP');
    await page.locator('.box input').fill(name);
    await page.keyboard.press('Enter');
    await settled();
}

const isSeen = (name) => state((n) => { const tl = window.strobe.timeline; return tl.visibleRows().some((r) => r.row.track.name === n && r.y >= 0 && r.y + r.row.height <= tl.height); }, name);

/* Is there more than the row's ground at a time of a track? */
async function isPainted(name, ms) {
    const p = await place(name, 0, ms);
    await settled();
    return state(([n, x]) => {
        const tl = window.strobe.timeline, at = tl.visibleRows().find((r) => r.row.track.name === n && !r.row.header), left = Math.round(x - tl.canvas.getBoundingClientRect().left) - 1;
        return new Set(new Uint32Array(tl.canvas.getContext('2d').getImageData(left, at.y + 1, 3, at.row.height - 3).data.buffer)).size > 1;
    }, [name, p.x]);
}

/* Pixels of the timeline with a colour. */
function coloured([r, g, b]) {
    return state((wanted) => {
        const c = window.strobe.timeline.canvas, pixels = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
        return pixels.filter((p) => p === wanted).length;
    }, (0xff000000 | b << 16 | g << 8 | r) >>> 0);
}

/* Of two zones of the name, the one within the brush is as colourful as before, the other one is not. */
async function checkBrush() {
    const {min, max} = await state(() => window.strobe.highlight), zones = await state(async () => {
        const s = window.strobe, {arrays} = await s.engine.ask({ask: 'instances', loc: s.found.loc, sort: 'time', limit: 200});
        return [...arrays.t0].map((t0, i) => ({t0, t1: arrays.t1[i], track: s.trackOf(arrays.track[i]).name}));
    });
    const inside = (z) => z.t1 - z.t0 >= min && z.t1 - z.t0 <= max, seen = [];
    for (const z of [zones.find(inside), zones.find((x) => !inside(x))]) {
        await setView(z.t0 / 1e6 - 0.5, z.t1 / 1e6 + 0.5);
        const p = await place(z.track, 1, (z.t0 + z.t1) / 2e6);
        seen.push(await pixel({x: p.x, y: p.y - 7}));
    }
    const colourful = ([r, g, b]) => Math.max(r, g, b) - Math.min(r, g, b);
    assert.ok(colourful(seen[0]) > colourful(seen[1]) + 40, seen.join(' '));
    await page.keyboard.press('Home');
    await settled();
}

async function statsShown() {
    return state(() => Object.fromEntries(window.strobe.drawer.panel('stats').table.rows.map((r) => [r.row.name, [r.count, r.total, r.self]])));
}

await run(tests, /dropped|no trace/);
