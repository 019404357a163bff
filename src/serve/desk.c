/* desk.c - queues and threads of the open traces.  SPDX-License-Identifier: MIT */
#include "serve/desk.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/moves.h"
#include "ask/asker.h"
#include "serve/answers.h"
#include "serve/folder.h"
#include "serve/guard.h"

enum {
    POLL_MS = 50,   /* a growing file is looked at so often */
    TELL_MS = 200,  /* and its pages are notified at most so often */
    REST_MS = 2000, /* what was begun and is not asked on for so long is given up */
    TRIM_MS = 1000, /* and free memory goes back to the system so often, while there are answers */
};

struct question {
    struct question *next; /* owned */
    uint64_t who;
    uint32_t id;
    int is_pixels;
    size_t n_bytes;
    char text[];
};

enum { QUICK, SLOW, LONG, N_THREADS };

/* One thread of a trace with its engine; the one for long answers has an asker instead. */
struct worker {
    struct strobe_desk_trace *trace; /* borrowed */
    struct strobe_served served;     /* owned; not of LONG */
    struct strobe_asker asker;       /* owned; of LONG */
    uint64_t running_who;            /* who asked what is being answered, */
    uint32_t running_id;             /* and its number */
    uint8_t is_running;
    struct question *first, *last; /* owned: what waits */
    uint32_t n_waiting;
    uint64_t told_ms;    /* when pages were told last */
    uint64_t trimmed_ms; /* when free memory was given back */
    pthread_t thread;
    pthread_cond_t wake;
    int has_thread;
};

/* states of followed, moved by move_followed:
 *
 *     OPEN --> GONE
 *       |       |
 *       +-------+--> ENDING
 *
 *   OPEN -> GONE           the quick thread, when the file was removed or another one took its place
 *   OPEN, GONE -> ENDING   the desk's thread, when nobody uses the trace any more: its threads end */
enum followed { FOLLOWED_OPEN, FOLLOWED_GONE, FOLLOWED_ENDING };

struct strobe_desk_trace {
    struct strobe_desk *desk; /* borrowed */
    char *path;               /* owned */
    char *folder;             /* owned: where saved ranges go */
    uint64_t device, inode;   /* of the file that was opened */
    uint32_t n_users;
    struct strobe_asker_host asker_host;
    struct worker workers[N_THREADS];
    _Atomic uint8_t state; /* enum followed */
};

struct strobe_desk {
    strobe_desk_sink sink;
    void *context;
    size_t before;
    pthread_mutex_t lock; /* all queues */
    struct strobe_desk_trace *traces[STROBE_DESK_MAX_TRACES];
    struct strobe_json json; /* of the thread that uses the desk */
};

/* moves of followed */
static const uint8_t moves[][2] = {{FOLLOWED_OPEN, FOLLOWED_GONE},
                                   {FOLLOWED_OPEN, FOLLOWED_ENDING},
                                   {FOLLOWED_GONE, FOLLOWED_ENDING}};

/* Two threads move it: a move that is not legal any more is none. */
static void move_followed(struct strobe_desk_trace *trace, enum followed to)
{
    uint8_t from = atomic_load(&trace->state);
    while (STROBE_MOVE_IS_LEGAL(moves, from, to) &&
           !atomic_compare_exchange_weak(&trace->state, &from, (uint8_t)to))
        ;
}

/* ---- answers ---- */

static void send(struct strobe_desk_trace *trace, uint64_t who, uint32_t id,
                 struct strobe_reply *reply)
{
    struct strobe_desk *desk = trace->desk;
    size_t n_bytes;
    uint8_t *frame = strobe_reply_finish(reply, id, desk->before, &n_bytes);
    if (frame)
        desk->sink(desk->context, trace, who, frame, n_bytes);
}

static void send_error(struct strobe_desk_trace *trace, uint64_t who, uint32_t id, const char *why)
{
    struct strobe_reply reply = {0};
    strobe_reply_u64(&reply, "id", id);
    strobe_engine_answer_error(&reply, why);
    send(trace, who, id, &reply);
}

/* All pages of the trace, the one that changed them too: it may have asked before another one did. */
static void tell_notes(struct worker *worker)
{
    struct strobe_reply reply = {0};
    strobe_reply_string(&reply, "tell", "notes");
    send(worker->trace, 0, 0, &reply);
    worker->served.has_new_notes = false;
}

static int is_long(const struct worker *worker)
{
    return worker == &worker->trace->workers[LONG];
}

static uint64_t now_ms(void)
{
    return strobe_clock_mono_ns() / 1000000;
}

/* After a slow answer: a page that follows a recording asks all the time, so that nobody rests. What answers were made of is free
 * by now, but lies between what is kept. */
static void give_back(struct worker *worker)
{
    uint64_t now = now_ms();
    if (!strobe_engine_give_up(worker->served.engine, now, REST_MS) &&
        now - worker->trimmed_ms < TRIM_MS)
        return;
    malloc_trim(0);
    worker->trimmed_ms = now;
}

static void answer(struct worker *worker, struct strobe_json *json, const struct question *question)
{
    struct strobe_reply reply = {0};
    strobe_reply_u64(&reply, "id", question->id);
    int is_json = strobe_json_parse(json, question->text, question->n_bytes);
    if (is_json && is_long(worker))
        strobe_asker_answer(&worker->asker, json, &reply);
    else if (is_json)
        strobe_served_answer(&worker->served, json, &reply);
    send(worker->trace, question->who, question->id, &reply);
    if (worker->served.has_new_notes)
        tell_notes(worker);
    if (worker == &worker->trace->workers[SLOW])
        give_back(worker);
}

/* ---- a growing file ---- */

static void tell_grown(struct worker *worker)
{
    struct strobe_engine *engine = worker->served.engine;
    const struct strobe_file_facts *facts = strobe_file_facts(engine->trace->file);
    struct strobe_reply reply = {0};
    strobe_strips_step(
        &engine->strips); /* a thread that is sampled now is a track with more to show */
    strobe_reply_string(&reply, "tell", facts->closed ? "closed" : "grown");
    strobe_reply_open(&reply, "range", '[');
    int is_empty = engine->view->tick_first > engine->view->tick_last;
    strobe_reply_number(&reply, "",
                        is_empty ? 0 : strobe_engine_ns(engine, engine->view->tick_first));
    strobe_reply_number(&reply, "",
                        is_empty ? 0 : strobe_engine_ns(engine, engine->view->tick_last));
    strobe_reply_close(&reply, ']');
    strobe_reply_u64(&reply, "bytes", facts->n_bytes);
    strobe_reply_u64(&reply, "tracks",
                     engine->trace->thread_ids.n + engine->trace->n_processes +
                         engine->tables.n_tables + engine->strips.ids.n);
    send(worker->trace, 0, 0, &reply);
}

static void tell_gone(struct worker *worker, int is_replaced)
{
    struct strobe_reply reply = {0};
    strobe_reply_string(&reply, "tell", "gone");
    strobe_reply_string(&reply, "why",
                        is_replaced ? "another file took its place" : "the file was removed");
    strobe_reply_bool(&reply, "replaced", is_replaced);
    send(worker->trace, 0, 0, &reply);
}

/* Take in what is new. 1: something was. */
static int read_on(struct worker *worker)
{
    int grown = 0;
    return strobe_engine_refresh(worker->served.engine, &grown) == STROBE_OK && grown;
}

/* The quick thread: is there more, or no file any more? The pages are told. */
static void look_again(struct worker *worker)
{
    struct strobe_desk_trace *trace = worker->trace;
    uint64_t now = now_ms();
    struct stat st;
    if (trace->state != FOLLOWED_OPEN || now - worker->told_ms < TELL_MS)
        return;
    int is_removed = stat(trace->path, &st);
    if (is_removed || st.st_dev != trace->device || st.st_ino != trace->inode) {
        move_followed(trace, FOLLOWED_GONE); /* first: who is told may come back at once */
        tell_gone(worker, !is_removed);
        return;
    }
    if ((uint64_t)st.st_size == strobe_file_facts(worker->served.engine->trace->file)->n_bytes)
        return;
    if (!read_on(worker))
        return;
    strobe_tables_update(&worker->served.engine->tables);
    strobe_tables_rest(&worker->served.engine->tables);
    tell_grown(worker);
    worker->told_ms = now;
}

/* ---- threads ---- */

static struct question *take(struct worker *worker)
{
    struct question *question = worker->first;
    if (!question)
        return NULL;
    worker->first = question->next;
    if (!worker->first)
        worker->last = NULL;
    worker->n_waiting--;
    worker->running_who = question->who;
    worker->running_id = question->id;
    worker->is_running = 1;
    atomic_store(&worker->asker.stop, worker->trace->state == FOLLOWED_ENDING);
    return question;
}

/* 0: nothing came for so long. */
static int wait_for_work(struct worker *worker, uint64_t ms)
{
    struct timespec until = strobe_clock_timespec(strobe_clock_mono_ns() + ms * 1000000ull);
    return pthread_cond_timedwait(&worker->wake, &worker->trace->desk->lock, &until) != ETIMEDOUT;
}

/* The slow threads: nobody asks. */
static void rest(struct worker *worker)
{
    pthread_mutex_t *lock = &worker->trace->desk->lock;
    if (!wait_for_work(worker, REST_MS)) {
        pthread_mutex_unlock(lock);
        if (is_long(worker))
            strobe_asker_rest(&worker->asker);
        else
            strobe_engine_rest(worker->served.engine);
        malloc_trim(0);
        pthread_mutex_lock(lock);
    }
    if (!worker->first && worker->trace->state != FOLLOWED_ENDING)
        pthread_cond_wait(&worker->wake, lock);
}

static void *work(void *context)
{
    struct worker *worker = context;
    pthread_mutex_t *lock = &worker->trace->desk->lock;
    int tells = worker == &worker->trace->workers[QUICK];
    struct strobe_json json = {0};
    pthread_mutex_lock(lock);
    while (worker->trace->state != FOLLOWED_ENDING) {
        struct question *question = take(worker);
        if (!question && tells)
            wait_for_work(worker, POLL_MS);
        else if (!question)
            rest(worker);
        pthread_mutex_unlock(lock);
        if (tells)
            look_again(worker);
        else if (question && !is_long(worker) &&
                 !strobe_file_facts(worker->served.engine->trace->file)->closed)
            read_on(worker);
        if (question)
            answer(worker, &json, question);
        free(question);
        pthread_mutex_lock(lock);
        worker->is_running = 0;
    }
    pthread_mutex_unlock(lock);
    strobe_json_free(&json);
    return NULL;
}

/* Another trace of the folder, for a comparison. */
static int find_trace(void *context, const char *name, char path[STROBE_ASKER_PATH_ROOM])
{
    const struct strobe_desk_trace *trace = context;
    int fd = strobe_guard_is_trace_name(name) ? strobe_folder_open(trace->folder, name) : -1;
    if (fd < 0)
        return 0;
    close(fd);
    return (size_t)snprintf(path, STROBE_ASKER_PATH_ROOM, "%s/%s", trace->folder, name) <
           STROBE_ASKER_PATH_ROOM;
}

static enum strobe_err start_worker(struct strobe_desk_trace *trace, struct worker *worker)
{
    pthread_condattr_t attr;
    worker->trace = trace;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&worker->wake, &attr);
    pthread_condattr_destroy(&attr);
    worker->asker.path = trace->path;
    worker->asker.host = &trace->asker_host;
    enum strobe_err err = is_long(worker)
                              ? STROBE_OK
                              : strobe_served_open(trace->path, trace->folder, &worker->served);
    if (err)
        return err;
    if (pthread_create(&worker->thread, NULL, work, worker))
        return STROBE_ERR_NOMEM;
    worker->has_thread = 1;
    return STROBE_OK;
}

static void close_trace(struct strobe_desk_trace *trace)
{
    struct strobe_desk *desk = trace->desk;
    pthread_mutex_lock(&desk->lock);
    move_followed(trace, FOLLOWED_ENDING);
    atomic_store(&trace->workers[LONG].asker.stop, 1);
    for (int i = 0; i < N_THREADS; i++)
        if (trace->workers[i].trace)
            pthread_cond_signal(&trace->workers[i].wake);
    pthread_mutex_unlock(&desk->lock);
    for (int i = 0; i < N_THREADS; i++) {
        struct worker *worker = &trace->workers[i];
        if (worker->has_thread)
            pthread_join(worker->thread, NULL);
        for (struct question *question; (question = take(worker));)
            free(question);
        if (worker->trace)
            pthread_cond_destroy(&worker->wake);
        strobe_served_close(&worker->served);
        strobe_asker_rest(&worker->asker);
    }
    free(trace->path);
    free(trace->folder);
    free(trace);
}

/* ---- the desk ---- */

struct strobe_desk *strobe_desk_new(strobe_desk_sink sink, void *context, size_t before)
{
    struct strobe_desk *desk = calloc(1, sizeof *desk);
    if (!desk)
        return NULL;
    desk->sink = sink;
    desk->context = context;
    desk->before = before;
    pthread_mutex_init(&desk->lock, NULL);
    return desk;
}

void strobe_desk_free(struct strobe_desk *desk)
{
    if (!desk)
        return;
    for (int i = 0; i < STROBE_DESK_MAX_TRACES; i++)
        if (desk->traces[i])
            close_trace(desk->traces[i]);
    pthread_mutex_destroy(&desk->lock);
    strobe_json_free(&desk->json);
    free(desk);
}

/* Close traces that nobody uses, all but one. */
static void close_idle(struct strobe_desk *desk)
{
    int n_idle = 0;
    for (int i = 0; i < STROBE_DESK_MAX_TRACES; i++)
        if (desk->traces[i] && !desk->traces[i]->n_users &&
            (n_idle++ || desk->traces[i]->state == FOLLOWED_GONE)) {
            close_trace(desk->traces[i]);
            desk->traces[i] = NULL;
        }
}

static enum strobe_err open_trace(struct strobe_desk_trace *trace, const char *path,
                                  const char *folder)
{
    struct stat st;
    trace->path = strdup(path);
    trace->folder = strdup(folder);
    if (!trace->path || !trace->folder)
        return STROBE_ERR_NOMEM;
    if (stat(path, &st))
        return STROBE_ERR_NOTFOUND;
    trace->asker_host = (struct strobe_asker_host){find_trace, trace};
    trace->device = st.st_dev;
    trace->inode = st.st_ino;
    enum strobe_err err = STROBE_OK;
    for (int i = 0; i < N_THREADS && !err; i++)
        err = start_worker(trace, &trace->workers[i]);
    return err;
}

enum strobe_err strobe_desk_use(struct strobe_desk *desk, const char *path, const char *folder,
                                struct strobe_desk_trace **out)
{
    int room = -1;
    close_idle(desk);
    for (int i = 0; i < STROBE_DESK_MAX_TRACES; i++) {
        if (!desk->traces[i])
            room = room < 0 ? i : room;
        else if (desk->traces[i]->state == FOLLOWED_OPEN && !strcmp(desk->traces[i]->path, path)) {
            desk->traces[i]->n_users++;
            *out = desk->traces[i];
            return STROBE_OK;
        }
    }
    if (room < 0)
        return STROBE_ERR_LIMIT;
    struct strobe_desk_trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return STROBE_ERR_NOMEM;
    trace->desk = desk;
    enum strobe_err err = open_trace(trace, path, folder);
    if (err) {
        close_trace(trace);
        return err;
    }
    trace->n_users = 1;
    desk->traces[room] = *out = trace;
    return STROBE_OK;
}

static void drop_questions(struct worker *worker, uint64_t who)
{
    struct question **at = &worker->first;
    worker->last = NULL;
    while (*at) {
        struct question *question = *at;
        if (question->who == who) {
            *at = question->next;
            worker->n_waiting--;
            free(question);
        } else {
            worker->last = question;
            at = &question->next;
        }
    }
}

/* With the lock held: what is being answered is not wanted any more, if it is of `who`, and has that number where one is given. */
static void stop_running(struct worker *worker, uint64_t who, const uint32_t *id)
{
    if (worker->is_running && worker->running_who == who && (!id || worker->running_id == *id))
        atomic_store(&worker->asker.stop, 1);
}

void strobe_desk_leave(struct strobe_desk *desk, struct strobe_desk_trace *trace, uint64_t who)
{
    pthread_mutex_lock(&desk->lock);
    for (int i = 0; i < N_THREADS; i++)
        drop_questions(&trace->workers[i], who);
    stop_running(&trace->workers[LONG], who, NULL);
    pthread_mutex_unlock(&desk->lock);
    trace->n_users--; /* it stays open for a while: a reloaded page comes back at once */
}

/* A drawing that nobody began, of one who asks for another: it is of no use any more. */
static struct question *find_overtaken(struct worker *worker, uint64_t who)
{
    for (struct question *question = worker->first; question; question = question->next)
        if (question->is_pixels && question->who == who)
            return question;
    return NULL;
}

static uint32_t n_waiting(struct worker *worker, uint64_t who)
{
    uint32_t n = 0;
    for (struct question *question = worker->first; question; question = question->next)
        n += question->who == who;
    return n;
}

static void put_last(struct worker *worker, struct question *question)
{
    if (worker->last)
        worker->last->next = question;
    else
        worker->first = question;
    worker->last = question;
    worker->n_waiting++;
    pthread_cond_signal(&worker->wake);
}

/* The long question of that number is not wanted any more. It is answered all the same: that it was stopped. */
static void stop_long(struct strobe_desk_trace *trace, uint64_t who, uint32_t id)
{
    struct worker *worker = &trace->workers[LONG];
    int is_dropped = 0;
    pthread_mutex_lock(&trace->desk->lock);
    stop_running(worker, who, &id);
    for (struct question *question = worker->first; question; question = question->next)
        if (question->who == who && question->id == id) {
            question->who = UINT64_MAX; /* of nobody */
            is_dropped = 1;
        }
    if (is_dropped)
        drop_questions(worker, UINT64_MAX);
    pthread_mutex_unlock(&trace->desk->lock);
    if (is_dropped)
        send_error(trace, who, id, "stopped");
}

/* The question `cancel`: answered at once, by nobody's thread. */
static void answer_cancel(struct strobe_desk_trace *trace, uint64_t who,
                          const struct strobe_json *json, uint32_t id)
{
    struct strobe_reply reply = {0};
    stop_long(trace, who,
              (uint32_t)strobe_json_count(json, strobe_json_member(json, 0, "of"), 0, UINT32_MAX));
    strobe_reply_u64(&reply, "id", id);
    strobe_reply_bool(&reply, "cancelled", 1);
    send(trace, who, id, &reply);
}

/* Whose question it is. */
static struct worker *worker_for(struct strobe_desk_trace *trace, const struct strobe_json *json)
{
    return &trace->workers[strobe_asker_knows(json)      ? LONG
                           : strobe_served_is_slow(json) ? SLOW
                                                         : QUICK];
}

int strobe_desk_ask(struct strobe_desk *desk, struct strobe_desk_trace *trace, uint64_t who,
                    const char *text, size_t n_bytes)
{
    struct strobe_json *json = &desk->json;
    if (!strobe_json_parse(json, text, n_bytes) || !strobe_json_is_object(json))
        return 0;
    uint32_t id =
        (uint32_t)strobe_json_count(json, strobe_json_member(json, 0, "id"), 0, UINT32_MAX);
    if (strobe_json_is(json, strobe_json_member(json, 0, "ask"), "cancel")) {
        answer_cancel(trace, who, json, id);
        return 1;
    }
    struct question *question = calloc(1, sizeof *question + n_bytes + 1);
    if (!question)
        return 0;
    question->who = who;
    question->id = id;
    question->is_pixels = strobe_json_is(json, strobe_json_member(json, 0, "ask"), "pixels");
    question->n_bytes = n_bytes;
    memcpy(question->text, text, n_bytes);
    struct worker *worker = worker_for(trace, json);
    uint32_t overtaken = 0;
    pthread_mutex_lock(&desk->lock);
    struct question *old = question->is_pixels ? find_overtaken(worker, who) : NULL;
    int is_too_many = n_waiting(worker, who) >= STROBE_DESK_MAX_WAITING;
    int is_overtaken = old != NULL;
    if (old) {
        overtaken = old->id;
        old->who = UINT64_MAX; /* of nobody */
        drop_questions(worker, UINT64_MAX);
    }
    if (!is_too_many)
        put_last(worker, question);
    pthread_mutex_unlock(&desk->lock);
    if (is_overtaken)
        send_error(trace, who, overtaken, "overtaken");
    if (is_too_many)
        free(question);
    return !is_too_many;
}
