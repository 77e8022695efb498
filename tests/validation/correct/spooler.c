/* Print spooler: threads write short records to a FIFO, a spooler thread
   reads it and appends to an output file, a rotator renames that file away.
   Both take a lock file with flock through their own descriptors. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITERS 3
#define RECORDS 12
#define ROTATIONS 3

static char dir[64];
static sem_t enough;                    /* posted after some records */
static int seen[WRITERS][RECORDS];

static void name(char *buf, size_t n, const char *file)
{
    snprintf(buf, n, "%s/%s", dir, file);
}

static int lock_file(void)
{
    char path[96];
    int fd;

    name(path, sizeof path, "lock");
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    while (fd >= 0 && flock(fd, LOCK_EX) != 0)
        if (errno != EINTR)
            abort();
    return fd;
}

static void *writer(void *arg)
{
    long me = (long)arg;
    char path[96], rec[32];
    int fd, i, n;

    name(path, sizeof path, "fifo");
    fd = open(path, O_WRONLY | O_CLOEXEC);
    for (i = 0; i < RECORDS; i++) {
        n = snprintf(rec, sizeof rec, "job %ld %d\n", me, i);
        if (write(fd, rec, (size_t)n) != n)     /* atomic: below PIPE_BUF */
            abort();
    }
    close(fd);
    return NULL;
}

static void append(const char *line, size_t n)
{
    char path[96];
    int lock = lock_file(), fd;

    name(path, sizeof path, "out");
    fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, line, n) != (ssize_t)n)
        abort();
    close(fd);
    close(lock);
}

static void *spool(void *arg)
{
    char path[96], line[64];
    int lines = 0;
    FILE *f;

    (void)arg;
    name(path, sizeof path, "fifo");
    f = fopen(path, "re");
    if (!f)
        abort();
    while (fgets(line, sizeof line, f)) {
        append(line, strlen(line));
        if (++lines % (WRITERS * RECORDS / ROTATIONS) == 0)
            sem_post(&enough);
    }
    fclose(f);
    return NULL;
}

static void *rotate(void *arg)
{
    char from[96], to[96], file[16];
    int i, lock;

    (void)arg;
    for (i = 0; i < ROTATIONS; i++) {
        while (sem_wait(&enough) != 0)
            ;
        lock = lock_file();
        snprintf(file, sizeof file, "out.%d", i);
        name(from, sizeof from, "out");
        name(to, sizeof to, file);
        if (rename(from, to) != 0 && errno != ENOENT)
            abort();
        close(lock);
    }
    return NULL;
}

static int count(const char *file)
{
    char path[96], line[64];
    int n = 0, w, r;
    FILE *f;

    name(path, sizeof path, file);
    f = fopen(path, "r");
    if (!f)
        return 0;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "job %d %d", &w, &r) == 2 && seen[w][r]++ == 0)
            n++;
    fclose(f);
    unlink(path);
    return n;
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    pthread_t w[WRITERS], s, r;
    char path[96], file[16];
    int keep, total;
    long i;

    snprintf(dir, sizeof dir, "%.40s/spoolXXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
    if (!mkdtemp(dir))
        return 2;
    name(path, sizeof path, "fifo");
    if (mkfifo(path, 0600) != 0)
        return 2;
    sem_init(&enough, 0, 0);
    pthread_create(&s, NULL, spool, NULL);
    pthread_create(&r, NULL, rotate, NULL);
    keep = open(path, O_WRONLY | O_CLOEXEC);    /* no end of file before all have written */
    for (i = 0; i < WRITERS; i++)
        pthread_create(&w[i], NULL, writer, (void *)i);
    for (i = 0; i < WRITERS; i++)
        pthread_join(w[i], NULL);
    close(keep);
    pthread_join(s, NULL);
    pthread_join(r, NULL);
    total = count("out");
    for (i = 0; i < ROTATIONS; i++) {
        snprintf(file, sizeof file, "out.%ld", i);
        total += count(file);
    }
    unlink(path);
    name(path, sizeof path, "lock");
    unlink(path);
    rmdir(dir);
    printf("%d records of %d\n", total, WRITERS * RECORDS);
    return total == WRITERS * RECORDS ? 0 : 1;
}
