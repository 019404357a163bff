/* legend.js - what the zones' colours mean, where they are not those of names; and which zones stand out while the others are dimmed.  SPDX-License-Identifier: MIT */
import {MODES} from './coloring.js';
import {fill, h} from './dom.js';
import {duration} from './format.js';

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

/** Zones that were looked for stand out, on all panels: said over the timeline, with a way out. */
export class Standout {
    constructor(app) {
        this.app = app;
        this.words = h('span');
        const chip = (content, title, end) => h('div', {class: 'standout', hidden: true, role: 'status'}, content, h('button', {class: 'small', title, 'aria-label': title.replace(/ \(.*/, ''), onclick: end}, '✕'));
        this.found = chip(this.words, 'all zones alike again (Esc)', () => this.end());
        this.path = chip(h('span', {}, 'Critical path, as Explain found it'), 'do not draw the path', () => app.timeline.path.show(false));
        this.element = h('div', {class: 'standouts'}, this.found, this.path);
    }

    /** A frame was drawn. */
    update() {
        const {highlight, names} = this.app, words = !highlight ? '' : `${names.name(highlight.loc)}${highlight.min === undefined ? '' : `, ${duration(highlight.min)} to ${duration(highlight.max)}`}`;
        this.path.hidden = !this.app.timeline.path.isThere;
        if (this.words.title === words)
            return;
        this.found.hidden = !words;
        this.words.title = words;
        this.words.textContent = words && `Only ${words} stands out`;
    }

    end() {
        this.app.highlight = this.app.found = null;
        this.app.drawer.spoil('find');
        this.app.changed('found');
    }
}
