/* Searches a tree of files for a word, with several threads. The tree is made
 * in memory: folders hold folders and files. A first walk lists all files; the
 * workers then take them from the list until none is left. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pause.h"

#define WORKERS 2
#define FANOUT 3
#define DEPTH 2
#define FILES_PER_FOLDER 3
#define MAX_FILES 64
#define FILE_CHARS 3000

struct file {
    char name[32];
    char text[FILE_CHARS + 1];
};

struct folder {
    struct folder *sub[FANOUT];
    struct file *file[FILES_PER_FOLDER];
};

struct scan {
    const char *word;
    struct file *list[MAX_FILES + 1]; /* ends with NULL */
    int listed;
    int next; /* first file in the list that no worker has taken */
    pthread_mutex_t lock;
    int files;
    int matches;
};

static unsigned next_random(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 16 & 0x7fff;
}

static struct file *file_new(int number, unsigned *state)
{
    static const char *const words[] = {"oak ", "elm ", "ash ", "yew ", "fir ", "larch "};
    struct file *f = calloc(1, sizeof *f);
    size_t used = 0;

    if (f == NULL)
        abort();
    snprintf(f->name, sizeof f->name, "file%03d.txt", number);
    for (;;) {
        const char *w = words[next_random(state) % 6];
        size_t n = strlen(w);
        if (used + n > FILE_CHARS)
            break;
        memcpy(f->text + used, w, n);
        used += n;
    }
    return f;
}

static struct folder *folder_new(int depth, int *number, unsigned *state)
{
    struct folder *d = calloc(1, sizeof *d);

    if (d == NULL)
        abort();
    for (int i = 0; i < FILES_PER_FOLDER; i++)
        d->file[i] = file_new((*number)++, state);
    for (int i = 0; depth > 0 && i < FANOUT; i++)
        d->sub[i] = folder_new(depth - 1, number, state);
    return d;
}

static void folder_free(struct folder *d)
{
    for (int i = 0; i < FANOUT; i++)
        if (d->sub[i] != NULL)
            folder_free(d->sub[i]);
    for (int i = 0; i < FILES_PER_FOLDER; i++)
        free(d->file[i]);
    free(d);
}

static void list_files(struct scan *s, const struct folder *d)
{
    for (int i = 0; i < FILES_PER_FOLDER && s->listed < MAX_FILES; i++)
        s->list[s->listed++] = d->file[i];
    for (int i = 0; i < FANOUT; i++)
        if (d->sub[i] != NULL)
            list_files(s, d->sub[i]);
}

static struct file *scan_take(struct scan *s)
{
    pthread_mutex_lock(&s->lock);
    int index = s->next;
    s->next = index + 1;
    pthread_mutex_unlock(&s->lock);
    return s->list[index];
}

static int count_word(const char *text, const char *word)
{
    int n = 0;
    size_t length = strlen(word);

    for (const char *p = strstr(text, word); p != NULL; p = strstr(p + length, word))
        n++;
    return n;
}

static void *worker_main(void *arg)
{
    struct scan *s = arg;
    int files = 0, matches = 0;

    while (s->next < s->listed) { PAUSE(5);
        struct file *f = scan_take(s);
        matches += count_word(f->text, s->word);
        files++;
    }
    pthread_mutex_lock(&s->lock);
    s->files += files;
    s->matches += matches;
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct scan scan = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t worker[WORKERS];
    unsigned state = 42;
    int number = 0;

    struct folder *root = folder_new(DEPTH, &number, &state);
    scan.word = argc > 1 ? argv[1] : "yew";
    list_files(&scan, root);
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&worker[i], NULL, worker_main, &scan) != 0)
            return 2;
    for (int i = 0; i < WORKERS; i++)
        pthread_join(worker[i], NULL);
    printf("%s: %d matches in %d files\n", scan.word, scan.matches, scan.files);
    folder_free(root);
    return 0;
}
