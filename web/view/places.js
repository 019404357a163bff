/* places.js - from a row of an answer in SQL to its place on the timeline: by the columns ts, dur, track_id and depth, or by the id of a zone.
 * SPDX-License-Identifier: MIT */

const THREADS = 2 * 2 ** 28, PLACE_BITS = 40n, OTHERS = 1n << 62n; /* ids of zones: a thread and a place on it; of spans and fibers, OTHERS and a number */
const ZONE_IDS = ['zone_id', 'slice_id', 'slice_in', 'slice_out', 'held_by_zone', 'parent_id'], OF_ZONES = /\b(zone|slice|slices|slowest|open_zone|thread_slice|process_slice|thread_or_process_slice)\b/i;
const TRACKS = 'SELECT t.id, t.kind, t.name, p.pid, h.tid FROM track t LEFT JOIN thread h ON h.id = t.thread_id AND h.trace_id = t.trace_id LEFT JOIN process p ON p.id = t.process_id AND p.trace_id = t.trace_id WHERE t.trace_id = 0';

/** A whole number of an answer, however large; null: it is none. */
export function wholeOf(value) {
    if (typeof value === 'number' && Number.isInteger(value))
        return BigInt(value);
    return value && typeof value === 'object' && value.i ? BigInt(value.i) : null;
}

/** The zone that a row names by its id, null: none. `sql`: an id alone is a zone's where the statement is about zones. */
export function zoneIdOf(row, sql) {
    const name = [...(OF_ZONES.test(sql) ? ['id'] : []), ...ZONE_IDS].find((column) => column in row && wholeOf(row[column]) !== null);
    return name ? wholeOf(row[name]) : null;
}

/** Methods of the app. */
export const placing = {
    /** An answer in SQL, all of it. */
    async query(sql, limit = 100000) {
        return (await this.engine.askLong({ask: 'query', sql, limit}).answer).json;
    },

    /** The track that a number of SQL's table `track` is here; null: none. */
    async trackOfSql(id) {
        const known = this.trackOf(THREADS + id);
        if (id < 2 ** 24 && known)
            return known;
        if (!this.sqlTracks || this.sqlTracks.engine !== this.engine)
            this.sqlTracks = {engine: this.engine, rows: (await this.query(TRACKS)).rows};
        const row = this.sqlTracks.rows.find((r) => r[0] === id);
        if (!row)
            return null;
        const [, kind, name, pid, tid] = row, {tracks} = this.trace;
        if (kind === 'span')
            return tracks.find((t) => t.kind === 'spans' && t.pid === pid) || null;
        if (kind === 'fiber')
            return tracks.find((t) => t.kind === 'fiber' && t.name === name && t.pid === pid) || tracks.find((t) => t.kind === 'fiber' && t.name === name) || null;
        return tracks.find((t) => t.tid === tid && t.pid === pid) || null;
    },

    /** Columns ts, dur, depth and track_id of a zone by its id; null: there is none. */
    async zoneById(id) {
        const onTrack = id >= 0 && id < OTHERS ? `AND track_id = ${id >> PLACE_BITS} ` : ''; /* then only that track is read */
        const {rows} = await this.query(`SELECT ts, dur, depth, track_id FROM zone WHERE id = ${id} ${onTrack}AND trace_id = 0`, 1);
        return rows.length ? {ts: rows[0][0], dur: rows[0][1], depth: rows[0][2], track_id: rows[0][3]} : null;
    },

    /* The depth at which a track has a zone that begins at a time, and lasts so long where that is known; -1: none. */
    async depthAt(track, ts, dur) {
        for (let depth = 0; depth < Math.max(1, track.n_depths); depth++) {
            const {zone} = (await this.engine.ask({ask: 'zone', track: track.id, depth, at: ts, slack: 2})).json;
            if (zone && Math.abs(zone.t0 - ts) < 2 && (typeof dur !== 'number' || dur < 0 || zone.t1 === null || Math.abs(zone.t1 - zone.t0 - dur) < 2))
                return depth;
        }
        return -1;
    },

    /** Go where a row is of ({column: value}). Resolves to whether it has a place. */
    async goToRow(row, sql = '') {
        let at = row;
        if (row.trace_id) {
            this.say('This row is of another trace.');
            return false;
        }
        if (typeof row.ts !== 'number') {
            const id = zoneIdOf(row, sql);
            at = id === null ? null : await this.zoneById(id);
        }
        if (!at || typeof at.ts !== 'number') {
            this.say('This row names no place: a column ts, or the id of a zone, would.');
            return false;
        }
        const number = [at.track_id, at.thread_id, at.utid].find((n) => typeof n === 'number'), track = number === undefined ? null : await this.trackOfSql(number), end = at.ts + (typeof at.dur === 'number' ? Math.max(0, at.dur) : 0);
        const depth = !track ? -1 : typeof at.depth === 'number' && track.kind !== 'spans' ? at.depth : /* spans are drawn at the least free depth */ await this.depthAt(track, at.ts, at.dur);
        if (track && depth >= 0)
            await this.goTo(track.id, depth, at.ts, end);
        else if (end > at.ts)
            this.goToStretch(at.ts, end, track);
        else
            this.goToTime(at.ts, track ? track.id : undefined);
        return true;
    },

    goToStretch(from, to, track) {
        this.remember();
        this.fit({from, to}, 0.2);
        if (track)
            this.showTrack(track.id);
    },
};
