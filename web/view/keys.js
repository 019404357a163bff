/* keys.js - every key and every use of the mouse, once. The page acts on this table, `?` shows it,
 * docs/viewer.md lists it, and a test goes through its rows.
 * W, A, S and D are meant by their place, so that they lie together on any layout; other letters and signs by what the key types. `code` is the
 * key's place on a US layout: it also counts where a key types no Latin letter, or one that nothing is bound to.
 * SPDX-License-Identifier: MIT */

/** mods: letters of C (Ctrl or Cmd), S (Shift), A (Alt); '' none. `repeat`: held down, it goes on. */
export const KEYS = [
    {code: 'KeyW', mods: '', show: 'W', act: 'zoomIn', help: 'zoom in at the pointer', group: 'Move', repeat: true},
    {code: 'KeyS', mods: '', show: 'S', act: 'zoomOut', help: 'zoom out at the pointer', group: 'Move', repeat: true},
    {code: 'KeyA', mods: '', show: 'A', act: 'panLeft', help: 'go left', group: 'Move', repeat: true},
    {code: 'KeyD', mods: '', show: 'D', act: 'panRight', help: 'go right', group: 'Move', repeat: true},
    {code: 'KeyW', mods: 'S', show: 'Shift+W', act: 'zoomInFast', help: 'zoom in faster', group: 'Move', repeat: true},
    {code: 'KeyS', mods: 'S', show: 'Shift+S', act: 'zoomOutFast', help: 'zoom out faster', group: 'Move', repeat: true},
    {code: 'KeyA', mods: 'S', show: 'Shift+A', act: 'panLeftFast', help: 'go left faster', group: 'Move', repeat: true},
    {code: 'KeyD', mods: 'S', show: 'Shift+D', act: 'panRightFast', help: 'go right faster', group: 'Move', repeat: true},
    {code: 'Home', mods: '', show: 'Home', act: 'fitAll', help: 'the whole trace', group: 'Move'},
    {code: 'KeyF', mods: '', show: 'F', act: 'fitSelection', help: 'fit the selection, or the whole trace', group: 'Move'},
    {code: 'KeyF', mods: 'S', show: 'Shift+F', act: 'fitHeight', help: 'fit all tracks in the height, or not', group: 'Move'},
    {code: 'ArrowLeft', mods: 'A', show: 'Alt+←', act: 'back', help: 'where you were before', group: 'Move'},
    {code: 'ArrowRight', mods: 'A', show: 'Alt+→', act: 'forward', help: 'and forward again', group: 'Move'},
    {code: 'KeyZ', mods: 'C', show: 'Ctrl+Z', act: 'undo', help: 'undo a change of the view', group: 'Move', repeat: true},
    {code: 'KeyZ', mods: 'CS', show: 'Ctrl+Shift+Z', act: 'redo', help: 'and redo it', group: 'Move', repeat: true},
    {code: 'Space', mods: '', show: 'Space', act: 'follow', help: 'live: follow, or hold still', group: 'Move'},
    {code: 'Comma', mods: '', show: ',', act: 'previous', help: 'previous zone of the same name', group: 'Zones'},
    {code: 'Period', mods: '', show: '.', act: 'next', help: 'next zone of the same name', group: 'Zones'},
    {code: 'BracketLeft', mods: '', show: '[', act: 'flowBack', help: 'back along the flow; from a wait to who ended it', group: 'Zones'},
    {code: 'BracketRight', mods: '', show: ']', act: 'flowNext', help: 'forward along the flow; from a run to whom it woke', group: 'Zones'},
    {code: 'ArrowLeft', mods: '', show: '←', act: 'zoneLeft', help: 'the zone before, on the same depth', group: 'Zones', repeat: true},
    {code: 'ArrowRight', mods: '', show: '→', act: 'zoneRight', help: 'the zone after, on the same depth', group: 'Zones', repeat: true},
    {code: 'ArrowUp', mods: '', show: '↑', act: 'zoneUp', help: 'the zone around it', group: 'Zones', repeat: true},
    {code: 'ArrowDown', mods: '', show: '↓', act: 'zoneDown', help: 'the first zone in it', group: 'Zones', repeat: true},
    {code: 'ArrowUp', mods: 'S', show: 'Shift+↑', act: 'trackUp', help: 'the track above', group: 'Zones', repeat: true},
    {code: 'ArrowDown', mods: 'S', show: 'Shift+↓', act: 'trackDown', help: 'the track below', group: 'Zones', repeat: true},
    {code: 'Enter', mods: 'A', show: 'Alt+Enter', act: 'zoneMenu', help: 'menu of the selected zone', group: 'Zones'},
    {code: 'KeyN', mods: '', show: 'N', act: 'nextMessage', help: 'next message', group: 'Find'},
    {code: 'KeyN', mods: 'S', show: 'Shift+N', act: 'previousMessage', help: 'previous message', group: 'Find'},
    {code: 'KeyJ', mods: '', show: 'J', act: 'nextNote', help: 'next note', group: 'Find'},
    {code: 'KeyJ', mods: 'S', show: 'Shift+J', act: 'previousNote', help: 'previous note', group: 'Find'},
    {code: 'KeyP', mods: '', show: 'P', act: 'parent', help: 'the zone around it', group: 'Zones'},
    {code: 'KeyR', mods: '', show: 'R', act: 'areaFromSelection', help: 'the area of the selected zone', group: 'Select'},
    {code: 'KeyR', mods: 'S', show: 'Shift+R', act: 'areaFromView', help: 'the area of what is in view', group: 'Select'},
    {code: 'KeyM', mods: '', show: 'M', act: 'mark', help: 'note at the selection or the pointer', group: 'Select'},
    {code: 'Escape', mods: '', show: 'Esc', act: 'clear', help: 'clear the selection, close what is open', group: 'Select'},
    {code: 'Slash', mods: '', show: '/', act: 'search', help: 'search', group: 'Find'},
    {code: 'KeyF', mods: 'C', show: 'Ctrl+F', act: 'search', help: 'search', group: 'Find'},
    {code: 'Enter', mods: '', show: 'Enter', act: 'nextHit', help: 'in the search box: next hit', group: 'Find', typing: true},
    {code: 'Enter', mods: 'S', show: 'Shift+Enter', act: 'previousHit', help: 'in the search box: previous hit', group: 'Find', typing: true},
    {code: 'KeyP', mods: 'C', show: 'Ctrl+P', act: 'findTrack', help: 'find a track', group: 'Find'},
    {code: 'PageDown', mods: 'A', show: 'Alt+PgDn', act: 'nextTrace', help: 'the next open trace', group: 'Panels'},
    {code: 'PageUp', mods: 'A', show: 'Alt+PgUp', act: 'previousTrace', help: 'the open trace before', group: 'Panels'},
    {code: 'KeyT', mods: 'S', show: 'Shift+T', act: 'pin', help: 'pin the track under the pointer, or unpin it', group: 'Panels'},
    {code: 'KeyH', mods: '', show: 'H', act: 'hide', help: 'hide the track under the pointer, or that of the selection', group: 'Panels'},
    {code: 'KeyH', mods: 'S', show: 'Shift+H', act: 'showAll', help: 'show all hidden tracks', group: 'Panels'},
    {code: 'Enter', mods: 'SA', show: 'Alt+Shift+Enter', act: 'trackMenu', help: 'menu of a track: collapse, pin, move, hide, limit, scale', group: 'Panels'},
    {code: 'KeyQ', mods: '', show: 'Q', act: 'drawer', help: 'show or hide the panels', group: 'Panels'},
    {code: 'KeyP', mods: 'CS', show: 'Ctrl+Shift+P', act: 'commands', help: 'all commands', group: 'Panels'},
    {code: 'Slash', mods: 'S', show: '?', act: 'help', help: 'this table', group: 'Panels'},
];

/** What the mouse does on the timeline. */
export const MOUSE = [
    {show: 'left drag', act: 'dragArea', help: 'select an area of time and tracks; shows its length'},
    {show: 'right drag', act: 'dragPan', help: 'move'},
    {show: 'Shift + left drag', act: 'dragPan', help: 'move'},
    {show: 'middle drag', act: 'dragZoomIn', help: 'zoom to what is dragged over'},
    {show: 'Ctrl + middle drag', act: 'dragZoomOut', help: 'zoom out, so that the view becomes what is dragged over'},
    {show: 'double click', act: 'zoomTo', help: 'zoom to the zone'},
    {show: 'middle click', act: 'zoomTo', help: 'zoom to the zone'},
    {show: 'click', act: 'select', help: 'details of the zone'},
    {show: 'right click', act: 'zoneMenu', help: 'menu of the zone'},
    {show: 'Ctrl + click', act: 'findZone', help: 'find zone: all of this name, with histogram'},
    {show: 'wheel', act: 'wheelScroll', help: 'scroll the tracks (or zoom, as in Tracy: asked once and kept)'},
    {show: 'Shift + wheel', act: 'wheelPan', help: 'move left and right'},
    {show: 'Ctrl + wheel, pinch', act: 'wheelZoom', help: 'zoom at the pointer'},
    {show: 'wheel on ruler or minimap', act: 'wheelZoom', help: 'zoom at the pointer'},
    {show: 'drag on the minimap', act: 'minimapView', help: 'move the view'},
    {show: 'click on a track\'s name', act: 'collapse', help: 'collapse or open it'},
    {show: 'right click on a track\'s name', act: 'trackMenu', help: 'pin it, hide it, limit its depth, select all of it'},
    {show: 'drag a track\'s name', act: 'reorder', help: 'move it up or down'},
];

/** The modifiers of an event as letters. */
export function modsOf(event) {
    return (event.ctrlKey || event.metaKey ? 'C' : '') + (event.shiftKey ? 'S' : '') + (event.altKey ? 'A' : '');
}

const PLACED = /^(Key[WASD]|Arrow.*)$/;

/* What a row's key types, if that is what it is known by. */
function signOf({code, show}) {
    const typed = show.split('+').pop();
    return typed.length === 1 && !PLACED.test(code) ? typed.toLowerCase() : '';
}

/* Signs need Shift or AltGr on some layouts: these count only where the row is a letter's. */
function isTyped(row, event, mods) {
    const sign = signOf(row), isLetter = /[a-z]/.test(sign);
    return sign !== '' && sign === event.key.toLowerCase() && (isLetter ? row.mods === mods : !mods.replace('S', '') || mods.replace('S', '') === 'CA');
}

/** The row for a key event, or null. While typing, only rows made for that. */
export function rowFor(event, isTyping) {
    const mods = modsOf(event), rows = KEYS.filter((row) => (!isTyping || row.typing || row.act === 'clear') && (isTyping || !row.typing));
    const code = event.code === 'NumpadEnter' ? 'Enter' : event.code, atPlace = (row) => row.code === code && row.mods === mods, isOther = event.key.length !== 1 || !/[!-@[-`{-~]/.test(event.key);
    return rows.find((row) => (PLACED.test(row.code) || !signOf(row)) && atPlace(row)) || rows.find((row) => isTyped(row, event, mods)) ||
        (isOther ? rows.find(atPlace) : null) || null;
}
