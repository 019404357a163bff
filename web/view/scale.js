/* scale.js - how large texts are: as the browser says, and as was chosen here. What is drawn on canvases grows along: their own pixels are that much larger than
 * those of the page.  SPDX-License-Identifier: MIT */
import {keep, kept} from './kept.js';

const USUAL = 13, SIZES = [1, 1.25, 1.5, 2], NARROW = 1100, NARROWEST = 760, LOW = 700; /* px of the page's texts where the browser's are 16 */

export let TEXT = 1; /* pixels of the page for one of a canvas */

/* How much room the window has for texts of that size. */
function noteRoom() {
    const {classList} = document.documentElement, wide = window.innerWidth / TEXT, high = window.innerHeight / TEXT;
    classList.toggle('narrow', wide <= NARROW);
    classList.toggle('narrowest', wide <= NARROWEST);
    classList.toggle('low', high <= LOW);
}

/* Look how large texts are now. */
function measure() {
    TEXT = Math.min(4, Math.max(0.5, Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL)) || 1;
    noteRoom();
}

window.addEventListener('resize', noteRoom);

/** Texts as large as was chosen, on the next visit too; without `size` as they were chosen before. */
export function setTextSize(size = Number(kept('text', '1'))) {
    const known = SIZES.includes(size) ? size : 1;
    document.documentElement.style.fontSize = known === 1 ? '' : `${81.25 * known}%`;
    keep('text', String(known));
    measure();
    return known;
}

/** The size after the one that is chosen. */
export const nextTextSize = () => SIZES[(SIZES.indexOf(Number(kept('text', '1'))) + 1) % SIZES.length];

/** Pixels of the screen for one of a canvas. */
export const pixelRatio = () => (window.devicePixelRatio || 1) * TEXT;

/** The room of an element in pixels of a canvas. */
export const roomOf = (element) => ({width: element.clientWidth / TEXT, height: element.clientHeight / TEXT});

/** Make a canvas so large, in its own pixels, and ready to be drawn on; its context. */
export function layCanvas(canvas, width, height) {
    const ratio = pixelRatio(), ctx = canvas.getContext('2d');
    Object.assign(canvas, {width: Math.max(1, Math.round(width * ratio)), height: Math.max(1, Math.round(height * ratio))});
    Object.assign(canvas.style, {width: `${width * TEXT}px`, height: `${height * TEXT}px`});
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    return ctx;
}

/** Where an event of the pointer is on a canvas, in its own pixels. */
export function pointOn(event, canvas) {
    const box = canvas.getBoundingClientRect();
    return {x: (event.clientX - box.left) / TEXT, y: (event.clientY - box.top) / TEXT};
}

/** And back: a place of a canvas on the page. */
export function placeOn(canvas, x, y) {
    const box = canvas.getBoundingClientRect();
    return {x: box.left + x * TEXT, y: box.top + y * TEXT};
}
