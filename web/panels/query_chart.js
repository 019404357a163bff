/* query_chart.js - an answer of a query as a chart: bars for texts, points joined by a line for numbers. Which columns are drawn can be chosen.
 * SPDX-License-Identifier: MIT */
import {layCanvas, placeOn, pointOn, roomOf} from '../view/scale.js';
import {THEMES} from '../view/palette.js';
import {FONT, cutText} from '../view/text.js';
import {fill, h} from '../view/dom.js';
import {RowKeys} from '../view/rowkeys.js';

const LEFT = 74, BOTTOM = 34, TOP = 12, RIGHT = 14, MOST_BARS = 200, MOST_POINTS = 4000;

/** Whether an answer has something to draw: a column of numbers, and another column or more than one row. */
export function isChartable({types, rows}) {
    return rows.length > 1 && types.some((t) => t === 'int' || t === 'real');
}

const numberOf = (value) => (typeof value === 'number' ? value : value && value.i ? Number(value.i) : NaN);

/* Round steps that cover a range. */
function ticksOf(low, high, most) {
    const raw = (high - low) / Math.max(1, most), power = 10 ** Math.floor(Math.log10(raw || 1)), step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) || power, out = [];
    for (let v = Math.ceil(low / step) * step; v <= high + step / 1e6 && out.length < 40; v += step)
        out.push(v);
    return out;
}

function short(v) {
    const size = Math.abs(v), [unit, name] = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']].find(([u]) => size >= u) || [1, ''];
    return `${Number((v / unit).toPrecision(4))}${name}`;
}

export class QueryChart {
    /** `pick(row)` is called for the row of a bar or a point that is clicked. */
    constructor(app, pick) {
        Object.assign(this, {app, pick, answer: null, marks: []});
        this.x = h('select', {'aria-label': 'across', onchange: () => this.draw()});
        this.y = h('select', {'aria-label': 'up', onchange: () => this.draw()});
        this.canvas = h('canvas', {class: 'askchart', tabindex: '0', role: 'application', 'aria-label': 'chart of the answer: arrow keys go from row to row, Enter goes to its place'});
        this.holder = h('div', {class: 'chart'}, this.canvas);
        this.element = h('div', {class: 'withbar'}, h('div', {class: 'bar narrow'}, 'across ', this.x, ' up ', this.y), this.holder);
        this.canvas.addEventListener('click', (e) => {
            const mark = this.markAt(e);
            if (mark)
                this.pick(mark.row);
        });
        this.canvas.addEventListener('mousemove', (e) => this.pointAt(e));
        this.canvas.addEventListener('mouseleave', () => app.tips.hide());
        this.keys = new RowKeys(this.canvas, {isAcross: true, n: () => this.marks.length, mark: (i) => this.stand(this.marks[i]), act: (i, {key}) => {
            if (key === 'Enter')
                this.pick(this.marks[i].row);
            return key === 'Enter';
        }});
        new ResizeObserver(() => this.draw()).observe(this.holder);
    }

    /** Draw an answer; columns that it has are offered, the first that fit are chosen. */
    set(answer) {
        const {columns, types} = answer, isNumber = (i) => types[i] === 'int' || types[i] === 'real', options = (list) => list.map((i) => h('option', {value: String(i)}, columns[i]));
        const all = columns.map((c, i) => i), numbers = all.filter(isNumber), time = columns.indexOf('ts'), text = types.indexOf('text');
        const x = time >= 0 ? time : text >= 0 ? text : numbers[0], y = numbers.find((i) => i !== x && !/(^|_)id$/.test(columns[i])) ?? numbers.find((i) => i !== x) ?? x;
        this.answer = answer;
        fill(this.x, options(all));
        fill(this.y, options(numbers));
        this.x.value = String(x);
        this.y.value = String(y);
        this.draw();
    }

    draw() {
        const {canvas, holder, answer} = this, {width, height} = roomOf(holder);
        this.marks = [];
        if (!answer || !width || !height)
            return;
        const ctx = layCanvas(canvas, width, height);
        Object.assign(ctx, {font: FONT, textBaseline: 'middle'});
        this.theme = THEMES[this.app.theme];
        this.box = {left: LEFT, right: width - RIGHT, top: TOP, bottom: height - BOTTOM};
        const x = Number(this.x.value), y = Number(this.y.value), isText = !['int', 'real'].includes(answer.types[x]);
        const rows = answer.rows.filter((r) => Number.isFinite(numberOf(r[y])) && (isText || Number.isFinite(numberOf(r[x]))));
        if (isText)
            this.drawBars(ctx, rows.slice(0, MOST_BARS), x, y);
        else
            this.drawPoints(ctx, rows.slice(0, MOST_POINTS), x, y);
    }

    drawScale(ctx, low, high, y) {
        const {box, theme} = this, placeOf = (v) => box.bottom - (v - low) / (high - low || 1) * (box.bottom - box.top);
        ctx.textAlign = 'right';
        for (const v of ticksOf(low, high, (box.bottom - box.top) / 34)) {
            ctx.fillStyle = theme.line;
            ctx.fillRect(box.left, placeOf(v), box.right - box.left, 1);
            ctx.fillStyle = theme.dim;
            ctx.fillText(short(v), box.left - 6, placeOf(v));
        }
        ctx.save();
        ctx.translate(10, (box.top + box.bottom) / 2);
        ctx.rotate(-Math.PI / 2);
        ctx.textAlign = 'center';
        ctx.fillText(this.answer.columns[y], 0, 0);
        ctx.restore();
        return placeOf;
    }

    drawBars(ctx, rows, x, y) {
        const {box, theme} = this, values = rows.map((r) => numberOf(r[y])), placeOf = this.drawScale(ctx, Math.min(0, ...values), Math.max(0, ...values), y), wide = (box.right - box.left) / Math.max(1, rows.length);
        rows.forEach((row, i) => {
            const left = box.left + i * wide, top = Math.min(placeOf(0), placeOf(values[i])), tall = Math.max(1, Math.abs(placeOf(0) - placeOf(values[i])));
            ctx.fillStyle = theme.plot;
            ctx.fillRect(left + wide * 0.1, top, Math.max(1, wide * 0.8), tall);
            ctx.fillStyle = theme.dim;
            ctx.textAlign = 'center';
            if (wide > 34)
                ctx.fillText(cutText(ctx, String(row[x] ?? ''), wide - 4), left + wide / 2, box.bottom + 12);
            this.marks.push({row, left, right: left + wide, x: String(row[x] ?? ''), y: values[i]});
        });
    }

    drawPoints(ctx, rows, x, y) {
        const {box, theme} = this, xs = rows.map((r) => numberOf(r[x])), ys = rows.map((r) => numberOf(r[y])), low = Math.min(...xs), high = Math.max(...xs), yLow = Math.min(...ys);
        const placeY = this.drawScale(ctx, yLow > 0 && yLow < 0.7 * Math.max(...ys) ? 0 : yLow, Math.max(...ys), y), placeX = (v) => box.left + (v - low) / (high - low || 1) * (box.right - box.left);
        ctx.textAlign = 'center';
        for (const v of ticksOf(low, high, (box.right - box.left) / 90)) {
            ctx.fillStyle = theme.line;
            ctx.fillRect(placeX(v), box.top, 1, box.bottom - box.top + 4);
            ctx.fillStyle = theme.dim;
            ctx.fillText(short(v), placeX(v), box.bottom + 12);
        }
        ctx.fillText(this.answer.columns[x], (box.left + box.right) / 2, box.bottom + 26);
        const order = rows.map((r, i) => i).sort((a, b) => xs[a] - xs[b]);
        ctx.strokeStyle = ctx.fillStyle = theme.plot;
        ctx.beginPath();
        for (const i of order)
            ctx.lineTo(placeX(xs[i]), placeY(ys[i]));
        ctx.globalAlpha = 0.45;
        ctx.stroke();
        ctx.globalAlpha = 1;
        for (const i of order) {
            ctx.fillRect(placeX(xs[i]) - 2, placeY(ys[i]) - 2, 4, 4);
            this.marks.push({row: rows[i], left: placeX(xs[i]) - 4, right: placeX(xs[i]) + 4, top: placeY(ys[i]) - 6, x: String(xs[i]), y: ys[i]});
        }
    }

    markAt(e) {
        const {x, y} = pointOn(e, this.canvas), far = (m) => Math.abs(m.left + m.right - 2 * x);
        return this.marks.filter((m) => x >= m.left && x < m.right && (m.top === undefined || Math.abs(y - m.top - 6) < 8)).sort((a, b) => far(a) - far(b))[0] || null;
    }

    pointAt(e) {
        const mark = this.markAt(e);
        return mark ? this.tell(mark, e.clientX, e.clientY) : this.app.tips.hide();
    }

    /* The keyboard is on a bar or a point. */
    stand(mark) {
        const {x, y} = placeOn(this.canvas, (mark.left + mark.right) / 2, mark.top ?? this.box.top);
        this.tell(mark, x, y);
        this.app.announce(`${mark.x}: ${mark.y}`);
    }

    tell(mark, x, y) {
        this.app.tips.show(x, y, mark.x, [[this.answer.columns[Number(this.y.value)], String(mark.y)]]);
    }
}
