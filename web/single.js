/* single.js - starts the page where it and the trace are in one file (`strobe export --to html`): makes blobs
 * of the modules, lets them import each other, and hands the trace over.  SPDX-License-Identifier: MIT */
(function () {
    'use strict';
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

    function readTrace() {
        const text = atob(box.textContent), bytes = new Uint8Array(text.length);
        for (let i = 0; i < text.length; i++)
            bytes[i] = text.charCodeAt(i);
        box.textContent = '';
        return bytes;
    }

    window.strobeAssets = {'icon.svg': urlOf('icon.svg')};
    window.strobeWorker = urlOf('engine/worker.js');
    window.strobeName = box.dataset.name;
    window.strobeTrace = async () => readTrace();
    const notes = document.getElementById('notes');
    window.strobeNotes = notes ? JSON.parse(notes.textContent) : [];
    import(urlOf('app.js'));
}());
