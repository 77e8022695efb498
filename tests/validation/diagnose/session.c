/* Web session table: a handler validates the session of the request and
 * then records the visit; a reaper drops sessions that are logged out. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 8

typedef struct session {
    char user[16];
    int visits;
    int logged_out;
} session_t;

static session_t *slot[SLOTS];
static pthread_mutex_t slots_mx = PTHREAD_MUTEX_INITIALIZER;
static int refused, recorded;

static void session_add(int i, const char *user)
{
    session_t *s = calloc(1, sizeof *s);
    snprintf(s->user, sizeof s->user, "%s", user);
    slot[i] = s;
}

static int session_valid(int i)
{
    int ok;
    pthread_mutex_lock(&slots_mx);
    ok = slot[i] != NULL;
    pthread_mutex_unlock(&slots_mx);
    return ok;
}

static void session_visit(int i)
{
    pthread_mutex_lock(&slots_mx);
    session_t *s = slot[i];
    s->visits++;
    recorded++;
    pthread_mutex_unlock(&slots_mx);
}

static void session_reap(int i)
{
    pthread_mutex_lock(&slots_mx);
    session_t *s = slot[i];
    slot[i] = NULL;
    pthread_mutex_unlock(&slots_mx);
    free(s);
}

static void *handler(void *arg)
{
    const char *path = arg;
    for (const char *p = path; *p; p++) {
        if (*p < '0' || *p > '7')
            continue;
        int id = *p - '0';
        if (session_valid(id)) {
            session_visit(id);
        } else {
            pthread_mutex_lock(&slots_mx);
            refused++;
            pthread_mutex_unlock(&slots_mx);
        }
    }
    return NULL;
}

static void *reaper(void *arg)
{
    int first = *(int *)arg;
    for (int i = first; i < SLOTS; i += 4)
        session_reap(i);
    return NULL;
}

int main(void)
{
    static char urls[] = "/a?s=1;/b?s=3;/c?s=6";
    pthread_t h, r;
    int first = 1;

    for (int i = 0; i < SLOTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "user%d", i);
        session_add(i, name);
    }
    pthread_create(&h, NULL, handler, urls);
    pthread_create(&r, NULL, reaper, &first);
    pthread_join(h, NULL);
    pthread_join(r, NULL);
    printf("requests %d\n", refused + recorded);
    for (int i = 0; i < SLOTS; i++)
        free(slot[i]);
    return 0;
}
