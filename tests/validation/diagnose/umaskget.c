#include <pthread.h>
#include <stdio.h>

#define NFILES 6
#define NREPORTS 3
#define NWRITERS 2

struct process {
    pthread_mutex_t lock;
    unsigned mask;
    unsigned long syscalls;
};

struct file {
    int name;
    unsigned mode;
};

struct writer {
    struct process *process;
    struct file files[NFILES];
    int made;
};

static struct {
    pthread_mutex_t lock;
    int lines;
    unsigned seen[NREPORTS];
} report = { PTHREAD_MUTEX_INITIALIZER, 0, { 0 } };

static unsigned set_mask(struct process *p, unsigned mask)
{
    unsigned old;
    pthread_mutex_lock(&p->lock);
    old = p->mask;
    p->mask = mask;
    p->syscalls++;
    pthread_mutex_unlock(&p->lock);
    return old;
}

static unsigned get_mask(struct process *p)
{
    unsigned old = set_mask(p, 0);
    set_mask(p, old);
    return old;
}

static void make_file(struct process *p, struct file *f, int name, unsigned mode)
{
    f->name = name;
    pthread_mutex_lock(&p->lock);
    f->mode = mode & ~p->mask;
    p->syscalls++;
    pthread_mutex_unlock(&p->lock);
}

static void *writer_main(void *arg)
{
    struct writer *w = arg;
    int i;
    for (i = 0; i < NFILES; i++) {
        make_file(w->process, &w->files[i], i, 0666);
        w->made++;
    }
    return NULL;
}

static void *report_main(void *arg)
{
    struct process *p = arg;
    int i;
    for (i = 0; i < NREPORTS; i++) {
        unsigned mask = get_mask(p);
        pthread_mutex_lock(&report.lock);
        report.seen[report.lines++] = mask;
        pthread_mutex_unlock(&report.lock);
    }
    return NULL;
}

static int open_to_all(const struct writer *w)
{
    int i, n = 0;
    for (i = 0; i < w->made; i++)
        n += (w->files[i].mode & 022) != 0;
    return n;
}

int main(void)
{
    static struct process process = { PTHREAD_MUTEX_INITIALIZER, 022, 0 };
    static struct writer writers[NWRITERS];
    pthread_t t[NWRITERS], r;
    int i, bad = 0, seen = 0;
    for (i = 0; i < NWRITERS; i++) {
        writers[i].process = &process;
        pthread_create(&t[i], NULL, writer_main, &writers[i]);
    }
    pthread_create(&r, NULL, report_main, &process);
    for (i = 0; i < NWRITERS; i++) {
        pthread_join(t[i], NULL);
        bad += open_to_all(&writers[i]);
    }
    pthread_join(r, NULL);
    for (i = 0; i < report.lines; i++)
        seen += report.seen[i] == 022;
    printf("%d files open to all, mask seen %d times\n", bad, seen);
    return bad != 0 || seen != NREPORTS;
}
