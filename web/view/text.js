/* text.js - texts on a canvas.  SPDX-License-Identifier: MIT */

export const FONT = '12px system-ui, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", "Noto Color Emoji", sans-serif';

/** As much of a text as fits, with an ellipsis; '' if that is less than two letters. */
export function cutText(ctx, text, room) {
    if (ctx.measureText(text).width <= room)
        return text;
    const letters = Array.from(text);
    let lo = 0, hi = letters.length;
    while (lo < hi) {
        const mid = lo + hi + 1 >> 1;
        if (ctx.measureText(`${letters.slice(0, mid).join('')}…`).width <= room)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo >= 2 ? `${letters.slice(0, lo).join('')}…` : '';
}
