/* rows.js - locations of rows of tables, which may be of any process, as numbers: ordered by process, then id.
 * SPDX-License-Identifier: MIT */

import {lowBits} from './bytes.js';

export const NO_LOC = 2 ** 53 - 4;

/** The number of a process's location. */
export function rowLoc(process, id) {
    return process.index * 2 ** 40 + lowBits(id, 40);
}

/** The location's number in answers, 0: none. */
export function rowNumber(trace, loc) {
    return loc >= NO_LOC ? 0 : trace.model.loc(Math.floor(loc / 2 ** 40), loc % 2 ** 40);
}
