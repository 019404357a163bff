/* explain.js - the panel that says where the time went: the statements of `strobe explain` (docs/explain.md), each with the zones that it rests on and the
 * query that proves its number; the critical path is drawn on the timeline.  SPDX-License-Identifier: MIT */
import {copyText, fill, h} from '../view/dom.js';
import {pathColors} from '../view/path.js';
import {hasSql} from './query.js';
import {filterField, link, newest} from './parts.js';
import * as format from '../view/format.js';

const TITLES = {cause: 'Cause', place: 'Places of the critical path', wait: 'What the path was spent with', device: 'Host or device', outlier: 'Outliers', loss: 'Lost', overhead: 'Cost of recording', lack: 'Not in the trace'}, TELL_MS = 200, QUICK_MS = 1000;

class Explain {
    constructor(app) {
        Object.assign(this, {app, begin: newest(), running: null, answer: null, of: null, took: 0});
        this.zone = filterField('Steps: a zone', () => this.load());
        this.state = h('span', {class: 'state'});
        this.again = h('button', {class: 'run', onclick: () => this.load()}, '↻ Explain');
        this.halt = h('button', {class: 'halt', hidden: true, onclick: () => this.running && this.running.stop()}, '■ Stop');
        this.drawn = h('input', {type: 'checkbox', checked: true, onchange: () => app.timeline.path.show(this.drawn.checked)});
        app.timeline.path.told = (isShown) => { this.drawn.checked = isShown; };
        this.legend = h('div', {class: 'pathlegend'});
        this.list = h('div', {class: 'statements'});
        this.element = h('div', {class: 'withbar explain'}, h('div', {class: 'bar narrow'}, this.again, this.halt, this.zone, h('label', {}, this.drawn, ' draw the path'), this.state, h('span', {class: 'grow'}),
            h('button', {onclick: () => this.copyCommand()}, 'Copy as command')), this.legend, this.list);
    }

    question() {
        const {from, to} = this.app.range();
        return {ask: 'explain', zone: this.zone.value || undefined, from, to};
    }

    async copyCommand() {
        const quote = (text) => `'${text.replace(/'/g, '\'\\\'\'')}'`, {zone, from, to} = this.question();
        const words = ['strobe explain', ...(zone ? [`--zone ${quote(zone)}`] : []), ...(from === undefined ? [] : [`--from ${format.commandTime(from)} --to ${format.commandTime(to)}`]), quote(this.app.trace.name)].join(' ');
        await copyText(words);
        this.app.say(`copied: ${words}`);
    }

    async load() {
        const isNewest = this.begin(), {app} = this, began = performance.now(), tell = () => { this.state.textContent = `reading: ${((performance.now() - began) / 1000).toFixed(1)} s …`; };
        if (this.running)
            this.running.stop();
        this.of = {engine: app.engine, q: JSON.stringify(this.question())};
        this.running = app.engine.askLong(this.question());
        this.halt.hidden = false;
        clearInterval(this.timer);
        this.timer = setInterval(tell, TELL_MS);
        tell();
        try {
            const answer = await this.running.answer;
            if (isNewest())
                this.show(answer);
        } catch (error) {
            if (isNewest())
                this.state.textContent = error.message;
        }
        if (!isNewest())
            return;
        clearInterval(this.timer);
        this.took = performance.now() - began;
        this.running = null;
        this.halt.hidden = true;
    }

    show(answer) {
        const {json, arrays} = answer, {app} = this, used = [...new Set(arrays.class)].sort((a, b) => a - b), colors = pathColors(app.theme);
        this.answer = answer;
        app.timeline.path.set(answer);
        this.state.textContent = `critical path: ${format.duration(json.path_ns)} of ${format.duration(json.wall_ns)}${json.steps === 1 ? '' : `, ${format.several(json.steps, 'step')}`}${json.least_ns ? `; stretches below ${format.duration(json.least_ns)} are not drawn` : ''}`;
        fill(this.legend, used.map((kind) => {
            const mark = h('span', {class: 'swatch'});
            mark.style.background = colors[kind];
            return h('span', {}, mark, json.classes[kind]);
        }));
        const topics = [...new Set(json.statements.map((s) => s.topic))];
        fill(this.list, topics.map((topic) => h('section', {'data-topic': topic}, h('h3', {}, TITLES[topic] || topic), json.statements.filter((s) => s.topic === topic).map((s) => this.statement(s)))));
    }

    statement(s) {
        const {app} = this, where = [s.file ? `${s.file}:${s.line}` : '', s.thread ? `thread ${s.thread} of ${s.process}` : ''].filter(Boolean).join(' · ');
        const bar = s.share === undefined ? null : h('span', {class: 'sharebar', title: `${format.percent(s.share)} of the path`}, h('i'));
        if (bar)
            bar.firstChild.style.width = `${Math.max(1, 100 * Math.min(1, s.share))}%`;
        return h('div', {class: `statement ${s.topic}`}, h('div', {class: 'words'}, s.class ? h('b', {class: 'why'}, s.class) : null, s.words),
            s.share === undefined ? null : h('div', {class: 'proof'}, bar, `${format.percent(s.share)} of the path, ${format.duration(s.path_ns)}`, s.gain_ns === undefined ? '' : `; at most ${format.duration(s.gain_ns)} could be gained`),
            where ? h('div', {class: 'proof'}, where) : null,
            s.evidence.length || s.query ? h('div', {class: 'proof'}, s.evidence.map((id, i) => link(i ? `${i + 1}` : 'zone 1', () => this.goTo(id), 'go to the zone that this rests on')),
                s.query ? link(s.value === undefined ? 'query' : `query: ${format.count(s.value)}`, () => this.openQuery(s.query), s.query) : null) : null);
    }

    async goTo(id) {
        const {app} = this, at = await app.zoneById(BigInt(id));
        if (at)
            await app.goToRow(at);
        else
            app.say('The zone is not in the trace any more.');
    }

    openQuery(sql) {
        this.app.drawer.show('query');
        return this.app.drawer.panel('query').query.open(sql);
    }

    /* The first time, of another trace, and of another area. */
    update() {
        const {app} = this, q = JSON.stringify(this.question());
        if (this.of && this.of.engine === app.engine && this.of.q === q) {
            if (this.answer && !this.running)
                this.show(this.answer);
            return undefined;
        }
        if (this.of && this.of.engine === app.engine && this.took > QUICK_MS) { /* a view that moves must not keep a long answer busy */
            this.state.textContent = 'of another range: ↻ Explain reads this one';
            return undefined;
        }
        return this.load();
    }
}

export function makeExplain(app) {
    const explain = new Explain(app);
    return {id: 'explain', title: 'Explain', element: explain.element, update: () => explain.update(), grows: () => false, isOf: hasSql, explain};
}
