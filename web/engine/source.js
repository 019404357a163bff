/* source.js - where a trace's bytes come from: a Blob, or an address that answers ranges. Read at once, as the engine asks: only workers
 * may. Pages of a fixed size are kept, the least recently used go first: memory stays bounded whatever the trace's size.
 * SPDX-License-Identifier: MIT */

const PAGE = 1 << 18, MAX_PAGES = 64; /* 16 MiB */

/** Bytes that `load(from, to)` gives, page by page. */
export class Source {
    constructor(size, load) {
        this.size = size;
        this.load = load;
        this.pages = new Map();
    }

    page(number) {
        const page = this.pages.get(number) || this.load(number * PAGE, Math.min(this.size, (number + 1) * PAGE));
        this.pages.delete(number);
        this.pages.set(number, page);
        if (this.pages.size > MAX_PAGES)
            this.pages.delete(this.pages.keys().next().value);
        return page;
    }

    /** Fill `out` with the bytes at an offset. Throws where they can't be read. */
    read(out, at) {
        for (let done = 0; done < out.length;) {
            const number = Math.floor((at + done) / PAGE), from = at + done - number * PAGE, page = this.page(number);
            const part = page.subarray(from, from + out.length - done);
            if (!part.length)
                throw new Error('the file ends before it should');
            out.set(part, done);
            done += part.length;
        }
    }
}

function blobSource(blob) {
    const reader = new FileReaderSync();
    return new Source(blob.size, (from, to) => new Uint8Array(reader.readAsArrayBuffer(blob.slice(from, to))));
}

function get(url, from, to) {
    const request = new XMLHttpRequest();
    request.open('GET', url, false);
    request.responseType = 'arraybuffer';
    request.setRequestHeader('Range', `bytes=${from}-${to - 1}`);
    request.send();
    if (request.status !== 206 && request.status !== 200)
        throw new Error(`${url} answers ${request.status} ${request.statusText}`);
    return request;
}

/* Its server should answer ranges; what is sent as a whole is kept. */
function urlSource(url) {
    const first = get(url, 0, 4096), bytes = first.status === 200 ? new Uint8Array(first.response) : null;
    if (bytes)
        return new Source(bytes.length, (from, to) => bytes.subarray(from, to));
    const total = /\/(\d+)$/.exec(first.getResponseHeader('Content-Range') || '');
    if (!total)
        throw new Error(`${url} does not say how long it is`);
    return new Source(Number(total[1]), (from, to) => {
        const answer = get(url, from, to);
        if (answer.status !== 206)
            throw new Error(`${url} answers ${answer.status} to a range`);
        return new Uint8Array(answer.response);
    });
}

/** Some parts of a trace of `size` bytes, in order: [{at, blob}]. The others are still to come. */
class EarlySource {
    constructor(parts, size) {
        Object.assign(this, {parts: parts.map(({at, blob}) => ({at, end: at + blob.size, source: blobSource(blob)})), size, isEarly: true});
    }

    read(out, at) {
        for (let done = 0; done < out.length;) {
            const part = this.parts.find((p) => p.at <= at + done && at + done < p.end);
            if (!part)
                throw Object.assign(new Error('this part of the trace is still to come'), {isEarly: true});
            const n = Math.min(out.length - done, part.end - at - done);
            part.source.read(out.subarray(done, done + n), at + done - part.at);
            done += n;
        }
    }
}

export function openSource({blob, url, parts, size}) {
    return parts ? new EarlySource(parts, size) : blob ? blobSource(blob) : urlSource(url);
}
