/* page-offline.js - the service worker of the page that `make page` makes: keeps its files, so that it opens without the network. Traces are
 * never kept: they come from files that are dropped, or from addresses of others.  SPDX-License-Identifier: MIT */
'use strict';

const VERSION = 'strobe-VERSION'; /* scripts/make-page puts a hash of the files here: another one is another store */

self.addEventListener('install', (event) => {
    event.waitUntil((async () => {
        const files = await (await fetch('files.json')).json(), store = await caches.open(VERSION);
        await store.addAll(['./', ...files]);
        await self.skipWaiting();
    })());
});

self.addEventListener('activate', (event) => {
    event.waitUntil((async () => {
        for (const name of await caches.keys())
            if (name.startsWith('strobe-') && name !== VERSION)
                await caches.delete(name);
        await self.clients.claim();
    })());
});

/* Files of the page from the store, whatever the query is; all else as if this were not here. */
self.addEventListener('fetch', (event) => {
    const url = new URL(event.request.url);
    if (event.request.method !== 'GET' || url.origin !== self.location.origin || event.request.headers.has('range'))
        return;
    event.respondWith((async () => (await (await caches.open(VERSION)).match(event.request, {ignoreSearch: true})) || fetch(event.request))());
});
