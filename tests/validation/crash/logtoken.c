#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NDECODERS 2
#define NEVENTS 3
#define NFIELDS 3

struct event {
    char *field[NFIELDS];
    int severity;
};

struct decoder {
    const char *source;
    const char *lines[NEVENTS];
    struct event events[NEVENTS];
    int nevents;
};

static struct decoder decoders[NDECODERS] = {
    { "sshd", { "auth root 10.0.0.1", "auth mail 10.0.0.7", "close mail 10.0.0.7" }, { { { NULL }, 0 } }, 0 },
    { "kernel", { "drop eth0 443", "pass eth1 22", "drop eth1 8080" }, { { { NULL }, 0 } }, 0 },
};

static char *cursor;

static char *next_token(char *text)
{
    char *start;
    if (text != NULL)
        cursor = text;
    while (*cursor == ' ')
        cursor++;
    if (*cursor == '\0')
        return NULL;
    start = cursor;
    while (*cursor != ' ' && *cursor != '\0')
        cursor++;
    if (*cursor == ' ')
        *cursor++ = '\0';
    return start;
}

static int severity_of(const char *action)
{
    if (strcmp(action, "drop") == 0)
        return 5;
    return strcmp(action, "auth") == 0 ? 3 : 1;
}

static void decode_line(struct decoder *d, const char *line)
{
    struct event *e = &d->events[d->nevents];
    char *copy = strdup(line);
    char *token = next_token(copy);
    int i;
    e->severity = severity_of(token);
    for (i = 0; i < NFIELDS; i++) {
        e->field[i] = strdup(token);
        token = next_token(NULL);
    }
    d->nevents++;
    free(copy);
}

static void *decoder_main(void *arg)
{
    struct decoder *d = arg;
    int i;
    for (i = 0; i < NEVENTS; i++)
        decode_line(d, d->lines[i]);
    return NULL;
}

static size_t report(const struct decoder *d)
{
    size_t bytes = 0;
    int i, k;
    for (i = 0; i < d->nevents; i++) {
        printf("%s[%d]:", d->source, d->events[i].severity);
        for (k = 0; k < NFIELDS; k++) {
            printf(" %s", d->events[i].field[k]);
            bytes += strlen(d->events[i].field[k]);
        }
        printf("\n");
    }
    return bytes;
}

int main(void)
{
    pthread_t t[NDECODERS];
    size_t bytes = 0;
    int i;
    for (i = 0; i < NDECODERS; i++)
        pthread_create(&t[i], NULL, decoder_main, &decoders[i]);
    for (i = 0; i < NDECODERS; i++)
        pthread_join(t[i], NULL);
    for (i = 0; i < NDECODERS; i++)
        bytes += report(&decoders[i]);
    printf("%zu bytes\n", bytes);
    return 0;
}
