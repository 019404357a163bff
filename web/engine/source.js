/* source.js - where a trace's bytes come from: a File, an address that answers ranges, or memory.
 * Pages of a fixed size are kept, the least recently used go first: memory stays bounded whatever
 * the trace's size. SPDX-License-Identifier: MIT */

const PAGE = 1 << 18;
const MAX_PAGES = 256; /* 64 MiB */

class Paged {
    constructor(size, name) {
        this.size = size;
        this.name = name;
        this.pages = new Map();
        this.nRead = 0;
    }

    /** Bytes [at, at + n), cut at the end of the trace. May be a view of a kept page. */
    async read(at, n) {
        const end = Math.min(at + n, this.size);
        if (at >= end)
            return new Uint8Array(0);
        const first = Math.floor(at / PAGE), last = Math.floor((end - 1) / PAGE);
        if (first === last)
            return (await this.page(first)).subarray(at - first * PAGE, end - first * PAGE);
        const parts = await Promise.all(Array.from({length: last - first + 1}, (_, i) => this.page(first + i)));
        const out = new Uint8Array(end - at);
        parts.forEach((part, i) => {
            const from = (first + i) * PAGE, cut = part.subarray(Math.max(0, at - from), Math.max(0, end - from));
            out.set(cut, Math.max(0, from - at));
        });
        return out;
    }

    async page(number) {
        let page = this.pages.get(number);
        if (page) {
            this.pages.delete(number);
            this.pages.set(number, page);
            return page;
        }
        page = this.load(number * PAGE, Math.min(this.size, (number + 1) * PAGE)).then((bytes) => {
            this.nRead += bytes.length;
            return bytes;
        });
        this.pages.set(number, page);
        if (this.pages.size > MAX_PAGES)
            this.pages.delete(this.pages.keys().next().value);
        page.catch(() => this.pages.delete(number));
        return page;
    }
}

/** A File or Blob. */
export class BlobSource extends Paged {
    constructor(blob, name) {
        super(blob.size, name);
        this.blob = blob;
    }

    async load(from, to) {
        return new Uint8Array(await this.blob.slice(from, to).arrayBuffer());
    }
}

/** An address. Its server must answer ranges; one that sends all is read once and kept. */
export class HttpSource extends Paged {
    constructor(url, size, name) {
        super(size, name);
        this.url = url;
    }

    static async open(url) {
        const answer = await fetch(url, {headers: {Range: 'bytes=0-4095'}});
        if (!answer.ok)
            throw new Error(`${url} answers ${answer.status} ${answer.statusText}`);
        const name = decodeURIComponent(new URL(url, location.href).pathname.split('/').pop() || url);
        if (answer.status !== 206)
            return new BytesSource(new Uint8Array(await answer.arrayBuffer()), name);
        const total = /\/(\d+)$/.exec(answer.headers.get('Content-Range') || '');
        await answer.arrayBuffer();
        if (!total)
            throw new Error(`${url} does not say how long it is`);
        return new HttpSource(url, Number(total[1]), name);
    }

    async load(from, to) {
        const answer = await fetch(this.url, {headers: {Range: `bytes=${from}-${to - 1}`}});
        if (answer.status !== 206)
            throw new Error(`${this.url} answers ${answer.status} to a range`);
        return new Uint8Array(await answer.arrayBuffer());
    }
}

/** Bytes in memory. */
export class BytesSource {
    constructor(bytes, name) {
        this.bytes = bytes;
        this.size = bytes.length;
        this.name = name;
        this.nRead = 0;
    }

    async read(at, n) {
        return this.bytes.subarray(at, Math.min(at + n, this.size));
    }
}
