/* encoder.c - the demo's film encoder: frames come on stdin, each block of 8 x 8 goes through a
 * cosine transform, is rounded and packed. One thread reads, one encodes. The film itself is thrown
 * away: only its size is of interest here.  SPDX-License-Identifier: MIT */
#include "pipes.h"

#include <strobe/strobe.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { SIDE = 8, N_WAITING_MAX = 4 };

struct frame {
    struct frame_head head;
    unsigned char *rgb; /* owned by whoever holds the frame */
};

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct frame frames[N_WAITING_MAX];
    unsigned n_put, n_taken;
    int closed;
};

static float cosines[SIDE][SIDE];

static void prepare_cosines(void)
{
    STROBE_SCOPE("prepare cosines");
    for (int k = 0; k < SIDE; k++)
        for (int x = 0; x < SIDE; x++)
            cosines[k][x] =
                cosf((float)M_PI * (float)k * ((float)x + 0.5f) / SIDE) * (k ? 0.5f : 0.35355339f);
}

/* One pass of the transform over the rows, the result turned by 90 degrees. */
static void transform_rows(const float in[SIDE][SIDE], float out[SIDE][SIDE])
{
    for (int y = 0; y < SIDE; y++)
        for (int k = 0; k < SIDE; k++) {
            float sum = 0;
            for (int x = 0; x < SIDE; x++)
                sum += in[y][x] * cosines[k][x];
            out[k][y] = sum;
        }
}

/* Bytes that a block takes once packed: a byte per run of zeros, one or two per number. */
static unsigned pack_block(const float block[SIDE][SIDE])
{
    unsigned n_bytes = 0, zeros = 0;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            int value = (int)lrintf(block[y][x] / (float)(8 + 3 * (x + y)));
            if (value == 0) {
                zeros++;
                continue;
            }
            n_bytes += (zeros ? 1 : 0) + (abs(value) > 63 ? 2 : 1);
            zeros = 0;
        }
    return n_bytes + 1;
}

static unsigned encode_block(const struct frame *frame, uint32_t left, uint32_t top, int channel)
{
    STROBE_SCOPE("block");
    float pixels[SIDE][SIDE], half[SIDE][SIDE], done[SIDE][SIDE];
    for (uint32_t y = 0; y < SIDE; y++)
        for (uint32_t x = 0; x < SIDE; x++) {
            uint32_t row = top + y < frame->head.height ? top + y : frame->head.height - 1;
            uint32_t column = left + x < frame->head.width ? left + x : frame->head.width - 1;
            size_t at = ((size_t)row * frame->head.width + column) * 3;
            pixels[y][x] = (float)frame->rgb[at + (size_t)channel] - 128;
        }
    transform_rows(pixels, half);
    transform_rows(half, done);
    return pack_block(done);
}

static unsigned encode_channel(const struct frame *frame, int channel)
{
    static const char *const names[] = {"red", "green", "blue"};
    STROBE_SCOPE("channel");
    STROBE_RENAME(names[channel]);
    unsigned n_bytes = 0;
    for (uint32_t y = 0; y < frame->head.height; y += SIDE)
        for (uint32_t x = 0; x < frame->head.width; x += SIDE)
            n_bytes += encode_block(frame, x, y, channel);
    return n_bytes;
}

static void encode_frame(struct frame *frame)
{
    STROBE_SCOPE_COLOR("encode frame", 0xa64d79);
    STROBE_FLOW_END(frame->head.flow);
    STROBE_VALUE(frame->head.number);
    unsigned n_bytes = 0;
    for (int channel = 0; channel < 3; channel++)
        n_bytes += encode_channel(frame, channel);
    STROBE_PLOT_INT("bytes per frame", n_bytes);
    STROBE_FRAME_NAMED("encoded");
    STROBE_FREE_IN("frames", frame->rgb);
    free(frame->rgb);
}

static void *encode(void *argument)
{
    struct queue *queue = (struct queue *)argument;
    STROBE_THREAD_NAME("encoder");
    while (1) {
        pthread_mutex_lock(&queue->mutex);
        while (queue->n_taken == queue->n_put && !queue->closed)
            pthread_cond_wait(&queue->changed, &queue->mutex);
        if (queue->n_taken == queue->n_put) {
            pthread_mutex_unlock(&queue->mutex);
            return NULL;
        }
        struct frame frame = queue->frames[queue->n_taken++ % N_WAITING_MAX];
        pthread_cond_broadcast(&queue->changed);
        pthread_mutex_unlock(&queue->mutex);
        encode_frame(&frame);
    }
}

static void put(struct queue *queue, struct frame frame)
{
    STROBE_SCOPE("put");
    pthread_mutex_lock(&queue->mutex);
    while (queue->n_put - queue->n_taken == N_WAITING_MAX)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    queue->frames[queue->n_put++ % N_WAITING_MAX] = frame;
    STROBE_PLOT_INT("frames waiting", queue->n_put - queue->n_taken);
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

/* The next frame from the renderer; 0 at the end of the film. */
static int receive(struct frame *frame)
{
    STROBE_SCOPE("receive frame");
    if (read_all(0, &frame->head, sizeof frame->head))
        return 0;
    size_t n_bytes = (size_t)frame->head.width * frame->head.height * 3;
    frame->rgb = (unsigned char *)malloc(n_bytes);
    if (!frame->rgb)
        return 0;
    STROBE_ALLOC_IN("frames", frame->rgb, n_bytes);
    return read_all(0, frame->rgb, n_bytes) == 0;
}

int main(void)
{
    static struct queue queue = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                                 .changed = PTHREAD_COND_INITIALIZER};
    STROBE_PROGRAM_NAME("encoder");
    STROBE_THREAD_NAME("frame reader");
    prepare_cosines();
    pthread_t encoder;
    if (pthread_create(&encoder, NULL, encode, &queue))
        return 1;
    struct frame frame;
    while (receive(&frame))
        put(&queue, frame);
    pthread_mutex_lock(&queue.mutex);
    queue.closed = 1;
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.mutex);
    pthread_join(encoder, NULL);
    STROBE_MESSAGEF(STROBE_INFO, "%u frames encoded", queue.n_put);
    return 0;
}
