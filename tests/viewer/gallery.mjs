/* gallery.mjs FOLDER: one page with all pictures that the tests of the viewer took, FOLDER/gallery.html: to be looked through after a change.
 * SPDX-License-Identifier: MIT */
import fs from 'node:fs';
import path from 'node:path';

const folder = path.resolve(process.argv[2]);
const shots = fs.readdirSync(folder).filter((name) => name.startsWith('shots')).sort().map((name) => ({name, pictures: fs.readdirSync(path.join(folder, name)).filter((file) => file.endsWith('.png') && file !== 'failed.png').sort()}));
const shown = shots.filter(({pictures}) => pictures.length), escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const picture = (dir, file) => `<figure><a href="${dir}/${escape(file)}"><img loading="lazy" src="${dir}/${escape(file)}" alt="${escape(file)}"></a><figcaption>${escape(file.replace('.png', ''))}</figcaption></figure>`;

fs.writeFileSync(path.join(folder, 'gallery.html'), `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Pictures of the viewer</title>
<style>body { font: 14px system-ui, sans-serif; margin: 1.5rem; } section { display: grid; grid-template-columns: repeat(auto-fill, minmax(22rem, 1fr)); gap: 1rem; } figure { margin: 0; } img { width: 100%; border: 1px solid #ccc; border-radius: 4px; }</style>
<h1>Pictures of the viewer</h1>
<p>${shown.map(({name, pictures}) => `<a href="#${name}">${name}</a> ${pictures.length}`).join(' · ')}</p>
${shown.map(({name, pictures}) => `<h2 id="${name}">${name}</h2>\n<section>\n${pictures.map((file) => picture(name, file)).join('\n')}\n</section>`).join('\n')}
</html>
`);
const n = shown.reduce((sum, {pictures}) => sum + pictures.length, 0);
console.log(`${path.join(folder, 'gallery.html')}: ${n} pictures of ${shown.length} tests`);
process.exit(n ? 0 : 1);
