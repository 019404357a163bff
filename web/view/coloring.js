/* coloring.js - which colour a zone has: of its name, or by what the user chose instead; the colour that the program gave it while it ran
 * comes first where names count. Colours of single zones are asked for as they come into view, and kept.
 * SPDX-License-Identifier: MIT */
import {RAMP, colorOf, rgbOf, useSafe, zoneColors} from './palette.js';
import {duration} from './format.js';
import {keep, kept} from './kept.js';

/** [mode, what it is called] */
export const MODES = [['name', 'name'], ['location', 'source location'], ['thread', 'thread'], ['depth', 'depth'], ['duration', 'duration'], ['program', 'the program’s colours']];
const GREY = 0x9aa5b0, MOST_KEPT = 200000, MIN_PX = 2;

const numberOf = (css) => parseInt(css.slice(1), 16);
const RAMP_NUMBERS = RAMP.map(numberOf);

/* The colour of the n-th of something. */
function nth(n) {
    const colors = zoneColors();
    return colors[n % colors.length];
}

/** The step of the ramp for a duration: each is ten times as long as the one before. */
export function stepOf(ns) {
    return Math.max(0, Math.min(RAMP.length - 1, Math.floor(Math.log10(Math.max(1, ns)))));
}

export class Coloring {
    constructor(app) {
        this.app = app;
        this.mode = MODES.some(([m]) => m === kept('coloring', 'name')) ? kept('coloring', 'name') : 'name';
        this.isSafe = kept('palette', '') === 'safe';
        useSafe(this.isSafe);
        this.forget();
    }

    /** Eight colours that everybody can distinguish, or the usual ones. */
    setSafe(on) {
        this.isSafe = on;
        useSafe(on);
        keep('palette', on ? 'safe' : '');
        this.app.timeline.painter.forget();
        this.app.drawer.spoil();
        this.app.redraw();
    }

    /** Another trace. */
    forget() {
        this.given = new Map();    /* "track/depth/t0": colour */
        this.messages = new Map(); /* track: {t: [], color: []} by time */
        this.asked = null;
        this.turn = (this.turn || 0) + 1;
    }

    setMode(mode) {
        this.mode = mode;
        keep('coloring', mode);
        this.app.redraw();
    }

    /** Every zone has the colour of its location. */
    get isPlain() {
        return this.mode === 'name' && !this.given.size;
    }

    /** What is shown has changed: ask for the colours of what is wide enough to be seen. */
    async update(view, width) {
        const {app} = this, span = view.to - view.from, {asked} = this, min = span / width * MIN_PX, isFine = asked && asked.min <= min * 1.01;
        if (app.trace.has_colors === false || asked && asked.isPending)
            return;
        if (asked && asked.exact && asked.from <= view.from && asked.to >= view.to && isFine && !app.trace.live)
            return;
        if (isFine && asked.viewFrom === view.from && asked.viewTo === view.to && asked.range === app.trace.range[1])
            return;
        const q = {ask: 'colors', from: view.from - span, to: view.to + span, min}, {turn} = this;
        this.asked = {...q, viewFrom: view.from, viewTo: view.to, range: app.trace.range[1], isPending: true};
        try {
            const {json, arrays} = await app.engine.ask(q);
            if (turn !== this.turn)
                return;
            Object.assign(this.asked, {isPending: false, exact: json.exact});
            this.take(arrays);
        } catch {
            if (turn === this.turn)
                this.asked.isPending = false; /* an engine that does not know the question */
        }
    }

    take({t0, track, depth, color}) {
        if (this.given.size > MOST_KEPT)
            this.given.clear();
        this.messages.clear();
        for (let i = 0; i < t0.length; i++) {
            const row = this.app.trackOf(track[i]);
            if (row && row.kind === 'messages') {
                const list = this.messages.get(track[i]) || this.messages.set(track[i], {t: [], color: []}).get(track[i]);
                list.t.push(t0[i]);
                list.color.push(color[i]);
            } else
                this.given.set(`${track[i]}/${depth[i]}/${Math.round(t0[i])}`, color[i]);
        }
        this.app.redraw(); /* the view may be another one by now */
    }

    /** The colour that the program gave this zone, -1: none. */
    givenTo(track, depth, t0) {
        return this.given.size ? this.given.get(`${track}/${depth}/${Math.round(t0)}`) ?? -1 : -1;
    }

    /** Of the first message with a colour in [from, to), -1: none. */
    ofMessage(track, from, to) {
        const list = this.messages.get(track);
        if (!list)
            return -1;
        let lo = 0, hi = list.t.length;
        while (lo < hi) {
            const mid = lo + hi >> 1;
            if (list.t[mid] < from)
                lo = mid + 1;
            else
                hi = mid;
        }
        return lo < list.t.length && list.t[lo] < to ? list.color[lo] : -1;
    }

    /** The colour of a zone or a cell as a number, -1: that of its location. `ns`: of a zone its length, of a cell that of the mean zone. */
    of(track, depth, loc, t0, ns, isZone) {
        const given = isZone ? this.givenTo(track.id, depth, t0) : -1;
        switch (this.mode) {
        case 'thread': return numberOf(nth(track.id));
        case 'depth': return numberOf(nth(depth));
        case 'duration': return RAMP_NUMBERS[stepOf(ns)];
        case 'location': return this.byLocation(loc);
        case 'program': return given >= 0 ? given : this.byProgram(loc);
        default: return given;
        }
    }

    byLocation(loc) {
        const row = this.app.names.get(loc);
        return row ? numberOf(colorOf(`${row.file}:${row.line}`)) : -1;
    }

    byProgram(loc) {
        const row = this.app.names.get(loc);
        return row && row.color ? row.color & 0xffffff : GREY;
    }

    /** What the colours mean: [css, words]; empty where each has its own meaning. */
    legend() {
        const {app} = this, css = (n) => `#${n.toString(16).padStart(6, '0')}`;
        if (this.mode === 'duration')
            return RAMP.map((color, i) => [color, i === RAMP.length - 1 ? `from ${duration(10 ** i)} on` : `${i ? duration(10 ** i) : '0'} – ${duration(10 ** (i + 1))}`]);
        if (this.mode === 'depth')
            return Array.from({length: Math.min(16, Math.max(1, ...app.timeline.visibleRows().map(({row}) => row.lanes)))}, (_, i) => [nth(i), `depth ${i}`]);
        if (this.mode === 'thread') {
            const seen = app.timeline.visibleRows().filter(({row}) => row.lanes).map(({row}) => row.track);
            return [...new Set(seen)].slice(0, 16).map((t) => [nth(t.id), t.name]);
        }
        return this.mode === 'program' ? [[css(GREY), 'no colour was given']] : [];
    }
}

/** Parts of a colour that is a number. */
export function rgbOfNumber(n) {
    return rgbOf(`#${n.toString(16).padStart(6, '0')}`);
}
