/* dom.js - makes elements. Texts of traces go in as text nodes and never as markup.
 * SPDX-License-Identifier: MIT */

/** h('button', {class: 'x', onclick: f}, 'text', child, …) */
export function h(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes || {})) {
        if (key.startsWith('on'))
            element.addEventListener(key.slice(2), value);
        else if (value === true)
            element.setAttribute(key, '');
        else if (value !== false && value !== null && value !== undefined)
            element.setAttribute(key, value);
    }
    put(element, children);
    return element;
}

function put(element, children) {
    for (const child of children.flat(Infinity))
        if (child !== null && child !== undefined && child !== false)
            element.append(child instanceof Node ? child : String(child));
}

/** Replace what is in an element. */
export function fill(element, ...children) {
    element.textContent = '';
    put(element, children);
    return element;
}

/** Put text on the clipboard; falls back where the page may not. */
export async function copyText(text) {
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        const area = h('textarea', {class: 'offscreen'});
        area.value = text;
        document.body.append(area);
        area.select();
        document.execCommand('copy');
        area.remove();
    }
}

/** Offer bytes or a text as a file. */
export function download(name, blob) {
    const link = h('a', {download: name, href: URL.createObjectURL(blob)});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
