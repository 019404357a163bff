/* test_daily.mjs: the page as one who profiles every day uses it: colours, hidden tracks, menus of zones, views kept and undone. Arguments: browser.mjs.
 * SPDX-License-Identifier: MIT */
import {execFileSync} from 'node:child_process';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {clickZone, drag, fresh, near, open, page, panel, pixel, place, run, says, server, setView, settled, shot, state, still, strobe, text, traces} from './browser.mjs';
import {host} from './host.mjs';
import {SAFE, THEMES, rgbOf} from '../../web/view/palette.js';

/* How much of a colour is at a place of the timeline: [r, g, b] of its middle. */
const isRed = ([r, g, b]) => r > 180 && g < 60 && b < 60;

const tests = {
    async 'a zone has the colour that the program gave it while it ran'() {
        await open('daily');
        await page.waitForFunction(() => window.strobe.coloring.given.size === 20); /* in the whole view, whatever its first size was */
        await setView(-5, 105);
        const at = async (ms) => pixel(await place('handler', 0, ms));
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
        const p = await still(() => {
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
    async 'a track is hidden by its menu, is in the link so, and comes back'() {
        await open('daily');
        const names = () => state(() => window.strobe.timeline.layout.rows.map((r) => r.track.name)), p = await place('deep', 0, 500);
        await page.mouse.click(60, p.y, {button: 'right'});
        await page.locator('.menu button', {hasText: 'Hide it'}).click();
        await settled();
        assert.ok(!(await names()).includes('deep'));
        await page.reload();
        await settled();
        assert.ok(!(await names()).includes('deep'), 'after a reload');
        await page.locator('.tracksmenu').click();
        await shot('tracks-menu');
        await page.locator('.menu button', {hasText: 'Show all tracks'}).click();
        await settled();
        assert.ok((await names()).includes('deep'));
    },
    async 'tracks with nothing in view are left out if that is wanted, and come when they have'() {
        await open('daily');
        const has = (name) => state((n) => window.strobe.timeline.layout.rows.some((r) => r.track.name === n), name);
        await setView(0, 100);
        await page.locator('.tracksmenu').click();
        await page.locator('.menu button', {hasText: 'Hide what is empty in view'}).click();
        await page.waitForFunction(() => !window.strobe.timeline.layout.rows.some((r) => r.track.name === 'late'));
        assert.ok(await has('handler'));
        assert.ok(await has('service'), 'its process');
        await setView(900, 990);
        await page.waitForFunction(() => window.strobe.timeline.layout.rows.some((r) => r.track.name === 'late'));
        await state(() => window.strobe.setCompact('hidesEmpty', false));
    },
    async 'unused depths are left out if that is wanted'() {
        await open('daily');
        const lanes = () => state(() => window.strobe.timeline.layout.rows.find((r) => r.track.name === 'deep').lanes);
        assert.equal(await lanes(), 40);
        await state(() => window.strobe.setCompact('isCompact', true));
        await setView(150, 190);
        await page.waitForFunction(() => window.strobe.timeline.layout.rows.find((r) => r.track.name === 'deep').lanes === 1);
        await setView(210, 217.5);
        await page.waitForFunction(() => window.strobe.timeline.layout.rows.find((r) => r.track.name === 'deep').lanes === 18);
        await state(() => window.strobe.setCompact('isCompact', false));
    },
    async 'zones of any depth have their names and colours, close up and from afar'() {
        await open('daily');
        await setView(250, 300);
        const p = await place('deep', 30, 290), [r, g, b] = await pixel(p);
        assert.ok(Math.max(r, g, b) - Math.min(r, g, b) > 25, `${r} ${g} ${b} is grey`);
        await open('deep');
        const colourful = (depth) => state((d) => {
            const s = window.strobe, tl = s.timeline, track = s.trace.tracks.find((t) => t.name === 'MainThread');
            s.showTrack(track.id, d);
            tl.draw();
            const row = tl.visibleRows().find((r) => r.row.track.id === track.id), pixels = tl.canvas.getContext('2d').getImageData(210, row.y + 3 + d * 19 + 9, tl.width - 230, 1).data;
            let n = 0;
            for (let i = 0; i < pixels.length; i += 4)
                n += Math.max(pixels[i], pixels[i + 1], pixels[i + 2]) - Math.min(pixels[i], pixels[i + 1], pixels[i + 2]) > 25;
            return n;
        }, depth);
        assert.equal(await state(() => window.strobe.timeline.layout.rows.find((row) => row.track.name === 'MainThread').lanes), 80);
        for (const depth of [5, 15, 16, 30, 60]) {
            await colourful(depth);
            await settled();
            assert.ok(await colourful(depth) > 100, `depth ${depth} has colours from afar`);
        }
        await shot('deep');
        const named = await state(async () => {
            const s = window.strobe, {fine} = s.timeline.data, track = s.trace.tracks.find((t) => t.name === 'MainThread').id, {first, n} = fine.lane(track, 60);
            return [...fine.arrays.loc.subarray(first, first + n)].filter((loc) => s.names.name(loc)).length / n;
        });
        assert.ok(named > 0.9, `${named} of what is at depth 60 has a name`);
    },
    async 'of a range with too many events for that, depths that are left out are told of'() {
        await open('deep');
        const band = () => state(() => {
            const s = window.strobe, tl = s.timeline, row = tl.visibleRows().find((r) => r.row.track.name === 'MainThread'), pixels = tl.canvas.getContext('2d').getImageData(214, row.y + 3 + 16 * 19 + 4, 200, 19).data;
            let n = 0;
            for (let i = 0; i < pixels.length; i += 4)
                n += pixels[i] < 150 && pixels[i + 1] < 150 && pixels[i + 2] < 150;
            return n;
        });
        await state(() => { /* as the engine answers for a large trace */
            const {fine} = window.strobe.timeline.data;
            fine.seenDepths = 16;
            for (const lanes of fine.lanes.values())
                for (const depth of [...lanes.keys()].filter((d) => d >= 16))
                    lanes.delete(depth);
            window.strobe.redraw();
        });
        await settled();
        await shot('deep-left-out');
        assert.ok(await band() > 60, 'words below the sixteenth depth');
    },
    async 'images of frames are shown beside them, stepped through with the keyboard, played, and told of at the pointer'() {
        await open('film', '#p=frames');
        const caption = (words) => says('.film figcaption', words), seen = (x, y) => state(([px, py]) => [...document.querySelector('.film canvas').getContext('2d').getImageData(px, py, 1, 1).data].slice(0, 3), [x, y]);
        await caption(/^image 1 of 30/);
        await page.locator('.film input').focus();
        for (let i = 0; i < 14; i++)
            await page.keyboard.press('ArrowRight');
        await caption(/^image 15 of 30/);
        assert.deepEqual([await seen(4, 4), await seen(4, 70), await seen(120, 4)], [[255, 0, 0], [123, 0, 0], [0, 0, 255]]);
        await page.keyboard.press('End'); /* upside down as it was sent */
        await caption(/^image 30 of 30/);
        assert.deepEqual([await seen(4, 4), await seen(4, 70)], [[255, 0, 0], [123, 0, 0]]);
        await shot('film');
        await page.locator('.film button[aria-label=play]').focus();
        await page.keyboard.press('Enter');
        await caption(/^image [1-9] of 30/);
        await caption(/^image 30 of 30/);
        await page.locator('.film button', {hasText: 'Go there'}).click();
        await settled();
        near(await state(() => window.strobe.selection.t0), await state(() => window.strobe.drawer.panel('frames').film.set.t0[29]), 2);
        const p = await still(() => {
            const s = window.strobe, tl = s.timeline, track = s.trace.tracks.find((t) => t.kind === 'frames'), box = tl.canvas.getBoundingClientRect(), row = tl.visibleRows().find((r) => r.row.track.id === track.id);
            return {x: box.left + tl.xOf(s.selection.t0 + 5e6), y: box.top + row.y + row.row.height / 2};
        });
        await page.mouse.move(p.x, p.y);
        await page.waitForFunction(() => document.querySelector('.tip:not([hidden]) .frameimage'));
        await shot('film-tip');
    },
    async 'the names of process and thread stay in sight while one scrolls'() {
        await open('daily');
        await state(() => window.strobe.timeline.scrollTo(window.strobe.timeline.layout.rows.find((r) => r.track.name === 'deep').top + 300));
        await settled();
        assert.equal(await state(() => window.strobe.timeline.stickyRow().track.name), 'service');
        const dark = (y0, y1) => state(([a, b]) => {
            const pixels = window.strobe.timeline.canvas.getContext('2d').getImageData(20, a, 150, b - a).data;
            let n = 0;
            for (let i = 0; i < pixels.length; i += 4)
                n += pixels[i] < 110 && pixels[i + 1] < 110 && pixels[i + 2] < 110;
            return n;
        }, [y0, y1]);
        await shot('sticky');
        assert.ok(await dark(30, 53) > 40, 'the process');
        assert.ok(await dark(55, 78) > 40, 'the thread');
        await page.mouse.click(60, (await page.locator('.timeline').boundingBox()).y + 40);
        await settled();
        assert.ok(await state(() => !window.strobe.timeline.layout.rows.some((r) => r.track.name === 'deep')), 'a click on it collapses it');
    },
    async 'every zone can be reached with the keyboard alone, and is told in words'() {
        await open('daily');
        await setView(0, 100);
        await page.locator('.timeline').focus();
        const told = (words) => page.waitForFunction((w) => document.querySelector('[aria-live=polite].offscreen').textContent.includes(w), words);
        await page.keyboard.press('ArrowRight');
        await told('request');
        await page.keyboard.press('ArrowDown');
        await told('parse');
        await page.keyboard.press('ArrowRight');
        await told('answer');
        await page.keyboard.press('ArrowUp');
        await told('request');
        await page.keyboard.press('Shift+ArrowDown');
        await told('recurse');
        for (let i = 0; i < 3; i++) {
            await page.keyboard.press('ArrowDown');
            await told(`depth ${i + 1}`);
        }
        await page.keyboard.press('Alt+Enter');
        await page.waitForFunction(() => document.activeElement.closest('.menu'));
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('Escape');
        assert.ok(await state(() => document.activeElement.classList.contains('timeline')));
    },
    async 'a zone’s menu leads to its longest, shortest and median, and copies it'() {
        await open('daily');
        await setView(-5, 105);
        const pick = async (item) => {
            await clickZone('handler', 1, 24, {button: 'right'});
            await page.locator('.menu button', {hasText: item}).click();
        };
        const length = () => state(() => Math.round((window.strobe.selection.t1 - window.strobe.selection.t0) / 1e6));
        for (const [item, ms] of [['Go to the longest', 6], ['Go to the shortest', 3], ['Go to the median', 4]]) {
            await setView(-5, 105);
            await pick(item);
            await page.waitForFunction((n) => Math.round((window.strobe.selection.t1 - window.strobe.selection.t0) / 1e6) === n, ms);
            near(await length(), ms, 0);
        }
        await setView(-5, 105);
        await clickZone('handler', 0, 24, {button: 'right'});
        await shot('zone-menu');
        await page.locator('.menu button', {hasText: 'Copy as JSON'}).click();
        await says('.toast', /copied/);
        const copied = JSON.parse(await state(() => navigator.clipboard.readText()));
        assert.deepEqual([copied.name, copied.track, copied.depth, JSON.parse(copied.text).user], ['request', 'handler', 0, 'u2']);
    },
    async 'a zone’s menu counts what is in it, goes to its parent, notes, pins and hides'() {
        await open('daily');
        await setView(95, 125);
        const pick = async (words) => {
            const p = await place('handler', 1, 101);
            await page.mouse.click(p.x, p.y, {button: 'right'});
            await page.locator('.menu button', {hasText: words}).click();
            await settled();
        };
        await pick('Go to the zone around it');
        await page.waitForFunction(() => window.strobe.selection && window.strobe.names.name(window.strobe.selection.loc) === 'request');
        await setView(95, 125);
        await pick('Statistics of what is in it');
        assert.deepEqual(await state(() => [window.strobe.area.from, window.strobe.area.to].map((t) => Math.round(t / 1e5))), [1000, 1020]);
        await says('.drawer .table', /parse\s+1\s/);
        await page.keyboard.press('Escape');
        await pick('Copy as a row');
        assert.match(await state(() => navigator.clipboard.readText()), /^parse\tsrc\/service\.c:20\thandler\t/);
        await pick('Note on it');
        await page.locator('.box textarea').fill('too long');
        await page.keyboard.press('Enter');
        await page.waitForFunction(() => window.strobe.notes.list.some((n) => n.text === 'too long' && Math.round(n.from / 1e6) === 100));
        await pick('Pin its track');
        assert.deepEqual(await state(() => window.strobe.timeline.layout.pinned.map((r) => r.track.name)), ['handler']);
        await pick('Unpin its track');
        await pick('Hide all other tracks');
        assert.deepEqual(await state(() => window.strobe.timeline.layout.rows.filter((r) => !r.header).map((r) => r.track.name)), ['handler']);
        await page.keyboard.press('Shift+H');
        await settled();
        await pick('Hide its track');
        assert.ok(await state(() => !window.strobe.timeline.layout.rows.some((r) => r.track.name === 'handler') && window.strobe.timeline.layout.rows.some((r) => r.track.name === 'deep')));
    },
    async 'the page fills the screen by a command, and leaves it again'() {
        await open('daily');
        for (const is of [true, false]) {
            await page.keyboard.press('Control+Shift+P');
            await page.locator('.box input').fill('full screen');
            await page.keyboard.press('Enter');
            await page.waitForFunction((want) => Boolean(document.fullscreenElement) === want, is);
        }
    },
    async 'only tracks that have a zone are shown, if its menu says so'() {
        await open('daily');
        await setView(-5, 105);
        await clickZone('handler', 1, 24, {button: 'right'});
        await page.locator('.menu button', {hasText: 'Show only tracks that have it'}).click();
        await page.waitForFunction(() => window.strobe.choice.hidden.size > 0);
        await settled();
        assert.deepEqual(await state(() => window.strobe.timeline.layout.rows.map((r) => r.track.name)), ['service', 'handler']);
    },
    async 'a measure goes from a zone to the next click'() {
        await open('daily');
        await setView(-5, 105);
        await clickZone('handler', 0, 4, {button: 'right'});
        await page.locator('.menu button', {hasText: 'Measure from here'}).click();
        await clickZone('handler', 0, 54);
        near(await state(() => window.strobe.area.to - window.strobe.area.from), 50e6, 1000);
    },
    async 'arguments that are JSON are shown one by one'() {
        await open('daily');
        await setView(-5, 105);
        await clickZone('handler', 0, 34);
        await says('.arguments', /user\s+u3/);
        const words = await text('.arguments');
        assert.match(words, /bytes\s+300/);
        assert.match(words, /tags\[1\]\s+b/);
    },
    async 'zones are coloured by thread, depth or duration, and a legend says how'() {
        await open('daily');
        await setView(-5, 105);
        const colors = async () => [await pixel(await place('handler', 0, 37.5)), await pixel(await place('handler', 1, 37.5))];
        const before = await colors();
        await page.locator('.tracksmenu').click();
        await page.locator('.menu button', {hasText: 'Colour by depth'}).click();
        await settled();
        const depth = await colors();
        assert.notDeepEqual(depth[0], before[0]);
        assert.match(await text('.legend'), /depth 0/);
        await shot('colour-depth');
        await state(() => window.strobe.setColoring('duration'));
        await settled();
        const [long, short] = await colors(), sum = ([r, g, b]) => r + g + b;
        assert.ok(sum(long) <= sum(short), 'the longer, the darker');
        await shot('colour-duration');
        await page.locator('.legend button').click();
        await settled();
        assert.deepEqual((await colors())[0], before[0]);
        assert.equal(await page.locator('.legend').isHidden(), true);
    },
    async 'changes of the view are undone and redone, hidden tracks and areas too'() {
        await open('daily');
        await setView(100, 300);
        const p = await place('late', 0, 200);
        await page.mouse.move(p.x, p.y);
        await page.keyboard.press('h');
        await settled();
        await drag({x: 400, y: 300}, {x: 700, y: 350});
        const shown = () => state(() => [window.strobe.choice.hidden.size, Math.round(window.strobe.view.from / 1e6), Boolean(window.strobe.area)]);
        assert.deepEqual(await shown(), [1, 100, true]);
        for (const want of [[1, 100, false], [0, 100, false]]) {
            await page.keyboard.press('Control+z');
            await page.waitForFunction(([n, from, area]) => window.strobe.choice.hidden.size === n && Math.round(window.strobe.view.from / 1e6) === from && Boolean(window.strobe.area) === area, want);
            await settled();
        }
        await page.keyboard.press('Control+Shift+z');
        await page.waitForFunction(() => window.strobe.choice.hidden.size === 1);
        await settled();
        await page.keyboard.press('Control+z'); /* and what is done after that can be undone, too */
        await page.waitForFunction(() => window.strobe.choice.hidden.size === 0);
        await settled();
        await setView(500, 600);
        await page.keyboard.press('Control+z');
        await page.waitForFunction(() => Math.round(window.strobe.view.from / 1e6) === 100);
        await settled();
    },
    async 'a view is kept under a name, and is there on the next visit'() {
        await open('daily');
        await setView(420, 440);
        await page.keyboard.press('Control+Shift+P');
        await page.locator('.box input').fill('keep this view');
        await page.keyboard.press('Enter');
        await page.locator('.box textarea').fill('the slow one');
        await page.keyboard.press('Enter');
        await open('daily');
        await state(() => window.strobe.act('views'));
        await page.locator('.choice', {hasText: 'the slow one'}).first().click();
        await page.waitForFunction(() => Math.abs(window.strobe.view.from - 420e6) < 10);
    },
    async 'eight colours that everybody can distinguish are chosen, drawn and kept'() {
        await open('daily');
        await setView(-5, 105);
        await state(() => window.strobe.act('palette'));
        await settled();
        const isSafe = async () => SAFE.map((c) => rgbOf(c).join()).includes((await pixel(await place('handler', 0, 37.5))).join());
        assert.ok(await isSafe());
        await page.reload();
        await settled();
        assert.ok(await isSafe());
        await state(() => window.strobe.coloring.setSafe(false));
    },
    async 'high contrast is chosen, drawn and kept'() {
        await open('daily');
        await state(() => window.strobe.act('contrast'));
        await settled();
        await shot('contrast');
        assert.deepEqual(await pixel({x: 700, y: (await page.locator('.timeline').boundingBox()).y + 600}).then((c) => Math.max(...c) < 40), true);
        await page.reload();
        await settled();
        assert.equal(await state(() => window.strobe.theme), 'contrast');
        await state(() => window.strobe.toggleTheme('light'));
    },
    async 'the view as SVG has the zones’ names, and the area alone is smaller'() {
        await open('daily');
        await setView(-5, 105);
        const svg = async () => state(async () => {
            const {svgOf} = await import(new URL('view/picture.js', document.baseURI).href);
            return svgOf(window.strobe);
        });
        const whole = await svg(), width = (t) => Number(/width="([\d.]+)"/.exec(t)[1]);
        assert.match(whole, />request</);
        assert.match(whole, />service</);
        await page.goto('about:blank');
        await open('daily');
        await drag({x: 400, y: 200}, {x: 700, y: 260});
        near(width(await svg()), 300, 2);
        assert.ok(width(whole) > 1300);
        await page.waitForFunction(() => window.Path2D.name === 'Path2D');
    },
    async 'names that are too long for their zone end in a mark'() {
        await open('rich', '#v=395000000,425000000');
        const svg = await state(async () => {
            const {svgOf} = await import(new URL('view/picture.js', document.baseURI).href);
            return svgOf(window.strobe);
        });
        assert.match(svg, />tr…</); /* trace rays */
        assert.match(svg, />up…</);
        assert.doesNotMatch(svg, />(tr|up|trac|upda)</);
    },
    async 'frames are counted against a target that one sets'() {
        await open('rich', '#p=frames');
        await says('.figures', /over target\s*0 \(/);
        await page.locator('.rate').fill('120');
        await page.locator('.rate').press('Enter');
        await says('.figures', /over target\s*(99|100) \((99|100)/);
        await shot('frames-target');
        await page.locator('.rate').fill('60');
        await page.locator('.rate').press('Enter');
    },
    async 'messages are listed by thread and colour'() {
        await open('daily', '#p=messages');
        await says('.drawer .state', /^100 messages/);
        await page.locator('select[aria-label=colour]').selectOption({label: '#00aa00'});
        await says('.drawer .state', /^50 messages/);
        await page.locator('select[aria-label=thread]').selectOption({label: 'handler'});
        await says('.drawer .state', /^50 messages/);
        await page.locator('select[aria-label=colour]').selectOption({label: 'all colours'});
        await says('.drawer .state', /^100 messages/);
    },
    async 'an area is split by track, and no share is above the whole'() {
        await open('rich');
        await setView(0, 1000);
        await drag({x: 400, y: 200}, {x: 700, y: 420});
        await says('.details', /By track/);
        const words = await text('.details'), shares = [...words.matchAll(/([\d.]+) %/g)].map((m) => Number(m[1]));
        assert.ok(shares.length > 3 && shares.every((s) => s <= 100.5), shares.join());
        assert.match(words, /% of the time of \d+ tracks/);
    },
    async 'a median that is about right says how right'() {
        await open('rich', '#p=stats');
        assert.match(await page.locator('.thead [data-key=p50]').getAttribute('title'), /at most 3.2 % off/);
    },
    async 'the page alone, from any server, opens a dropped trace and works without the network'() {
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strobe-page-')), tree = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
        execFileSync(path.join(tree, 'scripts', 'make-page'), [path.join(path.dirname(strobe), '..'), folder]);
        const alone = await host({'/': [folder]});
        const drop = async () => {
            await page.locator('input[type=file]').first().setInputFiles(path.join(traces, 'daily.strobe'));
            await settled();
            assert.equal(await text('.name'), 'daily.strobe');
        };
        try {
            await page.goto(alone.url);
            await drop();
            await page.waitForFunction(() => navigator.serviceWorker.controller);
            alone.close();
            await page.context().setOffline(true);
            await page.goto(alone.url);
            await drop();
        } finally {
            await page.context().setOffline(false);
            alone.close();
            fs.rmSync(folder, {recursive: true});
            await fresh();
        }
    },
    async 'an exported page says how far it is while it unpacks its trace'() {
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strobe-html-')), file = path.join(folder, 'daily.html');
        execFileSync(strobe, ['export', '--to', 'html', '-o', file, path.join(traces, 'daily.strobe')], {stdio: 'ignore'});
        await page.addInitScript(() => {
            window.said = [];
            new MutationObserver(() => {
                const state = document.querySelector('.startstate');
                if (state && state.textContent && window.said[window.said.length - 1] !== state.textContent)
                    window.said.push(state.textContent);
            }).observe(document, {subtree: true, childList: true, characterData: true});
        });
        await page.goto(`file://${file}`);
        await settled();
        const said = await state(() => window.said);
        assert.ok(said.some((words) => /^Opening daily/.test(words)), said.join());
        assert.ok(await state(() => window.strobe.trace.totals.events > 1000));
        fs.rmSync(folder, {recursive: true});
        await fresh();
    },
    async 'fingers move and zoom the timeline, select, and hold for the menu'() {
        await fresh({hasTouch: true});
        await open('daily');
        await setView(0, 100);
        const cdp = await page.context().newCDPSession(page), send = (type, points) => cdp.send('Input.dispatchTouchEvent', {type, touchPoints: points.map(([x, y], id) => ({x, y, id}))});
        await send('touchStart', [[600, 300], [800, 300]]);
        await send('touchMove', [[500, 300], [900, 300]]);
        await send('touchEnd', []);
        await settled();
        near(await state(() => (window.strobe.view.to - window.strobe.view.from) / 1e6), 50, 2, 'ms after a pinch');
        await setView(0, 100);
        await send('touchStart', [[800, 300]]);
        await send('touchMove', [[500, 300]]);
        await send('touchEnd', []);
        await settled();
        near(await state(() => window.strobe.view.from / 1e6), 300 / 1192 * 100, 2, 'ms after a swipe');
        await setView(0, 100);
        const p = await place('handler', 0, 35);
        await settled();
        await page.touchscreen.tap(p.x, p.y);
        await page.waitForFunction(() => window.strobe.selection);
        await send('touchStart', [[p.x, p.y]]);
        await page.waitForFunction(() => window.strobe.menu.isOpen);
        await send('touchEnd', []);
        assert.match(await text('.menu'), /Find all of this name/);
        await fresh();
    },
    async 'traces that were opened before are on the start page: addresses, and files that may be read again'() {
        await fresh();
        await page.goto(`${server.url}/?url=/t/daily.strobe`);
        await settled();
        await state(async () => { /* a file of the browser's own: it has the same handle as one from disk */
            const bytes = await (await fetch('/t/one.strobe')).blob(), handle = await (await navigator.storage.getDirectory()).getFileHandle('kept.strobe', {create: true}), out = await handle.createWritable();
            await out.write(bytes);
            await out.close();
            await window.strobe.start.recent.note({name: 'kept.strobe', handle});
        });
        await page.goto(server.url);
        await page.locator('.recent .link', {hasText: 'kept.strobe'}).click();
        await settled();
        assert.equal(await text('.name'), 'kept.strobe');
        await page.goto(server.url);
        await page.locator('.recent .link', {hasText: 'daily.strobe'}).click();
        await settled();
        assert.equal(await text('.name'), 'daily.strobe');
        await page.goto(server.url);
        await page.locator('.recent .tracerow', {hasText: 'kept.strobe'}).locator('button.small').click();
        await page.waitForFunction(() => document.querySelectorAll('.recent .tracerow').length === 1);
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
