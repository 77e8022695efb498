/* Runs one program and writes what it used to a report file: exit status (minus
 * the signal, if one ended it), CPU seconds, wall seconds, peak KiB. Linux counts the
 * memory of the process that called exec towards the peak that it reports of a
 * program: started from Python, nothing would seem smaller than Python, and nothing
 * that `unsnarl exec` becomes smaller than unsnarl. So it is read where the program
 * is about to end.
 * Usage: measure REPORT PROGRAM [ARGS...] */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
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

/* The most memory that the program itself had, as it is about to end. */
static long peak_kib(pid_t pid)
{
    char path[64], line[256];
    long peak = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "VmHWM: %ld", &peak);
    }
    if (file) {
        fclose(file);
    }
    return peak;
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
        raise(SIGSTOP); /* until the parent will be told of the end */
        execv(argv[2], &argv[2]);
        _exit(complain(argv[2]));
    }
    int status;
    long peak = 0;
    struct rusage usage;
    if (waitpid(child, &status, WUNTRACED) != child || ptrace(PTRACE_SEIZE, child, 0, PTRACE_O_TRACEEXIT) != 0) {
        return complain("cannot watch the program");
    }
    kill(child, SIGCONT);
    while (wait4(child, &status, __WALL, &usage) == child && WIFSTOPPED(status)) {
        int event = status >> 16, signal = event ? 0 : WSTOPSIG(status);
        if (event == PTRACE_EVENT_EXIT) {
            peak = peak_kib(child);
        }
        ptrace(event == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGSTOP ? PTRACE_LISTEN : PTRACE_CONT, child, 0,
               (void *)(intptr_t)signal);
    }
    double wall = now() - start;

    FILE *report = fopen(argv[1], "w");
    if (!report) {
        return complain(argv[1]);
    }
    fprintf(report, "%d %.6f %.6f %ld\n",
            WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status),
            seconds(usage.ru_utime) + seconds(usage.ru_stime), wall, peak);
    return fclose(report) == 0 ? 0 : complain(argv[1]);
}
