/* test_monkey.mjs: somebody who clicks, types, drags and resizes without a plan. No error may come of it, memory stays bounded, and the link that is
 * left shows the same picture. Arguments: browser.mjs; STROBE_MONKEY: "SESSIONS ACTS SEED [KIND]". The kinds take turns: a trace that the page reads, one of a
 * server that is started anew now and then, one that is being recorded.  SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {PATIENCE, fresh, open, page, run, settled, state, strobe, traces} from './browser.mjs';
import {Hand} from './hand.mjs';
import {OF_THE_NETWORK, begin, web} from './served.mjs';
import {random} from './questions.mjs';

const [SESSIONS, ACTS, SEED, KIND] = (process.env.STROBE_MONKEY || '1 120 7 local').split(' ').map((word) => Number(word) || word), HEAP = 64 << 20, AWAY_MS = 300, AT_ONCE = 20;
const LOCAL = ['rich', 'daily', 'all', 'ranks', 'film'];
const KEYS = ['w', 'a', 's', 'd', 'W', 'S', 'f', 'Home', 'p', 'r', 'q', ',', '.', '[', ']', 'h', 'H', 'n', 'N', 'j', 'J', 'T', 'Escape', 'ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Shift+ArrowUp', 'Shift+ArrowDown',
    'Control+z', 'Control+Shift+z', '?', '/', 'Enter', 'Tab', 'Space', 'Alt+Enter', 'Control+Shift+P', 'Control+p', 'Alt+ArrowLeft'];
const WORDS = ['frame', 'rays', '<b>', '*', 'zzz', ' ', 'worker 1'], COMMANDS = ['theme', 'contrast', 'timeMode', 'collapseAll', 'hideEmpty', 'compact', 'stats', 'flame', 'messages', 'frames', 'notes', 'info', 'limitToView', 'help', 'tracksMenu'];

/* One act, and its name for the report. Those that give a promise are waited for. */
const acts = {
    key(r) { r.hand.press(r.pick(KEYS)); },
    click(r) { r.hand.click(r.below(r.width), r.below(r.height), r.pick(['left', 'left', 'left', 'right', 'middle'])); },
    twice(r) {
        const x = r.below(r.width), y = r.below(r.height);
        r.hand.click(x, y);
        r.hand.click(x, y);
    },
    drag(r) {
        r.hand.move(r.below(r.width), r.below(r.height));
        r.hand.down(r.pick(['left', 'right', 'middle']));
        r.hand.move(r.below(r.width), r.below(r.height));
        r.hand.move(r.below(r.width), r.below(r.height));
        r.hand.up();
    },
    wheel(r) {
        r.hand.move(r.below(r.width), r.below(r.height));
        r.hand.wheel(r.below(200) - 100, r.below(600) - 300);
    },
    type(r) { r.hand.type(r.pick(WORDS)); },
    command: (r) => state((name) => { window.strobe.act(name); }, r.pick(COMMANDS)),
    resize(r) {
        [r.width, r.height] = r.pick([[1400, 860], [1024, 600], [700, 500], [1900, 1000]]);
        return page.setViewportSize({width: r.width, height: r.height});
    },
    restart: (r) => r.place.restart(r),
    mode: (r) => state((m) => window.strobe.setColoring(m), r.pick(['name', 'thread', 'depth', 'duration', 'location', 'program'])),
};
const WEIGHTS = {key: 40, click: 25, twice: 3, drag: 10, wheel: 10, type: 4, command: 6, resize: 1, mode: 2, restart: 1};

class Dice {
    constructor(seed, place, hand) {
        Object.assign(this, {next: random(seed), width: 1400, height: 860, place, hand});
        this.bag = Object.entries(WEIGHTS).flatMap(([name, n]) => Array(n).fill(name));
    }

    below(n) {
        return Math.floor(n * this.next());
    }

    pick(list) {
        return list[this.below(list.length)];
    }
}

/* Where a session is: open() shows the trace, restart() has its server end and come back, close() ends it. */
const places = {
    local(seed) {
        const name = LOCAL[seed % LOCAL.length];
        return {open: () => open(name), restart: () => {}, close: () => {}, whole: true};
    },

    async served(seed) {
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strobe-monkey-')), env = {STROBE_DIR: path.join(folder, 'sessions')}, port = String(await freePort()), file = path.join(folder, 'rich.strobe');
        fs.mkdirSync(env.STROBE_DIR, {mode: 0o700});
        fs.copyFileSync(path.join(traces, `${LOCAL[seed % LOCAL.length]}.strobe`), file);
        const start = () => begin(strobe, ['view', '--no-open', '--web', web, '--port', port, file], {env});
        let server = await start();
        const stop = async () => {
            server.child.kill('SIGTERM');
            await server.ended;
        };
        return {
            whole: true, open: () => openLink(server.link),
            async restart(r) {
                await stop();
                await new Promise((resolve) => { setTimeout(resolve, r.below(AWAY_MS)); }); /* the page may or may not notice */
                server = await start();
            },
            async close() {
                await stop();
                fs.rmSync(folder, {recursive: true});
            },
        };
    },

    async live() {
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strobe-monkey-')), env = {STROBE_DIR: path.join(folder, 'sessions')}, pulse = path.join(path.dirname(strobe), 'programs', 'pulse');
        fs.mkdirSync(env.STROBE_DIR, {mode: 0o700});
        const recording = await begin(strobe, ['record', '-q', '--live', '-o', path.join(folder, 'live.strobe'), '--', pulse, '200', '1000000'], {env, stdin: 'pipe'});
        return {
            whole: false, open: () => openLink(recording.link), restart: () => {},
            async close() {
                recording.child.kill('SIGTERM');
                await recording.ended;
                fs.rmSync(folder, {recursive: true});
            },
        };
    },
};

function freePort() {
    return new Promise((resolve) => {
        const server = net.createServer().listen(0, '127.0.0.1', () => {
            const {port} = server.address();
            server.close(() => resolve(port));
        });
    });
}

/* A trace that grows may never come to rest: then it is enough that something of it is drawn. */
async function openLink(link) {
    await page.goto('about:blank');
    await page.goto(link);
    await page.waitForFunction(() => {
        const s = window.strobe; /* all tracks may be hidden */
        return s && s.trace && !s.main.hidden && (s.timeline.data.fine || !s.timeline.layout.rows.some((r) => !r.header && r.track.n_depths));
    });
}

const rest = async (place) => (place.whole ? settled() : state(() => window.strobe.server.follow(false)));

/* What a link must bring back. Times of a trace that grows get known better: they may move a little. */
const shown = (place) => state((grain) => {
    const s = window.strobe, round = (t) => (grain === 1 ? Number(t.toFixed(1)) : Math.round(t / grain)), names = (ids) => ids.map((id) => s.trackOf(id)).filter(Boolean).map((t) => `${t.kind} ${t.name}`);
    const {choice} = s;
    return {view: [s.view.from, s.view.to].map(round), hidden: names([...choice.hidden]).sort(), pinned: names(choice.pinned), collapsed: names([...choice.collapsed]).sort(), order: s.timeline.layout.rows.map((r) => r.track).filter((t) => choice.order.has(t.parent)).map((t) => t.name),
        limits: names([...choice.limits.keys()]).sort(), plots: [...choice.plots].filter(([, how]) => how.zero || how.log).map(([id]) => id).sort(), flags: [choice.fitsHeight, choice.sharesScale, choice.filter],
        panel: s.drawer.isOpen ? s.drawer.current : '', search: s.search.text, times: s.timeMode, found: s.found ? s.names.name(s.found.loc) : '', area: s.area ? [s.area.from, s.area.to].map(round) : null,
        selection: s.selection ? [...names([s.selection.track]), s.selection.depth, round(s.selection.t0)] : null};
}, place.whole ? 1 : 1e6);

/* Bytes that the page holds on to. */
async function heap() {
    const session = await page.context().newCDPSession(page);
    await session.send('HeapProfiler.collectGarbage');
    const {usedSize} = await session.send('Runtime.getHeapUsage');
    await session.detach();
    return usedSize;
}

/* The link as it is now, opened anew, shows the same. */
async function checkLink(place) {
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.body.classList.contains('offline'));
    await rest(place);
    await page.waitForFunction(() => !window.strobe.urlTimer && !window.strobe.isArriving);
    const before = await shown(place), link = await state(() => location.href);
    await openLink(link);
    await rest(place);
    await page.waitForFunction(() => !window.strobe.isArriving);
    assert.deepEqual(await shown(place), before, `the link shows the same: ${link}`);
}

/* Some acts in a row. One of them may lead to another document (Back, to another trace): what was under way to the one before is lost with it, and only then. */
async function several(dice, n, done) {
    const errors = [];
    await state(() => { window.isSameDocument = true; });
    for (const name of Array.from({length: n}, () => dice.pick(dice.bag))) {
        done.push(name);
        await Promise.resolve(acts[name](dice)).catch((error) => errors.push(error));
    }
    errors.push(...await dice.hand.done());
    await page.waitForLoadState();
    if (errors.length && await state(() => window.isSameDocument))
        throw errors[0];
}

/* What takes longer than any test waits never ends: that is an error, with the acts that led to it. */
function bounded(promise, what) {
    let timer;
    const late = new Promise((resolve, reject) => { timer = setTimeout(() => reject(new Error(`${what} never ended`)), 2 * PATIENCE); });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/* Is the trace out of sight? An act may just have led to another document. */
async function isAway() {
    const look = () => state(() => !window.strobe || !window.strobe.trace || window.strobe.main.hidden);
    return look().catch(async (error) => {
        if (!/context was destroyed/.test(error.message))
            throw error;
        await page.waitForLoadState();
        return look();
    });
}

async function session(seed, kind) {
    await fresh({}, kind === 'local' ? /^$/ : OF_THE_NETWORK);
    const place = await places[kind](seed), dice = new Dice(seed, place, new Hand(await page.context().newCDPSession(page))), done = [];
    try {
        await place.open();
        for (let i = 0; i < ACTS; i += AT_ONCE) {
            await bounded(several(dice, Math.min(AT_ONCE, ACTS - i), done), 'one of twenty acts');
            if (await bounded(isAway(), 'a look at the page')) /* the start page, or another file: to the trace again */
                await bounded(place.open(), 'opening the trace again');
        }
        assert.ok(await heap() < HEAP, `${await heap()} bytes of heap`);
        await bounded(checkLink(place), 'opening the link');
    } catch (error) {
        throw new Error(`seed ${seed}, after ${done.length} acts (${done.slice(-8).join(' ')}${dice.hand.waiting.size ? `; the browser has not answered to ${[...dice.hand.waiting].slice(0, 3).join(', ')}` : ''}): ${error.stack}`);
    } finally {
        await bounded(place.close(), 'the end of the server');
    }
}

const tests = {}, kinds = KIND ? [KIND] : Object.keys(places);
for (let i = 0; i < SESSIONS; i++) {
    const kind = kinds[i % kinds.length];
    tests[`random acts, seed ${SEED + i}, ${kind}: no error, and the link restores the picture`] = () => session(SEED + i, kind);
}

await run(tests);
