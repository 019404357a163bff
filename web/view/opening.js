/* opening.js - around the opening of a trace: the one in an exported page, files that may be read again, a page that works without the network.
 * SPDX-License-Identifier: MIT */
import {LocalEngine} from '../engines.js';
import {percent} from './format.js';

const LOOK_MS = 10;

/** Methods of the app. */
export const opening = {
    /* Where the browser can give a way to a file, it is kept: the start page offers it again. */
    noteDropped(items) {
        for (const item of items)
            if (item.kind === 'file' && item.getAsFileSystemHandle)
                item.getAsFileSystemHandle().then((handle) => handle && handle.kind === 'file' && handle.name.endsWith('.strobe') && this.start.recent.note({name: handle.name, handle})).catch(() => {});
    },

    /* The trace that is in the page. Large ones take a while: the page says so, and shows them from afar as soon as that can be done. */
    async openEmbedded() {
        const name = window.strobeName || 'trace.strobe', say = (text) => (this.trace ? this.say(text) : this.start.busy(text));
        let early = null;
        say(`Opening ${name} …`);
        const blob = await window.strobeTrace((share) => say(`${this.trace ? 'Unpacking' : `Opening ${name}`}: ${percent(share)}${this.trace ? ' of the trace is there' : ' unpacked'}`),
            async (parts, size) => {
                early = await this.openEarly({parts, size, name});
            });
        if (!early)
            return this.openLocal({blob, name});
        await early.complete(blob);
        this.say('All of the trace is there.', 1500);
        return true;
    },

    /* Show what parts of a trace are enough for. Resolves to the engine when its first picture is drawn, or waits for more; null: they are not enough. */
    async openEarly(what) {
        const engine = new LocalEngine(this.workerUrl()), waits = new Promise((resolve) => { engine.on('early', resolve); });
        const facts = await engine.open(what).then(() => Promise.race([waits, engine.ask({ask: 'trace'})])).catch(() => null);
        if (!facts || !facts.json || !(facts.json.range[1] > facts.json.range[0])) {
            engine.close();
            return null;
        }
        this.use(engine, facts.json).catch((error) => this.start.fail(error.message)); /* what the address names may need all of it */
        await Promise.race([waits, this.firstPicture()]);
        return engine;
    },

    firstPicture() {
        return new Promise((resolve) => {
            const look = () => (this.timeline.data.fine && this.timeline.frames.length ? resolve() : setTimeout(look, LOOK_MS));
            look();
        });
    },

    /* The page alone, from any web server: it can keep itself for use without the network. */
    keepOffline() {
        const mark = document.querySelector('meta[name=strobe-offline]');
        if (mark && navigator.serviceWorker)
            navigator.serviceWorker.register(mark.content).catch(() => {}); /* then it needs the network, as it did */
    },
};
