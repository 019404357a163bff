/* single.js - starts the page where it and the trace are in one file (`strobe export --to html`): makes blobs
 * of the modules, lets them import each other, and hands the trace over.  SPDX-License-Identifier: MIT */
'use strict';
{
    const sources = new Map(), urls = new Map(), box = document.getElementById('trace');
    for (const script of document.querySelectorAll('script[data-path]'))
        sources.set(script.dataset.path, script.textContent);

    function resolve(from, to) {
        const parts = from.split('/').slice(0, -1);
        for (const word of to.split('/')) {
            if (word === '..')
                parts.pop();
            else if (word !== '.')
                parts.push(word);
        }
        return parts.join('/');
    }

    /* A module's address; those that it imports get theirs first. */
    function urlOf(path) {
        if (!urls.has(path)) {
            const text = sources.get(path).replace(/(from |import\()'(\.[^']+)'/g, (all, word, to) => `${word}'${urlOf(resolve(path, to))}'`);
            urls.set(path, URL.createObjectURL(new Blob([text], {type: path.endsWith('.svg') ? 'image/svg+xml' : 'text/javascript'})));
        }
        return urls.get(path);
    }

    /* The names that a module exports. */
    function exportsOf(text) {
        const names = [];
        for (const m of text.matchAll(/^export (?:async )?(?:function|class) (\w+)/gm))
            names.push(m[1]);
        for (const m of text.matchAll(/^export (?:const|let|var) ([^;]+);/gm))
            for (const n of m[1].matchAll(/(\w+) = /g))
                names.push(n[1]);
        for (const m of text.matchAll(/^export \{([^}]+)\};?/gm))
            names.push(...m[1].split(',').map((n) => n.trim()));
        return names;
    }

    /* A worker in a page from disk may not import: its modules become one script, a function each. */
    function joined(path, done = new Map()) {
        if (done.has(path))
            return '';
        done.set(path, true);
        const text = sources.get(path);
        let before = '';
        const body = text.replace(/^import (\{[^}]+\}) from '(\.[^']+)';/gm, (all, names, to) => {
            before += joined(resolve(path, to), done);
            return `const ${names.replace(/ as /g, ': ')} = modules['${resolve(path, to)}'];`;
        }).replace(/^export \{[^}]+\};?/gm, '').replace(/^export /gm, '');
        return `${before}modules['${path}'] = (function () {\n${body}\nreturn {${exportsOf(text).join(', ')}};\n}());\n`;
    }

    const PAUSE_MS = 40;

    function decoded(text) {
        if (Uint8Array.fromBase64)
            return Uint8Array.fromBase64(text);
        const letters = atob(text), bytes = new Uint8Array(letters.length);
        for (let i = 0; i < letters.length; i++)
            bytes[i] = letters.charCodeAt(i);
        return bytes;
    }

    /* The parts of the trace that a piece has: [{at, blob}]. */
    function partsOf(piece) {
        const bytes = decoded(piece.textContent);
        let from = 0;
        return piece.dataset.trace.split(' ').map((run) => {
            const [at, n] = run.split('+').map(Number), blob = new Blob([bytes.subarray(from, from += n)]);
            return {at, blob};
        });
    }

    const inOrder = (parts) => parts.sort((a, b) => a.at - b.at);

    /* The trace as a Blob. Its pieces stand behind this script: each is taken when the next one has begun, or the page is whole; they do not
     * stay. So the page is alive meanwhile, and says how far it is. The first ones have all that a picture from afar needs: `early` gets them. */
    async function blobOf(bytes, nFirst, tell, early) {
        const parts = [], rest = () => new Promise((resolve) => { setTimeout(resolve); });
        for (let n = 0, nPieces = 0, rested = performance.now(), isWhole = false; !isWhole;) {
            isWhole = document.readyState !== 'loading';
            const pieces = [...document.querySelectorAll('script[data-trace]')];
            for (const piece of isWhole ? pieces : pieces.slice(0, -1)) {
                for (const part of partsOf(piece)) {
                    parts.push(part);
                    n += part.blob.size;
                }
                piece.remove();
                if (++nPieces === nFirst && n < bytes)
                    await early(inOrder(parts.slice()), bytes);
                if (performance.now() - rested < PAUSE_MS)
                    continue;
                tell(Math.min(1, n / bytes));
                await rest();
                rested = performance.now();
            }
            if (!isWhole)
                await rest();
        }
        return new Blob(inOrder(parts).map(({blob}) => blob));
    }

    /* The bytes that an element has as base64; it does not keep them. */
    function bytesOf(element) {
        const bytes = decoded(element.textContent);
        element.textContent = '';
        return bytes;
    }

    window.strobeAssets = {'icon.svg': urlOf('icon.svg')};
    window.strobeWorker = URL.createObjectURL(new Blob([`'use strict';\nconst modules = {};\n${joined('engine/worker.js')}`], {type: 'text/javascript'}));
    window.strobeName = box.dataset.name;
    window.strobeView = box.dataset.view ? box.dataset.view.split(',').map(Number) : null;
    window.strobePiece = box.dataset.piece === '1';
    const module = bytesOf(document.getElementById('module'));
    window.strobeModule = () => module;
    window.strobeTrace = (tell, early) => blobOf(Math.max(1, Number(box.dataset.bytes)), Number(box.dataset.first), tell, early);
    const code = document.getElementById('code'), texts = document.getElementById('sources');
    if (code)
        window.strobeCode = ((bytes) => () => bytes)(bytesOf(code));
    window.strobeSources = texts ? JSON.parse(texts.textContent) : {};
    const ask = document.getElementById('ask'), askModule = ask && bytesOf(ask);
    if (ask) {
        window.strobeAskModule = () => askModule;
        window.strobeAskWorker = URL.createObjectURL(new Blob([`'use strict';\nconst modules = {};\n${joined('engine/ask_worker.js')}`], {type: 'text/javascript'}));
    }
    const notes = document.getElementById('notes');
    window.strobeNotes = notes ? notes.textContent : '';
    import(urlOf('app.js'));
}
