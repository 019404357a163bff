/* palette.js - colours: stable by name, readable under dark text in all themes. Two sets: sixteen in five shades, or eight that can be distinguished with any
 * kind of colour vision (a test simulates them).
 * SPDX-License-Identifier: MIT */

const ZONES = ['#6fa8dc', '#f0b35e', '#7fc7a3', '#e08fb4', '#b7a3e3', '#d9d06b', '#7cc8d8', '#e59a80', '#a9c46c', '#c7b299',
    '#92b4f2', '#f6cf8f', '#5fb3a1', '#eab0c8', '#9a8fd0', '#bfc97a'];
/** From short to long: each step is darker than the one before, so that they can be distinguished with any kind of colour vision. */
export const RAMP = ['#f4f1c1', '#e6e79a', '#cfe08a', '#aed58a', '#86c690', '#5fb39a', '#459da3', '#3c84a6', '#42699f', '#4a4a8c'];
/** Any two of these differ for everybody. */
export const SAFE = ['#52fcfc', '#fc7430', '#da52fc', '#fcb896', '#fcfc30', '#529696', '#b87452', '#b8fc74'];
const SHADES = [1, 0.9, 1.1, 0.95, 1.05];

export const THEMES = {
    light: {
        back: '#ffffff', lane: '#f4f6f8', lane2: '#eef1f4', line: '#d5dbe1', text: '#1c2530', dim: '#667382', head: '#e6ebf0', accent: '#0b62b5',
        select: 'rgba(11,98,181,0.16)', selectEdge: '#0b62b5', hit: '#b3261e', loss: '#b3261e', note: '#8a5a00', zoneText: '#15202b', outline: '#111820',
        plot: '#0b62b5', plotFill: 'rgba(11,98,181,0.22)', frameA: '#c9d3dc', frameB: '#dde4ea', flow: '#8a2be2', lock: '#c7b299', none: '#a9b4bf',
        states: ['#1f8f6b', '#e08a1e', '#c3ccd6'], tick: '#3c4a5a', /* of a thread: runs, is ready, waits; a sample */
    },
    dark: {
        back: '#12171d', lane: '#171d24', lane2: '#1a2129', line: '#2c3641', text: '#e3e9ef', dim: '#93a1af', head: '#202932', accent: '#6cb6ff',
        select: 'rgba(108,182,255,0.18)', selectEdge: '#6cb6ff', hit: '#ff8a80', loss: '#ff6b5e', note: '#ffca6a', zoneText: '#10161c', outline: '#ffffff',
        plot: '#6cb6ff', plotFill: 'rgba(108,182,255,0.25)', frameA: '#3c4854', frameB: '#2f3943', flow: '#d29bff', lock: '#a08c72', none: '#56616c',
        states: ['#3fbf93', '#f0a545', '#44505c'], tick: '#c4d0dc',
    },
    contrast: {
        back: '#000000', lane: '#000000', lane2: '#0a0a0a', line: '#707070', text: '#ffffff', dim: '#e0e0e0', head: '#1a1a1a', accent: '#ffe14d',
        select: 'rgba(255,225,77,0.28)', selectEdge: '#ffe14d', hit: '#ff9d94', loss: '#ff9d94', note: '#ffd27a', zoneText: '#000000', outline: '#ffffff',
        plot: '#7fd4ff', plotFill: 'rgba(127,212,255,0.35)', frameA: '#8a96a3', frameB: '#5f6a75', flow: '#e3bdff', lock: '#d9c39f', none: '#9aa5b0',
        states: ['#4be0ab', '#ffb454', '#5f6a75'], tick: '#ffffff',
    },
};

function hash(text) {
    let h = 2166136261;
    for (let i = 0; i < text.length; i++)
        h = Math.imul(h ^ text.charCodeAt(i), 16777619);
    h ^= h >>> 15;
    return Math.imul(h, 0x2c1b3c6d) >>> 8;
}

const known = new Map();
let isSafe = false;

/** Which of the two sets is used from now on. */
export function useSafe(on) {
    isSafe = on;
    known.clear();
}

/** The colours that are used. */
export function zoneColors() {
    return isSafe ? SAFE : ZONES;
}

/** The colour of a name, '#rrggbb'; a colour given by the program wins. */
export function colorOf(name, given = 0) {
    if (given)
        return `#${(given & 0xffffff).toString(16).padStart(6, '0')}`;
    let color = known.get(name);
    if (!color) {
        const n = hash(name), colors = zoneColors(), shade = isSafe ? 1 : SHADES[Math.floor(n / 16) % SHADES.length];
        color = `#${rgbOf(colors[n % colors.length]).map((c) => Math.min(255, Math.round(c * shade)).toString(16).padStart(2, '0')).join('')}`;
        if (known.size < 200000)
            known.set(name, color);
    }
    return color;
}

export function rgbOf(color) {
    const n = parseInt(color.slice(1), 16);
    return [n >> 16, n >> 8 & 255, n & 255];
}

/** Dark or light text on a colour, whichever has more contrast. */
export function textOn(color) {
    const [r, g, b] = rgbOf(color);
    return 0.299 * r + 0.587 * g + 0.114 * b > 120 ? '#15202b' : '#ffffff';
}
