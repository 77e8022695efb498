/* Folders of a mail store. One thread files read messages away into the
 * archive, another brings back messages that a user asks for again. A folder
 * has its own lock, so that work on different folders goes on side by side. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../pause.h"

#define MESSAGES 40
#define FILED 20
#define RESTORED 8

struct message {
    struct message *next;
    int id;
    uint32_t digest;
};

struct folder {
    const char *name;
    pthread_mutex_t lock;
    struct message *first;
    int count;
};

struct store {
    struct folder inbox;
    struct folder archive;
};

static void folder_push(struct folder *f, struct message *m)
{
    m->next = f->first;
    f->first = m;
    f->count++;
}

static struct message *folder_pop(struct folder *f)
{
    struct message *m = f->first;

    if (m != NULL) {
        f->first = m->next;
        f->count--;
    }
    return m;
}

/* Digest over the (imagined) body of the message with this id. */
static uint32_t digest_body(int id, int bytes)
{
    uint32_t h = 2166136261u;

    for (int i = 0; i < bytes; i++)
        h = (h ^ (uint32_t)((id * 7 + i) & 0xff)) * 16777619u;
    return h;
}

static void file_away(struct store *st)
{
    pthread_mutex_lock(&st->inbox.lock); PAUSE(20);
    pthread_mutex_lock(&st->archive.lock);
    struct message *m = folder_pop(&st->inbox);
    if (m != NULL)
        folder_push(&st->archive, m);
    pthread_mutex_unlock(&st->archive.lock);
    pthread_mutex_unlock(&st->inbox.lock);
}

static void bring_back(struct store *st)
{
    pthread_mutex_lock(&st->archive.lock); PAUSE(20);
    pthread_mutex_lock(&st->inbox.lock);
    struct message *m = folder_pop(&st->archive);
    if (m != NULL)
        folder_push(&st->inbox, m);
    pthread_mutex_unlock(&st->inbox.lock);
    pthread_mutex_unlock(&st->archive.lock);
}

static void *filing_main(void *arg)
{
    struct store *st = arg;
    uint32_t sum = 0;

    for (int i = 0; i < FILED; i++) {
        sum += digest_body(i, 8000);
        file_away(st);
    }
    return (void *)(uintptr_t)(sum & 1);
}

static void *request_main(void *arg)
{
    struct store *st = arg;
    uint32_t sum = 0;

    for (int i = 0; i < RESTORED; i++) {
        sum += digest_body(i, 13000);
        bring_back(st);
    }
    return (void *)(uintptr_t)(sum & 1);
}

static uint32_t folder_digest(const struct folder *f)
{
    uint32_t sum = 0;

    for (const struct message *m = f->first; m != NULL; m = m->next)
        sum += m->digest;
    return sum;
}

static void folder_clear(struct folder *f)
{
    struct message *m;

    while ((m = folder_pop(f)) != NULL)
        free(m);
}

int main(void)
{
    static struct store st = {
        .inbox = {.name = "inbox", .lock = PTHREAD_MUTEX_INITIALIZER},
        .archive = {.name = "archive", .lock = PTHREAD_MUTEX_INITIALIZER},
    };
    pthread_t filing, request;

    for (int i = 0; i < 2 * MESSAGES; i++) {
        struct message *m = calloc(1, sizeof *m);
        if (m == NULL)
            return 2;
        m->id = i;
        m->digest = digest_body(i, 64);
        folder_push(i < MESSAGES ? &st.inbox : &st.archive, m);
    }
    if (pthread_create(&filing, NULL, filing_main, &st) != 0 ||
        pthread_create(&request, NULL, request_main, &st) != 0)
        return 2;
    pthread_join(filing, NULL);
    pthread_join(request, NULL);

    printf("%s %d, %s %d\n", st.inbox.name, st.inbox.count, st.archive.name, st.archive.count);
    printf("digest %08x\n", (unsigned)(folder_digest(&st.inbox) + folder_digest(&st.archive)));
    folder_clear(&st.inbox);
    folder_clear(&st.archive);
    return 0;
}
