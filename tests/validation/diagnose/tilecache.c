/* Map tile cache: readers share a rwlock; a missing tile is rendered outside
 * the lock (it is costly) and installed if nobody else was faster. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define TILES 5

struct tile {
    int id;
    unsigned pix;
};

static struct tile *grid[TILES];
static pthread_rwlock_t grid_rw = PTHREAD_RWLOCK_INITIALIZER;
static int installed;

static struct tile *render(int id)
{
    struct tile *t = malloc(sizeof *t);
    unsigned x = (unsigned)id + 1;
    for (int i = 0; i < 20000; i++)
        x = x * 1103515245u + 12345u;
    t->id = id;
    t->pix = x;
    return t;
}

static struct tile *tile_peek(int id)
{
    pthread_rwlock_rdlock(&grid_rw);
    struct tile *t = grid[id];
    pthread_rwlock_unlock(&grid_rw);
    return t;
}

static struct tile *tile_install(struct tile *t)
{
    struct tile *use, *spare = NULL;
    pthread_rwlock_wrlock(&grid_rw);
    use = grid[t->id];
    if (use == NULL) {
        use = grid[t->id] = t;
        installed++;
    } else {
        spare = t;
    }
    pthread_rwlock_unlock(&grid_rw);
    free(spare);
    return use;
}

static struct tile *tile_get(int id)
{
    struct tile *t = tile_peek(id);
    if (t == NULL)
        t = tile_install(render(id));
    return t;
}

struct view { int start; unsigned sum; };

static void *draw(void *arg)
{
    struct view *v = arg;
    for (int i = 0; i < TILES; i++) {
        struct tile *t = tile_get((v->start + i) % TILES);
        v->sum += t->pix * (unsigned)(t->id + 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t th[3];
    struct view v[3] = { { 0, 0 }, { 0, 0 }, { 2, 0 } };
    int rc;

    for (int i = 0; i < 3; i++)
        pthread_create(&th[i], NULL, draw, &v[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(th[i], NULL);
    rc = installed != TILES || v[0].sum != v[1].sum || v[1].sum != v[2].sum;
    printf("tiles %d sum %u\n", installed, v[0].sum);
    for (int i = 0; i < TILES; i++)
        free(grid[i]);
    return rc;
}
