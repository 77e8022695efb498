/* Video transcoder: the threads that work say how far they are, those of the
 * user interface ask for it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NFRAMES 10
#define NPOLLS  8
#define NUI     2

enum { IDLE, WORKING, DONE };

struct state {
    int  state;
    int  frame;
    int  frames;
    long bytes;
    char title[32];
    int  percent;
    long last_frame_bytes;
};

struct handle {
    pthread_mutex_t state_lock;
    struct state    state;
    pthread_mutex_t fifo_lock;
    int             fifo;
    atomic_int      die;
};

struct ui {
    int         id;
    int         wrong;
    int         last_percent;
    pthread_t   thread;
};

static struct handle h = {
    .state_lock = PTHREAD_MUTEX_INITIALIZER,
    .fifo_lock = PTHREAD_MUTEX_INITIALIZER,
};
static atomic_long polls;

static long frame_size(int frame)
{
    return 1000 + frame * 7;
}

static long size_until(int frame)
{
    long sum = 0;

    for (int i = 1; i <= frame; i++)
        sum += frame_size(i);
    return sum;
}

static void set_state(struct handle *hb, int frame, long bytes, long last)
{
    pthread_mutex_lock(&hb->state_lock);
    hb->state.state = frame < NFRAMES ? WORKING : DONE;
    hb->state.frame = frame;
    hb->state.bytes = bytes;
    hb->state.percent = frame * 100 / hb->state.frames;
    hb->state.last_frame_bytes = last;
    pthread_mutex_unlock(&hb->state_lock);
}

static void get_state(struct handle *hb, struct state *s)
{
    *s = hb->state;
}

static int fifo_get(struct handle *hb)
{
    int frame;

    pthread_mutex_lock(&hb->fifo_lock);
    frame = hb->fifo < NFRAMES ? ++hb->fifo : 0;
    pthread_mutex_unlock(&hb->fifo_lock);
    return frame;
}

static void *work_main(void *arg)
{
    long *bytes = arg;
    int frame;

    while (!atomic_load(&h.die) && (frame = fifo_get(&h)) != 0) {
        *bytes += frame_size(frame);
        set_state(&h, frame, *bytes, frame_size(frame));
    }
    return NULL;
}

static int consistent(const struct state *s)
{
    if (s->percent != s->frame * 100 / s->frames)
        return 0;
    return s->bytes == size_until(s->frame);
}

static void *ui_main(void *arg)
{
    struct ui *ui = arg;
    struct state s;

    for (int i = 0; i < NPOLLS; i++) {
        get_state(&h, &s);
        atomic_fetch_add_explicit(&polls, 1, memory_order_relaxed);
        if (!consistent(&s))
            ui->wrong++;
        ui->last_percent = s.percent;
    }
    return NULL;
}

int main(void)
{
    struct ui ui[NUI];
    struct state end;
    pthread_t work;
    long bytes = 0;
    int wrong = 0;

    h.state.frames = NFRAMES;
    strcpy(h.state.title, "Title 1");
    pthread_create(&work, NULL, work_main, &bytes);
    for (int i = 0; i < NUI; i++) {
        ui[i] = (struct ui){ .id = i };
        pthread_create(&ui[i].thread, NULL, ui_main, &ui[i]);
    }
    pthread_join(work, NULL);
    for (int i = 0; i < NUI; i++) {
        pthread_join(ui[i].thread, NULL);
        wrong += ui[i].wrong;
    }
    get_state(&h, &end);
    printf("%s: frame %d, %d %%, %ld bytes, %ld polls\n", end.title, end.frame, end.percent,
           end.bytes, atomic_load(&polls));
    if (wrong)
        fprintf(stderr, "%d wrong states shown\n", wrong);
    return wrong ? 1 : 0;
}
