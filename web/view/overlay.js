/* overlay.js - boxes over the page: help, commands, find a track, questions.  SPDX-License-Identifier: MIT */
import {fill, h} from './dom.js';
import {KEYS, MOUSE} from './keys.js';

export class Overlay {
    constructor(app) {
        this.app = app;
        this.box = h('div', {class: 'box', role: 'dialog', 'aria-modal': 'true', tabindex: '-1'});
        this.element = h('div', {class: 'overlay', hidden: true, onclick: (e) => e.target === this.element && this.close()}, this.box);
    }

    get isOpen() {
        return !this.element.hidden;
    }

    show(kind, title, ...content) {
        this.box.dataset.kind = kind;
        this.box.setAttribute('aria-label', title);
        fill(this.box, h('div', {class: 'boxhead'}, h('h2', {}, title), h('button', {class: 'small', title: 'close (Esc)', onclick: () => this.close()}, '✕')), content);
        this.element.hidden = false;
        this.before = document.activeElement;
        (this.box.querySelector('input, textarea') || this.box).focus();
    }

    close() {
        this.element.hidden = true;
        if (this.before && this.before.focus)
            this.before.focus();
    }

    help() {
        const groups = [...new Set(KEYS.map((row) => row.group))];
        const table = (rows) => h('table', {class: 'keys'}, rows.map((row) => h('tr', {}, h('td', {}, h('kbd', {}, row.show)), h('td', {}, row.help))));
        this.show('help', 'Keys and mouse', h('div', {class: 'helpgrid'},
            h('div', {class: 'helpkeys'}, groups.map((g) => h('section', {}, h('h3', {}, g), table(KEYS.filter((row) => row.group === g))))), h('section', {}, h('h3', {}, 'Mouse'), table(MOUSE))));
    }

    /** A box to choose from a list by typing. rows: [{text, note, run}] */
    choose(kind, title, hint, rows) {
        const list = h('div', {class: 'choices', role: 'listbox', 'aria-label': title}), input = h('input', {type: 'text', placeholder: hint, 'aria-label': hint, spellcheck: 'false'});
        let shown = [], at = 0;
        const run = (row) => {
            this.close();
            row.run();
        };
        const draw = () => {
            const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
            shown = rows.filter((row) => words.every((w) => `${row.text} ${row.note || ''}`.toLowerCase().includes(w)));
            const whole = input.value.trim().toLowerCase();
            shown = [...shown.filter((row) => row.text.toLowerCase().includes(whole)), ...shown.filter((row) => !row.text.toLowerCase().includes(whole))].slice(0, 100);
            at = Math.min(at, Math.max(0, shown.length - 1));
            fill(list, shown.length ? shown.map((row, i) => h('button', {class: i === at ? 'choice picked' : 'choice', role: 'option', onclick: () => run(row)},
                h('span', {}, row.text), h('small', {}, row.note || ''))) : h('p', {class: 'empty'}, 'Nothing has these words in its name.'));
        };
        input.addEventListener('input', () => {
            at = 0;
            draw();
        });
        input.addEventListener('keydown', (event) => {
            if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
                event.preventDefault();
                at = Math.max(0, Math.min(shown.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1)));
                draw();
                list.children[at].scrollIntoView({block: 'nearest'});
            } else if (event.key === 'Enter' && shown[at]) {
                event.preventDefault();
                event.stopPropagation();
                run(shown[at]);
            }
        });
        draw();
        this.show(kind, title, input, list);
    }

    /** A question with a text as its answer; `word`: on its button. */
    askText(kind, title, value, done, word = 'Save') {
        const input = h('textarea', {rows: '3', 'aria-label': title});
        input.value = value;
        const save = () => {
            this.close();
            done(input.value.trim());
        };
        input.addEventListener('keydown', (event) => {
            if (event.key === 'Enter' && !event.shiftKey) {
                event.preventDefault();
                event.stopPropagation();
                save();
            }
        });
        this.show(kind, title, input, h('div', {class: 'buttons'}, h('button', {class: 'main', onclick: save}, word)));
    }

    /** A question with buttons. */
    askChoice(kind, title, text, answers) {
        this.show(kind, title, h('p', {}, text), h('div', {class: 'buttons'}, answers.map(([label, run]) => h('button', {class: 'main', onclick: () => {
            this.close();
            run();
        }}, label))));
    }
}
