/* dropped.js - what was dropped or chosen: files, with their paths below the folder that was dropped, and a trace made of those of other
 * profilers. All of it stays in the page.  SPDX-License-Identifier: MIT */
import {importFiles} from '../engines.js';

const MAX_FILES = 4096, MAX_UNPACKED = 4 * 2 ** 30, MAGIC = [0x89, 0x53, 0x54, 0x52, 0x4f, 0x42, 0x45, 0x0a];

const nextEntries = (reader) => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
const fileOf = (entry) => new Promise((resolve, reject) => entry.file(resolve, reject));

/* All files below an entry: a folder is read in portions until one is empty. */
async function addFiles(entry, found) {
    if (found.length >= MAX_FILES)
        return;
    if (entry.isFile) {
        found.push({path: entry.fullPath.replace(/^\//, ''), file: await fileOf(entry)});
        return;
    }
    const reader = entry.createReader();
    for (let entries = await nextEntries(reader); entries.length; entries = await nextEntries(reader))
        for (const below of entries)
            await addFiles(below, found);
}

/** [{path, file}] of a drop. The entries are asked for at once: the event's data is gone afterwards. */
export async function droppedFiles(data) {
    const entries = [...data.items].map((item) => item.webkitGetAsEntry && item.webkitGetAsEntry()).filter(Boolean), found = [];
    if (!entries.some((entry) => entry.isDirectory))
        return chosenFiles(data.files);
    for (const entry of entries)
        await addFiles(entry, found);
    return found;
}

/** The same of a field that files were chosen with. */
export const chosenFiles = (files) => [...files].slice(0, MAX_FILES).map((file) => ({path: file.webkitRelativePath || file.name, file}));

async function starts(file, n) {
    return new Uint8Array(await file.slice(0, n).arrayBuffer());
}

async function isTrace({file}) {
    const first = await starts(file, MAGIC.length);
    return MAGIC.every((byte, i) => first[i] === byte);
}

/* Compressed files are unpacked by the browser, up to a bound. */
async function unpacked({path, file}) {
    const first = await starts(file, 2);
    if (first[0] !== 0x1f || first[1] !== 0x8b)
        return {path, blob: file};
    let n = 0;
    const bound = new TransformStream({transform(chunk, out) {
        n += chunk.length;
        if (n > MAX_UNPACKED)
            throw new Error(`${path} unpacks to more than 4 GiB: \`strobe import\` reads it`);
        out.enqueue(chunk);
    }});
    return {path: path.replace(/\.gz$/, ''), blob: await new Response(file.stream().pipeThrough(new DecompressionStream('gzip')).pipeThrough(bound)).blob()};
}

const strobeName = (path) => `${path.split('/')[0].replace(/(\.tracy|\.json|\.csv|\.folded|\.data|\.pb|\.pftrace|\.perfetto-trace)?(\.gz)?$/, '')}.strobe`;

/** What to open of these files: {blob, name}, with `words` where it was made of others. `onShare(share)` while that is done. null: nothing. */
export async function traceOf(files, onShare) {
    for (const candidate of files)
        if (await isTrace(candidate))
            return {blob: candidate.file, name: candidate.file.name};
    if (!files.length)
        return null;
    const {blob, words} = await importFiles(await Promise.all(files.map(unpacked)), onShare);
    return {blob, words, name: strobeName(files[0].path)};
}
