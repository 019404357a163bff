/* html.mjs MODULES FILE LOADS: an exported page (`strobe export --to html`) in a real browser, from disk: CPU time of the page's process, all of its
 * threads, until its first picture and until all of it is there. Prints "BENCH {json}".  SPDX-License-Identifier: MIT */
import {pathToFileURL} from 'node:url';
import path from 'node:path';
import {SIZE, heap, launch, round, words} from './browser.mjs';

const [modules, file, nLoads] = process.argv.slice(2), found = {painted_cpu_ms: [], settled_cpu_ms: [], painted_ms: [], settled_ms: [], heap_mib: []};

/* Runs in the page before its own scripts: says when there was a picture, and when nothing was to come any more. */
function watchLoading() {
    let isPainted = false;
    const look = () => {
        const s = window.strobe, drawn = s && s.trace && s.timeline.data.fine && s.timeline.frames.length;
        if (drawn && !isPainted) {
            isPainted = true;
            window.benchTell('painted', performance.now());
        }
        if (drawn && s.engine.what.blob && s.trace.read === 1 && s.minimap.busy && !s.timeline.data.pending && !s.engine.waiting.size && !s.frame && s.names.rows.size)
            window.benchTell('settled', performance.now());
        else
            setTimeout(look, 20);
    };
    setTimeout(look, 20);
}

/* ms of CPU that the browser's pages took so far. */
async function cpuOf(session) {
    const {processInfo} = await session.send('SystemInfo.getProcessInfo');
    return processInfo.filter((p) => p.type === 'renderer').reduce((sum, p) => sum + 1000 * p.cpuTime, 0);
}

for (let i = 0; i < Number(nLoads); i++) { /* each in a browser of its own: nothing of the one before is left */
    const browser = await launch(modules), context = await browser.newContext({viewport: SIZE, deviceScaleFactor: 1, colorScheme: 'light'}), page = await context.newPage();
    const session = await browser.newBrowserCDPSession(), before = await cpuOf(session);
    found.browser = words(browser);
    await new Promise((resolve, reject) => {
        page.on('pageerror', reject);
        context.exposeBinding('benchTell', async (source, what, ms) => {
            found[`${what}_cpu_ms`].push(round(await cpuOf(session) - before, 0));
            found[`${what}_ms`].push(round(ms, 0));
            if (what === 'settled')
                resolve();
        }).then(() => page.addInitScript(watchLoading)).then(() => page.goto(pathToFileURL(path.resolve(file)).href, {waitUntil: 'commit'})).catch(reject);
    });
    found.heap_mib.push(round(await heap(page), 1));
    await browser.close();
}
console.log(`BENCH ${JSON.stringify(found)}`);
