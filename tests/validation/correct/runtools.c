/* Runs helper commands by vfork + exec while other threads keep working. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long checksum;

static void *background(void *arg)
{
    unsigned long h = (unsigned long)(size_t)arg;
    for (int i = 0; i < 100000; i++)
        h = h * 6364136223846793005ul + 1442695040888963407ul;
    pthread_mutex_lock(&sum_lock);
    checksum ^= h;
    pthread_mutex_unlock(&sum_lock);
    return NULL;
}

static int run(const char *script)
{
    char *const argv[] = { "sh", "-c", (char *)script, NULL };
    int st;
    pid_t pid = vfork();
    if (pid < 0)
        return -1;
    if (pid == 0) {
        execv("/bin/sh", argv);
        _exit(127);
    }
    while (waitpid(pid, &st, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}

int main(void)
{
    static const struct { const char *cmd; int want; } tools[] = {
        { "exit 0", 0 }, { "exit 3", 3 }, { "test 2 -lt 1", 1 },
    };
    pthread_t bg[2];
    int bad = 0;

    for (size_t i = 0; i < 2; i++)
        pthread_create(&bg[i], NULL, background, (void *)(i + 1));
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        if (run(tools[i].cmd) != tools[i].want)
            bad++;
    for (int i = 0; i < 2; i++)
        pthread_join(bg[i], NULL);
    printf("tools failed %d, checksum %016lx\n", bad, checksum);
    return bad;
}
