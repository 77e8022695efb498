/* Document text node: an editor thread replaces the text, a layout thread
 * measures it for line breaking. */
#include <unistd.h>
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text_node {
    pthread_mutex_t lock;
    char *chars;
    size_t length;
    unsigned generation;
};

static struct text_node node = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void node_replace(struct text_node *n, const char *s)
{
    char *copy = strdup(s), *old;
    pthread_mutex_lock(&n->lock);
    old = n->chars;
    n->chars = copy;
    n->length = strlen(copy);
    n->generation++;
    pthread_mutex_unlock(&n->lock);
    free(old);
}

static size_t node_length(struct text_node *n)
{
    size_t r;
    pthread_mutex_lock(&n->lock);
    r = n->length;
    pthread_mutex_unlock(&n->lock);
    return r;
}

static void node_copy(struct text_node *n, char *dst, size_t len)
{
    pthread_mutex_lock(&n->lock);
    strncpy(dst, n->chars, len);
    pthread_mutex_unlock(&n->lock);
    dst[len] = 0;
}

static int measure(const char *s, size_t len)
{
    int w = 0;
    for (size_t i = 0; i < len; i++) {
        assert(s[i] != '\0');
        w += s[i] == ' ' ? 4 : 7;
    }
    return w;
}

static void *layout(void *arg)
{
    int *width = arg;
    size_t len = node_length(&node);
    char *tmp = malloc(len + 1);
 usleep(50000);
    node_copy(&node, tmp, len);
    int w = measure(tmp, len);
    *width = w > 0;
    free(tmp);
    return NULL;
}

static void *editor(void *arg)
{
    static const char *const edits[] = { "Hello wide world", "Hello", "Hi" };
    (void)arg;
 usleep(20000);
    for (int i = 0; i < 3; i++)
        node_replace(&node, edits[i]);
    return NULL;
}

int main(void)
{
    pthread_t l, e;
    int ok = 0;

    node_replace(&node, "A rather long first version of the text");
    pthread_create(&l, NULL, layout, &ok);
    pthread_create(&e, NULL, editor, NULL);
    pthread_join(l, NULL);
    pthread_join(e, NULL);
    printf("layout %d, generation %u, text '%s'\n", ok, node.generation, node.chars);
    free(node.chars);
    return ok ? 0 : 1;
}
