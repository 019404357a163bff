/* test_firefox.mjs STROBE TRACE SHOTS: an exported page opens from disk in Firefox, and shows what `strobe stats` prints. Firefox is driven
 * by its own WebDriver BiDi, over a WebSocket (socket.mjs).  SPDX-License-Identifier: MIT */
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

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strobe-firefox-')), file = path.join(folder, 'page.html');
fs.mkdirSync(shots, {recursive: true});
execFileSync(strobe, ['export', '--to', 'html', '-o', file, trace], {stdio: 'ignore'});
const firefox = spawn('firefox-esr', ['--headless', '--no-remote', '--profile', folder, '--remote-debugging-port', '0'], {stdio: ['ignore', 'ignore', 'pipe'], env: {...process.env, HOME: folder}});
let failed = 0;
try {
    const bidi = await Bidi.connect(await addressOf(firefox));
    await bidi.call('session.new', {capabilities: {}});
    const {context} = (await bidi.call('browsingContext.getTree', {})).contexts[0];
    await bidi.call('browsingContext.setViewport', {context, viewport: {width: 1400, height: 860}});
    await bidi.call('browsingContext.navigate', {context, url: pathToFileURL(file).href, wait: 'complete'});
    const seen = await bidi.call('script.evaluate', {target: {context}, awaitPromise: true, resultOwnership: 'none', expression: `(async () => {
        const s = () => window.strobe, failed = () => document.querySelector('.startstate.failed');
        while (!failed() && !(s() && s().trace && s().timeline.data.fine && s().engine.waiting.size === 0))
            await new Promise((resolve) => setTimeout(resolve, 50));
        if (failed())
            return failed().textContent;
        const {json} = await s().engine.ask({ask: 'stats'});
        return JSON.stringify({name: s().trace.name, zones: json.n_zones, tracks: s().trace.tracks.length, kind: s().engine.kind});
    })()`});
    const shot = await bidi.call('browsingContext.captureScreenshot', {context});
    fs.writeFileSync(path.join(shots, 'firefox.png'), Buffer.from(shot.data, 'base64'));
    const zones = JSON.parse(execFileSync(strobe, ['stats', '--json', trace], {stdio: ['ignore', 'pipe', 'ignore']})).zones.reduce((n, z) => n + z.count, 0);
    assert.equal(seen.type, 'success', JSON.stringify(seen.exceptionDetails));
    const page = JSON.parse(seen.result.value);
    assert.deepEqual([page.name, page.zones, page.kind], [path.basename(trace), zones, 'local']);
    assert.ok(page.tracks > 3);
    console.log('ok    an exported page opens from disk in Firefox');
} catch (error) {
    failed = 1;
    console.log(`FAIL  an exported page opens from disk in Firefox\n${error.stack}`);
}
firefox.removeAllListeners('exit');
const gone = new Promise((resolve) => firefox.once('exit', resolve));
firefox.kill();
await gone;
fs.rmSync(folder, {recursive: true, force: true, maxRetries: 5, retryDelay: 200});
process.exit(failed);
