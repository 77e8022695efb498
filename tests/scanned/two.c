/* Two variables that belong together: one function changes both under one lock, another
 * under the same lock, but in two sections. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int length, capacity, apart_only, alone;

static void grow(int by)
{
    pthread_mutex_lock(&lock);
    length += by; /* together: length */
    capacity += 2 * by; /* together: capacity */
    pthread_mutex_unlock(&lock);
}

static int room(void)
{
    pthread_mutex_lock(&lock);
    int used = length; /* apart: length */
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    int all = capacity; /* apart: capacity */
    pthread_mutex_unlock(&lock);
    return all - used;
}

static void *worker(void *arg)
{
    (void)arg;
    for (int i = 0; i < 10; i++)
        grow(i);
    apart_only = 1; /* no lock: one */
    alone = 2; /* no lock: two */
    return 0;
}

int main(void)
{
    pthread_t thread;
    int least = 0;

    pthread_create(&thread, 0, worker, 0);
    for (int i = 0; i < 10; i++)
        least += room() < 0;
    apart_only++;
    alone++;
    pthread_join(thread, 0);
    return least != 0;
}
