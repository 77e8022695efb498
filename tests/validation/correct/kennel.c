/* Runs child processes from several threads: posix_spawn with pipes, vfork
   with exec, and popen.  A keeper thread takes SIGCHLD by sigwait and reaps
   the registered children only, so that pclose finds its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define SPAWNS 3
#define VFORKS 2
#define KIDS (SPAWNS + VFORKS + 1)

struct kid { pid_t pid; int done, status; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t reaped_one = PTHREAD_COND_INITIALIZER;
static struct kid kid[KIDS];
static int nkids, reaped;

static void die(const char *what) { perror(what); exit(1); }
static void on_chld(int sig) { (void)sig; }

static void *keeper(void *arg)
{
    sigset_t set;
    int sig, i, all = 0;

    (void)arg;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    while (!all) {
        if (sigwait(&set, &sig) != 0)
            continue;
        pthread_mutex_lock(&lock);
        for (i = 0; i < nkids; i++)
            if (!kid[i].done &&
                waitpid(kid[i].pid, &kid[i].status, WNOHANG) == kid[i].pid) {
                kid[i].done = 1;
                reaped++;
                pthread_cond_broadcast(&reaped_one);
            }
        all = reaped == KIDS;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* Started and registered under the lock: the keeper, woken by its SIGCHLD,
   cannot look before it is in the table. */
static int spawn(char *const argv[], posix_spawn_file_actions_t *fa)
{
    posix_spawnattr_t at;
    sigset_t none;
    pid_t pid;
    int no;

    sigemptyset(&none);
    posix_spawnattr_init(&at);
    posix_spawnattr_setsigmask(&at, &none);
    posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGMASK);
    pthread_mutex_lock(&lock);
    if (posix_spawn(&pid, argv[0], fa, &at, argv, environ) != 0)
        die("posix_spawn");
    no = nkids++;
    kid[no].pid = pid;
    pthread_mutex_unlock(&lock);
    posix_spawnattr_destroy(&at);
    return no;
}

static int status_of(int no)
{
    int st;

    pthread_mutex_lock(&lock);
    while (!kid[no].done)
        pthread_cond_wait(&reaped_one, &lock);
    st = kid[no].status;
    pthread_mutex_unlock(&lock);
    return WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}

static void *spawner(void *arg)
{
    int i, *bad = arg;

    for (i = 0; i < SPAWNS; i++) {
        char cmd[16], *argv[] = { "/bin/sh", "-c", cmd, NULL };
        snprintf(cmd, sizeof cmd, "exit %d", 10 + i);
        *bad += status_of(spawn(argv, NULL)) != 10 + i;
    }
    return NULL;
}

static void *vforker(void *arg)
{
    int i, no, *bad = arg;

    for (i = 0; i < VFORKS; i++) {
        pid_t pid;
        pthread_mutex_lock(&lock);
        pid = vfork();
        if (pid == 0) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(127);
        }
        if (pid < 0)
            die("vfork");
        no = nkids++;
        kid[no].pid = pid;
        pthread_mutex_unlock(&lock);
        *bad += status_of(no) != 0;
    }
    return NULL;
}

static void *filter(void *arg)
{
    char *argv[] = { "/bin/cat", NULL }, back[64] = "";
    const char *text = "sit, stay, fetch\n";
    posix_spawn_file_actions_t fa;
    int to[2], from[2], no, *bad = arg;
    size_t have = 0;
    ssize_t n;

    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
        die("pipe2");
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, to[0], 0);
    posix_spawn_file_actions_adddup2(&fa, from[1], 1);
    no = spawn(argv, &fa);
    posix_spawn_file_actions_destroy(&fa);
    close(to[0]);
    close(from[1]);
    if (write(to[1], text, strlen(text)) != (ssize_t)strlen(text))
        die("write");
    close(to[1]);
    while ((n = read(from[0], back + have, sizeof back - 1 - have)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            die("read");
        have += (size_t)n;
    }
    close(from[0]);
    *bad += strcmp(back, text) != 0 || status_of(no) != 0;
    return NULL;
}

static void *asker(void *arg)
{
    int i, v, *bad = arg;

    for (i = 0; i < 2; i++) {
        FILE *p = popen("echo $((6*7)); exit 5", "re");
        if (!p)
            die("popen");
        *bad += fscanf(p, "%d", &v) != 1 || v != 42;
        while (fgetc(p) != EOF) {
        }
        *bad += WEXITSTATUS(pclose(p)) != 5;
    }
    return NULL;
}

int main(void)
{
    void *(*job[])(void *) = { spawner, vforker, filter, asker };
    struct sigaction sa = { 0 };
    pthread_t keep, t[4];
    int bad[4] = { 0 }, i, sum = 0;
    sigset_t set;

    sa.sa_handler = on_chld;
    sigaction(SIGCHLD, &sa, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (pthread_create(&keep, NULL, keeper, NULL))
        die("pthread_create");
    for (i = 0; i < 4; i++)
        if (pthread_create(&t[i], NULL, job[i], &bad[i]))
            die("pthread_create");
    for (i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
        sum += bad[i];
    }
    pthread_join(keep, NULL);
    printf("children %d, wrong %d\n", reaped, sum);
    return sum == 0 && reaped == KIDS ? 0 : 1;
}
