/* host.mjs - serves the page and some folders on a free port of 127.0.0.1, with the headers that the real server
 * sends (docs/viewer-protocol.md), for tests of the page alone.  SPDX-License-Identifier: MIT */
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const TYPES = {'.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.mjs': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml'};
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function send(request, response, file) {
    const size = fs.statSync(file).size, head = {'Content-Type': TYPES[path.extname(file)] || 'application/octet-stream', 'Content-Security-Policy': POLICY, 'Cache-Control': 'no-store'};
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range || '');
    if (!range) {
        response.writeHead(200, head);
        return void fs.createReadStream(file).pipe(response);
    }
    const from = Number(range[1]), to = Math.min(Number(range[2]), size - 1);
    response.writeHead(206, Object.assign(head, {'Content-Range': `bytes ${from}-${to}/${size}`, 'Content-Length': to - from + 1}));
    return void fs.createReadStream(file, {start: from, end: to}).pipe(response);
}

/** {url, close()}; folders: {'/': [folder, …], '/t/': [folder]}: the first one that has a file counts. */
export function host(folders) {
    const server = http.createServer((request, response) => {
        const at = decodeURIComponent(new URL(request.url, 'http://x').pathname), prefix = Object.keys(folders).sort((a, b) => b.length - a.length).find((p) => at.startsWith(p));
        const file = folders[prefix].map((folder) => path.join(folder, path.normalize(`/${at.slice(prefix.length) || 'index.html'}`))).find((f) => fs.existsSync(f) && fs.statSync(f).isFile());
        if (!file) {
            response.writeHead(404, {'Content-Type': 'text/plain'});
            return response.end('there is none');
        }
        return send(request, response, file);
    });
    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve({url: `http://127.0.0.1:${server.address().port}`, close: () => server.close()})));
}
