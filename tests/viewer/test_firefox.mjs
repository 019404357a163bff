/* test_firefox.mjs STROBE TRACE SHOTS: an exported page opens from disk in Firefox, shows what `strobe stats` prints, and does what users do most, by mouse and
 * keys. Firefox is driven by its own WebDriver BiDi, over a WebSocket (socket.mjs).  SPDX-License-Identifier: MIT */
import {execFileSync, spawn} from 'node:child_process';
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {Socket} from './socket.mjs';

const [strobe, trace, shots] = process.argv.slice(2).map((p) => path.resolve(p));

/* WebDriver BiDi: commands and answers are JSON. */
class Bidi extends Socket {
    static connect(address) {
        const headers = {Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': 13, 'Sec-WebSocket-Key': crypto.randomBytes(16).toString('base64')};
        return new Promise((resolve, reject) => {
            const request = http.request(new URL('/session', address.replace('ws:', 'http:')), {headers});
            request.on('upgrade', (response, socket, head) => resolve(new Bidi(socket, head)));
            request.on('response', (response) => reject(new Error(`no WebSocket: ${response.statusCode}`)));
            request.on('error', reject);
            request.end();
        });
    }

    message(bytes) {
        const json = JSON.parse(bytes), wait = this.waiting.get(json.id);
        if (wait && json.type === 'error')
            wait.reject(new Error(json.message));
        else if (wait)
            wait.resolve(json.result);
    }

    call(method, params) {
        return this.ask({method, params});
    }
}

function addressOf(firefox) {
    let said = '';
    return new Promise((resolve, reject) => {
        firefox.stderr.on('data', (data) => {
            const found = /BiDi listening on (ws:\S+)/.exec(said += data);
            if (found)
                resolve(found[1]);
        });
        firefox.once('exit', (code) => reject(new Error(`Firefox ended: ${code}: ${said.slice(0, 2000)}`)));
    });
}

const PATIENCE_MS = 20000, KEYS = {Enter: '\uE007', Escape: '\uE00C', Control: '\uE009', Home: '\uE011'};
const SETTLED = `(async () => {
    const s = () => window.strobe, failed = () => document.querySelector('.startstate.failed');
    for (let i = 0; i < ${PATIENCE_MS / 50} && !failed() && !(s() && s().trace && s().trace.read === 1 && s().timeline.data.fine && !s().timeline.data.pending && !s().frame && !s().urlTimer && !s().drawer.timer && !s().drawer.nRunning && s().engine.waiting.size === 0); i++)
        await new Promise((resolve) => setTimeout(resolve, 50));
    return failed() ? failed().textContent : '';
})()`;

/* One page of Firefox, as a user has it. */
class FirefoxPage {
    constructor(bidi, context) {
        Object.assign(this, {bidi, context});
    }

    async evaluate(expression) {
        const seen = await this.bidi.call('script.evaluate', {target: {context: this.context}, awaitPromise: true, resultOwnership: 'none', expression: `(async () => JSON.stringify(await (${expression}) ?? null))()`});
        assert.equal(seen.type, 'success', JSON.stringify(seen.exceptionDetails));
        return JSON.parse(seen.result.value);
    }

    /* Everything asked for was answered and drawn. */
    async settled() {
        assert.equal(await this.evaluate(SETTLED), '');
    }

    async until(condition) {
        const isSo = await this.evaluate(`(async () => {
            for (let i = 0; i < ${PATIENCE_MS / 30} && !(${condition}); i++)
                await new Promise((resolve) => setTimeout(resolve, 30));
            return Boolean(${condition});
        })()`);
        assert.ok(isSo, `never: ${condition}`);
    }

    async open(url) {
        await this.bidi.call('browsingContext.navigate', {context: this.context, url: 'about:blank', wait: 'complete'});
        await this.bidi.call('browsingContext.navigate', {context: this.context, url, wait: 'complete'});
        await this.settled();
    }

    async click({x, y}, button = 0) {
        const actions = [{type: 'pointerMove', x: Math.round(x), y: Math.round(y)}, {type: 'pointerDown', button}, {type: 'pointerUp', button}];
        await this.bidi.call('input.performActions', {context: this.context, actions: [{type: 'pointer', id: 'mouse', parameters: {pointerType: 'mouse'}, actions}]});
        await this.settled();
    }

    /* Keys one after the other; those before the last are held. */
    async press(...keys) {
        const values = keys.map((k) => KEYS[k] || k), actions = [...values.map((value) => ({type: 'keyDown', value})), ...values.reverse().map((value) => ({type: 'keyUp', value}))];
        await this.bidi.call('input.performActions', {context: this.context, actions: [{type: 'key', id: 'keyboard', actions}]});
        await this.settled();
    }

    async type(text) {
        for (const letter of text)
            await this.press(letter);
    }

    /* What is found on a page that has settled and stays so. */
    async still(expression) {
        for (let was = await this.evaluate(expression); ; ) {
            await this.settled();
            const now = await this.evaluate(expression);
            if (JSON.stringify(now) === JSON.stringify(was))
                return now;
            was = now;
        }
    }

    /* The middle of an element, or the place of a time on a depth of a track. */
    middleOf(selector) {
        return this.still(`(() => { const b = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect(); return {x: b.left + b.width / 2, y: b.top + b.height / 2}; })()`);
    }

    async place(name, depth, ms) {
        await this.evaluate(`(() => { const s = window.strobe; s.showTrack(s.trace.tracks.find((t) => t.name === '${name}').id, ${depth}); })()`);
        await this.settled();
        return this.still(`(() => {
            const s = window.strobe, tl = s.timeline, box = tl.canvas.getBoundingClientRect(), {row, y} = tl.visibleRows().find((r) => r.row.track.name === '${name}' && !r.row.header);
            return {x: box.left + tl.xOf(${ms} * 1e6) * tl.zoom, y: box.top + (y + 3 + ${depth} * 19 + 9) * tl.zoom};
        })()`);
    }

    text(selector) {
        return this.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerText`);
    }

    async shot(name) {
        const {data} = await this.bidi.call('browsingContext.captureScreenshot', {context: this.context});
        fs.writeFileSync(path.join(shots, `${name}.png`), Buffer.from(data, 'base64'));
    }
}

const span = 'window.strobe.view.to - window.strobe.view.from';

const tests = {
    async 'an exported page opens from disk in Firefox'(page, url) {
        await page.open(url);
        const seen = await page.evaluate(`(async () => { const s = window.strobe, {json} = await s.engine.ask({ask: 'stats'}); return {name: s.trace.name, zones: json.n_zones, tracks: s.trace.tracks.length, kind: s.engine.kind}; })()`);
        await page.shot('firefox');
        const zones = JSON.parse(execFileSync(strobe, ['stats', '--json', trace], {stdio: ['ignore', 'pipe', 'ignore']})).zones.reduce((n, z) => n + z.count, 0);
        assert.deepEqual([seen.name, seen.zones, seen.kind], [path.basename(trace), zones, 'local']);
        assert.ok(seen.tracks > 3);
    },
    async 'in Firefox a click shows a zone, a right click its menu, which leads to all of its name'(page, url) {
        await page.open(`${url}#v=395000000,425000000`);
        await page.click(await page.place('main', 1, 403));
        assert.match(await page.text('.details h2'), /frame/);
        await page.click(await page.place('main', 1, 403), 2);
        assert.match(await page.text('.menu'), /Find all of this name/);
        await page.click(await page.middleOf('.menu button'));
        await page.until('window.strobe.drawer.panel("find").chart()');
        assert.match(await page.text('.find h2'), /frame/);
        await page.shot('firefox-find');
        await page.press('Escape');
    },
    async 'in Firefox keys zoom, undo and search'(page, url) {
        await page.open(`${url}#v=395000000,425000000`);
        const before = await page.evaluate(span);
        await page.click(await page.place('main', 1, 396));
        await page.press('w');
        assert.ok(await page.evaluate(span) < before);
        await page.press('Control', 'z');
        await page.until(`Math.abs(${span} - ${before}) < 10`);
        await page.press('/');
        await page.type('rays');
        await page.until('/1,800/.test(document.querySelector(".hits").textContent)');
        await page.press('Enter');
        await page.until('/ of 1,800/.test(document.querySelector(".hits").textContent)');
        await page.press('Escape');
    },
    async 'in Firefox a link shows the same place again, and panels their rows'(page, url) {
        await page.open(`${url}#v=395000000,425000000&p=stats`);
        await page.until('document.querySelectorAll(".trow").length > 5');
        await page.click(await page.place('main', 1, 413));
        const link = await page.evaluate('location.href'), was = await page.evaluate('[window.strobe.view, window.strobe.selection.t0]');
        await page.open(link);
        await page.until('window.strobe.selection && !window.strobe.isArriving');
        assert.deepEqual(await page.evaluate('[window.strobe.view, window.strobe.selection.t0]'), was);
    },
};

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strobe-firefox-')), file = path.join(folder, 'page.html');
fs.mkdirSync(shots, {recursive: true});
execFileSync(strobe, ['export', '--to', 'html', '-o', file, trace], {stdio: 'ignore'});
const firefox = spawn('firefox-esr', ['--headless', '--no-remote', '--profile', folder, '--remote-debugging-port', '0'], {stdio: ['ignore', 'ignore', 'pipe'], env: {...process.env, HOME: folder}});
let failed = 0;
try {
    const bidi = await Bidi.connect(await addressOf(firefox));
    await bidi.call('session.new', {capabilities: {}});
    const {context} = (await bidi.call('browsingContext.getTree', {})).contexts[0], page = new FirefoxPage(bidi, context);
    await bidi.call('browsingContext.setViewport', {context, viewport: {width: 1400, height: 860}});
    for (const [name, test] of Object.entries(tests))
        try {
            await test(page, pathToFileURL(file).href);
            console.log(`ok    ${name}`);
        } catch (error) {
            failed = 1;
            console.log(`FAIL  ${name}\n${error.stack}`);
            await page.shot('firefox-failed');
        }
} catch (error) {
    failed = 1;
    console.log(`FAIL  Firefox can be driven\n${error.stack}`);
}
firefox.removeAllListeners('exit');
const gone = new Promise((resolve) => firefox.once('exit', resolve));
firefox.kill();
await gone;
fs.rmSync(folder, {recursive: true, force: true, maxRetries: 5, retryDelay: 200});
process.exit(failed);
