/* perfetto.mjs MODULES LINK: Perfetto's page, as vizviewer serves it, on one trace: how soon its tracks are there. Prints
 * "BENCH {json}".  SPDX-License-Identifier: MIT */
import {SIZE, heap, launch, round, words} from './browser.mjs';

const [modules, link] = process.argv.slice(2), PATIENCE = 90000;
const browser = await launch(modules), context = await browser.newContext({viewport: SIZE, deviceScaleFactor: 1}), page = await context.newPage();

async function load() {
    await page.goto('about:blank');
    await page.goto(link, {timeout: PATIENCE});
    await page.waitForFunction(() => document.querySelectorAll('.pf-track').length > 1 && document.querySelector('.pf-linear-progress').getAttribute('state') === 'none', null, {timeout: PATIENCE, polling: 20});
    return page.evaluate(() => performance.now());
}

const found = {browser: words(browser)};
try {
    await load(); /* its files are kept by the browser */
    found.shown_ms = round(await load(), 0);
    found.heap_mib = round(await heap(page), 0);
} catch (error) {
    found.failed = error.message.split('\n')[0];
}
await browser.close();
console.log(`BENCH ${JSON.stringify(found)}`);
