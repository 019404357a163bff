/* opening.js - around the opening of a trace: the one in an exported page, files that may be read again, a page that works without the network.
 * SPDX-License-Identifier: MIT */
import {percent} from './format.js';

/** Methods of the app. */
export const opening = {
    /* Where the browser can give a way to a file, it is kept: the start page offers it again. */
    noteDropped(items) {
        for (const item of items)
            if (item.kind === 'file' && item.getAsFileSystemHandle)
                item.getAsFileSystemHandle().then((handle) => handle && handle.kind === 'file' && handle.name.endsWith('.strobe') && this.start.recent.note({name: handle.name, handle})).catch(() => {});
    },

    /* The trace that is in the page: large ones take a while, and the page says so. */
    embedded() {
        const name = window.strobeName || 'the trace';
        this.start.busy(`Opening ${name} …`);
        return window.strobeTrace((share) => this.start.busy(`Opening ${name}: ${percent(share)} unpacked`));
    },

    /* The page alone, from any web server: it can keep itself for use without the network. */
    keepOffline() {
        const mark = document.querySelector('meta[name=strobe-offline]');
        if (mark && navigator.serviceWorker)
            navigator.serviceWorker.register(mark.content).catch(() => {}); /* then it needs the network, as it did */
    },
};
