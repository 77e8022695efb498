#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NTHREADS 3
#define PER_THREAD 4

struct node {
    pthread_mutex_t lock;
    int key;
    int value;
    struct node *next;
};

static struct node head = { .lock = PTHREAD_MUTEX_INITIALIZER, .key = -1 };
static atomic_int allocated;

static struct node *new_node(int key, int value)
{
    struct node *n = malloc(sizeof *n);
    if (n == NULL)
        abort();
    pthread_mutex_init(&n->lock, NULL);
    n->key = key;
    n->value = value;
    n->next = NULL;
    atomic_fetch_add(&allocated, 1);
    return n;
}

static void free_node(struct node *n)
{
    pthread_mutex_destroy(&n->lock);
    free(n);
    atomic_fetch_sub(&allocated, 1);
}

static struct node *locate(int key)
{
    struct node *at = &head;
    pthread_mutex_lock(&at->lock);
    while (at->next != NULL) {
        struct node *next = at->next;
        pthread_mutex_lock(&next->lock);
        if (next->key >= key) {
            pthread_mutex_unlock(&next->lock);
            break;
        }
        pthread_mutex_unlock(&at->lock);
        at = next;
    }
    return at;
}

static int list_add(int key, int value)
{
    struct node *before = locate(key);
    int added = before->next == NULL || before->next->key != key;
    if (added) {
        struct node *n = new_node(key, value);
        n->next = before->next;
        before->next = n;
    }
    pthread_mutex_unlock(&before->lock);
    return added;
}

static int list_remove(int key)
{
    struct node *before = locate(key);
    struct node *n = before->next;
    int found = n != NULL && n->key == key;
    if (found) {
        pthread_mutex_lock(&n->lock);
        before->next = n->next;
        pthread_mutex_unlock(&n->lock);
    }
    pthread_mutex_unlock(&before->lock);
    if (found)
        free_node(n);
    return found;
}

static int list_sum(int *count)
{
    struct node *at = &head;
    int sum = 0;
    *count = 0;
    pthread_mutex_lock(&at->lock);
    while (at->next != NULL) {
        struct node *next = at->next;
        pthread_mutex_lock(&next->lock);
        pthread_mutex_unlock(&at->lock);
        at = next;
        sum += at->value;
        ++*count;
    }
    pthread_mutex_unlock(&at->lock);
    return sum;
}

static void *worker_main(void *arg)
{
    int id = *(int *)arg, i, bad = 0, count;
    for (i = 0; i < PER_THREAD; i++)
        bad += !list_add(i * NTHREADS + id, 100 * id + i);
    bad += list_sum(&count) < 0 || count < PER_THREAD - 1;
    for (i = 0; i < PER_THREAD; i += 2)
        bad += !list_remove(i * NTHREADS + id);
    *(int *)arg = bad;
    return NULL;
}

int main(void)
{
    pthread_t t[NTHREADS];
    int ids[NTHREADS], i, bad = 0, count, last = -1;
    struct node *n;
    for (i = 0; i < NTHREADS; i++) {
        ids[i] = i;
        pthread_create(&t[i], NULL, worker_main, &ids[i]);
    }
    for (i = 0; i < NTHREADS; i++) {
        pthread_join(t[i], NULL);
        bad += ids[i];
    }
    printf("sum %d", list_sum(&count));
    while ((n = head.next) != NULL) {
        bad += n->key <= last;
        last = n->key;
        head.next = n->next;
        free_node(n);
    }
    printf(", %d nodes, %d bad, %d leaked\n", count, bad, atomic_load(&allocated));
    return bad != 0 || count != NTHREADS * PER_THREAD / 2 || atomic_load(&allocated) != 0;
}
