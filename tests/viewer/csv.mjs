/* csv.mjs - rows of a CSV text (RFC 4180) as objects.  SPDX-License-Identifier: MIT */

/** One object per row, by the names of the first one. */
export function csvRows(text) {
    const rows = [];
    let cell = '', quoted = false, row = [];
    for (let at = 0; at < text.length; at++) {
        const c = text[at];
        if (quoted) {
            if (c === '"' && text[at + 1] === '"')
                cell += text[++at];
            else if (c === '"')
                quoted = false;
            else
                cell += c;
        } else if (c === '"') {
            quoted = true;
        } else if (c === ',' || c === '\n') {
            row.push(cell);
            cell = '';
            if (c === '\n') {
                rows.push(row);
                row = [];
            }
        } else if (c !== '\r') {
            cell += c;
        }
    }
    const fields = rows.shift();
    return rows.map((r) => Object.fromEntries(fields.map((f, i) => [f, r[i]])));
}
