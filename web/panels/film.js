/* film.js - images of frames, as the program sent them: the one of a frame, stepped through and played as fast as they were made. They are
 * DXT1, and unpacked here.  SPDX-License-Identifier: MIT */
import {h} from '../view/dom.js';
import * as format from '../view/format.js';

const MOST_KEPT = 64, SLOWEST_MS = 1000;

/* A colour of 5, 6 and 5 bits as [r, g, b]. */
function rgb565(c) {
    const r = c >> 11, g = c >> 5 & 63, b = c & 31;
    return [r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2];
}

const mix = (a, b, n, of) => a.map((v, i) => Math.round((v * n + b[i] * (of - n)) / of));

/** Pixels of an image that `image` answers: {width, height, flip} and its blocks. */
export function unpacked({width, height, flip}, blocks) {
    const out = new ImageData(width, height), pixels = out.data;
    for (let at = 0, y = 0; y < height; y += 4)
        for (let x = 0; x < width; x += 4, at += 8) {
            const c0 = blocks[at] | blocks[at + 1] << 8, c1 = blocks[at + 2] | blocks[at + 3] << 8, a = rgb565(c0), b = rgb565(c1);
            const colors = [a, b, ...(c0 > c1 ? [mix(a, b, 2, 3), mix(a, b, 1, 3)] : [mix(a, b, 1, 2), [0, 0, 0]])];
            for (let i = 0; i < 16; i++) {
                const row = y + (i >> 2), to = 4 * ((flip ? height - 1 - row : row) * width + x + (i & 3));
                pixels.set(colors[blocks[at + 4 + (i >> 2)] >> 2 * (i & 3) & 3], to);
                pixels[to + 3] = 255;
            }
        }
    return out;
}

/** The images of one set of frames; which there are is asked once, each is when it is shown. */
export class Images {
    constructor(app) {
        this.app = app;
        this.sets = new Map(); /* track: {t0, t1, image} */
        this.kept = new Map(); /* number: pixels */
    }

    /** {t0, t1, image} of a track of frames; null: it has none. */
    async of(track) {
        const {engine, trace} = this.app;
        if (this.engine !== engine || this.n !== trace.range[1]) {
            this.engine = engine;
            this.n = trace.range[1]; /* one that grows has more of them */
            this.sets.clear();
            this.kept.clear();
        }
        if (trace.has_images && !this.sets.has(track))
            this.sets.set(track, (await engine.ask({ask: 'images', track})).arrays);
        const set = this.sets.get(track);
        return set && set.t0.length ? set : null;
    }

    async pixels(number) {
        if (!this.kept.has(number)) {
            const {json, arrays} = await this.app.engine.ask({ask: 'image', image: number});
            if (this.kept.size >= MOST_KEPT)
                this.kept.delete(this.kept.keys().next().value);
            this.kept.set(number, unpacked(json, arrays.dxt1));
        }
        return this.kept.get(number);
    }

    /** The one of the frame that a time is in, as a canvas; null: there is none. */
    async at(track, t) {
        const set = await this.of(track), i = set ? set.t0.findIndex((from, k) => from <= t && t < set.t1[k]) : -1;
        return i < 0 ? null : paint(h('canvas', {class: 'frameimage', role: 'img', 'aria-label': 'image of this frame'}), await this.pixels(set.image[i]));
    }
}

function paint(canvas, pixels) {
    Object.assign(canvas, {width: pixels.width, height: pixels.height});
    canvas.getContext('2d').putImageData(pixels, 0, 0);
    return canvas;
}

/** Beside the chart of frames. */
export class Film {
    constructor(app) {
        Object.assign(this, {app, track: 0, set: null, place: 0, timer: 0});
        this.canvas = h('canvas', {class: 'frameimage', role: 'img', 'aria-label': 'image of the frame'});
        this.words = h('figcaption', {'aria-live': 'polite'});
        this.slider = h('input', {type: 'range', min: '0', 'aria-label': 'frame', oninput: () => this.show(Number(this.slider.value))});
        this.play = h('button', {class: 'small', title: 'play, as fast as the frames were made', 'aria-label': 'play', onclick: () => this.toggle()}, '▶');
        const go = h('button', {class: 'small', title: 'show this frame on the timeline', onclick: () => this.set && app.goTo(this.track, 0, this.set.t0[this.place], this.set.t1[this.place])}, 'Go there');
        this.element = h('figure', {class: 'film', hidden: true}, this.canvas, h('div', {class: 'filmbar'}, this.play, this.slider, go), this.words);
    }

    /** Of another set of frames, or of one that has grown. */
    async load(track) {
        const set = await this.app.images.of(track);
        this.stop();
        if (track !== this.track)
            this.place = 0;
        Object.assign(this, {track, set});
        this.element.hidden = !set;
        if (!set)
            return;
        this.slider.max = String(set.t0.length - 1);
        await this.show(Math.min(this.place, set.t0.length - 1));
    }

    /** The frame at a time is what one looks at. */
    showTime(t) {
        const i = this.set ? this.set.t0.findIndex((from, k) => from <= t && t < this.set.t1[k]) : -1;
        return i < 0 ? undefined : this.show(i);
    }

    async show(i) {
        const {set} = this;
        this.place = i;
        this.slider.value = String(i);
        const pixels = await this.app.images.pixels(set.image[i]);
        if (this.place !== i || this.set !== set)
            return;
        paint(this.canvas, pixels);
        this.words.textContent = `image ${format.count(i + 1)} of ${format.count(set.t0.length)} · ${format.duration(set.t1[i] - set.t0[i])} · ${format.time(set.t0[i], this.app.timeMode, this.app.trace, 1e5)}`;
        this.slider.setAttribute('aria-valuetext', this.words.textContent);
    }

    toggle() {
        if (this.timer)
            return this.stop();
        this.play.textContent = '❙❙';
        this.play.setAttribute('aria-label', 'pause');
        if (this.place >= this.set.t0.length - 1)
            this.place = -1;
        return this.next();
    }

    /* Until the next one is due, which is a while after this one. */
    async next() {
        const {set} = this, i = this.place + 1;
        if (i >= set.t0.length)
            return this.stop();
        const turn = this.timer = setTimeout(() => {}, 0);
        await this.show(i);
        if (this.timer === turn && this.element.isConnected && !document.hidden)
            this.timer = setTimeout(() => this.next(), i + 1 < set.t0.length ? Math.min(SLOWEST_MS, (set.t0[i + 1] - set.t0[i]) / 1e6) : 0);
        else if (this.timer === turn)
            this.stop();
        return undefined;
    }

    stop() {
        clearTimeout(this.timer);
        this.timer = 0;
        this.play.textContent = '▶';
        this.play.setAttribute('aria-label', 'play');
    }
}
