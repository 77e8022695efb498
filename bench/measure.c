/* Runs one program and writes what it used to a report file: exit status (minus
 * the signal, if one ended it), CPU seconds, wall seconds, peak KiB. It stands
 * between run.py and the program only because Linux counts the memory of the
 * process that called exec towards the peak of the program: started from Python,
 * nothing would seem smaller than Python.
 * Usage: measure REPORT PROGRAM [ARGS...] */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int complain(const char *what)
{
    fprintf(stderr, "measure: %s: %s\n", what, strerror(errno));
    return 2;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: measure REPORT PROGRAM [ARGS...]\n", stderr);
        return 2;
    }
    double start = now();
    pid_t child = fork();
    if (child < 0) {
        return complain("cannot fork");
    }
    if (child == 0) {
        execv(argv[2], &argv[2]);
        _exit(complain(argv[2]));
    }
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child) {
        return complain("cannot wait");
    }
    double wall = now() - start;

    FILE *report = fopen(argv[1], "w");
    if (!report) {
        return complain(argv[1]);
    }
    fprintf(report, "%d %.6f %.6f %ld\n",
            WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status),
            seconds(usage.ru_utime) + seconds(usage.ru_stime), wall, usage.ru_maxrss);
    return fclose(report) == 0 ? 0 : complain(argv[1]);
}
