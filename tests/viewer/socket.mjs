/* socket.mjs - asks the server as the page does: the WebSocket of docs/viewer-protocol.md, by hand, since node's own
 * sends no Origin.  SPDX-License-Identifier: MIT */
import {spawn} from 'node:child_process';
import crypto from 'node:crypto';
import http from 'node:http';

const TYPES = {f64: Float64Array, u32: Uint32Array, f32: Float32Array, u8: Uint8Array};

/** `strobe view` of a file: {link, stop()}. */
export async function serve(strobe, file) {
    const child = spawn(strobe, ['view', '--no-open', file], {stdio: ['ignore', 'pipe', 'inherit']});
    const link = await new Promise((resolve, reject) => {
        child.stdout.once('data', (data) => resolve(String(data).trim()));
        child.once('exit', (code) => reject(new Error(`the server ended: ${code}`)));
    });
    return {link, stop: () => child.kill()};
}

const TEXT = 1, PING = 9, PONG = 10;

function maskedFrame(opcode, content) {
    const data = Buffer.from(content), mask = crypto.randomBytes(4), long = data.length > 125;
    const head = Buffer.alloc(long ? 4 : 2);
    head[0] = 0x80 | opcode;
    head[1] = 0x80 | (long ? 126 : data.length);
    if (long)
        head.writeUInt16BE(data.length, 2);
    for (let i = 0; i < data.length; i++)
        data[i] ^= mask[i & 3];
    return Buffer.concat([head, mask, data]);
}

/* The first whole frame of some bytes: {opcode, isLast, data, rest}, or null. */
function frameOf(bytes) {
    if (bytes.length < 2)
        return null;
    let n = bytes[1] & 127, at = 2;
    if (n === 126 && bytes.length >= 4)
        [n, at] = [bytes.readUInt16BE(2), 4];
    else if (n === 127 && bytes.length >= 10)
        [n, at] = [Number(bytes.readBigUInt64BE(2)), 10];
    else if (n > 125)
        return null;
    if (bytes.length < at + n)
        return null;
    return {opcode: bytes[0] & 15, isLast: bytes[0] >= 128, data: bytes.subarray(at, at + n), rest: bytes.subarray(at + n)};
}

/** An answer's frame as {id, json, arrays}. */
export function readAnswer(data) {
    const buffer = data.buffer.slice(data.byteOffset, data.byteOffset + data.length), view = new DataView(buffer), n = view.getUint32(4, true);
    const json = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, n))), arrays = {};
    for (const [name, a] of Object.entries(json.arrays || {}))
        arrays[name] = new TYPES[a.type](buffer, a.at, a.n);
    delete json.arrays;
    return {id: view.getUint32(0, true), json, arrays};
}

/** One connection: `ask(question)` gives {json, arrays}. */
export class Socket {
    static open(link) {
        const url = new URL(link), headers = {Origin: url.origin, Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': 13,
            'Sec-WebSocket-Protocol': 'strobe.1', 'Sec-WebSocket-Key': crypto.randomBytes(16).toString('base64')};
        return new Promise((resolve, reject) => {
            const request = http.request(new URL(`/ws${url.search}`, url), {headers});
            request.on('upgrade', (response, socket, head) => resolve(new Socket(socket, head)));
            request.on('response', (response) => reject(new Error(`no WebSocket: ${response.statusCode}`)));
            request.on('error', reject);
            request.end();
        });
    }

    constructor(socket, head) {
        Object.assign(this, {socket, bytes: head, pieces: [], waiting: new Map(), nextId: 1});
        socket.on('data', (data) => this.take(data));
        socket.on('error', () => {}); /* and then it is closed */
        socket.on('close', () => this.waiting.forEach((wait) => wait.reject(new Error('the server closed the connection'))));
    }

    take(data) {
        this.bytes = Buffer.concat([this.bytes, data]);
        for (let frame = frameOf(this.bytes); frame; frame = frameOf(this.bytes)) {
            this.bytes = frame.rest;
            if (frame.opcode === PING) /* who gives no sign of life is let go */
                this.socket.write(maskedFrame(PONG, frame.data));
            if (frame.opcode > 2)
                continue;
            this.pieces.push(frame.data);
            if (frame.isLast)
                this.message(Buffer.concat(this.pieces.splice(0)));
        }
    }

    message(bytes) {
        this.answered(readAnswer(bytes));
    }

    answered({id, json, arrays}) {
        const wait = this.waiting.get(id);
        this.waiting.delete(id);
        if (wait)
            wait.resolve({json, arrays});
    }

    ask(question) {
        const id = this.nextId++;
        return new Promise((resolve, reject) => {
            this.waiting.set(id, {resolve, reject});
            this.socket.write(maskedFrame(TEXT, JSON.stringify({id, ...question})));
        });
    }

    close() {
        this.socket.destroy();
    }
}
