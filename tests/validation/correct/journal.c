/* Keeps a lock file in the working folder so that two copies do not run
   together; threads append to a journal file which is checked at the end. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOCKFILE "journal.lock"
#define JOURNAL "journal.dat"
#define NT 3
#define RECORDS 40

static FILE *out;
static pthread_mutex_t seq_lock = PTHREAD_MUTEX_INITIALIZER;
static int seq;

static int take_lock(void)
{
    char line[32], back[32];
    FILE *f;
    int fd = open(LOCKFILE, O_CREAT | O_EXCL | O_WRONLY, 0644);

    if (fd < 0) {
        fprintf(stderr, "journal: %s: %s\n", LOCKFILE, strerror(errno));
        return -1;
    }
    snprintf(line, sizeof line, "%ld\n", (long)getpid());
    if (write(fd, line, strlen(line)) != (ssize_t)strlen(line)) {
        close(fd);
        return -1;
    }
    close(fd);
    f = fopen(LOCKFILE, "r");
    if (!f || !fgets(back, sizeof back, f) || strcmp(line, back) != 0) {
        fprintf(stderr, "journal: lock file is not ours\n");
        if (f)
            fclose(f);
        return -1;
    }
    fclose(f);
    return 0;
}

static void *writer(void *arg)
{
    int no = *(int *)arg, i;

    for (i = 0; i < RECORDS; i++) {
        pthread_mutex_lock(&seq_lock);
        fprintf(out, "%d %d %d\n", seq++, no, i);
        pthread_mutex_unlock(&seq_lock);
    }
    return NULL;
}

static int check(void)
{
    int s, no, i, n = 0, last[NT] = { -1, -1, -1 };
    FILE *f = fopen(JOURNAL, "r");

    if (!f)
        return -1;
    while (fscanf(f, "%d %d %d", &s, &no, &i) == 3) {
        if (s != n || no < 0 || no >= NT || i != last[no] + 1)
            break;
        last[no] = i;
        n++;
    }
    fclose(f);
    return n;
}

int main(void)
{
    pthread_t t[NT];
    int no[NT], i, n;

    if (take_lock() != 0)
        return 1;
    out = fopen(JOURNAL, "w");
    if (!out) {
        unlink(LOCKFILE);
        return 1;
    }
    for (i = 0; i < NT; i++) {
        no[i] = i;
        pthread_create(&t[i], NULL, writer, &no[i]);
    }
    for (i = 0; i < NT; i++)
        pthread_join(t[i], NULL);
    fclose(out);
    n = check();
    unlink(JOURNAL);
    unlink(LOCKFILE);
    printf("records %d\n", n);
    return n == NT * RECORDS ? 0 : 1;
}
