#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NREQ 5
#define NMOVES 5

struct device {
    int x, y;
    int grabbed;
};

struct client {
    unsigned long errors;
    unsigned long replies;
};

struct server {
    pthread_mutex_t input_lock;
    pthread_mutex_t display_lock;
    pthread_mutex_t log_lock;
    struct device pointer;
    struct client client;
    int damage;
    int logged;
};

static void log_line(struct server *s)
{
    pthread_mutex_lock(&s->log_lock);
    s->logged++;
    pthread_mutex_unlock(&s->log_lock);
}

static void add_damage(struct server *s, int n)
{
    pthread_mutex_lock(&s->display_lock);
    s->damage += n;
    pthread_mutex_unlock(&s->display_lock);
}

static void move_pointer(struct server *s, int dx, int dy)
{
    pthread_mutex_lock(&s->input_lock);
    s->pointer.x += dx;
    s->pointer.y += dy;
    if (s->pointer.x % 3 == 0)
        add_damage(s, 2);
    pthread_mutex_unlock(&s->input_lock);
}

static void release_grab(struct server *s)
{
    pthread_mutex_lock(&s->input_lock);
    s->pointer.grabbed = 0;
    pthread_mutex_unlock(&s->input_lock);
}

static int dispatch(struct server *s, int opcode)
{
    int rc = 0;
    pthread_mutex_lock(&s->display_lock);
    if (opcode % 4 == 3) {
        s->client.errors++;
        release_grab(s);
        rc = -1;
    } else {
        s->client.replies++;
        s->damage++;
    }
    pthread_mutex_unlock(&s->display_lock);
    log_line(s);
    return rc;
}

static void *input_main(void *arg)
{
    struct server *s = arg;
    int i;
    for (i = 0; i < NMOVES; i++) {
        move_pointer(s, 1, i);
        log_line(s);
    }
    return NULL;
}

int main(void)
{
    static struct server s;
    pthread_t input;
    int failed = 0;
    int i;
    pthread_mutex_init(&s.input_lock, NULL);
    pthread_mutex_init(&s.display_lock, NULL);
    pthread_mutex_init(&s.log_lock, NULL);
    s.pointer.grabbed = 1;
    pthread_create(&input, NULL, input_main, &s);
    for (i = 0; i < NREQ; i++)
        failed += dispatch(&s, i) < 0;
    pthread_join(input, NULL);
    printf("damage %d, errors %lu, log %d\n", s.damage, s.client.errors, s.logged);
    return failed == 1 && s.logged == NREQ + NMOVES ? 0 : 1;
}
