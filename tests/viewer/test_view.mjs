/* test_view.mjs: the parts of the page that need no browser: numbers with units, colours, links, places of tracks.
 * SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import * as format from '../../web/view/format.js';
import {Layout, TrackChoice} from '../../web/view/layout.js';
import {RAMP, SAFE, THEMES, colorOf, rgbOf, textOn} from '../../web/view/palette.js';
import {KEYS, rowFor} from '../../web/view/keys.js';
import {areaKeys, readLink, tracksByKeys} from '../../web/view/link.js';

const DAY = 86400e9;

/* Contrast of two colours as of WCAG 2: 1 to 21. */
function contrast(a, b) {
    const light = (color) => {
        const [r, g, bl] = rgbOf(color).map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * bl + 0.05;
    };
    return Math.max(light(a) / light(b), light(b) / light(a));
}

/* How a colour is seen without one of the three kinds of cones, in linear RGB: Machado, Oliveira and Fernandes, 2009. The first is how most see. */
const VISIONS = [[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]], [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]];

/* CIE Lab of a colour as it is seen. */
function seen(color, vision) {
    const linear = rgbOf(color).map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    const [r, g, b] = vision.map((row) => Math.min(1, Math.max(0, row.reduce((sum, k, i) => sum + k * linear[i], 0)))), f = (t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
    const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047), y = f(0.2126 * r + 0.7152 * g + 0.0722 * b), z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883);
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/* The least difference of two colours for anybody: above 10 it is seen at a glance. */
const difference = (a, b) => Math.min(...VISIONS.map((v) => Math.hypot(...seen(a, v).map((c, i) => c - seen(b, v)[i]))));

const track = (id, parent, kind, name, n_depths = 0) => ({id, parent, kind, name, n_depths});
const TRACKS = [track(1, 0, 'process', 'app'), track(2, 1, 'thread', 'main', 3), track(3, 1, 'thread', 'worker', 2), track(4, 1, 'plot', 'memory'),
    track(5, 0, 'device', 'device 0'), track(6, 5, 'core', 'core 1-2'), track(7, 6, 'risc', 'BRISC', 2), track(8, 6, 'risc', 'NCRISC', 1), track(9, 1, 'gpu', 'queue', 2)];

function layout(choice = new TrackChoice()) {
    const made = new Layout();
    made.build(TRACKS, choice);
    return made;
}

const tests = {
    'any two colours of the safe set differ for every kind of colour vision'() {
        for (const [i, a] of SAFE.entries())
            for (const b of SAFE.slice(i + 1))
                assert.ok(difference(a, b) > 20, `${a} and ${b}: ${difference(a, b)}`);
    },
    'durations are the darker the longer, for every kind of colour vision'() {
        for (const vision of VISIONS)
            for (let i = 1; i < RAMP.length; i++)
                assert.ok(seen(RAMP[i], vision)[0] < seen(RAMP[i - 1], vision)[0] - 2, `${RAMP[i]} after ${RAMP[i - 1]}`);
    },
    'a hidden track is not placed, nor what is below it; one with nothing in view if that is wanted'() {
        const names = (change) => {
            const choice = new TrackChoice();
            change(choice);
            return layout(choice).rows.map((r) => r.track.name);
        };
        assert.deepEqual(names((c) => c.hidden.add(6)), ['app', 'main', 'worker', 'memory', 'queue', 'device 0']);
        assert.deepEqual(names((c) => Object.assign(c, {hidesEmpty: true, used: new Map([[2, 1], [7, 2]])})), ['app', 'main', 'device 0', 'core 1-2', 'BRISC']);
        const compact = new TrackChoice();
        Object.assign(compact, {isCompact: true, used: new Map([[2, 1]])});
        assert.equal(layout(compact).byTrack.get(2).lanes, 1);
    },
    'durations have three or four digits and a unit'() {
        for (const [ns, text] of [[0, '0 ns'], [1, '1 ns'], [999, '999 ns'], [1000, '1.000 µs'], [999999, '1.000 ms'], [1234567, '1.235 ms'], [59e9, '59.00 s'], [90e9, '1 min 30.0 s'],
            [3 * DAY, '3 d 0 h'], [-5000, '−5.000 µs'], [null, '–']])
            assert.equal(format.duration(ns), text);
    },
    'a place in time has as many digits as its step needs'() {
        for (const [ns, step, text] of [[400000399, 1, '400.000399 ms'], [5e9, 1e8, '5.0 s'], [61.5e9, 1e8, '1:01.5'], [DAY - 20117, 1, '23:59:59.999979883'], [-75e9, 1e6, '−1:15.000'], [0, 1e6, '0 ns']])
            assert.equal(format.time(ns, 'relative', null, step), text);
        const trace = {origin_real_ns: '1700000000000000000', origin_mono_ns: '5000000000'};
        assert.equal(format.time(1500000001, 'utc', trace, 1), '22:13:21.500000001');
        assert.equal(format.time(7, 'raw', trace, 1), '5000000007 ns');
        assert.equal(format.time(1500000001, 'utc', trace, 1e9, true), '2023-11-14 22:13:21');
        assert.deepEqual([DAY / 2, 2 * DAY].map((ns) => format.time(ns, 'utc', {...trace, range: [0, ns]}, 1e9)), ['10:13:20', '2023-11-16 22:13:20']);
    },
    'steps of the ruler are 1, 2, 5 or what clocks have'() {
        for (const [ns, step] of [[0.3, 0.5], [3, 5], [11e6, 20e6], [40e9, 50e9], [61e9, 120e9], [3000e9, 3600e9], [2 * DAY, 2 * DAY]])
            assert.equal(format.rulerStep(ns), step);
    },
    'a time that somebody writes is read'() {
        for (const [text, ns] of [['1.5 s', 1.5e9], ['250ms', 250e6], ['12 µs', 12e3], ['3 us', 3e3], ['1,234', 1234], [' 2 min ', 120e9], ['x', NaN], ['3 days', NaN], ['', NaN]])
            assert.equal(format.readTime(text), ns, text);
    },
    'values of plots are short'() {
        for (const [v, kind, text] of [[411793.264, 0, '411,793'], [0.991, 3, '0.991 W'], [-5e6, 0, '−5.0 M'], [12345678, 1, '11.8 MiB'], [99.5, 2, '99.5 %']])
            assert.equal(format.plotValue(v, kind), text);
    },
    'several has the plural where it belongs'() {
        assert.deepEqual([0, 1, 1234].map((n) => format.several(n, 'zone')), ['0 zones', '1 zone', '1,234 zones']);
    },
    'a name can be read on its zone, in every colour'() {
        for (let i = 0; i < 1000; i++) {
            const color = colorOf(`zone ${i}`);
            assert.ok(contrast(textOn(color), color) >= 4.5, `${color} under ${textOn(color)}`);
        }
        for (const given of [1, 0x0000ff, 0xff0000, 0xffffff, 0x808080, 0x00ff00])
            assert.ok(contrast(textOn(colorOf('x', given)), colorOf('x', given)) >= 3, given.toString(16));
    },
    'texts can be read on both grounds'() {
        for (const theme of Object.values(THEMES))
            for (const word of ['text', 'dim', 'accent', 'hit', 'loss', 'note'])
                assert.ok(contrast(theme[word], theme.back) >= 4.5, `${word} ${theme[word]} on ${theme.back}`);
    },
    'a key is known by what it types, W, A, S and D by their place, whatever the layout'() {
        const press = (key, code, mods = '', isTyping = false) => {
            const row = rowFor({key, code, shiftKey: mods.includes('S'), ctrlKey: mods.includes('C'), metaKey: false, altKey: mods.includes('A')}, isTyping);
            return row && row.act;
        };
        assert.equal(press('?', 'Slash', 'S'), 'help'); /* US */
        assert.equal(press('/', 'Slash'), 'search');
        assert.equal(press('?', 'Minus', 'S'), 'help'); /* German */
        assert.equal(press('/', 'Digit7', 'S'), 'search');
        assert.equal(press('-', 'Slash'), null);
        assert.equal(press('[', 'Digit8'), 'flowBack'); /* with AltGr: some systems say so, some say Ctrl and Alt */
        assert.equal(press('[', 'Digit8', 'CA'), 'flowBack');
        assert.equal(press('ü', 'BracketLeft'), 'flowBack'); /* nothing else is bound to it: its place counts */
        assert.equal(press('m', 'Semicolon'), 'mark'); /* French */
        assert.equal(press(',', 'KeyM'), 'previous');
        assert.deepEqual([press('z', 'KeyW'), press('q', 'KeyA'), press('s', 'KeyS'), press('d', 'KeyD')], ['zoomIn', 'panLeft', 'zoomOut', 'panRight']);
        assert.equal(press('a', 'KeyQ'), 'drawer');
        assert.deepEqual([press('ь', 'KeyM'), press('ц', 'KeyW'), press('а', 'KeyF', 'C')], ['mark', 'zoomIn', 'search']); /* Russian */
        assert.deepEqual([press('F', 'KeyF', 'CS'), press('P', 'KeyP', 'CS'), press('T', 'KeyT', 'S'), press('m', 'KeyM', 'C')], [null, 'commands', 'pin', null]);
        assert.deepEqual([press('Enter', 'NumpadEnter', '', true), press('Enter', 'NumpadEnter', 'A')], ['nextHit', 'zoneMenu']); /* there are two of them */
        assert.deepEqual([press('m', 'KeyM', '', true), press('Escape', 'Escape', '', true), press('Enter', 'Enter', 'S', true)], [null, 'clear', 'previousHit']);
    },
    'every row of the table of keys is found by its own key'() {
        for (const row of KEYS) {
            const key = row.show.split('+').pop(), event = {key: key.length > 1 || /[←→]/.test(key) ? row.code : key, code: row.code, shiftKey: row.mods.includes('S'), ctrlKey: row.mods.includes('C'), metaKey: false, altKey: row.mods.includes('A')};
            assert.equal(rowFor(event, Boolean(row.typing)), row, row.show);
        }
    },
    'a plot\'s value has its unit, however the plot is drawn'() {
        const NO_FILL = 256;
        assert.deepEqual([0, 1, 2, 3].map((f) => format.plotValue(12.5, f | NO_FILL)), ['12.5', '12.5 B', '12.5 %', '12.5 W']);
    },
    'what makes no sense in a link is left out'() {
        assert.deepEqual(readLink('#v=5,3&s=[1&a={}&n=7&k=x&t=moon'), {panel: null, search: '', found: '', timeMode: 'relative'});
        assert.deepEqual(readLink('#v=3,5&t=utc').view, {from: 3, to: 5});
    },
    'an area in a link names whole groups by one key, and has the same tracks again'() {
        for (const ids of [[2, 3, 4, 9], [1, 2], [1, 2, 3, 4, 5, 6, 7, 8, 9], [7], [5, 6, 8], []])
            assert.deepEqual(tracksByKeys(TRACKS, areaKeys(TRACKS, ids).keys).sort(), ids);
        assert.equal(areaKeys(TRACKS, [2, 3, 4, 9]).keys.length, 1);
        const many = [track(1, 0, 'process', 'app'), ...Array.from({length: 300}, (x, i) => track(i + 2, 1, 'thread', `t ${i}`))];
        assert.equal(tracksByKeys(many, areaKeys(many, many.map((t) => t.id)).keys).length, 301);
        assert.equal(areaKeys(many, many.slice(2).map((t) => t.id)).nLeft, 99);
    },
    'device, core and RISC lanes are nested, zones of a GPU are lanes'() {
        const rows = layout().rows.map((r) => [r.track.name, r.header, r.level, r.lanes]);
        assert.deepEqual(rows.slice(5), [['device 0', true, 0, 0], ['core 1-2', true, 1, 0], ['BRISC', false, 2, 2], ['NCRISC', false, 2, 1]]);
        assert.deepEqual(rows[4], ['queue', false, 1, 2]);
    },
    'a collapsed process hides its tracks, a filter finds them in any depth'() {
        const choice = new TrackChoice();
        choice.collapsed.add(1);
        assert.deepEqual(layout(choice).rows.filter((r) => r.track.parent === 1), []);
        const other = new TrackChoice();
        other.filter = 'ncrisc';
        assert.deepEqual(layout(other).rows.map((r) => r.track.name), ['device 0', 'core 1-2', 'NCRISC']);
    },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
    try {
        test();
        console.log(`ok    ${name}`);
    } catch (error) {
        failed++;
        console.log(`FAIL  ${name}\n${error.stack}`);
    }
}
process.exit(failed ? 1 : 0);
