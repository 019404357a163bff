/* hand.mjs - a quick hand on mouse and keyboard: what it does goes to the browser in order, and nobody waits for each act to be drawn, only for all of them
 * (`done`). Used where acts are many.  SPDX-License-Identifier: MIT */

const BITS = {Alt: 1, Control: 2, Meta: 4, Shift: 8}, CODES = {Alt: 18, Control: 17, Meta: 91, Shift: 16};
const NAMED = {Escape: 27, Tab: 9, Enter: 13, Home: 36, End: 35, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40};
const SIGNS = {',': ['Comma', 188], '.': ['Period', 190], '[': ['BracketLeft', 219], ']': ['BracketRight', 221], '/': ['Slash', 191], '?': ['Slash', 191], '<': ['Comma', 188], '>': ['Period', 190], '*': ['Digit8', 56], ' ': ['Space', 32]};
const HELD = {left: 1, right: 2, middle: 4};

/* What a keyboard says of a key: {key, code, windowsVirtualKeyCode, text}. */
function describe(name) {
    if (name in NAMED)
        return {key: name, code: name, windowsVirtualKeyCode: NAMED[name], text: name === 'Enter' ? '\r' : undefined};
    if (name in BITS)
        return {key: name, code: `${name}Left`, windowsVirtualKeyCode: CODES[name]};
    const key = name === 'Space' ? ' ' : name, [code, number] = SIGNS[key] || [/\d/.test(key) ? `Digit${key}` : `Key${key.toUpperCase()}`, key.toUpperCase().charCodeAt(0)];
    return {key, code, windowsVirtualKeyCode: number, text: key};
}

export class Hand {
    /** `session`: a CDP session of the page. */
    constructor(session) {
        Object.assign(this, {session, sent: [], waiting: new Set(), x: 0, y: 0, held: 'none'});
    }

    /* What the browser says of an act that failed does not say which it was. */
    send(method, params) {
        const words = `${method} ${params.type} ${params.key || `${params.button || ''} at ${params.x},${params.y}`}`;
        this.waiting.add(words);
        this.sent.push(this.session.send(method, params).then(() => null, (error) => new Error(`${words}: ${error.message}`)).finally(() => this.waiting.delete(words)));
    }

    /** All that was begun has reached the page; resolves to the errors of what did not. */
    async done() {
        const {sent} = this;
        this.sent = [];
        return (await Promise.all(sent)).filter(Boolean);
    }

    mouse(type, button, more = {}) {
        this.send('Input.dispatchMouseEvent', {type, x: this.x, y: this.y, button, buttons: HELD[this.held] || 0, clickCount: type === 'mouseMoved' ? 0 : 1, ...more});
    }

    move(x, y) {
        Object.assign(this, {x, y});
        this.mouse('mouseMoved', this.held);
    }

    down(button) {
        this.held = button;
        this.mouse('mousePressed', button);
    }

    up() {
        const button = this.held;
        this.held = 'none';
        this.mouse('mouseReleased', button);
    }

    click(x, y, button = 'left') {
        this.move(x, y);
        this.down(button);
        this.up();
    }

    wheel(deltaX, deltaY) {
        this.send('Input.dispatchMouseEvent', {type: 'mouseWheel', x: this.x, y: this.y, deltaX, deltaY});
    }

    /** A key with those that are held, as in "Control+Shift+z". */
    press(keys) {
        const names = keys === '+' ? [keys] : keys.split('+'), last = describe(names.pop()), modifiers = names.reduce((bits, name) => bits | BITS[name], 0), isTyped = last.text && !(modifiers & ~BITS.Shift);
        let bits = 0;
        for (const name of names)
            this.send('Input.dispatchKeyEvent', {type: 'rawKeyDown', ...describe(name), modifiers: bits |= BITS[name]});
        this.send('Input.dispatchKeyEvent', {type: isTyped ? 'keyDown' : 'rawKeyDown', ...last, text: isTyped ? last.text : undefined, modifiers});
        this.send('Input.dispatchKeyEvent', {type: 'keyUp', ...last, text: undefined, modifiers});
        for (const name of names.reverse())
            this.send('Input.dispatchKeyEvent', {type: 'keyUp', ...describe(name), modifiers: bits &= ~BITS[name]});
    }

    type(text) {
        for (const letter of text)
            this.press(letter);
    }
}
