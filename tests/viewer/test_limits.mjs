/* test_limits.mjs: what one frame may paint, counted at the canvas itself. Arguments: browser.mjs.
 * SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import {fresh, open, page, run, settled, state} from './browser.mjs';

const MAX_SHAPES = 5000, MAX_LABELS = 500;

/* Runs before the page's scripts: counts the calls that paint on the timeline, frame by frame. */
function countCalls() {
    const proto = CanvasRenderingContext2D.prototype, frames = window.painted = [];
    const wrap = (name, f) => {
        const real = proto[name];
        proto[name] = function (...args) {
            if (this.canvas.className === 'timeline')
                f();
            return real.apply(this, args);
        };
    };
    wrap('setTransform', () => frames.push({shapes: 0, labels: 0})); /* a frame begins with it */
    for (const name of ['fillRect', 'strokeRect', 'drawImage', 'fill', 'stroke'])
        wrap(name, () => frames.at(-1).shapes++);
    wrap('fillText', () => frames.at(-1).labels++);
}

async function openCounted(name, viewport) {
    await fresh({viewport});
    await page.addInitScript(countCalls);
    await open(name);
}

/* Zoom from all to a few zones, with the pointer on a zone so that others are outlined; what each frame painted. */
async function zoomThrough(n, factor) {
    await page.mouse.move(900, 300);
    for (let i = 0; i < n; i++) {
        await state((f) => window.strobe.zoom(f, window.strobe.view.from + (window.strobe.view.to - window.strobe.view.from) * 0.47), factor);
        await settled();
    }
    return state(() => ({counted: window.painted, told: window.strobe.timeline.frames}));
}

const most = (frames, what) => frames.reduce((found, frame) => Math.max(found, frame[what]), 0);

const tests = {
    async 'no frame has more than 5,000 shapes or 500 labels, however dense the trace and large the screen'() {
        await openCounted('dense', {width: 3840, height: 2160});
        const {counted} = await zoomThrough(16, 0.5);
        assert.ok(most(counted, 'shapes') > MAX_SHAPES / 2, `only ${most(counted, 'shapes')} shapes: not dense enough to tell`);
        assert.ok(most(counted, 'labels') > MAX_LABELS / 2, `only ${most(counted, 'labels')} labels: not dense enough to tell`);
        assert.ok(most(counted, 'shapes') <= MAX_SHAPES, `${most(counted, 'shapes')} shapes`);
        assert.ok(most(counted, 'labels') <= MAX_LABELS, `${most(counted, 'labels')} labels`);
    },
    async 'the page counts every shape and label that it paints'() {
        for (const name of ['rich', 'kinds']) {
            await openCounted(name, {width: 1400, height: 860});
            const {counted, told} = await zoomThrough(10, 0.3);
            assert.deepEqual(told.map(({shapes, labels}) => ({shapes, labels})), counted.slice(-told.length));
        }
    },
};

await run(tests);
