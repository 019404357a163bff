/* waits.js - what threads wait for: the words, and the colours that tell the kinds of waits apart on a strip.
 * SPDX-License-Identifier: MIT */

/* Why a thread was switched out, as the file's reasons are numbered: docs/file-format.md, kind 29. */
const REASONS = {0: '', 1: 'free page', 2: 'page in', 3: 'pool allocation', 4: 'sleep', 5: 'suspended', 6: 'user request', 7: 'executive', 8: 'free page', 9: 'page in', 10: 'pool allocation', 11: 'sleep',
    12: 'suspended', 13: 'user request', 14: 'event pair', 15: 'queue', 16: 'message', 17: 'reply', 18: 'virtual memory', 19: 'page out', 20: 'rendezvous', 21: 'keyed event', 22: 'ended',
    23: 'swapped out', 24: 'CPU rate', 25: 'callout stack', 26: 'kernel', 27: 'resource', 28: 'lock', 29: 'mutex', 30: 'its time was over', 31: 'interrupt', 32: 'preempted', 33: 'yielded',
    34: 'mutex', 35: 'mutex', 36: 'rundown', 37: 'alert by thread', 38: 'preempted',
    128: 'something in the kernel', 129: 'lock (futex)', 130: 'sleep', 131: 'disk', 132: 'page fault', 133: 'data of a pipe or socket', 134: 'poll', 135: 'child process', 136: 'signal', 137: 'stopped', 138: 'lock in the kernel'};

/** Why it waited, or was not running though it could. */
export function reasonText(reason) {
    return reason === 0 ? 'not known' : REASONS[reason] || `reason ${reason}`;
}

/** Kinds of waits, by their reasons; the last one is all others, and what is not known. */
export const WAITS = ['lock', 'disk', 'page fault', 'data', 'sleep', 'other'];
const KINDS = [[28, 29, 34, 35, 129, 138], [131], [2, 9, 18, 19, 132], [133, 134], [4, 11, 130]];
const OTHER = KINDS.length;

/** The place in WAITS of a reason. */
export function waitOf(reason) {
    const i = KINDS.findIndex((list) => list.includes(reason));
    return i < 0 ? OTHER : i;
}

const COLORS = {
    light: ['#a44bc4', '#3b78d8', '#d6455d', '#49a9c9', '#e2e7ec'],
    dark: ['#b878d6', '#5b8fe6', '#e06377', '#4fb3cf', '#323c46'],
    contrast: ['#d9a0ff', '#7fb0ff', '#ff8296', '#6fdcf5', '#4a545e'],
};

/** Their colours in a theme; `plain` is that of a wait for something else. */
export function waitColors(theme, plain) {
    return [...COLORS[theme], plain];
}
