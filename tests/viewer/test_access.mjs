/* test_access.mjs: axe-core finds no serious fault on any view of the page; a summary says what is in view. Arguments: browser.mjs.
 * SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {clickZone, modules, open, page, panel, run, server, setView, settled, state} from './browser.mjs';

const axe = fs.readFileSync(path.join(modules, 'axe-core', 'axe.min.js'), 'utf8');

/* Faults that are serious or worse, in words. */
async function faults() {
    await page.evaluate(axe);
    return state(async () => (await window.axe.run(document, {resultTypes: ['violations']})).violations.filter((v) => ['serious', 'critical'].includes(v.impact))
        .map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`));
}

const tests = {
    async 'no serious fault on the start page'() {
        await page.goto(server.url);
        await page.waitForFunction(() => window.strobe && !window.strobe.start.element.hidden);
        assert.deepEqual(await faults(), []);
    },
    async 'no serious fault on the timeline and on any panel, in any theme'() {
        await open('rich');
        await setView(395, 425);
        await clickZone('main', 1, 403);
        await state(() => window.strobe.findByName('frame'));
        const found = new Map();
        for (const theme of ['light', 'dark', 'contrast']) {
            await state((t) => window.strobe.toggleTheme(t), theme);
            for (const id of await state(() => window.strobe.drawer.panels.filter((p) => !p.isOf || p.isOf(window.strobe.trace)).map((p) => p.id))) {
                await panel(id);
                await page.waitForFunction(() => window.strobe.drawer.nRunning === 0);
                for (const fault of await faults())
                    found.set(fault, `${theme}, ${id}`);
            }
        }
        await state(() => window.strobe.toggleTheme('light'));
        assert.deepEqual([...found], []);
    },
    async 'what is in view is told in words'() {
        await open('rich');
        await setView(400, 500);
        const words = await page.locator('.timeline').getAttribute('aria-label');
        assert.match(words, /^timeline, 100.0 ms from 400 ms to 500 ms; \d+ of \d+ tracks in sight: .*main/);
    },
    async 'no serious fault in menus and boxes'() {
        await open('rich');
        for (const act of ['help', 'commands', 'findTrack', 'tracksMenu']) {
            await state((a) => window.strobe.act(a), act);
            assert.deepEqual(await faults(), [], act);
            await page.keyboard.press('Escape');
        }
        await settled();
    },
};

await run(tests);
