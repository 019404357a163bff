/* test_live.mjs STROBE MODULES PROGRAMS SHOTS PYTHON [PART…]: the page and its server over time: traces that grow, connections that
 * break, servers that come back, and the start page. With PART, only the tests with that in their name.
 * SPDX-License-Identifier: MIT */
import {execFileSync, spawn} from 'node:child_process';
import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import {begin, launch, openPage, settled, until, web} from './served.mjs';
import {forward} from './forward.mjs';

const [strobe, modules, programs, shots, python, ...parts] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url)), pulse = path.join(programs, 'pulse'), beacon = path.join(programs, 'beacon');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strobe-live-')), env = {STROBE_DIR: path.join(folder, 'sessions')};
const browser = await launch(modules);
fs.mkdirSync(env.STROBE_DIR, {mode: 0o700});
fs.mkdirSync(shots, {recursive: true});

const at = (name) => path.join(folder, name);
const run = (...words) => execFileSync(strobe, words, {env: {...process.env, ...env}, stdio: ['ignore', 'pipe', 'pipe']}).toString();
const begun = [];

/* A command that is ended with its test. */
async function start(args, options = {}) {
    const one = await begin(strobe, args, {env, ...options});
    begun.push(one);
    return one;
}
const view = (...args) => start(['view', '--no-open', '--web', web, ...args]);
const record = (name, ...command) => start(['record', '-q', '--live', '-o', at(name), '--', ...command], {stdin: 'pipe'});

async function endAll() {
    for (const one of begun.splice(0)) {
        one.child.kill('SIGTERM');
        await one.ended;
    }
}

function freePort() {
    return new Promise((resolve) => {
        const server = net.createServer().listen(0, '127.0.0.1', () => {
            const {port} = server.address();
            server.close(() => resolve(port));
        });
    });
}

function makeTrace(name, n = 30) {
    if (!fs.existsSync(at(name)))
        execFileSync(strobe, ['record', '-q', '-o', at(name), '--', pulse, '200', String(n)], {env: {...process.env, ...env}, stdio: 'ignore'});
}

/* How many zones the drawn pixels stand for. */
const drawn = (page) => page.evaluate(() => window.strobe.timeline.data.fine.arrays.count.reduce((sum, n) => sum + n, 0));
const text = (page, selector) => page.locator(selector).innerText();
const place = (page) => page.evaluate(() => {
    const s = window.strobe;
    return {from: s.view.from, to: s.view.to, selected: s.selection && s.selection.t0, name: s.selection && s.names.name(s.selection.loc), pinned: s.choice.pinned.length};
});

/* Somewhere in the middle, with a zone selected and a track pinned. */
async function goSomewhere(page) {
    await page.evaluate(async () => {
        const s = window.strobe, [from, to] = s.trace.range, track = s.trace.tracks.find((t) => t.kind === 'thread');
        s.setView(from + (to - from) * 0.4, from + (to - from) * 0.6);
        s.togglePin(track.id);
        await s.selectZone(track.id, 0, (from + to) / 2, true);
        const {json} = await s.engine.ask({ask: 'step', track: track.id, at: (from + to) / 2, depth: 0, to: 'next', same: 'depth', loc: 0});
        json.zone.track = track.id;
        s.setSelection(json);
    });
    await settled(page);
    const was = await place(page);
    assert.equal(was.name, 'beat');
    return was;
}

const offline = (page, is) => until(page, (want) => document.body.classList.contains('offline') === want, is);

/* It is answered and drawn as it was. */
async function goesOn(page, was) {
    await offline(page, false);
    await until(page, (name) => window.strobe.selection && window.strobe.names.name(window.strobe.selection.loc) === name, was.name);
    await settled(page);
    assert.deepEqual(await place(page), was);
    await page.evaluate(() => window.strobe.zoom(0.5));
    await settled(page);
    assert.ok(await drawn(page) > 0);
}

/* What the command prints that the page's statistics are copied as, in the folder of the traces. */
async function runCopied(page) {
    await page.evaluate(() => window.strobe.drawer.show('stats'));
    await page.getByText('Copy as command').click();
    await until(page, () => /^copied: /.test(document.querySelector('.toast').textContent));
    const command = await page.evaluate(() => navigator.clipboard.readText());
    return execFileSync('sh', ['-c', command], {cwd: folder, env: {...process.env, ...env, PATH: `${path.dirname(path.resolve(strobe))}:${process.env.PATH}`}, stdio: ['ignore', 'pipe', 'pipe']}).toString();
}

const row = (page, words) => page.locator('.tracerow', {hasText: words});

function announce(port, program, listen, waited = 1) {
    const name = Buffer.from(`${program}\0`), bytes = Buffer.alloc(20 + name.length), udp = dgram.createSocket('udp4');
    bytes.writeUInt16LE(3, 0);
    bytes.writeUInt16LE(listen, 2);
    bytes.writeUInt32LE(69, 4);
    bytes.writeBigUInt64LE(4242n, 8);
    bytes.writeInt32LE(waited, 16);
    name.copy(bytes, 20);
    return new Promise((resolve) => udp.bind(() => {
        udp.setBroadcast(true);
        udp.send(bytes, port, '127.255.255.255', () => udp.close(resolve));
    }));
}

const tests = {
    async 'every zone of ten a second is drawn while the program runs'() {
        const recorder = await record('slow.strobe', pulse, '10', '0'), page = await openPage(browser);
        await page.goto(recorder.link);
        await settled(page);
        const seen = [], until = performance.now() + 30000;
        while (!(seen.at(-1) >= seen[0] + 20)) {
            await page.waitForTimeout(50);
            seen.push(await drawn(page));
            assert.ok(performance.now() < until, `only ${seen} were drawn; ${JSON.stringify(await page.evaluate(() => [window.strobe.view, window.strobe.trace.range, window.strobe.following]))}`);
        }
        recorder.child.stdin.end();
        const n = Number(await new Promise((resolve) => recorder.child.stdout.on('data', (bytes) => /^\d+$/m.test(bytes) && resolve(/^\d+$/m.exec(bytes)[0]))));
        await recorder.ended;
        assert.ok(seen.every((k, i) => k <= n && (!i || k >= seen[i - 1])), `${n}: ${seen}`);
        assert.ok(new Set(seen).size > 2, `they come bit by bit: ${seen}`);
        return page;
    },
    async 'the view follows, is held by moving it, and follows again'() {
        const recorder = await record('held.strobe', beacon), page = await openPage(browser);
        await page.goto(recorder.link);
        await until(page, () => window.strobe && window.strobe.trace && window.strobe.trace.range[1] > 1e9);
        assert.match(await text(page, '.live'), /live/);
        await page.evaluate(() => { const s = window.strobe; s.setView(s.trace.range[1] - 3e8, s.trace.range[1], true); });
        const right = await page.evaluate(() => window.strobe.view.to);
        await until(page, (r) => window.strobe.view.to > r + 3e8, right);
        await page.evaluate(() => window.strobe.pan(-2e8));
        assert.match(await text(page, '.live'), /held/);
        const held = await place(page), end = await page.evaluate(() => window.strobe.trace.range[1]);
        await until(page, (e) => window.strobe.trace.range[1] > e + 4e8, end);
        assert.deepEqual(await place(page), held);
        await page.locator('.topbar [data-act=timeMode]').click();
        await page.keyboard.press('Space');
        await until(page, (e) => window.strobe.view.to > e, end);
        await page.screenshot({path: path.join(shots, 'live.png')});
        return page;
    },
    async 'a link to a place of a trace that grows shows that place, beyond its end too'() {
        const recorder = await record('placed.strobe', beacon), page = await openPage(browser);
        await page.goto(`${recorder.link}#v=-1000000000,900000000000`);
        await until(page, () => window.strobe && window.strobe.trace && window.strobe.timeline.data.fine && !window.strobe.isArriving);
        const before = await page.evaluate(() => ({...window.strobe.view, end: window.strobe.trace.range[1]}));
        await until(page, (end) => window.strobe.trace.range[1] > end + 3e8, before.end);
        assert.deepEqual(await page.evaluate(() => [window.strobe.view.from, window.strobe.view.to]), [before.from, before.to]);
        assert.match(await page.locator('.live').innerText(), /held/);
        return page;
    },
    async 'what is told at the pointer goes on while the trace grows'() {
        const recorder = await record('told.strobe', pulse, '200', '1000000'), page = await openPage(browser);
        await page.goto(recorder.link);
        await until(page, () => window.strobe && window.strobe.trace && window.strobe.timeline.data.fine && window.strobe.timeline.visibleRows().some((r) => r.row.track.kind === 'thread'));
        const at = await page.evaluate(() => {
            const tl = window.strobe.timeline, row = tl.visibleRows().find((r) => r.row.track.kind === 'thread'), box = tl.canvas.getBoundingClientRect();
            return {x: box.left + (tl.width + 208) / 2, y: box.top + row.y + 12};
        });
        await page.mouse.move(at.x, at.y);
        await until(page, () => { /* others come under the pointer, which rests */
            const tip = document.querySelector('.tip');
            window.told = (window.told || new Set()).add(tip.hidden ? '' : tip.innerText);
            window.told.delete('');
            return window.told.size >= 3;
        });
        recorder.child.stdin.end();
        return page;
    },
    async 'a trace that is deleted while it is shown is said to be gone, and why'() {
        makeTrace('away.strobe');
        const server = await view(folder), page = await openPage(browser);
        await page.goto(`${server.link}&trace=away.strobe`);
        await settled(page);
        fs.unlinkSync(at('away.strobe'));
        await page.goto('about:blank');
        await page.goto(`${server.link}&trace=away.strobe`);
        await until(page, () => /away\.strobe is not there: it was deleted, renamed or moved/.test(document.body.innerText));
        return page;
    },
    async 'a process of another PID namespace is called so on the start page'() {
        const program = spawn(beacon, [], {env: {...process.env, ...env}, stdio: ['pipe', 'ignore', 'ignore']});
        let inner;
        try {
            inner = await begin('unshare', ['-pf', '--kill-child', '--mount-proc', strobe, 'view', '--no-open', '--web', web, folder], {env});
        } catch {
            program.stdin.end();
            return openPage(browser); /* no namespaces here */
        }
        const page = await openPage(browser);
        await page.goto(inner.link);
        await until(page, (pid) => document.querySelector('.start').innerText.includes(`process ${pid} of another PID namespace`), program.pid);
        program.stdin.end();
        inner.child.kill('SIGKILL');
        await inner.ended;
        return page;
    },
    async 'panels count on while the trace grows, and stay as they were used'() {
        const recorder = await record('counted.strobe', beacon), page = await openPage(browser), zones = () => page.evaluate(() => Number(/, ([\d,]+) zones?/.exec(document.querySelector('.state').textContent)[1].replace(/,/g, '')));
        await page.goto(`${recorder.link}#p=stats`);
        await until(page, () => window.strobe && window.strobe.trace && /zones/.test(document.querySelector('.state').textContent));
        await page.locator('.thead button[data-key=count]').click();
        await until(page, () => document.querySelector('[data-key=count]').getAttribute('aria-sort') === 'descending');
        await page.evaluate(() => { document.querySelector('.trow').isFirst = true; });
        const more = async (what) => {
            const n = await zones();
            await until(page, (m) => Number(/, ([\d,]+) zones?/.exec(document.querySelector('.state').textContent)[1].replace(/,/g, '')) > m, n).catch((error) => { throw new Error(`${what}: ${error.message}`); });
        };
        await more('whole trace');
        assert.ok(await page.evaluate(() => document.querySelector('.trow').isFirst && document.querySelector('[data-key=count]').getAttribute('aria-sort') === 'descending'), 'rows stay, and their order');
        await page.locator('.bar input').focus();
        await page.waitForTimeout(300);
        const held = await zones();
        await page.waitForTimeout(2500);
        assert.equal(await zones(), held, 'not while one types');
        await page.locator('.bar input').blur();
        await more('after typing');
        await page.locator('#limit').check();
        await until(page, () => /^view of/.test(document.querySelector('.rangenote').textContent));
        await more('view that follows');
        await page.locator('#limit').uncheck();
        await page.locator('[data-panel=info]').click();
        const events = () => page.evaluate(() => /stored\s*([\d,]+) events/.exec(document.querySelector('.info').innerText)?.[1]);
        await until(page, () => /events/.test(document.querySelector('.info')?.innerText));
        const stored = await events();
        await until(page, (s) => /stored\s*([\d,]+) events/.exec(document.querySelector('.info').innerText)[1] !== s, stored);
        recorder.child.stdin.end();
        return page;
    },
    async 'panels of a growing trace ask one question at a time, and rest longer than the answers took'() {
        const recorder = await record('rested.strobe', beacon), page = await openPage(browser);
        await page.goto(`${recorder.link}#p=stats`);
        await until(page, () => window.strobe && window.strobe.trace && /zones/.test(document.querySelector('.state').textContent));
        await page.evaluate(() => {
            const {engine} = window.strobe, ask = engine.ask.bind(engine);
            window.asked = [];
            engine.ask = async (q) => {
                if (q.ask !== 'stats')
                    return ask(q);
                const one = {from: performance.now()};
                window.asked.push(one);
                await new Promise((resolve) => { setTimeout(resolve, 400); });
                const answer = await ask(q);
                one.to = performance.now();
                return answer;
            };
        });
        await page.locator('#limit').check(); /* the view follows five times a second */
        await until(page, () => window.asked.length > 2); /* the first two are of the click and of the growth before it */
        const asked = await page.evaluate(() => window.asked), [, before, next] = asked;
        assert.ok(next.from - before.to > 3 * (before.to - before.from), JSON.stringify(asked));
        recorder.child.stdin.end();
        return page;
    },
    async 'a recording is stopped, and a range of it saved, from the page'() {
        const recorder = await record('stopped.strobe', beacon), page = await openPage(browser);
        await page.goto(recorder.link);
        await until(page, () => window.strobe && window.strobe.trace && window.strobe.trace.range[1] > 1e9);
        await page.evaluate(() => window.strobe.setArea(3e8, 6e8, null));
        await page.evaluate(() => window.strobe.act('saveRange'));
        await until(page, () => /^saved stopped-300000-600000us\.strobe, /.test(document.querySelector('.toast').textContent));
        await page.evaluate(async () => {
            const s = window.strobe;
            s.area = null;
            s.setView(-1e7, s.trace.range[1]);
            await s.act('saveRange');
        });
        await until(page, () => /^saved stopped-0-\d+us\.strobe, /.test(document.querySelector('.toast').textContent));
        await page.locator('.stop').click();
        await until(page, () => window.strobe.trace.closed);
        assert.equal(await page.locator('.live').isVisible(), false);
        assert.equal(recorder.child.exitCode, null, 'the program goes on');
        const saved = fs.readdirSync(folder).find((n) => n.startsWith('stopped-'));
        assert.match(run('stats', '--csv', at(saved)), /part/);
        assert.match(run('info', at('stopped.strobe')), /beacon/);
        recorder.child.stdin.end();
        return page;
    },
    async 'behind another port the page works, and goes on when the connection was cut'() {
        makeTrace('kept.strobe');
        const server = await view(at('kept.strobe')), tunnel = await forward(server.port), page = await openPage(browser);
        await page.goto(server.link.replace(`:${server.port}`, `:${tunnel.port}`));
        await settled(page);
        const was = await goSomewhere(page);
        tunnel.cut();
        await offline(page, true);
        assert.match(await text(page, '.toast'), /does not answer/);
        tunnel.mend();
        await goesOn(page, was);
        tunnel.close();
        return page;
    },
    async 'a connection that is silent without being closed is given up and made anew'() {
        makeTrace('kept.strobe');
        const server = await view(at('kept.strobe')), tunnel = await forward(server.port), page = await openPage(browser);
        await page.goto(server.link.replace(`:${server.port}`, `:${tunnel.port}`));
        await settled(page);
        const was = await goSomewhere(page);
        tunnel.stall();
        await offline(page, true);
        tunnel.mend();
        await goesOn(page, was);
        tunnel.close();
        return page;
    },
    async 'a server that was started anew on its port is gone on with'() {
        makeTrace('kept.strobe');
        const port = String(await freePort()), server = await view('--port', port, at('kept.strobe')), page = await openPage(browser);
        await page.goto(server.link);
        await settled(page);
        const was = await goSomewhere(page);
        await endAll();
        await offline(page, true);
        await view('--port', port, at('kept.strobe'));
        await goesOn(page, was);
        return page;
    },
    async 'a server with another token is told apart from one that is away'() {
        makeTrace('kept.strobe');
        const port = String(await freePort()), server = await view('--port', port, at('kept.strobe')), page = await openPage(browser);
        await page.goto(server.link);
        await settled(page);
        await endAll();
        fs.rmSync(path.join(env.STROBE_DIR, 'default', `view-${port}.token`));
        await view('--port', port, at('kept.strobe'));
        await until(page, () => /link is of no use/.test(document.querySelector('.toast').textContent));
        page.errors.length = 0; /* 403 is what is looked for */
        return page;
    },
    async 'a trace that another one took the place of is shown anew'() {
        makeTrace('first.strobe', 30);
        makeTrace('second.strobe', 90);
        fs.copyFileSync(at('first.strobe'), at('same.strobe'));
        const server = await view(at('same.strobe')), page = await openPage(browser);
        await page.goto(server.link);
        await settled(page);
        fs.copyFileSync(at('second.strobe'), at('other.tmp'));
        fs.renameSync(at('other.tmp'), at('same.strobe'));
        await until(page, () => window.strobe.trace.totals.zones === 90);
        await settled(page);
        return page;
    },
    async 'the start page lists traces, hears of new ones, and deletes'() {
        makeTrace('kept.strobe');
        const server = await view(folder), page = await openPage(browser);
        await page.goto(server.link);
        await row(page, 'kept.strobe').waitFor();
        fs.copyFileSync(at('kept.strobe'), at('zz-new.strobe'));
        await row(page, 'zz-new.strobe').waitFor();
        assert.match(await page.locator('.traces .tracerow').first().innerText(), /zz-new\.strobe\s+[\d.]+ [KM]i?B\s+20\d\d-\d\d-\d\d \d\d:\d\d:\d\d/);
        await page.screenshot({path: path.join(shots, 'start-server.png')});
        await row(page, 'zz-new.strobe').getByTitle('delete').click();
        await page.getByRole('button', {name: 'Delete', exact: true}).click();
        await row(page, 'zz-new.strobe').waitFor({state: 'detached'});
        assert.equal(fs.existsSync(at('zz-new.strobe')), false);
        await row(page, 'kept.strobe').locator('a').click();
        await settled(page);
        assert.equal(await page.evaluate(() => window.strobe.trace.name), 'kept.strobe');
        return page;
    },
    async 'a live session is joined from the start page, wherever its trace is'() {
        const elsewhere = fs.mkdtempSync(path.join(folder, 'elsewhere-'));
        const recorder = spawn(strobe, ['record', '-q', '-o', path.join(elsewhere, 'far.strobe'), '--', beacon], {env: {...process.env, ...env}, stdio: ['pipe', 'ignore', 'ignore']});
        const server = await view(folder), page = await openPage(browser);
        await page.goto(server.link);
        await row(page, 'far.strobe').locator('a').click();
        await settled(page);
        assert.equal(await page.evaluate(() => window.strobe.trace.name), 'far.strobe');
        await until(page, () => window.strobe.trace.range[1] > 1e9);
        recorder.stdin.end();
        await until(page, () => window.strobe.trace.closed);
        return page;
    },
    async 'programs that nobody records are recorded from the start page'() {
        const program = spawn(beacon, [], {env: {...process.env, ...env}, stdio: ['pipe', 'ignore', 'ignore']});
        const server = await view(folder), page = await openPage(browser);
        await page.goto(server.link);
        await row(page, 'session default').getByText('Record', {exact: true}).click();
        await settled(page);
        await until(page, () => window.strobe.trace.range[1] > 5e8);
        await page.locator('.stop').click();
        await until(page, () => window.strobe.trace.closed);
        program.stdin.end();
        assert.match(await page.evaluate(() => window.strobe.trace.name), /^default-.*\.strobe$/);
        return page;
    },
    async 'Tracy clients that announce themselves are listed, waited for and recorded'() {
        const port = await freePort(), heard = await freePort(), server = await start(['view', '--no-open', '--web', web, folder], {env: {...env, STROBE_TRACY_ANNOUNCE_PORT: String(heard)}});
        const page = await openPage(browser);
        await page.goto(server.link);
        await page.locator('.clients').waitFor();
        await announce(heard, 'an old program', 1);
        await row(page, 'an old program').waitFor();
        await announce(heard, 'an old program', 1, -1);
        await row(page, 'an old program').waitFor({state: 'detached'});
        await page.getByPlaceholder('HOST:PORT of a Tracy client').fill(`127.0.0.1:${port}`);
        await page.keyboard.press('Enter');
        await page.getByText(`waiting for 127.0.0.1:${port} …`).waitFor();
        await page.screenshot({path: path.join(shots, 'start-waiting.png')});
        const client = spawn(python, ['-B', path.join(here, '..', 'tracy', 'fake_client.py'), path.join(here, '..', 'tracy', 'session_example.json'), '--port', String(port), '--linger', '1'], {stdio: 'ignore'});
        await settled(page);
        assert.match(await page.evaluate(() => window.strobe.trace.name), /^tracy-127\.0\.0\.1-\d+-.*\.strobe$/);
        await until(page, () => window.strobe.trace.closed && window.strobe.trace.totals.zones > 0);
        client.kill();
        return page;
    },
    async 'what is no address is refused in words'() {
        const server = await view(folder), page = await openPage(browser);
        await page.goto(server.link);
        for (const address of ['-o/tmp/x:1', 'a b:80', 'host:99999']) {
            await page.getByPlaceholder('HOST:PORT of a Tracy client').fill(address);
            await page.keyboard.press('Enter');
            await until(page, () => /no address/.test(document.querySelector('.toast').textContent));
            await page.evaluate(() => { document.querySelector('.toast').textContent = ''; });
        }
        return page;
    },
    async 'files of Tracy and Chrome open, and say how far they are'() {
        makeTrace('kept.strobe');
        run('export', '--to', 'tracy', '-o', at('other.tracy'), at('kept.strobe'));
        run('export', '--to', 'chrome', '-o', at('other.json'), at('kept.strobe'));
        fs.writeFileSync(at('packed.json.gz'), gzipSync(fs.readFileSync(at('other.json'))));
        fs.writeFileSync(at('package.json'), '{"name": "no trace"}');
        fs.writeFileSync(at('broken.json'), '[{"ph": "X", "ts": 1');
        const server = await view(folder), page = await openPage(browser, {permissions: ['clipboard-read', 'clipboard-write']});
        await page.goto(server.link);
        await row(page, 'kept.strobe').waitFor();
        assert.equal(await row(page, 'package.json').count(), 0);
        for (const name of ['other.tracy', 'other.json', 'packed.json.gz']) {
            await page.goto(`${server.link}&trace=${name}`);
            await settled(page);
            assert.equal(await page.evaluate(() => window.strobe.trace.totals.zones), 30, name);
            assert.equal(await page.evaluate(() => window.strobe.trace.name), name);
            for (let i = 0; i < 2; i++) /* also a second time */
                assert.match(await runCopied(page), /^ *30 .* beat\b/m, name);
        }
        await page.goto(`${server.link}&trace=broken.json`);
        await until(page, () => /damaged at byte 20/.test(document.querySelector('.startstate').textContent));
        return page;
    },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
    if (parts.length && !parts.some((p) => name.includes(p)))
        continue;
    const began = performance.now();
    try {
        const page = await test();
        assert.deepEqual(page.errors, [], 'errors on the page');
        console.log(`ok    ${name} (${Math.round(performance.now() - began)} ms)`);
    } catch (error) {
        failed++;
        console.log(`FAIL  ${name}\n${String(error.stack).slice(0, 1500)}`);
        for (const context of browser.contexts())
            for (const page of context.pages())
                await page.screenshot({path: path.join(shots, 'failed.png')}).catch(() => {});
    }
    for (const context of browser.contexts())
        await context.close();
    await endAll();
}
await browser.close();
fs.rmSync(folder, {recursive: true, force: true});
process.exit(failed ? 1 : 0);
