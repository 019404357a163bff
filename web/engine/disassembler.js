/* disassembler.js - instructions of machine code, by the module src/wasm_code. It is loaded when the first function is looked at.
 * SPDX-License-Identifier: MIT */

const MACHINES = ['x86-64', 'arm64']; /* as the module numbers them */

export class Disassembler {
    constructor(module) {
        const none = () => 8; /* EBADF: the C library has no files */
        const system = Object.fromEntries(WebAssembly.Module.imports(module).filter((i) => i.module === 'wasi_snapshot_preview1').map(({name}) => [name, none]));
        this.exports = new WebAssembly.Instance(module, {wasi_snapshot_preview1: system}).exports;
        this.exports._initialize();
    }

    /** [{at, size, text}] of bytes that lie at `start` (a BigInt); `at` counts from there. Throws in words. */
    instructions(machine, bytes, start) {
        const number = MACHINES.indexOf(machine), {exports} = this, at = exports.alloc(bytes.length);
        if (number < 0 || !at)
            throw new Error(number < 0 ? `there is no disassembler for ${machine}` : 'the page has no memory for this');
        new Uint8Array(exports.memory.buffer).set(bytes, at);
        const found = exports.disassemble(number, at, bytes.length, Number(start >> 32n & 0xffffffffn), Number(start & 0xffffffffn));
        exports.free(at);
        if (!found)
            throw new Error('the page has no memory for this');
        const memory = new Uint8Array(exports.memory.buffer), text = new TextDecoder().decode(memory.slice(found, memory.indexOf(0, found)));
        exports.free(found);
        return text.split('\n').filter(Boolean).map((line) => {
            const [, offset, size, words] = /^(\d+) (\d+) (.*)$/.exec(line);
            return {at: Number(offset), size: Number(size), text: words};
        });
    }
}
