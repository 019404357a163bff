/* served.mjs - a real browser and `strobe` beside it, for tests and measurements of the page with its server.
 * SPDX-License-Identifier: MIT */
import {spawn} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

export const web = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..', 'web');
export const PATIENCE = 60000;

/** Chromium, driven by the playwright-core in `modules`. */
export async function launch(modules, args = []) {
    const {chromium} = await import(pathToFileURL(path.join(modules, 'playwright-core', 'index.mjs')).href);
    const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => fs.existsSync(p));
    return chromium.launch({executablePath, args: [...(process.getuid() === 0 ? ['--no-sandbox'] : []), ...args]});
}

/** Start a command that prints the viewer's link. {child, link, port, ended} */
export async function begin(command, args, options = {}) {
    const env = {...process.env, ...options.env};
    for (const name of ['SSH_CONNECTION', 'DISPLAY', 'WAYLAND_DISPLAY'])
        delete env[name];
    const child = spawn(command, args, {cwd: options.cwd, env, stdio: [options.stdin || 'ignore', 'pipe', options.stderr || 'ignore']});
    const ended = new Promise((resolve) => child.on('exit', resolve));
    let said = '';
    const link = await new Promise((resolve, reject) => {
        child.stdout.on('data', (bytes) => {
            const found = /http:\/\/127\.0\.0\.1:(\d+)\/\?token=\w+/.exec(said += bytes);
            if (found)
                resolve(found);
        });
        ended.then((code) => reject(new Error(`${command} ${args.join(' ')} ended with ${code}: ${said}`)));
    });
    return {child, link: link[0], port: Number(link[1]), ended, said: () => said};
}

/** What Chromium itself prints of a server that is away, cut off or answers 404: tests cause it. */
export const OF_THE_NETWORK = /net::ERR_(CONNECTION|EMPTY_RESPONSE|SOCKET|NETWORK|INCOMPLETE|CONTENT_LENGTH|INVALID_HTTP)|WebSocket connection|404/;

/** A page that keeps its errors in `page.errors`. */
export async function openPage(browser, options = {}) {
    const context = await browser.newContext({viewport: {width: 1400, height: 860}, colorScheme: 'light', ...options});
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    page.errors = [];
    page.on('pageerror', (error) => page.errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && !OF_THE_NETWORK.test(message.text()) && page.errors.push(message.text()));
    return page;
}

export const until = (page, f, arg) => page.waitForFunction(f, arg, {timeout: PATIENCE, polling: 50});

/** A trace is shown, and something of it was drawn. One that grows fast on a slow machine may never come to rest. */
export const shown = (page) => until(page, () => {
    const s = window.strobe;
    return s && s.trace && !s.main.hidden && s.timeline.data.fine;
});

/** A trace is shown, and all that was asked for is drawn. */
export const settled = (page) => until(page, () => {
    const s = window.strobe;
    return s && s.trace && !s.main.hidden && s.engine.waiting.size === 0 && !s.timeline.data.pending && !s.frame && !s.drawer.timer && !s.drawer.nRunning && s.timeline.data.fine;
});
