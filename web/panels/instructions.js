/* instructions.js - the machine code of a function with the samples at each instruction: beside the source lines of the panel Samples.
 * SPDX-License-Identifier: MIT */
import {Disassembler} from '../engine/disassembler.js';
import {compileModule} from '../engines.js';
import {h} from '../view/dom.js';

const MOST_ROWS = 4000, AROUND = 400;
let loading = null;

/* The module is in the page (`strobe export --to html --source`), or beside it. */
async function load() {
    const stored = window.strobeCode ? new Response(window.strobeCode()) : window.strobeWorker ? {ok: false} : await fetch(new URL('../code.wasm.gz', import.meta.url));
    return new Disassembler(await compileModule(stored, window.strobeWorker ? 'this file was exported without a disassembler (`strobe export --to html --source`)' : 'this page was built without its disassembler: the build says why'));
}

/** Instructions with the samples at each: [{at, size, text, self, total, line}]. Samples of a caller lie inside of its call. */
export async function instructionsOf(json, arrays) {
    const {code} = json;
    loading = loading || load();
    const all = (await loading.catch((error) => {
        loading = null;
        throw error;
    })).instructions(code.machine, arrays.code_bytes, BigInt(`0x${code.start}`)).map((row) => ({...row, self: 0, total: 0, line: 0}));
    let i = 0;
    arrays.code_at.forEach((at, k) => {
        while (i + 1 < all.length && all[i + 1].at <= at)
            i++;
        const row = all[i];
        if (!row || at < row.at || at >= row.at + row.size)
            return;
        row.self += arrays.code_self[k];
        row.total += arrays.code_total[k];
        row.line = arrays.code_line[k];
    });
    return all;
}

/* The instruction that a jump or a branch leads to; null: it leads out of the function. */
function targetOf(row, start, all) {
    const m = /^(?:j\w+|b|b\.\w+|cbn?z|tbn?z|loop\w*)\s.*?#?0x([0-9a-f]+)$/.exec(row.text);
    const at = m ? Number(BigInt(`0x${m[1]}`) - start) : -1;
    return m && all.find((other) => other.at === at) || null;
}

/* What is shown of a long function: what lies around its samples. */
function wanted(all) {
    if (all.length <= MOST_ROWS)
        return all;
    const hot = all.map((row, i) => (row.total ? i : -1)).filter((i) => i >= 0).sort((a, b) => all[b].total - all[a].total);
    const keep = new Set();
    for (const i of hot)
        for (let k = Math.max(0, i - AROUND); k < Math.min(all.length, i + AROUND) && keep.size < MOST_ROWS; k++)
            keep.add(k);
    return all.filter((_, i) => keep.has(i));
}

/** Rows for a <pre>; `weight` puts a number of samples into words. */
export function instructionRows(json, all, weight) {
    const start = BigInt(`0x${json.code.start}`), most = Math.max(1, ...all.map((row) => row.total)), shown = wanted(all), hottest = all.reduce((best, row) => (row.total > best.total ? row : best), all[0]);
    return shown.map((row, i) => {
        const target = targetOf(row, start, all), line = h('div', {class: row === hottest ? 'here' : '', 'data-at': String(row.at), title: row.total ? `${weight(row.self)} at it, ${weight(row.total)} with what it calls` : ''},
            h('span', {class: 'count'}, row.total ? weight(row.total) : ''), h('span', {class: 'lineno'}, (start + BigInt(row.at)).toString(16)), ` ${row.text}`,
            target ? h('button', {class: 'small jump', title: 'go to where it jumps', onclick: (event) => jump(event.target, target.at)}, target.at > row.at ? '↓' : '↑') : null, row.line ? h('small', {}, `  line ${row.line}`) : null);
        if (row.total)
            line.style.setProperty('--heat', String(Math.round(100 * row.total / most)));
        return i && shown[i - 1].at + shown[i - 1].size !== row.at ? [h('div', {class: 'gap'}, '⋯'), line] : line;
    });
}

function jump(from, at) {
    const row = from.closest('pre').querySelector(`[data-at="${at}"]`);
    if (row) {
        row.scrollIntoView({block: 'center'});
        row.classList.add('landed');
    }
}
