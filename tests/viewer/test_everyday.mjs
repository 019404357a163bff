/* test_everyday.mjs: small things that are done all day long: leaving a field, clicking what is no zone, reading a number. Arguments: browser.mjs.
 * SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import {Hand} from './hand.mjs';
import {near, open, page, panel, place, run, says, search, setView, settled, shot, state, still, text} from './browser.mjs';

/* Where the first item of a track of a kind is on the screen, and what it is; `ms`: at or after. */
async function markOf(kind, ms = 0) {
    await state((k) => window.strobe.showTrack(window.strobe.trace.tracks.find((t) => t.kind === k).id), kind);
    await settled();
    return still(([k, from]) => {
        const s = window.strobe, tl = s.timeline, track = s.trace.tracks.find((t) => t.kind === k), box = tl.canvas.getBoundingClientRect();
        const row = tl.visibleRows().find((r) => r.row.track.id === track.id), {arrays} = tl.data.fine, items = tl.data.fine.lane(track.id, 0);
        let i = items.first;
        while (arrays.t0[i] < from)
            i++;
        return {x: box.left + tl.xOf(arrays.t0[i]) + 1, y: box.top + row.y + row.row.height / 2, t0: arrays.t0[i], id: track.id, name: track.name, parent: track.parent};
    }, [kind, ms * 1e6]);
}

const tests = {
    async 'Esc in the search box ends the search: hits, marks and link'() {
        await open('rich');
        await search('rays');
        await page.keyboard.press('Enter');
        await settled();
        assert.match(await state(() => location.hash), /q=rays/);
        await page.locator('.search').focus();
        await page.keyboard.press('Escape');
        await settled();
        assert.equal(await page.locator('.search').inputValue(), '');
        assert.equal(await text('.hits'), '');
        assert.deepEqual(await state(() => [window.strobe.search.text, window.strobe.search.density, document.activeElement === window.strobe.search.input]), ['', null, false]);
        assert.doesNotMatch(await state(() => location.hash), /q=/);
    },
    async 'Esc in another field leaves the search alone'() {
        await open('rich');
        await search('rays');
        await panel('stats');
        await page.locator('.bar input[type=search]').focus();
        await page.keyboard.press('Escape');
        await settled();
        assert.equal(await page.locator('.search').inputValue(), 'rays');
    },
    async 'a click on a message opens the list at that message'() {
        await open('rich');
        const p = await markOf('messages', 600);
        await page.mouse.click(p.x, p.y);
        await says('.drawer .state', /message/);
        await page.waitForFunction(() => document.querySelector('.drawer .trow.picked'));
        const [t, inSight] = await state(() => {
            const panelOf = window.strobe.drawer.panel('messages').table, row = document.querySelector('.drawer .trow.picked').getBoundingClientRect(), box = panelOf.element.getBoundingClientRect();
            return [panelOf.rows.find((m) => panelOf.on.isPicked(m)).t, row.top >= box.top && row.bottom <= box.bottom + 1];
        });
        assert.ok(t >= Math.floor(p.t0) && t - p.t0 < 20e6, `${t} is at ${p.t0}`);
        assert.ok(inSight, 'and it is seen');
    },
    async 'a click on a plot shows its value there, and its range'() {
        await open('rich');
        const p = await markOf('plot', 500);
        await page.mouse.click(p.x, p.y);
        await says('.details h2', new RegExp(`^${p.name}$`));
        const words = await text('.details');
        assert.match(words, /value\s+\S+/);
        assert.match(words, /Whole trace\s+min/);
        const zone = await place('main', 1, 503);
        await page.mouse.click(zone.x, zone.y);
        await settled();
        assert.doesNotMatch(await text('.details'), /Whole trace/);
    },
    async 'a plot has the colour that the program chose'() {
        await open('rich');
        await setView(400, 600);
        const p = await markOf('plot', 450);
        const seen = () => state((id) => {
            const tl = window.strobe.timeline, row = tl.visibleRows().find((r) => r.row.track.id === id), w = tl.canvas.width - 260, pixels = tl.canvas.getContext('2d').getImageData(230, row.y, w, row.row.height - 1).data;
            let n = 0;
            for (let i = 0; i < pixels.length; i += 4)
                n += pixels[i] > 180 && pixels[i + 1] < 60 && pixels[i + 2] < 60;
            return n;
        }, p.id);
        assert.equal(await seen(), 0);
        await state((id) => {
            window.strobe.trackOf(id).color = 0xcc0000;
            window.strobe.redraw();
        }, p.id);
        await settled();
        assert.ok(await seen() > 50);
    },
    async 'keys are those that a keyboard types, German or French; W, A, S and D are where they are'() {
        await open('rich');
        const session = await page.context().newCDPSession(page);
        const press = async (key, code, modifiers = 0) => {
            for (const type of ['keyDown', 'keyUp'])
                await session.send('Input.dispatchKeyEvent', {type, key, code, modifiers, text: type === 'keyDown' && key.length === 1 ? key : undefined});
        };
        await press('?', 'Minus', 8); /* German */
        await says('.box', /Keys and mouse/);
        await press('Escape', 'Escape');
        await page.locator('.box').waitFor({state: 'hidden'});
        await press('/', 'Digit7', 8);
        await page.waitForFunction(() => document.activeElement.classList.contains('search'));
        await press('Escape', 'Escape');
        await page.mouse.move(700, 300);
        const span = () => state(() => window.strobe.view.to - window.strobe.view.from), whole = await span();
        await press('z', 'KeyW'); /* French */
        await settled();
        assert.ok(await span() < whole);
        await press('m', 'Semicolon');
        await page.locator('.box textarea').waitFor();
        await press('Escape', 'Escape');
        await page.locator('.box').waitFor({state: 'hidden'});
        const notes = await state(() => window.strobe.notes.list.length);
        await press(',', 'KeyM'); /* the place of M has a comma */
        await settled();
        assert.equal(await page.locator('.box').isVisible(), false);
        assert.equal(await state(() => window.strobe.notes.list.length), notes);
    },
    async 'words that are marked on a panel can not be carried away: the page would take them for a file'() {
        await open('rich');
        await panel('info');
        await state(() => {
            window.carried = [];
            window.addEventListener('dragstart', (event) => window.carried.push(event.defaultPrevented));
        });
        const box = await page.locator('.drawer dd, .drawer td').filter({hasText: 'rich.strobe'}).first().boundingBox(), x = box.x + 20, y = box.y + box.height / 2;
        await page.mouse.dblclick(x, y);
        assert.match(await state(() => String(getSelection())), /\w/);
        await page.mouse.move(x, y);
        await page.mouse.down();
        await page.mouse.move(700, 300, {steps: 5});
        await page.mouse.up();
        assert.deepEqual(await state(() => window.carried), [true]);
        await settled();
    },
    async 'mouse and keys go on after marked words were dragged: a browser that carries something answers to neither'() {
        await open('rich', '#p=info');
        const hand = new Hand(await page.context().newCDPSession(page)), box = await page.locator('.drawer dd, .drawer td').filter({hasText: 'rich.strobe'}).first().boundingBox(), y = box.y + box.height / 2;
        for (let i = 0; i < 5; i++) {
            await page.mouse.dblclick(box.x + 20, y);
            hand.move(box.x + 20, y);
            hand.down('left');
            hand.move(300, 400 - 20 * i);
            hand.move(700, 300);
            hand.up();
            hand.click(900, 200 + 10 * i);
            hand.press('w');
            assert.deepEqual(await hand.done(), []);
        }
        await settled();
        assert.ok(await state(() => !window.strobe.isWhole()));
    },
    async 'the critical path is named over the timeline, on every panel, with a way out'() {
        await open('rich');
        await panel('explain');
        await says('.standout:not([hidden])', /Critical path/);
        await panel('stats');
        await shot('path-named');
        await page.locator('.standout:not([hidden]) button').click();
        await page.waitForFunction(() => !window.strobe.timeline.path.isThere && !document.querySelector('.standout:not([hidden])'));
        await panel('explain');
        assert.equal(await page.locator('.explain input[type=checkbox]').isChecked(), false);
        await page.locator('.explain input[type=checkbox]').check();
        await says('.standout:not([hidden])', /Critical path/);
    },
    async 'a place in the source keeps its line where it is cut'() {
        await open('rich');
        await panel('stats');
        const [shown, cut] = await state(() => {
            const cell = [...document.querySelectorAll('.trow .fromend')].find((e) => e.innerText.startsWith('src/render.c')), box = cell.getBoundingClientRect(), end = cell.querySelector('bdi').getBoundingClientRect();
            return [box.right - end.right, cell.scrollWidth > cell.clientWidth];
        });
        assert.ok(cut, 'it is too long for its place');
        assert.ok(shown >= 0, `its end is ${-shown} px outside`);
    },
    async 'what stands out is said over the timeline, on every panel, with a way out'() {
        await open('rich');
        await state(() => window.strobe.findByName('shade'));
        await panel('stats');
        await says('.standout', /^Only shade stands out/);
        await shot('standout');
        await page.locator('.standout:not([hidden]) button').click();
        await page.waitForFunction(() => document.querySelector('.standout').hidden);
        assert.deepEqual(await state(() => [window.strobe.highlight, window.strobe.found]), [null, null]);
        await page.waitForFunction(() => !/z=shade/.test(location.hash));
    },
    async 'statistics are put together by thread and by process, and add up to those by name'() {
        await open('rich', '#p=stats');
        const total = () => state(() => window.strobe.drawer.panel('stats').table.rows.reduce((n, r) => n + r.count, 0)), all = await total();
        for (const [by, words, groups] of [['thread', /rows of 6 threads/, 6], ['process', /rows of 2 processes/, 2]]) {
            await page.locator('select[aria-label="put together"]').selectOption(by);
            await says('.drawer .state', words);
            near(await total(), all, 0, by);
            assert.equal(await state(() => new Set(window.strobe.drawer.panel('stats').table.rows.map((r) => r.group)).size), groups);
        }
        await page.locator('.thead [data-key=count]').click();
        await page.waitForFunction(() => {
            const counts = window.strobe.drawer.panel('stats').table.rows.map((r) => r.count);
            return counts.every((n, i) => !i || n <= counts[i - 1]);
        });
        await shot('stats-groups');
    },
    async 'processes of a rank stand below one row, the ranks by number; it is collapsed, hidden and selected as one'() {
        await open('ranks');
        const rows = () => state(() => window.strobe.timeline.layout.rows.map((r) => r.track.name)), at = (name) => still((n) => {
            const s = window.strobe, {row, y} = s.timeline.visibleRows().find((r) => r.row.track.name === n);
            return s.timeline.canvas.getBoundingClientRect().top + y + row.height / 2;
        }, name);
        const rank = (n) => [`rank ${n}`, `rank ${n}: solver`, 'main', `rank ${n}: loader`, 'main'];
        assert.deepEqual(await rows(), [...rank(0), ...rank(1), ...rank(2)]);
        await shot('ranks');
        await page.mouse.click(60, await at('rank 0'));
        await page.waitForFunction(() => window.strobe.timeline.layout.rows.length === 11);
        await page.mouse.click(60, await at('rank 1'), {button: 'right'});
        await page.locator('.menu button', {hasText: 'Hide it'}).click();
        await settled();
        assert.deepEqual(await rows(), ['rank 0', ...rank(2)]);
        await page.reload();
        await settled();
        assert.deepEqual(await rows(), ['rank 0', ...rank(2)], 'both are in the link');
        await page.mouse.click(60, await at('rank 2'), {button: 'right'});
        await page.locator('.menu button', {hasText: 'Select all of it'}).click();
        await says('.details', /zones that begin in it\s+20/);
        await page.keyboard.press('Escape');
        await page.keyboard.press('Shift+H');
    },
    async 'statistics and found zones are put together by rank, where the trace has ranks'() {
        await open('ranks', '#p=stats');
        await page.locator('select[aria-label="put together"]').selectOption('rank');
        await says('.drawer .state', /^6 rows of 3 ranks/);
        assert.deepEqual(await state(() => window.strobe.drawer.panel('stats').table.rows.map((r) => `${r.row.name}, ${r.group}, ${Math.round(r.total / 1e6)}`).sort()),
            [0, 1, 2].flatMap((n) => [`load, rank ${n}, ${10 * (n + 1)}`, `step, rank ${n}, ${10 * (n + 1)}`]).sort());
        await state(() => window.strobe.findByName('step'));
        await panel('find');
        await page.locator('select[aria-label="group by"]').selectOption('rank');
        await says('.find .groups', /rank 2\s+10 ×\s+30.00 ms\s+mean 3.000 ms\s+rank 1\s+10 ×\s+20.00 ms/);
        await open('rich', '#p=stats');
        assert.equal(await page.locator('select[aria-label="put together"] option[value=rank]').isDisabled(), true);
    },
    async 'Info says how the clock of a GPU context ran beside the host’s: calibrations, drift, corrections'() {
        await open('all', '#p=info');
        await says('.info', /GPU clocks/);
        const words = await text('.info section:has(h3:text("GPU clocks"))');
        assert.match(words, /queue 0[^\n]*\n?\s*Vulkan; compared once, when it was made/);
        assert.match(words, /custom; a tick is 0.4 ns; calibrated 12 times; drift 11.1 %, slow; the largest correction 8.000 ms earlier, at 16.000 ms/);
        await shot('gpu-clocks');
    },
    async 'a plot’s scale begins at zero, is logarithmic, or is that of all of its unit, as its menu says'() {
        await open('rich');
        const rows = () => state(() => window.strobe.timeline.layout.rows.filter((r) => r.track.kind === 'plot').map((r) => [r.track.name, r.low, r.high])), pick = async (name, item) => {
            const y = await still((n) => {
                const s = window.strobe, track = s.trace.tracks.find((t) => t.kind === 'plot' && t.name === n);
                s.showTrack(track.id);
                return s.timeline.canvas.getBoundingClientRect().top + s.timeline.visibleRows().find((r) => r.row.track.id === track.id).y + 10;
            }, name);
            await page.mouse.click(60, y, {button: 'right'});
            await page.locator('.menu button', {hasText: item}).click();
            await settled();
        };
        await settled();
        assert.deepEqual((await rows())[0], ['tiles waiting', 54, 60]);
        await pick('tiles waiting', 'Begin its scale at zero');
        assert.deepEqual((await rows())[0], ['tiles waiting', 0, 60]);
        await pick('tiles waiting', 'Scale it to its values');
        await state(() => { /* of one unit */
            for (const t of window.strobe.trace.tracks.filter((x) => x.kind === 'plot'))
                t.format = 0;
        });
        await pick('tiles waiting', 'One scale for all');
        const [[, low0, high0], [, low1, high1]] = await rows();
        assert.deepEqual([low0, high0], [low1, high1]);
        await pick('tiles waiting', 'A scale of its own');
        await pick('tiles waiting', 'Logarithmic');
        assert.deepEqual((await rows())[0], ['tiles waiting', 54, 60]);
        await shot('plot-log');
    },
    async 'plots of an area: min, max, mean over time and last are those of their values'() {
        await open('rich');
        await state(() => {
            window.strobe.setArea(200e6, 500e6, null);
            window.strobe.areaDone();
        });
        await says('.details', /Plots: min, max/);
        const cells = await page.locator('.details section', {hasText: 'Plots: min'}).locator('tr', {hasText: 'tiles waiting'}).locator('td').allInnerTexts(), numbers = cells.slice(1).map(Number.parseFloat);
        const values = []; /* frame n, each 10 ms, has 60 - n % 7 of them */
        for (let n = 20; n < 50; n++)
            values.push(60 - n % 7);
        near(numbers[0], Math.min(...values), 0, 'min');
        near(numbers[1], Math.max(...values), 0, 'max');
        near(numbers[2], values.reduce((a, b) => a + b) / values.length, 0.2, 'mean');
    },
    async 'one thing has one word on all panels'() {
        const words = new Map();
        for (const name of ['rich', 'daily']) {
            await open(name);
            await setView(395, 425);
            await state(() => window.strobe.findByName('frame'));
            for (const id of await state(() => window.strobe.drawer.panels.filter((p) => !p.isOf || p.isOf(window.strobe.trace)).map((p) => p.id))) {
                await panel(id);
                for (const word of await state(() => [...document.querySelectorAll('.drawer .thead button, .drawer .figure small, .drawer th, .drawer .treehead span')].map((e) => e.textContent.replace(/ [▴▾~]/g, '').trim())))
                    words.set(word, id);
            }
        }
        for (const word of ['min', 'max', 'mean', 'median', 'total', 'self', 'count', '99 %'])
            assert.ok(words.has(word), `${word} is none of ${[...words.keys()].join(', ')}`);
        assert.deepEqual([...words].filter(([word]) => /^(least|most|minimum|maximum|average|avg|sum|calls|number|exclusive|p50|p99|stddev|std|sigma)$/i.test(word)), []);
    },
    async 'lines at frame rates have texts that do not lie over each other'() {
        await open('rich');
        await state(() => {
            window.texts = [];
            const {fillText} = CanvasRenderingContext2D.prototype;
            CanvasRenderingContext2D.prototype.fillText = function put(text, x, y) {
                if (/^(target|\d+ \/s)/.test(text))
                    window.texts.push({text, y});
                return fillText.call(this, text, x, y);
            };
        });
        for (const rate of ['95', '115', '120', '125', '150']) {
            await panel('frames');
            await state(() => { window.texts = []; });
            await page.locator('input.rate').fill(rate);
            await page.locator('input.rate').press('Enter');
            await settled();
            await page.waitForFunction(() => window.texts.some(({text}) => text.startsWith('target')));
            const places = (await state(() => window.texts)).map(({y}) => y).sort((a, b) => a - b);
            assert.ok(places.every((y, i) => !i || y - places[i - 1] >= 12), `${rate}: ${JSON.stringify(await state(() => window.texts))}`);
        }
        await shot('frames-labels');
    },
    async 'bottom-up, there is one column of self times'() {
        await open('rich');
        await panel('flame');
        await page.locator('select[aria-label="kind of view"]').selectOption('up');
        await settled();
        const heads = await page.locator('.treehead span').allInnerTexts();
        assert.equal(heads.filter((h) => h === 'self').length, 1, heads.join());
    },
    async 'bars of a histogram are whole zones, and all of them'() {
        await open('rich');
        await state(() => window.strobe.findByName('frame'));
        await panel('find');
        await page.waitForFunction(() => window.strobe.drawer.panel('find').chart());
        const [sum, isWhole, count] = await state(async () => {
            const {bars} = window.strobe.drawer.panel('find').chart().options, {json} = await window.strobe.engine.ask({ask: 'histogram', loc: window.strobe.found.loc});
            return [bars.reduce((n, b) => n + b.value, 0), bars.every((b) => Number.isInteger(b.value)), json.count];
        });
        assert.ok(isWhole);
        near(sum, count, 0, 'zones in bars');
    },
};

await run(tests);
