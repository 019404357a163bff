/* test_samples.mjs: strips, ticks, processors and the panel of samples, used as a user would; figures are those of the command. Arguments: browser.mjs; the
 * traces are those of traces_samples.py.  SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {clickZone, open, page, panel, pixel, run, says, setView, settled, shot, state, still, strobe, text, traces} from './browser.mjs';

/* The place of a time on a track's strip ('states'), ticks ('samples') or row ('cpu'). */
function placeOf(name, what, ms) {
    return still(([n, w, t]) => {
        const s = window.strobe, tl = s.timeline, track = s.trace.tracks.find((x) => x.name === n && x.kind !== 'process'), box = tl.canvas.getBoundingClientRect();
        s.showTrack(track.id);
        const {row, y} = tl.visibleRows().find((r) => r.row.track.id === track.id && !r.row.header), below = {states: row.height - 17, samples: row.height - 7, cpu: row.height / 2}[w];
        return {x: box.left + tl.xOf(t * 1e6), y: box.top + y + below};
    }, [name, what, ms]);
}

/* The tip is of that place, not of one before. */
async function pointAt(name, what, ms) {
    const p = await placeOf(name, what, ms);
    await page.mouse.move(5, 5);
    await page.locator('.tip').waitFor({state: 'hidden'});
    await page.mouse.move(p.x, p.y);
    await page.locator('.tip').waitFor();
    return p;
}

async function click(name, what, ms) {
    const p = await pointAt(name, what, ms);
    await page.mouse.click(p.x, p.y);
    await settled();
}

/* Answers to a kind of question are on their way until they are let go. */
const hold = (kind) => state((k) => {
    const {engine} = window.strobe, ask = engine.ask.bind(engine);
    window.held = [];
    engine.ask = async (q) => {
        const answer = await ask(q);
        if (q.ask === k && window.held)
            await new Promise((go) => { window.held.push(go); });
        return answer;
    };
}, kind);

async function letGo() {
    await state(() => {
        const {held} = window;
        window.held = null;
        held.forEach((go) => go());
    });
    await settled();
}

/* Functions as [self, total, name], by the command and by the panel. */
function commandSays(name, ...words) {
    const lines = execFileSync(strobe, ['stats', '--stacks', ...words, path.join(traces, `${name}.strobe`)], {encoding: 'utf8'}).split('\n').slice(1).filter((line) => /%/.test(line));
    return lines.map((line) => /^ *(\d+) +[\d.]+ % +(\d+) +[\d.]+ % +(.*)$/.exec(line).slice(1)).sort().join('\n');
}

async function panelSays() {
    const rows = await page.locator('.frow').evaluateAll((list) => list.map((row) => [...row.children].map((c) => c.textContent)));
    return rows.map((c) => [c[0], c[2], c[4]].map((s) => s.replace(/\u202f|,/g, ''))).sort().join('\n');
}

const tests = {
    async 'a program without marks has strips, ticks and rows of processors'() {
        await open('sampled');
        assert.deepEqual(await state(() => window.strobe.trace.tracks.map((t) => [t.kind, t.name, t.n_depths, t.marks || 0])), [['process', 'server', 0, 0], ['thread', 'one', 0, 3], ['thread', 'two', 0, 3],
            ['cpus', 'Processors', 0, 0], ['cpu', 'CPU 0', 0, 0], ['cpu', 'CPU 1', 0, 0]]);
        await shot('samples-strips');
    },
    async 'the program comes before the shell and the tools around it'() {
        await open('wrapped');
        assert.deepEqual(await state(() => window.strobe.trace.tracks.filter((t) => t.kind === 'process').map((t) => t.name)), ['program', 'tool', 'sh', 'sh']);
    },
    async 'strips are drawn in every theme, and above them how busy the processors were'() {
        await open('sampled');
        for (const theme of ['light', 'dark', 'contrast']) {
            await state((name) => window.strobe.setTheme(name), theme);
            await settled();
            const p = await placeOf('one', 'states', 2);
            assert.notDeepEqual(await pixel(p), await pixel({...p, y: p.y - 8}), theme);
        }
        await page.waitForFunction(() => window.strobe.minimap.busy && window.strobe.minimap.busy.some((share) => share > 0.5));
    },
    async 'pointing at a strip tells state, processor and why'() {
        await open('sampled');
        await setView(0, 20);
        await pointAt('one', 'states', 2);
        assert.match(await text('.tip'), /runs on CPU 0[\s\S]*4\.0+ ms/);
        await pointAt('one', 'states', 7);
        assert.match(await text('.tip'), /waits[\s\S]*6\.0+ ms[\s\S]*not known/);
        await pointAt('two', 'states', 5.75);
        assert.match(await text('.tip'), /is ready[\s\S]*500\.0 µs[\s\S]*preempted/);
    },
    async 'from afar a strip tells the share of each state'() {
        await open('sampled');
        const sums = await state(async () => {
            const s = window.strobe, [from, to] = s.trace.range, track = s.trace.tracks.find((t) => t.name === 'two');
            return Promise.all([3, 1000, 16000].map(async (width) => {
                const {json, arrays} = await s.engine.ask({ask: 'strips', from, to, width, tracks: [track.id]}), [, , first, n] = json.lanes.find((l) => l[1] === 0);
                return ['run', 'ready', 'wait'].map((k) => arrays[k].slice(first, first + n).reduce((a, b) => a + b, 0));
            }));
        });
        for (const sum of sums)
            assert.deepEqual(sum.map((ns) => Math.round(ns / 1000)), [160000, 10000, 19 * 1500], 'us of running, being ready, waiting');
    },
    async 'a click on a tick shows the stack with source lines'() {
        await open('sampled');
        await setView(0, 20);
        await pointAt('one', 'samples', 0.25);
        await says('.tip', /hash\s+parse\s+serve\s+main/);
        await click('one', 'samples', 0.25);
        assert.match(await text('.details h2'), /^Sample$/);
        assert.deepEqual(await page.locator('.details .stack li').allInnerTexts(), ['hash src/hash.c:11', 'parse src/parse.c:40', 'serve src/serve.c:7', 'main src/main.c:3']);
        await shot('samples-details');
    },
    async 'a processor tells who ran on it, and a click leads to the thread'() {
        await open('sampled');
        await setView(0, 20);
        await pointAt('CPU 0', 'cpu', 7);
        assert.match(await text('.tip'), /two[\s\S]*3\.0+ ms[\s\S]*CPU 0/);
        await click('CPU 0', 'cpu', 7);
        assert.match(await text('.details h2'), /^two on CPU 0$/);
    },
    async 'functions are those of the command, in the whole trace and in a range'() {
        await open('sampled');
        await panel('samples');
        await says('.drawer .state', /^480 samples/);
        assert.equal(await panelSays(), commandSays('sampled'));
        await state(() => {
            window.strobe.setArea(20e6, 31e6, null);
            window.strobe.areaDone();
        });
        await says('.drawer .state', /^\d\d samples/);
        await settled();
        assert.equal(await panelSays(), commandSays('sampled', '--range', '20ms..31ms'));
        await shot('samples-functions');
    },
    async 'functions are gone through with keys, and Enter shows the lines of one'() {
        await open('sampled');
        await panel('samples');
        await says('.drawer .state', /^480 samples/);
        await page.locator('.functions').focus();
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('ArrowDown');
        const name = await state(() => document.querySelector('.frow.current').children[4].textContent);
        await page.keyboard.press('Enter');
        await page.waitForFunction((n) => window.strobe.drawer.panel('samples').element.querySelector('.frow.picked')?.children[4].textContent === n, name);
        await settled();
    },
    async 'a thread alone, a flame graph, tables'() {
        await open('sampled');
        await panel('samples');
        await page.locator('select[aria-label=threads]').selectOption({label: '\u2003two (5002)'});
        await says('.drawer .state', /^320 samples/);
        assert.deepEqual((await page.locator('.frow').first().innerText()).split(/\s+/).slice(0, 5), ['320', '100.0', '%', '320', '100.0']);
        await page.locator('.bar select[aria-label="kind of view"]:visible').selectOption('tree');
        await settled();
        assert.deepEqual(await state(() => window.strobe.drawer.panel('samples').boxes().map((b) => b.node.total)), [320, 320, 320, 320]);
        await page.locator('select[aria-label=threads]').selectOption('');
        await settled();
        await page.locator('.bar select[aria-label="kind of view"]:visible').selectOption('up');
        await settled();
        assert.match(await text('.tree .treerow:nth-child(1)'), /called from/);
        assert.match((await page.locator('.samplesleft .tree').innerText()).replace(/\s+/g, ' '), /parse 400 83\.3 %.*hash 80 16\.7 %/);
    },
    async 'a list to choose from stays open while its panel is made anew'() {
        await open('sampled', '#p=samples');
        await page.locator('select[aria-label=threads]').selectOption({label: '\u2003two (5002)'});
        await settled();
        await state(() => { window.first = document.querySelector('select[aria-label=threads] option'); });
        await state(() => window.strobe.drawer.spoil());
        await settled();
        assert.ok(await state(() => window.first.isConnected && document.querySelector('select[aria-label=threads]').selectedOptions[0].text === '\u2003two (5002)'));
    },
    async 'waits are counted by the last stack before them'() {
        await open('sampled');
        await panel('samples');
        await page.locator('.bar select[aria-label="kind of view"]:visible').selectOption('waits-functions');
        await says('.drawer .state', /^39 waits, 147\.5 ms in all/); /* 19 of 6 ms and one of 5, 19 of 1.5 ms */
        assert.deepEqual((await page.locator('.frow').first().innerText()).split(/\s+/).slice(0, 4), ['147.5', 'ms', '100.0', '%']);
        await page.locator('.bar select[aria-label="kind of view"]:visible').selectOption('waits');
        await settled();
        assert.deepEqual(await state(() => window.strobe.drawer.panel('samples').boxes().map((b) => Math.round(b.node.total / 1e5))), [1475, 1475, 1475, 1475]);
        await shot('samples-waits');
    },
    async 'what ran inside of a zone, of all of its name, and of none'() {
        await open('joined');
        assert.deepEqual(await state(() => window.strobe.trace.tracks.filter((t) => t.kind === 'thread').map((t) => [t.name, t.n_depths, t.marks])), [['main', 2, 3]]);
        await clickZone('main', 1, 4);
        await page.locator('.details button', {hasText: /^Samples in it$/}).click();
        await says('.drawer .state', /^4 samples/);
        await page.locator('.chip').click();
        await says('.drawer .state', /^180 samples/);
        await clickZone('main', 0, 2);
        await page.locator('.details button', {hasText: 'Samples in all of its name'}).click();
        await says('.drawer .state', /^120 samples/);
        await shot('samples-inside');
    },
    async 'functions of samples lie below the thread when they are switched on'() {
        await open('sampled');
        await setView(0, 20);
        await state(() => window.strobe.act('ghosts'));
        await page.waitForFunction(() => window.strobe.timeline.layout.rows.filter((r) => r.ghosts).length === 2);
        await settled();
        const p = await still(() => {
            const tl = window.strobe.timeline, {row, y} = tl.visibleRows().find((r) => r.row.track.name === 'one'), box = tl.canvas.getBoundingClientRect();
            return {x: box.left + tl.xOf(2e6), y: box.top + y + row.height - 3 - 15 * 2 + 7};
        });
        await page.mouse.move(p.x, p.y);
        await says('.tip', /parse[\s\S]*3\.75\d* ms[\s\S]*8/);
        await shot('samples-ghosts');
        await page.mouse.click(p.x, p.y);
        await says('.hotlines', /parse/);
        await state(() => window.strobe.act('ghosts'));
        await settled();
        assert.equal(await state(() => window.strobe.timeline.layout.rows.filter((r) => r.ghosts).length), 0);
    },
    async 'a function has its lines with the samples on them'() {
        await open('joined');
        await panel('samples');
        await page.locator('.frow', {hasText: 'hash'}).click();
        await says('.hotlines', /90 in it alone/);
        assert.deepEqual(await page.locator('.hotlines [data-line]').evaluateAll((list) => list.map((e) => [e.dataset.line, e.querySelector('.count').textContent])), [['11', '90']]);
    },
    async 'a wait tells what for, and who ended it'() {
        const reasons = ['lock (futex)', 'sleep', 'disk', 'page fault', 'data of a pipe or socket', 'poll', 'child process', 'signal', 'stopped', 'lock in the kernel'];
        await open('woken');
        for (const [i, words] of reasons.entries()) {
            await pointAt('waiter', 'states', 10 * i + 4);
            const told = await text('.tip');
            assert.match(told, /waits[\s\S]*4\.0+ ms/);
            assert.ok(told.includes(words), `${told} has no ${words}`);
            assert.ok(told.includes(i === 4 ? 'woken by\nthread 7777 of another process' : 'woken by\nwaker') === (i !== 5), told);
        }
        const colors = await Promise.all([4, 14, 24, 34, 44].map(async (ms) => pixel(await placeOf('waiter', 'states', ms))));
        assert.equal(new Set(colors.map(String)).size, 5, 'lock, sleep, disk, page fault and data have colours of their own');
        await state(() => window.strobe.setView(-9e9, 9e9)); /* all of it in a pixel or two */
        await settled();
        await shot('samples-reasons');
    },
    async 'an arrow leads from who woke a thread, and a click on it goes there'() {
        await open('woken');
        await setView(0, 10);
        assert.equal(await state(() => window.strobe.timeline.wakes.shown.length), 0);
        await pointAt('waiter', 'states', 4);
        await page.waitForFunction(() => window.strobe.timeline.wakes.shown.length === 1);
        const [waiter, waker] = await Promise.all(['waiter', 'waker'].map((name) => placeOf(name, 'states', 6)));
        const middle = {x: waiter.x, y: (waiter.y + waker.y) / 2};
        await shot('samples-wake');
        assert.notDeepEqual(await pixel(middle), await pixel({...middle, x: middle.x - 12}), 'there is an arrow between the two');
        await page.mouse.move(middle.x, middle.y);
        await says('.tip', /woken by waker/);
        await page.mouse.click(middle.x, middle.y);
        await says('.details h2', /^waker runs on CPU 1$/);
        await page.keyboard.press(']');
        await says('.details h2', /^waiter /);
        await page.keyboard.press('[');
        await says('.details h2', /^waker runs on CPU 1$/);
        await click('waiter', 'states', 4);
        await page.locator('.details').getByRole('button', {name: 'waker'}).click();
        await says('.details h2', /^waker runs on CPU 1$/);
        await click('waiter', 'states', 4);
        await page.keyboard.press('Escape');
        await page.mouse.move(5, 5);
        await page.waitForFunction(() => window.strobe.timeline.wakes.shown.length === 0);
    },
    async 'Details tell of a stretch that was clicked, however late the answer comes'() {
        await open('woken', '#p=details');
        await setView(0, 10);
        await hold('sample');
        await click('waiter', 'states', 4);
        await page.waitForFunction(() => window.held.length === 1);
        await settled(); /* panels are made anew before the answer is there */
        await letGo();
        assert.match(await text('.details h2'), /^waiter waits$/);
    },
    async 'a late answer about who woke a thread leaves what was clicked since'() {
        await open('woken');
        await setView(0, 10);
        await click('waiter', 'states', 4);
        await hold('strips');
        await page.locator('.details').getByRole('button', {name: 'waker'}).click();
        await page.waitForFunction(() => window.held.length > 0);
        await click('waiter', 'states', 1);
        assert.match(await text('.details h2'), /^waiter runs on CPU 0$/);
        await letGo();
        assert.match(await text('.details h2'), /^waiter runs on CPU 0$/);
    },
    async 'wake-ups of an area have their arrows, those of strangers a name'() {
        await open('woken');
        await setView(0, 100);
        await state(() => {
            window.strobe.setArea(0, 100e6, null);
            window.strobe.areaDone();
        });
        await page.waitForFunction(() => window.strobe.timeline.wakes.shown.length === 9);
        const foreign = await state(() => window.strobe.timeline.wakes.shown.filter((a) => a.wake.by >= 0x80000000).map((a) => window.strobe.timeline.strips.whoText(a.wake.by)));
        assert.deepEqual(foreign, ['thread 7777 of another process']);
        await shot('samples-wakes');
    },
    async 'a function has its instructions with the samples at each, of all processes'() {
        await open('coded');
        await panel('samples');
        await page.locator('.frow', {hasText: 'spin'}).click();
        await page.locator('.hotlines button', {hasText: 'instructions'}).click();
        await page.locator('.hotlines [data-at]').first().waitFor();
        const rows = await page.locator('.hotlines [data-at]').evaluateAll((list) => list.map((e) => [Number(e.dataset.at), e.querySelector('.count').textContent, e.childNodes[2].textContent.trim()]));
        assert.deepEqual(rows, [[0, '', 'push rbp'], [1, '', 'mov rbp, rsp'], [4, '', 'mov eax, 5'], [9, '40', 'add eax, 1'], [12, '', 'cmp eax, 0x64'], [15, '20', 'jne 0x1009'], [17, '20', 'call 0x1020'], [22, '', 'pop rbp'], [23, '', 'ret']]);
        await page.locator('.hotlines [data-at="15"] .jump').click();
        await page.locator('.hotlines [data-at="9"].landed').waitFor();
        await shot('samples-instructions');
        await page.locator('.hotlines button', {hasText: 'source'}).click();
        await says('.hotlines', /while \(i != 100\)/); /* its text is in the trace */
        assert.deepEqual(await page.locator('.hotlines [data-line]').evaluateAll((list) => list.map((e) => e.querySelector('.count').textContent)), ['', '', '', '20', '40', '20', '', '']);
        await page.locator('.frow', {hasText: 'step'}).click();
        await page.locator('.hotlines button', {hasText: 'instructions'}).click();
        await says('.hotlines', /It is inlined: this is the code of spin/);
        await page.locator('.frow', {hasText: 'leaf'}).click();
        await says('.hotlines', /no machine code of it/);
    },
    async 'an exported page can have source files and the disassembler in it'() {
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strobe-source-')), file = path.join(folder, 'coded.html');
        try {
            fs.mkdirSync(path.join(folder, 'src'));
            fs.writeFileSync(path.join(folder, 'src', 'leaf.c'), '\n'.repeat(8) + 'return "</script><b>";\n');
            fs.utimesSync(path.join(folder, 'src', 'leaf.c'), 1, 1); /* older than the trace */
            execFileSync(strobe, ['export', '--to', 'html', '--source', '-o', file, path.join(traces, 'coded.strobe')], {cwd: folder, stdio: 'pipe'});
            await page.goto(`file://${file}`);
            await settled();
            await panel('samples');
            await page.locator('.frow', {hasText: 'leaf'}).click();
            await says('.hotlines', /return "<\/script><b>";/);
            await page.locator('.frow', {hasText: 'spin'}).click();
            await page.locator('.hotlines button', {hasText: 'instructions'}).click();
            await says('.hotlines', /add eax, 1/);
        } finally {
            fs.rmSync(folder, {recursive: true});
        }
    },
};

await run(tests);
