/* measure.js - from a time to where the next click is: the stretch in between becomes the area.  SPDX-License-Identifier: MIT */
import {duration} from './format.js';

/** Methods of the app. */
export const measuring = {
    measureFrom(t) {
        this.measure = t;
        this.say('Click where the measure ends; Esc gives it up.');
        this.redraw();
    },

    /** A click on the timeline: true where it ends a measure. A zone that was hit counts from its begin. */
    endMeasure(hit) {
        if (this.measure === null || !hit)
            return false;
        const end = hit.item && hit.item.loc ? hit.item.t0 : hit.t, [from, to] = [Math.min(this.measure, end), Math.max(this.measure, end)];
        this.measure = null;
        this.setArea(from, to, null);
        this.areaDone();
        return true;
    },
};

/** While one measures: from there to the pointer. */
export function drawMeasure(tl) {
    const {app, ctx, theme, pointer} = tl;
    if (app.measure === null)
        return;
    const {label, ruler} = tl.painter.scene, x = Math.max(label, tl.xOf(app.measure));
    ctx.fillStyle = theme.accent;
    tl.painter.rect(Math.round(x), ruler, 2, tl.height);
    if (pointer && pointer.x > label)
        tl.drawSpan(Math.min(x, pointer.x), Math.max(x, pointer.x), duration(Math.abs(tl.timeAt(pointer.x) - app.measure)), theme.accent);
}
