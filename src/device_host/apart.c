/* apart.c - a consumer with a thread of its own: what it is too slow for waits in a queue, and what finds no room there it misses, alone.
 *
 *   worker ── put: [words of a piece][the piece]… ──► queue ── run ──► frames(), on the consumer's thread
 *
 * The worker never waits here. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "device_host/internal.h"

#define DEFAULT_BYTES (16u << 20) /* holds all that describes a device, and more */
#define LEAST_BYTES   (1u << 16)

struct strobe_host_queue {
    strobe_device_frames *frames;
    void *context; /* borrowed: for frames */
    pthread_t thread;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t wake;
    uint32_t *words; /* owned: room, as a ring */
    size_t room, first, n;
    int stops;
};

static void copy_in(struct strobe_host_queue *queue, const uint32_t *words, size_t n_words)
{
    size_t at = (queue->first + queue->n) % queue->room, piece = queue->room - at;
    STROBE_ASSERT(queue->n + n_words <= queue->room);
    piece = piece < n_words ? piece : n_words;
    memcpy(queue->words + at, words, piece * sizeof *words);
    memcpy(queue->words, words + piece, (n_words - piece) * sizeof *words);
    queue->n += n_words;
}

static void copy_out(struct strobe_host_queue *queue, uint32_t *words, size_t n_words)
{
    size_t piece = queue->room - queue->first;
    STROBE_ASSERT(n_words <= queue->n);
    piece = piece < n_words ? piece : n_words;
    memcpy(words, queue->words + queue->first, piece * sizeof *words);
    memcpy(words + piece, queue->words, (n_words - piece) * sizeof *words);
    queue->first = (queue->first + n_words) % queue->room;
    queue->n -= n_words;
}

/* The listener that the worker calls. */
static int put(void *context, const uint32_t *words, size_t n_words)
{
    struct strobe_host_queue *queue = context;
    uint32_t length = (uint32_t)n_words;
    pthread_mutex_lock(&queue->lock);
    int misses = n_words + 1 > queue->room - queue->n;
    if (!misses) {
        copy_in(queue, &length, 1);
        copy_in(queue, words, n_words);
        pthread_cond_signal(&queue->wake);
    }
    pthread_mutex_unlock(&queue->lock);
    return misses;
}

static void *run(void *context)
{
    struct strobe_host_queue *queue = context;
    uint32_t *piece = malloc(queue->room * sizeof *piece), length = 0;
    pthread_mutex_lock(&queue->lock);
    while (piece) {
        while (!queue->n && !queue->stops)
            pthread_cond_wait(&queue->wake, &queue->lock);
        if (!queue->n)
            break;
        copy_out(queue, &length, 1);
        copy_out(queue, piece, length);
        pthread_mutex_unlock(&queue->lock);
        queue->frames(queue->context, piece, length);
        pthread_mutex_lock(&queue->lock);
    }
    pthread_mutex_unlock(&queue->lock);
    free(piece);
    return NULL;
}

static void free_queue(struct strobe_host_queue *queue)
{
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->wake);
    free(queue->words);
    free(queue);
}

struct strobe_host_queue *strobe_host_queue_open(strobe_device_frames *frames, void *context,
                                                 size_t n_bytes)
{
    struct strobe_host_queue *queue = calloc(1, sizeof *queue);
    if (!queue)
        return NULL;
    n_bytes = n_bytes ? n_bytes : DEFAULT_BYTES;
    queue->frames = frames;
    queue->context = context;
    queue->room = (n_bytes < LEAST_BYTES ? LEAST_BYTES : n_bytes) / sizeof *queue->words;
    queue->words = malloc(queue->room * sizeof *queue->words);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->wake, NULL);
    if (!queue->words || pthread_create(&queue->thread, NULL, run, queue)) {
        free_queue(queue);
        return NULL;
    }
    return queue;
}

struct strobe_host_listener strobe_host_queue_listener(struct strobe_host_queue *queue)
{
    return (struct strobe_host_listener){.frames = put, .context = queue, .queue = queue};
}

void strobe_host_queue_close(struct strobe_host_queue *queue)
{
    if (!queue)
        return;
    pthread_mutex_lock(&queue->lock);
    queue->stops = 1;
    pthread_cond_signal(&queue->wake);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    free_queue(queue);
}
