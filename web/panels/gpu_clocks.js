/* gpu_clocks.js - how the clocks of GPU contexts ran beside the host's, in words.  SPDX-License-Identifier: MIT */
import {pairs} from './parts.js';
import {h} from '../view/dom.js';
import * as format from '../view/format.js';

const TYPES = ['', 'OpenGL', 'Vulkan', 'OpenCL', 'Direct3D 12', 'Direct3D 11', 'Metal', 'custom', 'CUDA', 'ROCm', 'WebGPU'], MOST = 64;

/* A drift in parts per million, or percent where it is that large. */
function driftWords({gpu_ns: gpu, host_ns: host}) {
    const drift = host > 0 ? gpu / host - 1 : 0, size = Math.abs(drift), much = size >= 0.01 ? `${+(100 * size).toPrecision(3)} %` : `${+(1e6 * size).toPrecision(3)} ppm`;
    return !(host > 0) ? '' : size < 1e-9 ? 'no drift' : `drift ${much}, ${drift > 0 ? 'fast' : 'slow'}`;
}

/* What is known of one context's clock. */
function wordsOf(app, c) {
    const type = TYPES[c.type] || `type ${c.type}`, tick = c.period_ns === 1 ? '' : `a tick is ${+c.period_ns.toPrecision(4)} ns`;
    const step = c.step_at === null ? '' : `the largest correction ${format.duration(Math.abs(c.step_ns))} ${c.step_ns > 0 ? 'later' : 'earlier'}, at ${format.time(c.step_at, app.timeMode, app.trace, 1000)}`;
    const how = c.calibrations ? `calibrated ${format.count(c.calibrations)} times` : c.syncs ? `aligned ${format.count(c.syncs)} times` : c.is_calibrated ? 'never calibrated, though it could be' : 'compared once, when it was made';
    return [type, tick, how.replace(/ 1 times$/, ' once'), driftWords(c), step].filter(Boolean).join('; ');
}

/** Resolves to a section of facts; null: the trace has no GPU context. */
export async function gpuClocks(app) {
    if (!app.trace.tracks.some((t) => ['gpu', 'core', 'risc'].includes(t.kind)))
        return null;
    const {json} = await app.engine.ask({ask: 'clocks'}), rows = json.contexts;
    const nameOf = (c) => `${c.name || `GPU context ${c.id}`}, ${(app.trackOf(c.track) || {name: 'process'}).name}`;
    return rows.length ? h('section', {class: 'wide'}, h('h3', {}, 'GPU clocks'), pairs([...rows.slice(0, MOST).map((c) => [nameOf(c), wordsOf(app, c)]), ['', rows.length > MOST ? `${format.count(rows.length - MOST)} more` : '']])) : null;
}
