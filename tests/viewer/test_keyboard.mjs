/* test_keyboard.mjs: what is done with the mouse on panels and tracks is done with the keyboard alone: every part is reached by Tab. Arguments: browser.mjs.
 * SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import {clipboard, near, open, page, run, says, settled, shot, state, text, view} from './browser.mjs';

const MOST_TABS = 120;

/* Tab until what has the focus fits. */
async function tabTo(selector) {
    for (let i = 0; i < MOST_TABS; i++) {
        if (await state((s) => document.activeElement.matches(s), selector))
            return;
        await page.keyboard.press('Tab');
    }
    assert.fail(`Tab never leads to ${selector}`);
}

async function press(...keys) {
    for (const key of keys)
        await page.keyboard.press(key);
    await settled();
}

async function openPanel(id, hash = '') {
    await open('rich', `${hash || '#'}&p=${id}`);
    await page.waitForFunction((p) => window.strobe.drawer.isOpen && window.strobe.drawer.current === p, id);
    await settled();
}

const current = () => text('.drawer .trow.current');
const order = () => state(() => window.strobe.timeline.layout.rows.filter((r) => r.track.kind === 'thread').map((r) => r.track.name));

const tests = {
    async 'rows of a table are gone through, picked and copied'() {
        await openPanel('stats');
        await tabTo('.drawer .table');
        await press('ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowDown');
        const cells = (await current()).split('\n'), rows = await state(() => window.strobe.drawer.panel('stats').table.rows.map((r) => r.row.name));
        assert.equal(cells[0], rows[1]);
        assert.ok(await state(() => document.getElementById(document.querySelector('.drawer .table').getAttribute('aria-activedescendant')).matches('.trow.current')));
        await shot('keyboard-table');
        await press('Control+c');
        assert.equal((await clipboard()).split('\t')[0], rows[1]);
        await press('End');
        assert.equal((await current()).split('\n')[0], rows[rows.length - 1]);
        await press('Home', 'Enter');
        await page.waitForFunction((name) => window.strobe.found && window.strobe.names.name(window.strobe.found.loc) === name, rows[0]);
    },
    async 'a message is gone to'() {
        await openPanel('messages', '#v=395000000,425000000');
        await tabTo('.drawer .table');
        await press('ArrowDown', 'ArrowDown', 'Enter');
        const [message, v] = [await state(() => window.strobe.drawer.panel('messages').table.rows[1].t), await view()];
        assert.ok(v.from < message && message < v.to);
        await page.keyboard.press('w'); /* other keys are still those of the timeline */
        await settled();
        assert.ok((await view()).to - (await view()).from < v.to - v.from);
    },
    async 'boxes of a flame graph are gone through, fill the width, and are found'() {
        await openPanel('flame');
        await tabTo('canvas.flame');
        await press('ArrowDown', 'ArrowDown', 'ArrowDown');
        const name = await text('.tip b'), names = () => state(() => { const f = window.strobe.drawer.panel('flame'); return f.boxes().map((b) => window.strobe.names.name(b.node.key)); });
        assert.equal(name, await state(() => { const [root] = window.strobe.drawer.panel('flame').boxes(); return window.strobe.names.name(root.node.children[0].children[0].key); }));
        await page.waitForFunction((n) => document.querySelector('p.offscreen').textContent.startsWith(`${n}, time `), name);
        await shot('keyboard-flame');
        await press('Enter');
        assert.equal((await names())[0], name);
        await press('ArrowDown');
        const below = await text('.tip b');
        assert.notEqual(below, name);
        await press('Enter', 'Enter'); /* in, and out again */
        assert.equal((await names())[0], name);
        await press('ArrowUp');
        assert.equal(await text('.tip b'), name);
        await press('ArrowRight', 'ArrowLeft', 'Control+Enter');
        await page.waitForFunction((n) => window.strobe.found && window.strobe.names.name(window.strobe.found.loc) === n, name);
    },
    async 'a tree is opened, closed, and a zone of it found'() {
        await openPanel('flame');
        await tabTo('.drawer select[aria-label="kind of view"]');
        await page.keyboard.press('ArrowDown');
        await page.waitForFunction(() => document.querySelectorAll('.treerow').length > 1);
        await tabTo('.drawer .tree');
        const rows = () => state(() => [...document.querySelectorAll('.treerow:not(.treehead)')].filter((r) => r.offsetParent).length), n = await rows();
        await press('Home', 'ArrowLeft');
        const closed = await rows();
        await press('ArrowRight');
        assert.ok(await rows() > closed, `${n} ${closed} ${await rows()}`);
        await press('ArrowDown');
        const name = await state(() => document.querySelector('.treerow.current .treename').lastChild.textContent);
        await press('Control+Enter');
        await page.waitForFunction((wanted) => window.strobe.found && window.strobe.names.name(window.strobe.found.loc) === wanted, name);
    },
    async 'bars of a histogram are brushed, and all are listed again'() {
        await openPanel('find', '#z=trace+rays');
        await says('.find .figures', /1,800/);
        await settled();
        await tabTo('.find .chart');
        await press('ArrowRight', ...Array(40).fill('Shift+ArrowRight'));
        await page.waitForFunction(() => window.strobe.highlight && window.strobe.highlight.max > 0);
        const listed = () => state(() => window.strobe.drawer.panel('find').table.rows.length), some = await listed();
        assert.ok(some > 0 && some < 1000, `${some}`);
        await shot('keyboard-brush');
        await press('Delete');
        await page.waitForFunction((n) => window.strobe.drawer.panel('find').table.rows.length > n, some);
        assert.equal(await page.locator('.find .brush').isHidden(), true);
    },
    async 'a frame is gone to from its bar'() {
        await openPanel('frames');
        await tabTo('.drawer .chart');
        await press('ArrowRight', 'ArrowRight', 'Enter');
        await page.waitForFunction(() => window.strobe.selection && window.strobe.trackOf(window.strobe.selection.track).kind === 'frames');
        near(await state(() => window.strobe.selection.t0), 10e6, 1e6);
    },
    async 'a track is moved, collapsed and hidden by its menu'() {
        await open('rich');
        const choose = async (words) => {
            await press('Alt+Shift+Enter');
            await page.keyboard.type('worker 1');
            await press('Enter');
            while (!(await state(() => document.activeElement.textContent)).startsWith(words))
                await page.keyboard.press('ArrowDown');
            await press('Enter');
        };
        assert.deepEqual((await order()).slice(0, 3), ['main', 'worker 0', 'worker 1']);
        await choose('Move it up');
        assert.deepEqual((await order()).slice(0, 3), ['main', 'worker 1', 'worker 0']);
        await choose('Move it down');
        assert.deepEqual((await order()).slice(0, 3), ['main', 'worker 0', 'worker 1']);
        await choose('Collapse it');
        assert.equal(await state(() => window.strobe.timeline.layout.rows.find((r) => r.track.name === 'worker 1').lanes), 1);
        await choose('Hide it');
        assert.ok(!(await order()).includes('worker 1'));
        await press('Shift+h');
        assert.ok((await order()).includes('worker 1'));
    },
    async 'what is in view becomes an area, and its zones are counted'() {
        await openPanel('details', '#v=400000000,500000000');
        await press('Shift+r');
        const area = await state(() => window.strobe.area);
        assert.deepEqual([area.from, area.to], [400e6, 500e6]);
        assert.ok(area.tracks.length > 3);
        await says('.details h2', /Area of 100.0 ms/);
    },
    async 'a time is gone to'() {
        await open('rich', '#v=400000000,420000000');
        await press('Control+Shift+P');
        await page.keyboard.type('go to a time');
        await press('Enter');
        await page.keyboard.type('712.5 ms');
        await press('Enter');
        const v = await view();
        near((v.from + v.to) / 2, 712.5e6, 10);
        near(v.to - v.from, 20e6, 10);
    },
    async 'the panels are made higher and lower'() {
        await openPanel('stats');
        const height = () => state(() => document.querySelector('.drawer').offsetHeight), was = await height();
        await tabTo('.handle');
        await press('ArrowUp', 'ArrowUp');
        assert.equal(await height(), was + 80);
        await press('ArrowDown');
        assert.equal(await height(), was + 40);
    },
    async 'a bar of an answer is gone to'() {
        await openPanel('query');
        await tabTo('.sql');
        await page.keyboard.press('Control+a');
        await page.keyboard.type('SELECT name, dur, ts, track_id, depth FROM slowest');
        await press('Control+Enter');
        await page.waitForFunction(() => document.querySelectorAll('.answers .trow').length > 3);
        await tabTo('.pickChart');
        await press('Enter');
        await tabTo('.askchart');
        await press('ArrowRight', 'ArrowRight');
        const mark = await state(() => { const {marks} = window.strobe.drawer.panel('query').query.chart; return {ts: marks[1].row[2], dur: marks[1].y}; });
        assert.match(await text('.tip'), new RegExp(String(mark.dur)));
        await press('Enter');
        await page.waitForFunction(({ts}) => window.strobe.selection && window.strobe.selection.t0 === ts, mark);
    },
};

await run(tests);
