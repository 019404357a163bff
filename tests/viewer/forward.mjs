/* forward.mjs - carries TCP connections from one port of 127.0.0.1 to another, as `ssh -L` does, and can be cut.
 * SPDX-License-Identifier: MIT */
import net from 'node:net';

/** {port, cut(), stall(), mend(), close()} */
export function forward(target) {
    const pairs = new Set();
    let state = 'open';
    const server = net.createServer((near) => {
        if (state === 'cut')
            return near.destroy();
        const far = net.connect(target, '127.0.0.1'), pair = {near, far}, end = () => {
            near.destroy();
            far.destroy();
            pairs.delete(pair);
        };
        pairs.add(pair);
        for (const [from, to] of [[near, far], [far, near]]) {
            from.on('data', (bytes) => state !== 'stalled' && to.write(bytes)); /* a cable that is out: nobody is told */
            from.on('close', () => state !== 'stalled' && end());
            from.on('error', () => {});
        }
        return undefined;
    });
    const drop = () => pairs.forEach(({near, far}) => {
        near.destroy();
        far.destroy();
    });
    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve({
        port: server.address().port,
        /** Connections end, new ones are refused. */
        cut() {
            state = 'cut';
            drop();
        },
        /** Connections stay, but nothing goes through. */
        stall() {
            state = 'stalled';
        },
        mend() {
            state = 'open';
        },
        close() {
            drop();
            server.close();
        },
    })));
}
