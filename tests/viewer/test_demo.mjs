/* test_demo.mjs: the demo's page. Python's functions, native code and the kernels of a device stand below each other, joined by a flow. Arguments: browser.mjs.
 * SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import {open, page, run, setView, settled, shot, state} from './browser.mjs';

const PICTURES = 8, CORES = 4; /* of examples/demo/grade.py */

/** All zones of a name: [{track, depth, t0, t1}]. */
const zonesOf = (name) => state(async (wanted) => {
    const s = window.strobe, {arrays} = await s.engine.ask({ask: 'stats', filter: wanted}), found = [];
    await s.names.need([...arrays.loc]);
    for (const loc of arrays.loc) {
        if (s.names.name(loc) !== wanted)
            continue;
        const {arrays: rows} = await s.engine.ask({ask: 'instances', loc, limit: 1000, sort: 'time'});
        for (let i = 0; i < rows.t0.length; i++)
            found.push({track: rows.track[i], depth: rows.depth[i], t0: rows.t0[i], t1: rows.t1[i]});
    }
    return found;
}, name);

const tracks = () => state(() => window.strobe.trace.tracks.map((t) => ({id: t.id, name: t.name, kind: t.kind, parent: t.parent})));

/** Collapse what the picture is not about, and show one call to the device with what is around it. */
async function look(call) {
    await state((kept) => {
        const s = window.strobe;
        for (const t of s.trace.tracks)
            if (t.kind === 'thread' && t.n_depths && t.id !== kept && /^(MainThread|grader)/.test(t.name))
                s.toggleCollapse(t.id);
    }, call.track);
    const margin = (call.t1 - call.t0) * 0.1;
    await setView((call.t0 - margin) / 1e6, (call.t1 + margin) / 1e6);
}

const tests = {
    async 'kernels of a device run inside the Python call that wanted them'() {
        await open('demo');
        const calls = await zonesOf('Device.darken_corners'), native = await zonesOf('vignette'), kernels = await zonesOf('BRISC-KERNEL');
        assert.ok(calls.length === PICTURES && native.length === PICTURES, `${calls.length} Python calls, ${native.length} native`);
        const inside = (a, b) => a.t0 >= b.t0 && a.t1 <= b.t1;
        for (const call of native) {
            assert.ok(calls.some((outer) => outer.track === call.track && outer.depth < call.depth && inside(call, outer)), 'native code outside of Python\'s call');
            assert.equal(kernels.filter((k) => inside(k, call)).length, CORES, 'one kernel per core and call');
        }
    },
    async 'the processors of a device stand below their cores, in order'() {
        const all = await tracks(), device = all.find((t) => t.kind === 'process' && /^Device 0/.test(t.name));
        const cores = all.filter((t) => t.kind === 'core' && t.parent === device.id);
        assert.deepEqual(cores.map((t) => t.name.split(' (')[0]), ['core 0,0', 'core 1,0', 'core 0,1', 'core 1,1']);
        for (const core of cores) {
            const name = core.name.split(' (')[0];
            assert.deepEqual(all.filter((t) => t.parent === core.id).map((t) => t.name), ['BRISC', 'NCRISC', 'TRISC_0', 'TRISC_1', 'TRISC_2'].map((risc) => `${name} ${risc}`));
        }
    },
    async 'an area of a core counts its processors alone'() {
        const core = (await tracks()).find((t) => t.kind === 'core'), n = await state(async (track) => {
            const s = window.strobe, {json} = await s.engine.ask({ask: 'stats', filter: 'BRISC-KERNEL', tracks: [track], from: s.trace.range[0], to: s.trace.range[1]});
            return json.n_zones;
        }, core.id);
        assert.equal(n, PICTURES + 1); /* one more when the device is opened */
    },
    async 'a flow leads from the launch to the kernels'() {
        const launches = await zonesOf('EnqueueProgram'), named = await tracks(), native = await zonesOf('vignette');
        const call = native.reduce((a, b) => (b.t1 - b.t0 < a.t1 - a.t0 ? b : a));
        const launch = launches.find((z) => z.track === call.track && z.t0 >= call.t0 && z.t1 <= call.t1);
        await look(call);
        await state(([track, depth, t0]) => window.strobe.selectZone(track, depth, t0, false), [launch.track, launch.depth, launch.t0]);
        await page.waitForFunction(() => window.strobe.flows.length > 0);
        await settled();
        const flow = await state(() => window.strobe.flows[0]), to = named.find((t) => t.id === flow.track1);
        assert.equal(flow.track0, call.track);
        assert.match(to.name, /RISC/);
        await state((kept) => { /* for the picture: the core that the arrow leads to */
            const s = window.strobe;
            for (const t of s.trace.tracks)
                if (t.kind === 'core' && t.id !== kept)
                    s.toggleCollapse(t.id);
        }, to.parent);
        await settled();
        await shot('demo');
    },
};

await run(tests);
