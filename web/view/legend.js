/* legend.js - what the zones' colours mean, where they are not those of names.  SPDX-License-Identifier: MIT */
import {MODES} from './coloring.js';
import {fill, h} from './dom.js';

export class Legend {
    constructor(app) {
        this.app = app;
        this.element = h('div', {class: 'legend', hidden: true, role: 'note'});
    }

    /** The mode has changed, or a trace was opened. */
    draw() {
        const {app} = this, {coloring} = app, [, words] = MODES.find(([m]) => m === coloring.mode);
        this.element.hidden = coloring.mode === 'name';
        fill(this.element, h('div', {class: 'legendhead'}, h('b', {}, `Colour: ${words}`), h('button', {class: 'small', title: 'colours by name again', 'aria-label': 'colours by name again', onclick: () => app.setColoring('name')}, '✕')),
            coloring.legend().map(([css, text]) => {
                const s = h('span', {class: 'swatch'});
                s.style.background = css;
                return h('div', {}, s, text);
            }));
    }
}
