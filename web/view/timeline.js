/* timeline.js - the canvas with ruler, tracks' names and tracks: scenes for the painter, and what is
 * painted over them (selection, notes, flows, pointer). Mouse and keys come through mouse.js and acts.js.
 * SPDX-License-Identifier: MIT */
import {FONT, cutText} from './text.js';
import {PIXEL_ZONE} from '../facts.js';
import {Painter, lowerBound} from './draw.js';
import {FULL_LANE, LANE, Layout, PAD, isZones, setLane} from './layout.js';
import {PixelData} from './data.js';
import {Strips} from './strips.js';
import {Ghosts} from './ghosts.js';
import {Wakes} from './wakes.js';
import {Asked} from './asked.js';
import {Path} from './path.js';
import {THEMES} from './palette.js';
import {shortName} from './ranks.js';
import * as format from './format.js';
import {h} from './dom.js';
import {TEXT, pixelRatio} from './scale.js';
import {drawMeasure} from './measure.js';

export const LABEL = 208, RULER = 28;

const BAR = 10, LEAST_LABEL = 12; /* the scroll bar's width; a row's height with a name */

export class Timeline {
    constructor(app) {
        this.app = app;
        this.canvas = h('canvas', {class: 'timeline', tabindex: '0', role: 'application', 'aria-label': 'timeline'});
        this.hollow = h('p', {class: 'hollow', hidden: true, role: 'status'});
        this.element = h('div', {class: 'tracks'}, this.canvas, this.hollow);
        this.ctx = this.canvas.getContext('2d', {alpha: false});
        this.layout = new Layout();
        this.data = new PixelData(app);
        this.strips = new Strips(app);
        this.ghosts = new Ghosts(app);
        this.wakes = new Wakes(app);
        this.asked = new Asked(app);
        this.path = new Path(app);
        this.painter = new Painter(app);
        this.scroll = 0;
        this.pointer = null;    /* {x, y} on the canvas */
        this.drag = null;
        this.frames = [];       /* {ms, shapes, labels} of the last frames */
        this.width = this.height = 0;
        this.zoom = 1;          /* pixels of the page for one of the canvas */
        new ResizeObserver(() => this.resize()).observe(this.canvas);
    }

    resize() {
        const box = this.canvas.getBoundingClientRect(), dpr = pixelRatio(), {selection} = this.app;
        const isSeen = selection && this.isInSight(selection.track, selection.depth);
        this.width = Math.max(LABEL + 50, Math.round(box.width) / TEXT);
        this.height = Math.max(60, Math.round(box.height) / TEXT);
        this.zoom = TEXT;
        this.dpr = dpr;
        this.canvas.width = Math.round(this.width * dpr);
        this.canvas.height = Math.round(this.height * dpr);
        if (this.app.choice.fitsHeight && this.app.trace)
            this.relayout();
        this.scrollTo(this.scroll);
        if (isSeen) /* panels that open must not cover what was clicked */
            this.app.showTrack(selection.track, selection.depth);
    }

    relayout() {
        const tracks = [...this.asked.list(), ...this.app.trace.tracks], {choice} = this.app;
        setLane(FULL_LANE);
        this.layout.build(tracks, choice);
        if (choice.fitsHeight) {
            setLane(this.layout.laneFor(this.scrollRoom()));
            this.layout.build(tracks, choice);
        }
        this.showHollow();
        this.scrollTo(this.scroll);
    }

    /* Where there is nothing to be seen: why, and what to do. */
    showHollow() {
        const {trace, choice} = this.app;
        const why = !trace.totals.events && !trace.live ? 'This trace has no events. Its facts are in the panel “Info”.' : !this.layout.rows.length && choice.hidden.size ? 'All tracks are hidden: Shift+H shows them again.' : !this.layout.rows.length && choice.hidesEmpty ? 'No track has anything in view: zoom out, or show empty tracks (≡).' : !this.layout.rows.length && choice.filter ? `No track has “${choice.filter}” in its name.` : '';
        this.hollow.textContent = why;
        this.hollow.hidden = !why;
    }

    /** What is in view in words, for those who can't see it. */
    summary() {
        const {view, timeMode, trace} = this.app, rows = this.visibleRows().filter(({row}) => !row.header), time = (t) => format.time(t, timeMode, trace, (view.to - view.from) / 100);
        const names = rows.slice(0, 8).map(({row}) => row.track.name).join(', ');
        return `timeline, ${format.duration(view.to - view.from)} from ${time(view.from)} to ${time(view.to)}; ${rows.length} of ${format.several(this.layout.rows.filter((r) => !r.header).length, 'track')} in sight: ${names}${rows.length > 8 ? ' …' : ''}. Arrow keys go from zone to zone.`;
    }

    /** Pixels for the tracks that scroll. */
    scrollRoom() {
        return Math.max(1, this.height - RULER - this.layout.pinnedHeight);
    }

    /** Is a lane of a track among those that are seen? Pinned ones are not meant. */
    isInSight(id, depth) {
        const row = this.layout.byTrack.get(id), y = row && row.top + depth * LANE;
        return row && depth < Math.max(1, row.lanes) && y >= this.scroll && y + 30 <= this.scroll + this.scrollRoom();
    }

    scrollTo(y) {
        const before = this.scroll;
        this.scroll = Math.max(0, Math.min(y, this.layout.height - this.scrollRoom() + 8));
        if (this.scroll === before)
            this.app.redraw();
        else
            this.app.changed('scroll');
    }

    isOnScrollBar(p) {
        return p.x > this.width - BAR && p.y > RULER + this.layout.pinnedHeight && this.layout.height > this.scrollRoom();
    }

    /** Rows on the screen, pinned ones first, with their y. */
    visibleRows() {
        const top = RULER + this.layout.pinnedHeight, out = this.layout.between(this.scroll, this.scroll + this.height - top)
            .map((row) => ({row, y: top + row.top - this.scroll}));
        return out.concat(this.layout.pinned.map((row) => ({row, y: RULER + row.top})));
    }

    timeAt(x) {
        const {from, to} = this.app.view;
        return from + (x - LABEL) / (this.width - LABEL) * (to - from);
    }

    xOf(t) {
        const {from, to} = this.app.view;
        return LABEL + (t - from) / (to - from) * (this.width - LABEL);
    }

    rowAt(y) {
        const rows = this.visibleRows();
        if (y < RULER)
            return null;
        if (y < RULER + this.layout.pinnedHeight)
            return rows.find((r) => r.row.pinned && y >= r.y && y < r.y + r.row.height) || null;
        return rows.find((r) => !r.row.pinned && y >= r.y && y < r.y + r.row.height) || null;
    }

    /** What is under a point: {row, depth, t, item, mark}. A mark is of strips.js; the item is {t0, t1, loc, count, busy, flags}. */
    hit(x, y) {
        const sticky = x < LABEL && y >= RULER + this.layout.pinnedHeight ? this.stickyRow() : null;
        const at = sticky && y < RULER + this.layout.pinnedHeight + sticky.height ? {row: sticky, y: RULER + this.layout.pinnedHeight} : this.rowAt(y);
        if (!at)
            return null;
        const t = this.timeAt(x), found = {row: at.row, y: at.y, t, depth: 0, item: null, mark: null};
        if (x < LABEL || at.row.header)
            return found;
        found.mark = this.strips.at(at.row, y - at.y, t) || this.ghosts.at(at.row, y - at.y, t) || this.asked.at(at.row, y - at.y, t);
        if (found.mark)
            return found;
        found.depth = isZones(at.row.track.kind) ? Math.floor((y - at.y - PAD) / LANE) : 0;
        if (found.depth >= 0)
            found.item = this.itemAt(at.row.track.id, found.depth, t, at.row.track.kind === 'messages' ? 4 : 1.5);
        return found;
    }

    itemAt(id, depth, t, slackPx) {
        const {fine, coarse} = this.data, per = (this.app.view.to - this.app.view.from) / (this.width - LABEL);
        const answer = fine && fine.asked.has(id) && fine.from <= t && fine.to >= t ? fine : coarse;
        const items = answer && answer.lane(id, depth);
        if (!items)
            return null;
        const {t0, t1, loc, count, busy, flags, min, max, last} = answer.arrays, end = items.first + items.n;
        const from = Math.max(items.first, lowerBound(t0, t, items.first, end) - 3);
        let best = null, far = slackPx * per;
        for (let i = from; i < Math.min(end, from + 6); i++) {
            const d = t < t0[i] ? t0[i] - t : t > t1[i] ? t - t1[i] : 0;
            if (d < far || d === 0 && best !== null && flags[i] & PIXEL_ZONE) {
                far = d;
                best = i;
            }
        }
        if (best === null)
            best = this.coverOf(answer.arrays, items.first, end, t);
        if (best === null)
            return null;
        const item = {t0: t0[best], t1: t1[best], loc: loc[best], count: count[best], busy: busy[best], flags: flags[best]};
        if (items.value !== undefined) {
            const v = items.value + best - items.first;
            Object.assign(item, {min: min[v], max: max[v], last: last[v]});
        }
        return item;
    }

    /* A zone over a time, wherever it is in the list: where some lie over others, they are not in order. */
    coverOf({t0, t1, flags}, first, end, t) {
        for (let i = end - 1; i >= first; i--)
            if (flags[i] & PIXEL_ZONE && t0[i] <= t && t1[i] >= t)
                return i;
        return null;
    }

    /** One frame. */
    draw() {
        if (!this.width || !this.app.trace)
            return;
        const start = performance.now(), rows = this.visibleRows();
        for (const source of [this.data, this.strips, this.ghosts])
            source.update(this.app.view, rows.map((r) => r.row), this.width - LABEL);
        this.app.coloring.update(this.app.view, this.width - LABEL);
        this.app.presence.update(this.app.view);
        const scene = {width: this.width, height: this.height, label: LABEL, ruler: RULER, top: RULER + this.layout.pinnedHeight, view: this.app.view, rows, data: this.data, dpr: this.dpr};
        this.painter.paint(this.ctx, scene);
        this.theme = THEMES[this.app.theme];
        this.asked.paint(this.painter);
        this.path.draw(this);
        this.drawFlows();
        this.wakes.draw();
        this.drawSelection(rows);
        this.drawArea(rows);
        this.drawNotes();
        this.drawLabels(rows);
        this.drawLanding();
        this.drawRuler(scene.step);
        this.drawScrollBar();
        this.drawPointer();
        drawMeasure(this);
        this.note(performance.now() - start);
    }

    note(ms) {
        this.frames.push({ms, shapes: this.painter.counts.shapes, labels: this.painter.counts.labels, at: performance.now()});
        if (this.frames.length > 2000)
            this.frames.splice(0, 1000);
    }

    clip(top = RULER) {
        const {ctx} = this;
        ctx.save();
        ctx.beginPath();
        ctx.rect(LABEL, top, this.width - LABEL, Math.max(0, this.height - top));
        ctx.clip();
    }

    drawSelection(rows) {
        const sel = this.app.selection, {ctx} = this;
        if (!sel)
            return;
        for (const {row, y} of rows) {
            if (row.track.id !== sel.track || row.header || sel.depth >= Math.max(1, row.lanes))
                continue;
            this.clip(row.pinned ? RULER : RULER + this.layout.pinnedHeight);
            const x0 = Math.max(LABEL - 3, this.xOf(sel.t0)), x1 = Math.min(this.width + 3, this.xOf(sel.t1 ?? this.app.trace.range[1]));
            const top = isZones(row.track.kind) ? y + PAD + sel.depth * LANE : y + 2, size = isZones(row.track.kind) ? LANE - 1 : row.height - 5;
            ctx.lineWidth = 2.5;
            ctx.strokeStyle = this.theme.outline;
            this.painter.frame(x0, top, Math.max(2, x1 - x0), size);
            ctx.restore();
        }
    }

    drawArea(rows) {
        const area = this.app.area, {ctx, theme} = this;
        if (!area)
            return;
        this.clip();
        const x0 = this.xOf(area.from), x1 = this.xOf(area.to), tracks = area.tracks ? new Set(area.tracks) : null;
        ctx.fillStyle = theme.select;
        for (const {row, y} of rows)
            if (!tracks || tracks.has(row.track.id))
                this.painter.rect(x0, y, Math.max(1, x1 - x0), row.height);
        ctx.fillStyle = theme.selectEdge;
        for (const x of [x0, x1])
            this.painter.rect(Math.round(x) - 0.5, RULER, 1.5, this.height);
        ctx.restore();
        this.drawSpan(x0, x1, format.duration(area.to - area.from), theme.selectEdge);
    }

    /* A length on the ruler. */
    drawSpan(x0, x1, text, color) {
        const {ctx} = this, left = Math.max(LABEL, x0), right = Math.min(this.width, x1);
        if (right < LABEL || left > this.width)
            return;
        ctx.fillStyle = color;
        this.painter.rect(left, RULER - 4, Math.max(1, right - left), 4);
        const w = ctx.measureText(text).width + 12, x = Math.min(this.width - w - 2, Math.max(LABEL + 2, (left + right - w) / 2));
        this.painter.rect(x, RULER + 3, w, 18);
        ctx.fillStyle = this.theme.back;
        this.painter.text(text, x + 6, RULER + 12);
    }

    drawNotes() {
        const {ctx, theme} = this;
        this.clip();
        for (const note of this.app.notes.list.slice(0, 100)) {
            const x0 = this.xOf(note.from), x1 = this.xOf(note.to);
            if (x1 < LABEL - 200 || x0 > this.width)
                continue;
            if (note.to > note.from) {
                ctx.globalAlpha = 0.12;
                ctx.fillStyle = theme.note;
                this.painter.rect(x0, RULER, x1 - x0, this.height);
                ctx.globalAlpha = 1;
            }
            ctx.fillStyle = theme.note;
            this.painter.rect(x0 - 0.5, RULER, 1.5, this.height);
            const w = Math.min(180, ctx.measureText(note.text || '⚑').width + 14);
            this.painter.rect(x0, RULER, w, 17);
            ctx.fillStyle = theme.back;
            this.painter.text(this.cut(note.text || '⚑', w - 8), x0 + 5, RULER + 9);
        }
        ctx.restore();
    }

    cut(text, room) {
        return cutText(this.ctx, text, room);
    }

    /** Where a track's row is, in sight or not: {row, y}; of one in a collapsed group, the group's. Null: the filter hides it. */
    placeOf(id, byId) {
        const pinned = this.layout.pinned.find((row) => row.track.id === id);
        if (pinned)
            return {row: pinned, y: RULER + pinned.top};
        for (let track = byId.get(id); track; track = byId.get(track.parent)) {
            const row = this.layout.byTrack.get(track.id);
            if (row)
                return {row, y: RULER + this.layout.pinnedHeight + row.top - this.scroll};
        }
        return null;
    }

    /* Arrows of the selected zone's flows; they lead out of the picture where their other end is. */
    drawFlows() {
        const {ctx, theme} = this;
        if (!this.app.flows.length)
            return;
        const byId = new Map(this.app.trace.tracks.map((t) => [t.id, t]));
        this.clip();
        ctx.strokeStyle = ctx.fillStyle = theme.flow;
        ctx.lineWidth = 1.5;
        for (const flow of this.app.flows.slice(0, 200)) {
            const a = this.placeOf(flow.track0, byId), b = this.placeOf(flow.track1, byId);
            if (!a || !b)
                continue;
            const place = (r, depth) => r.row.header ? r.y + r.row.height / 2 : r.y + PAD + Math.min(Math.max(0, r.row.lanes - 1), depth) * LANE + LANE / 2;
            this.arrow(this.xOf(flow.t0), place(a, flow.depth0), this.xOf(flow.t1), place(b, flow.depth1));
        }
        ctx.restore();
    }

    arrow(x0, y0, x1, y1) {
        if (!this.painter.take(2))
            return;
        const {ctx} = this, bend = Math.max(8, Math.min(120, Math.abs(x1 - x0) / 2));
        ctx.beginPath();
        ctx.moveTo(x0, y0);
        ctx.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 5, y1);
        ctx.stroke();
        ctx.beginPath();
        ctx.moveTo(x1, y1);
        ctx.lineTo(x1 - 7, y1 - 4);
        ctx.lineTo(x1 - 7, y1 + 4);
        ctx.fill();
    }

    /** The group that the first row in sight is in, where its own row is out of sight: its name stays at the top. Null: none. */
    stickyRow() {
        const [first] = this.layout.between(this.scroll, this.scroll + 1);
        if (!first || first.header && first.top === this.scroll)
            return null;
        const group = this.app.aboveOf(first.track.id).map((id) => this.layout.byTrack.get(id)).find((row) => row && row.header && row.top < this.scroll);
        return group || null;
    }

    drawLabels(rows) {
        const {ctx, theme} = this, sticky = this.stickyRow(), top = RULER + this.layout.pinnedHeight + (sticky ? sticky.height : 0);
        ctx.fillStyle = theme.back;
        this.painter.rect(0, RULER, LABEL, this.height - RULER);
        for (const {row, y} of rows) {
            if (!row.pinned && y + row.height <= RULER + this.layout.pinnedHeight)
                continue;
            this.drawLabel(row, row.pinned ? y : Math.min(Math.max(y, top), Math.max(y, y + row.height - 22)), y);
        }
        if (sticky)
            this.drawLabel(sticky, RULER + this.layout.pinnedHeight, RULER + this.layout.pinnedHeight);
        ctx.fillStyle = theme.line;
        this.painter.rect(LABEL - 1, 0, 1, this.height);
        if (this.layout.pinnedHeight) {
            ctx.fillStyle = theme.accent;
            this.painter.rect(0, RULER + this.layout.pinnedHeight - 1, this.width, 1.5);
        }
    }

    /* A line where a track that is dragged would come to be. */
    drawLanding() {
        const place = this.drag && this.drag.landing, {rows} = this.layout, at = place ? rows.indexOf(this.layout.byTrack.get(place.same.id)) : -1;
        if (at < 0)
            return;
        const next = place.after ? rows.slice(at + 1).find((r) => r.level <= rows[at].level) : rows[at];
        const top = RULER + this.layout.pinnedHeight, y = top + (next ? next.top : this.layout.height) - this.scroll;
        this.ctx.fillStyle = this.theme.accent;
        this.painter.rect(0, Math.max(top, Math.min(y - 1.5, this.height - 3)), this.width, 3);
    }

    drawLabel(row, y, top) {
        const {ctx, theme} = this, {track} = row, matched = this.app.trackHits.has(track.id);
        ctx.fillStyle = row.header ? theme.head : row.pinned ? theme.lane2 : theme.back;
        this.painter.rect(0, top, LABEL - 1, row.height - 1);
        if (track.id === this.app.search.track) {
            ctx.fillStyle = theme.hit;
            this.painter.rect(0, top, 4, row.height - 1);
        }
        const x = row.header ? 8 + 8 * row.level : 14 + 8 * Math.max(0, row.level - 1), middle = y + (row.header ? row.height / 2 : Math.min(12, row.height / 2));
        if (row.height < LEAST_LABEL)
            return;
        ctx.fillStyle = theme.dim;
        if (row.header || row.lanes > 1 || row.collapsed)
            this.painter.text(row.collapsed ? '▸' : '▾', x, middle);
        ctx.fillStyle = matched ? theme.hit : theme.text;
        ctx.font = row.header ? `600 ${FONT}` : FONT;
        const note = this.labelNote(track, row), w = note ? ctx.measureText(note).width + 8 : 0;
        this.painter.text(this.cut(shortName(track), LABEL - x - 22 - w), x + 14, middle);
        ctx.font = FONT;
        if (note) {
            ctx.fillStyle = theme.dim;
            ctx.textAlign = 'right';
            this.painter.text(note, LABEL - 8, middle);
            ctx.textAlign = 'left';
        }
        if (track.kind === 'plot' && row.high !== undefined && Number.isFinite(row.high) && row.height > 30) {
            ctx.fillStyle = theme.dim;
            this.painter.text(`${format.plotValue(row.low, track.format)} – ${format.plotValue(row.high, track.format)}`, x + 14, middle + 17);
        }
    }

    labelNote(track, row) {
        if (row.pinned)
            return '📌';
        if (track.kind === 'process')
            return track.pid ? `pid ${track.pid}` : '';
        if (track.kind === 'thread')
            return track.tid ? String(track.tid) : '';
        return {fiber: 'fiber', spans: 'async', gpu: 'GPU', frames: track.name === 'frames' ? '' : 'frames', plot: '', messages: '', locks: 'lock', cpu: '', cpus: '', rank: '', asked: 'query'}[track.kind] ?? track.kind;
    }

    drawRuler(step) {
        const {ctx, theme, app} = this, {from, to} = app.view;
        ctx.fillStyle = theme.head;
        this.painter.rect(0, 0, this.width, RULER);
        ctx.fillStyle = theme.line;
        this.painter.rect(0, RULER - 1, this.width, 1);
        ctx.fillStyle = theme.dim;
        this.painter.text(this.cut(`${format.duration(to - from)} shown`, LABEL - 16), 8, RULER / 2);
        ctx.save();
        ctx.beginPath();
        ctx.rect(LABEL, 0, this.width - LABEL, RULER);
        ctx.clip();
        for (let t = Math.floor(from / step) * step, n = 0; t < to && n < 80; t += step, n++) {
            const x = Math.round(this.xOf(t));
            ctx.fillStyle = theme.line;
            this.painter.rect(x, RULER - 9, 1, 9);
            const text = format.time(t, app.timeMode, app.trace, step);
            if (x + 4 < LABEL || x + 4 + ctx.measureText(text).width > this.width)
                continue;
            ctx.fillStyle = theme.text;
            this.painter.text(text, x + 4, RULER / 2 - 2);
        }
        ctx.restore();
        if (this.app.area && !this.drag)
            this.drawSpan(this.xOf(this.app.area.from), this.xOf(this.app.area.to), format.duration(this.app.area.to - this.app.area.from), theme.selectEdge);
    }

    drawScrollBar() {
        const {ctx, theme} = this, room = this.scrollRoom(), share = room / this.layout.height;
        if (share >= 1)
            return;
        const length = Math.max(24, room * share), top = RULER + this.layout.pinnedHeight + (room - length) * Math.min(1, this.scroll / (this.layout.height - room));
        ctx.globalAlpha = this.drag && this.drag.mode === 'scroll' || this.pointer && this.isOnScrollBar(this.pointer) ? 0.8 : 0.4;
        ctx.fillStyle = theme.dim;
        this.painter.rect(this.width - BAR + 2, top + 2, BAR - 4, length - 4);
        ctx.globalAlpha = 1;
    }

    drawPointer() {
        const {ctx, theme, pointer} = this;
        if (!pointer || pointer.x < LABEL)
            return;
        ctx.globalAlpha = 0.5;
        ctx.fillStyle = theme.dim;
        this.painter.rect(Math.round(pointer.x), RULER, 1, this.height);
        ctx.globalAlpha = 1;
        if (this.drag && this.drag.zoom) {
            const x0 = Math.min(this.drag.x, pointer.x), x1 = Math.max(this.drag.x, pointer.x);
            ctx.fillStyle = theme.select;
            this.painter.rect(x0, RULER, x1 - x0, this.height);
            this.drawSpan(x0, x1, format.duration(Math.abs(this.timeAt(x1) - this.timeAt(x0))), theme.accent);
        }
        if (pointer.y < RULER) {
            const text = format.time(this.timeAt(pointer.x), this.app.timeMode, this.app.trace, (this.app.view.to - this.app.view.from) / this.width);
            const w = ctx.measureText(text).width + 10;
            ctx.fillStyle = theme.text;
            this.painter.rect(Math.min(this.width - w, pointer.x + 6), 4, w, RULER - 9);
            ctx.fillStyle = theme.back;
            this.painter.text(text, Math.min(this.width - w, pointer.x + 6) + 5, RULER / 2);
        }
    }
}
