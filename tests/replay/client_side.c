/* client_side.c - the client's room as an actor sees it: join.c itself, with its state within reach, and the inline hot path
 * under the hooks.  SPDX-License-Identifier: MIT */
#define constructor(number) unused
#define destructor(number)  unused
#include "client/join.c"
#undef constructor
#undef destructor

#include "replay.h"

/* A process begins: nothing of the walk before is left. */
struct strobe_pool *client_join(const char *dir, uint32_t n_chunks)
{
    replay.is_quiet = true;
    memset(&self, 0, sizeof self);
    strobe_gate_now = &closed_gate;
    strobe_hot_now = &nowhere.hot;
    nowhere = (struct strobe_front){.hot = {0, ~0u}};
    snprintf(self.dir, sizeof self.dir, "%s", dir);
    join_session(1, false);
    self.pool->n_chunks_max = n_chunks;
    replay.is_quiet = false;
    return self.pool;
}

/* As start_recording does where a session's page says so. */
void client_start_recording(void)
{
    replay.is_quiet = true;
    strobe_ring_lock(self.pool);
    __atomic_store_n(&self.pool->control->active, 1, __ATOMIC_RELEASE);
    strobe_client_describe(self.pool);
    strobe_ring_unlock(self.pool);
    replay.is_quiet = false;
}

void client_leave(void)
{
    struct strobe_pool *pool = self.pool;
    if (!pool)
        return;
    unlink(pool->path);
    if (pool->arena)
        munmap(pool->arena_end - (64 << 10), 64 << 10);
    munmap(self.control, self.map_bytes);
    munmap(pool, (sizeof *pool + 4095) & ~(size_t)4095);
    self.pool = NULL;
    self.control = NULL;
    strobe_gate_now = &closed_gate;
    strobe_hot_now = &nowhere.hot;
}

/* As when the upper half of the clock changes: the next emit is a slow one. */
void client_new_epoch(void)
{
    if (!has_no_state())
        strobe_hot_now->epoch--;
}

struct strobe_hot *replay_no_hot(void)
{
    return &nowhere.hot;
}

int client_emit(struct strobe_loc *loc)
{
    struct strobe_zone zone = strobe_zone_begin(loc);
    return zone.on;
}

void client_end(struct strobe_loc *loc, int on)
{
    struct strobe_zone zone = {.loc = loc, .word = loc->word, .gate = strobe_gate_now, .on = on};
    strobe_zone_end(&zone);
}

int client_emit_record(uint64_t value)
{
    uint64_t words[] = {STROBE_RECORD_WORD(STROBE_KIND_ZONE_VALUE, 2), value};
    return strobe_client_emit(words, 2);
}

/* The key's destructor, in its last round. */
void client_end_thread(void)
{
    leave_thread((void *)4);
}
