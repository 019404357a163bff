/* kept.js - what the browser keeps of a user's wishes from one visit to the next.  SPDX-License-Identifier: MIT */

export function kept(key, fallback) {
    try {
        return localStorage.getItem(`strobe.${key}`) ?? fallback;
    } catch {
        return fallback;
    }
}

export function keep(key, value) {
    try {
        localStorage.setItem(`strobe.${key}`, value);
    } catch { /* not kept, then */ }
}
