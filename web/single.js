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

    const STEP = 1 << 22, PAUSE_MS = 40; /* letters at once: whole fours */

    function decoded(text) {
        if (Uint8Array.fromBase64)
            return Uint8Array.fromBase64(text);
        const letters = atob(text), bytes = new Uint8Array(letters.length);
        for (let i = 0; i < letters.length; i++)
            bytes[i] = letters.charCodeAt(i);
        return bytes;
    }

    /* The same as a Blob, piece by piece: the page stays alive, and says how far it is. */
    async function blobOf(element, tell) {
        const text = element.textContent, parts = [];
        let rested = 0;
        for (let at = 0; at < text.length; at += STEP) {
            parts.push(decoded(text.slice(at, at + STEP)));
            if (performance.now() - rested < PAUSE_MS)
                continue;
            tell(at / text.length);
            await new Promise((resolve) => { setTimeout(resolve); });
            rested = performance.now();
        }
        element.textContent = '';
        return new Blob(parts);
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
    window.strobeTrace = (tell) => blobOf(box, tell);
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
