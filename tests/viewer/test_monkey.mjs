/* test_monkey.mjs: somebody who clicks, types, drags and resizes without a plan. No error may come of it, memory stays bounded, and the link that is
 * left shows the same picture. Arguments: browser.mjs; STROBE_MONKEY: "SESSIONS ACTS SEED".
 * SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import {fresh, open, page, run, settled, state} from './browser.mjs';
import {random} from './questions.mjs';

const [SESSIONS, ACTS, SEED] = (process.env.STROBE_MONKEY || '1 120 7').split(' ').map(Number), HEAP = 160 << 20;
const KEYS = ['w', 'a', 's', 'd', 'W', 'S', 'f', 'Home', 'p', 'r', 'q', ',', '.', '[', ']', 'h', 'H', 'n', 'N', 'j', 'J', 'T', 'Escape', 'ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Shift+ArrowUp', 'Shift+ArrowDown',
    'Control+z', 'Control+Shift+z', '?', '/', 'Enter', 'Tab', 'Space', 'Alt+Enter', 'Control+Shift+P', 'Control+p', 'Alt+ArrowLeft'];
const WORDS = ['frame', 'rays', '<b>', '*', 'zzz', ' ', 'worker 1'], COMMANDS = ['theme', 'contrast', 'timeMode', 'collapseAll', 'hideEmpty', 'compact', 'stats', 'flame', 'messages', 'frames', 'notes', 'info', 'limitToView', 'help', 'tracksMenu'];

/* One act, and its name for the report. */
const acts = {
    async key(r) { await page.keyboard.press(r.pick(KEYS)); },
    async click(r) { await page.mouse.click(r.below(r.width), r.below(r.height), {button: r.pick(['left', 'left', 'left', 'right', 'middle']), modifiers: []}); },
    async drag(r) {
        await page.mouse.move(r.below(r.width), r.below(r.height));
        await page.mouse.down({button: r.pick(['left', 'right', 'middle'])});
        await page.mouse.move(r.below(r.width), r.below(r.height), {steps: 2});
        for (const button of ['left', 'right', 'middle'])
            await page.mouse.up({button});
    },
    async wheel(r) {
        await page.mouse.move(r.below(r.width), r.below(r.height));
        await page.mouse.wheel(r.below(200) - 100, r.below(600) - 300);
    },
    async type(r) { await page.keyboard.type(r.pick(WORDS)); },
    async command(r) { await state((name) => { window.strobe.act(name); }, r.pick(COMMANDS)); },
    async resize(r) {
        [r.width, r.height] = r.pick([[1400, 860], [1024, 600], [700, 500], [1900, 1000]]);
        await page.setViewportSize({width: r.width, height: r.height});
    },
    async mode(r) { await state((m) => window.strobe.setColoring(m), r.pick(['name', 'thread', 'depth', 'duration', 'location', 'program'])); },
};
const WEIGHTS = {key: 40, click: 25, drag: 10, wheel: 10, type: 4, command: 6, resize: 1, mode: 2};

class Dice {
    constructor(seed) {
        Object.assign(this, {next: random(seed), width: 1400, height: 860});
        this.bag = Object.entries(WEIGHTS).flatMap(([name, n]) => Array(n).fill(name));
    }

    below(n) {
        return Math.floor(n * this.next());
    }

    pick(list) {
        return list[this.below(list.length)];
    }
}

const shown = () => state(() => {
    const s = window.strobe;
    return {view: [s.view.from, s.view.to].map(Math.round), hidden: [...s.choice.hidden].sort(), pinned: s.choice.pinned, search: s.search.text, area: s.area ? [s.area.from, s.area.to].map(Math.round) : null,
        selection: s.selection ? [s.selection.track, s.selection.depth, s.selection.t0] : null};
});

async function session(seed) {
    const dice = new Dice(seed), done = [];
    await open('rich');
    try {
        for (let i = 0; i < ACTS; i++) {
            const name = dice.pick(dice.bag);
            done.push(name);
            await acts[name](dice);
            if (await state(() => !window.strobe.trace || window.strobe.main.hidden)) /* the start page, or another file: to the trace again */
                await open('rich');
        }
        await page.keyboard.press('Escape');
        await settled();
        const before = await shown(), link = await state(() => location.href);
        await page.goto('about:blank');
        await page.goto(link);
        await settled();
        assert.deepEqual(await shown(), before, 'the link shows the same');
        const heap = await state(() => (performance.memory ? performance.memory.usedJSHeapSize : 0));
        assert.ok(heap < HEAP, `${heap} bytes of heap`);
    } catch (error) {
        error.message = `seed ${seed}, after ${done.length} acts (${done.slice(-8).join(' ')}): ${error.message}`;
        throw error;
    }
    await fresh();
}

const tests = {};
for (let i = 0; i < SESSIONS; i++)
    tests[`random acts, seed ${SEED + i}: no error, and the link restores the picture`] = () => session(SEED + i);

await run(tests);
