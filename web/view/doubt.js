/* doubt.js - paints what a trace does not know for sure, where it is: events that were lost, clocks that jumped, and clocks whose error
 * is wide enough to be seen at this zoom; and depths that are left out from afar.  SPDX-License-Identifier: MIT */
import {LANE, PAD} from './layout.js';
import {FONT} from './text.js';
import * as format from './format.js';

const MOST_LOSSES = 200, MOST_JUMPS = 100, SEEN_PX = 2;

/** Over the tracks; `painter`: of draw.js, with its scene. */
export function paintDoubts(painter) {
    painter.inPlaces((isHere) => {
        paintClocks(painter, isHere);
        paintLosses(painter, isHere);
        paintDepths(painter, isHere);
    });
}

/* From afar a large trace has no more than its upper depths: what is below is not empty, and says so. */
function paintDepths(painter, isHere) {
    const {ctx, scene, theme} = painter, {fine} = scene.data;
    if (!fine || fine.seenDepths === Infinity)
        return;
    for (const {row, y} of scene.rows) {
        const top = y + PAD + fine.seenDepths * LANE, bottom = y + row.height - 1;
        if (!isHere(row) || row.header || row.track.kind !== 'thread' || row.lanes <= fine.seenDepths || bottom <= scene.top)
            continue;
        ctx.fillStyle = hatch(painter, 'line');
        painter.rect(scene.label, top, scene.width - scene.label, bottom - top);
        ctx.font = FONT;
        const text = `${format.several(row.lanes - fine.seenDepths, 'depth')} more: closer up`, w = ctx.measureText(text).width + 12, at = Math.max(top, scene.top) + 4;
        if (at + LANE > bottom)
            continue;
        ctx.fillStyle = theme.lane;
        painter.rect(scene.label + 6, at, w, LANE);
        ctx.fillStyle = theme.dim;
        painter.text(text, scene.label + 12, at + LANE / 2);
    }
}

/* Red, hatched, on the track that lost them. */
function paintLosses(painter, isHere) {
    const {ctx, scene, theme} = painter, rows = new Map(scene.rows.filter((r) => isHere(r.row)).map((r) => [r.row.track.id, r]));
    let n = 0;
    for (const loss of painter.app.trace.losses) {
        const at = rows.get(loss.track);
        if (!at || loss.to < scene.view.from || loss.from > scene.view.to || ++n > MOST_LOSSES)
            continue;
        const x0 = Math.max(scene.label - 2, painter.x(loss.from)), x1 = Math.max(x0 + 3, Math.min(scene.width + 2, painter.x(loss.to)));
        ctx.fillStyle = hatch(painter, 'loss');
        painter.rect(x0, at.y, x1 - x0, at.row.height - 1);
        ctx.fillStyle = theme.loss;
        painter.rect(x0, at.y + at.row.height - 4, x1 - x0, 3);
    }
}

/* A line where the host's clock jumped; the row of a process with a clock of its own is hatched once its error is seen at this zoom. */
function paintClocks(painter, isHere) {
    const {ctx, scene, theme} = painter, {trace} = painter.app;
    ctx.fillStyle = theme.note;
    for (const t of (trace.clock.jumps || []).slice(0, MOST_JUMPS))
        if (t > scene.view.from && t < scene.view.to)
            painter.rect(Math.round(painter.x(t)) - 1, scene.ruler, 2, scene.height - scene.ruler);
    const errors = new Map(trace.processes.filter((p) => p.clock_error_ns > 0).map((p) => [p.track, p.clock_error_ns]));
    for (const {row, y} of scene.rows)
        if (isHere(row) && errors.has(row.track.id))
            paintError(painter, row, y, errors.get(row.track.id));
}

function paintError(painter, row, y, ns) {
    const {ctx, scene, theme} = painter;
    if (ns * painter.scale < SEEN_PX)
        return;
    ctx.fillStyle = hatch(painter, 'note');
    painter.rect(scene.label, y, scene.width - scene.label, row.height - 1);
    const text = ns >= 1e18 ? 'its clock: nothing is known of its error' : `its clock: give or take ${format.duration(ns)}`, w = ctx.measureText(text).width + 12;
    ctx.fillStyle = theme.head;
    painter.rect(scene.label + 6, y + 3, w, row.height - 7);
    ctx.fillStyle = theme.note;
    painter.text(text, scene.label + 12, y + row.height / 2);
}

/* Slanted lines in a colour of the theme, as a pattern; made once. */
function hatch(painter, colour) {
    const key = `${painter.app.theme} ${colour}`, made = painter.hatches || (painter.hatches = new Map());
    if (made.has(key))
        return made.get(key);
    const tile = document.createElement('canvas'), ctx = tile.getContext('2d');
    tile.width = tile.height = 8;
    ctx.strokeStyle = painter.theme[colour];
    ctx.globalAlpha = 0.7;
    ctx.beginPath();
    for (const d of [-8, 0, 8]) {
        ctx.moveTo(d, 8);
        ctx.lineTo(d + 8, 0);
    }
    ctx.stroke();
    made.set(key, painter.ctx.createPattern(tile, 'repeat'));
    return made.get(key);
}
