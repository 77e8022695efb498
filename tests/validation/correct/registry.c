/* Numbers are given out from files: one under flock by threads with own
   descriptors, one under record locks by threads (OFD) and a child process
   (classic fcntl).  A protocol is written with flockfile. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLERKS 3
#define ENTRIES 20

static char flock_name[256], record_name[256];
static FILE *protocol;

static void die(const char *what)
{
    perror(what);
    _exit(1);
}

static int reopen(const char *name)
{
    int fd = open(name, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        die(name);
    return fd;
}

static int next_number(int fd)
{
    int n = 0;

    if (pread(fd, &n, sizeof n, 0) != (ssize_t)sizeof n)
        die("pread");
    n++;
    if (pwrite(fd, &n, sizeof n, 0) != (ssize_t)sizeof n)
        die("pwrite");
    return n;
}

static void record_lock(int fd, int cmd, short type)
{
    struct flock fl;

    memset(&fl, 0, sizeof fl);
    fl.l_type = type;
    fl.l_whence = SEEK_SET;
    fl.l_len = sizeof(int);
    while (fcntl(fd, cmd, &fl) != 0)
        if (errno != EINTR)
            die("fcntl");
}

static void *clerk(void *arg)
{
    int no = *(int *)arg, i, a, b;
    int fd = reopen(flock_name), rfd = reopen(record_name);
    char line[64], *p;

    for (i = 0; i < ENTRIES; i++) {
        while (flock(fd, LOCK_EX) != 0)
            if (errno != EINTR)
                die("flock");
        a = next_number(fd);
        flock(fd, LOCK_UN);
        record_lock(rfd, F_OFD_SETLKW, F_WRLCK);
        b = next_number(rfd);
        record_lock(rfd, F_OFD_SETLKW, F_UNLCK);

        snprintf(line, sizeof line, "%d %d\n", a, b);
        flockfile(protocol);    /* one line in three portions */
        fprintf(protocol, "%d ", no);
        for (p = line; *p; p++)
            putc_unlocked(*p, protocol);
        if (i % 7 == 0)
            fflush(protocol);
        funlockfile(protocol);
    }
    close(fd);
    close(rfd);
    return NULL;
}

static void child(void)
{
    int fd = reopen(record_name), i;

    for (i = 0; i < ENTRIES; i++) {
        record_lock(fd, F_SETLKW, F_WRLCK);
        next_number(fd);
        record_lock(fd, F_SETLKW, F_UNLCK);
    }
    _exit(0);
}

static void make_file(char *name, size_t size, const char *what)
{
    const char *dir = getenv("TMPDIR");
    int fd, zero = 0;

    snprintf(name, size, "%.200s/registry-%s-XXXXXX", dir ? dir : "/tmp", what);
    fd = mkstemp(name);
    if (fd < 0 || write(fd, &zero, sizeof zero) != (ssize_t)sizeof zero)
        die(name);
    close(fd);
}

static int last_number(const char *name)
{
    int fd = reopen(name), n = -1;

    if (pread(fd, &n, sizeof n, 0) != (ssize_t)sizeof n)
        n = -1;
    close(fd);
    return n;
}

int main(void)
{
    static char given_a[CLERKS * ENTRIES + 1], given_b[(CLERKS + 1) * ENTRIES + 1];
    pthread_t t[CLERKS];
    int no[CLERKS], i, who, a, b, lines = 0, bad = 0, st = 0, fa, fb;
    pid_t pid;

    make_file(flock_name, sizeof flock_name, "f");
    make_file(record_name, sizeof record_name, "r");
    pid = fork();               /* before any thread, nothing buffered */
    if (pid < 0)
        die("fork");
    if (pid == 0)
        child();
    protocol = tmpfile();
    if (!protocol)
        die("tmpfile");
    for (i = 0; i < CLERKS; i++) {
        no[i] = i;
        if (pthread_create(&t[i], NULL, clerk, &no[i]))
            die("pthread_create");
    }
    for (i = 0; i < CLERKS; i++)
        pthread_join(t[i], NULL);
    while (waitpid(pid, &st, 0) < 0 && errno == EINTR) {
    }
    fa = last_number(flock_name);
    fb = last_number(record_name);
    unlink(flock_name);
    unlink(record_name);
    rewind(protocol);
    while (fscanf(protocol, "%d %d %d", &who, &a, &b) == 3) {
        lines++;
        if (who < 0 || who >= CLERKS || a < 1 || a > CLERKS * ENTRIES ||
            b < 1 || b > (CLERKS + 1) * ENTRIES || given_a[a]++ || given_b[b]++)
            bad++;
    }
    fclose(protocol);
    printf("numbers %d and %d, lines %d, wrong %d\n", fa, fb, lines, bad);
    return fa == CLERKS * ENTRIES && fb == (CLERKS + 1) * ENTRIES &&
           lines == CLERKS * ENTRIES && bad == 0 && st == 0 ? 0 : 1;
}
