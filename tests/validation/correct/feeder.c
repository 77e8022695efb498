/* A child process writes records into a pipe; two threads of the parent
 * parse them in turn. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define RECORDS 200

static FILE *in;
static pthread_mutex_t in_lock = PTHREAD_MUTEX_INITIALIZER;

struct tally {
    long sum;
    int n;
};

static void feed(int fd)
{
    FILE *out = fdopen(fd, "w");
    for (int i = 0; i < RECORDS; i++) {
        fprintf(out, "rec %d %d\n", i, i * 3 % 17);
        if (i % 50 == 49)
            fflush(out);
    }
    fclose(out);
}

static int next_line(char *buf, int cap)
{
    pthread_mutex_lock(&in_lock);
    char *r = fgets(buf, cap, in);
    pthread_mutex_unlock(&in_lock);
    return r != NULL;
}

static void *parser(void *arg)
{
    struct tally *t = arg;
    char line[64];
    int id, v;
    while (next_line(line, sizeof line))
        if (sscanf(line, "rec %d %d", &id, &v) == 2) {
            t->sum += (long)id + v;
            t->n++;
        }
    return NULL;
}

int main(void)
{
    int fd[2], st = 0;
    struct tally t[2] = { { 0, 0 }, { 0, 0 } };
    pthread_t th[2];

    if (pipe(fd))
        return 2;
    pid_t pid = fork();
    if (pid < 0)
        return 2;
    if (pid == 0) {
        close(fd[0]);
        feed(fd[1]);
        _exit(7);
    }
    close(fd[1]);
    in = fdopen(fd[0], "r");
    for (int i = 0; i < 2; i++)
        pthread_create(&th[i], NULL, parser, &t[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(th[i], NULL);
    fclose(in);
    waitpid(pid, &st, 0);
    printf("records %d sum %ld child %d\n", t[0].n + t[1].n, t[0].sum + t[1].sum,
           WEXITSTATUS(st));
    return t[0].n + t[1].n != RECORDS;
}
