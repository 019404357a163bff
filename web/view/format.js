/* format.js - numbers with units, as people read them.  SPDX-License-Identifier: MIT */

const UNITS = [['ns', 1], ['µs', 1e3], ['ms', 1e6], ['s', 1e9]], DAY = 86400e9;

const formats = []; /* by digits: to make one takes longer than to draw a hundred zones */

function plain(value, digits) {
    formats[digits] = formats[digits] || new Intl.NumberFormat('en-US', {minimumFractionDigits: digits, maximumFractionDigits: digits});
    return formats[digits].format(value);
}

/** A duration: "312 ns", "1.25 ms", "2 min 5 s", "3 d 4 h". */
export function duration(ns) {
    if (ns === null || ns === undefined || Number.isNaN(ns))
        return '–';
    if (ns < 0)
        return `−${duration(-ns)}`;
    if (ns < 1000)
        return `${plain(ns, Number.isInteger(ns) ? 0 : 1)} ns`;
    if (ns >= 60e9)
        return longDuration(ns / 1e9);
    const rounded = Number(ns.toPrecision(4)), [unit, size] = UNITS[Math.min(3, Math.floor(Math.log10(rounded) / 3))], v = rounded / size;
    return `${plain(v, v < 10 ? 3 : v < 100 ? 2 : 1)} ${unit}`;
}

/* Two units; the smaller one is rounded. */
function longDuration(seconds) {
    const hours = Math.round(seconds / 3600), minutes = Math.round(seconds / 60);
    if (hours >= 24)
        return `${Math.floor(hours / 24)} d ${hours % 24} h`;
    if (minutes >= 60)
        return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
    const tenths = Math.round(seconds * 10);
    return `${Math.floor(tenths / 600)} min ${plain(tenths % 600 / 10, 1)} s`;
}

/** ns of a time as people write it, in the trace: "1.5 s", "250ms", "12us", a bare number is ns; NaN: it is none. */
export function readTime(text) {
    const m = /^\s*([\d.,]+)\s*(ns|us|µs|ms|s|min)?\s*$/.exec(text);
    return m ? Number(m[1].replaceAll(',', '')) * {ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, min: 60e9}[m[2] || 'ns'] : NaN;
}

/** Every digit: "1,234,567 ns". */
export function exactNs(ns) {
    return ns === null ? '–' : `${Math.round(ns).toLocaleString('en-US')} ns`;
}

export function count(n) {
    return n === null || n === undefined ? '–' : Math.round(n).toLocaleString('en-US');
}

/** "1 message", "1,234 messages". */
export function several(n, word) {
    return `${count(n)} ${word}${n === 1 ? '' : 's'}`;
}

/** "3.2 M", for narrow places. */
export function shortCount(n) {
    const steps = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
    if (n < 0)
        return `−${shortCount(-n)}`;
    for (const [size, letter] of steps)
        if (n >= size)
            return `${plain(n / size, n / size < 10 ? 1 : 0)} ${letter}`;
    return String(Math.round(n));
}

export function bytes(n) {
    const steps = [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [1024, 'KiB']];
    for (const [size, unit] of steps)
        if (Math.abs(n) >= size)
            return `${plain(n / size, n / size < 10 ? 2 : 1)} ${unit}`;
    return `${n} B`;
}

export function percent(share) {
    return `${(100 * share).toFixed(share < 0.1 ? 2 : 1)} %`;
}

/** A plot's value by its format: number, bytes, percent, watt. Above these eight bits it says how it is drawn. */
export function plotValue(v, flags) {
    const format = flags & 255;
    if (format === 1)
        return bytes(v);
    const size = Math.abs(v), text = size >= 1e6 ? shortCount(v) : v.toLocaleString('en-US', {maximumFractionDigits: size >= 1000 ? 0 : size >= 100 ? 1 : 3});
    return text + (format === 2 ? ' %' : format === 3 ? ' W' : '');
}

/* Steps of a ruler: 1, 2, 5 × 10^n ns below a minute, then what clocks have. */
const LONG = [60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800].map((s) => s * 1e9);

/** The least good step that is not below `ns`. */
export function rulerStep(ns) {
    const power = 10 ** Math.floor(Math.log10(Math.max(ns, 1e-3)));
    for (const m of [1, 2, 5, 10])
        if (m * power >= ns && m * power < 60e9)
            return m * power;
    return LONG.find((s) => s >= ns) || 604800e9 * Math.ceil(ns / 604800e9);
}

/** A place in time: relative, UTC or raw. `step`: as fine as the digits must be. UTC has the date where one is asked for, and where
 * a trace has more than one day. */
export function time(ns, mode, trace, step = 1, isDated = false) {
    if (mode === 'utc' && trace && trace.origin_real_ns !== '0')
        return utc(BigInt(Math.round(ns)) + BigInt(trace.origin_real_ns), step, isDated || trace.range && trace.range[1] - trace.range[0] > DAY);
    if (mode === 'raw' && trace)
        return `${(BigInt(Math.round(ns)) + BigInt(trace.origin_mono_ns || 0)).toString()} ns`;
    return relative(ns, step);
}

function utc(ns, step, isDated) {
    return new Date(Number(ns / 1000000n)).toISOString().slice(isDated ? 0 : 11, 19).replace('T', ' ') + fraction(Number(ns % 1000000000n), step);
}

/* The digits behind the seconds, as many as `step` needs. */
function fraction(ns, step) {
    const digits = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(1, step)) - 1e-9)));
    return digits ? `.${String(Math.floor(ns)).padStart(9, '0').slice(0, digits)}` : '';
}

function relative(ns, step) {
    const sign = ns < 0 ? '−' : '', v = Math.abs(ns);
    if (v >= 60e9) {
        const s = Math.floor(v / 1e9), h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60, two = (n) => String(n).padStart(2, '0');
        return `${sign}${h ? `${h}:${two(m)}` : m}:${two(s % 60)}${fraction(v % 1e9, step)}`;
    }
    const [unit, size] = UNITS[Math.min(3, Math.max(0, Math.floor(Math.log10(Math.max(1, v)) / 3)))];
    const digits = Math.min(9, Math.max(0, Math.ceil(Math.log10(size / Math.max(step, 1e-3)) - 1e-9)));
    return `${sign}${plain(v / size, digits)} ${unit}`;
}

/** A time for a command line: "1.234567891s". */
export function commandTime(ns) {
    return `${Math.round(ns)}ns`;
}
