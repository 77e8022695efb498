/* Two devices that take turns. The sensor puts a reading into the shared
 * register, the recorder copies the register into its track, behind a header
 * that takes much longer to make than a reading. The track is to hold every
 * reading once. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "../pause.h"

#define SAMPLES 20
#define HEADER_ROUNDS 20000

enum device { SENSOR, RECORDER };

struct bus {
    _Atomic int turn; /* enum device */
    int reading;      /* the register */
};

struct track {
    struct bus *bus;
    int sample[SAMPLES];
    uint32_t header[SAMPLES];
};

static void await_turn(struct bus *bus, enum device device)
{
    while (atomic_load(&bus->turn) != (int)device)
        sched_yield();
}

/* A slow rise with some noise on it, the same in every run. */
static int measure(int number, uint32_t *noise)
{
    *noise = *noise * 1664525u + 1013904223u;
    return 100 + number * number * 3 + (int)(*noise >> 29);
}

/* The recorder is sent off first, so that it makes its header meanwhile. */
static void *sensor_main(void *arg)
{
    struct bus *bus = arg;
    uint32_t noise = 1;

    for (int i = 0; i < SAMPLES; i++) {
        await_turn(bus, SENSOR);
        atomic_store(&bus->turn, RECORDER); PAUSE(8);
        bus->reading = measure(i, &noise);
    }
    return NULL;
}

/* Number of the sample and a check value. */
static uint32_t make_header(int number)
{
    uint32_t x = 0x9e3779b9u + (uint32_t)number;

    for (int i = 0; i < HEADER_ROUNDS; i++)
        x = x * 1664525u + 1013904223u;
    return (x & 0xffffff00u) | (uint32_t)number;
}

static void *recorder_main(void *arg)
{
    struct track *track = arg;
    struct bus *bus = track->bus;

    for (int i = 0; i < SAMPLES; i++) {
        await_turn(bus, RECORDER);
        track->header[i] = make_header(i);
        track->sample[i] = bus->reading;
        atomic_store(&bus->turn, SENSOR);
    }
    return NULL;
}

int main(void)
{
    static struct bus bus = {.turn = SENSOR};
    static struct track track = {.bus = &bus};
    pthread_t sensor, recorder;
    uint32_t check = 0;

    if (pthread_create(&sensor, NULL, sensor_main, &bus) != 0 ||
        pthread_create(&recorder, NULL, recorder_main, &track) != 0)
        return 2;
    pthread_join(sensor, NULL);
    pthread_join(recorder, NULL);

    printf("track:");
    for (int i = 0; i < SAMPLES; i++) {
        printf(" %d", track.sample[i]);
        check = check * 31 + track.header[i];
    }
    printf("\ncheck %08x\n", (unsigned)check);
    return 0;
}
