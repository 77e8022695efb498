/* Page cache of an embedded database: pages are looked up by number and
 * loaded from the (in-memory) file image on a miss. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_SZ = 64, N_HASH = 8, N_PAGES = 10 };

typedef struct PgHdr PgHdr;
struct PgHdr {
    unsigned pgno;
    unsigned sum;
    PgHdr *pNext;
    unsigned char aData[PAGE_SZ];
};

typedef struct PCache {
    pthread_mutex_t mutex;
    PgHdr *apHash[N_HASH];
    int nPage;
} PCache;

static unsigned char dbImage[N_PAGES][PAGE_SZ];
static PCache cache = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static PgHdr *pcacheFetch(PCache *p, unsigned pgno)
{
    PgHdr *pPg;
    pthread_mutex_lock(&p->mutex);
    for (pPg = p->apHash[pgno % N_HASH]; pPg; pPg = pPg->pNext)
        if (pPg->pgno == pgno)
            break;
    pthread_mutex_unlock(&p->mutex);
    return pPg;
}

static void pcacheAdd(PCache *p, PgHdr *pPg)
{
    pthread_mutex_lock(&p->mutex);
    pPg->pNext = p->apHash[pPg->pgno % N_HASH];
    p->apHash[pPg->pgno % N_HASH] = pPg;
    p->nPage++;
    pthread_mutex_unlock(&p->mutex);
}

static PgHdr *pagerGet(PCache *p, unsigned pgno)
{
    PgHdr *pPg = pcacheFetch(p, pgno);
    if (pPg == NULL) {
        pPg = calloc(1, sizeof *pPg);
        pPg->pgno = pgno;
        memcpy(pPg->aData, dbImage[pgno], PAGE_SZ);
        for (int i = 0; i < PAGE_SZ; i++)
            pPg->sum = pPg->sum * 31 + pPg->aData[i];
        pcacheAdd(p, pPg);
    }
    return pPg;
}

struct cursor { unsigned first, step, n; unsigned acc; };

static void *scan(void *arg)
{
    struct cursor *c = arg;
    unsigned pg = c->first;
    for (unsigned i = 0; i < c->n; i++) {
        c->acc += pagerGet(&cache, pg)->sum;
        pg = (pg + c->step) % N_PAGES;
    }
    return NULL;
}

int main(void)
{
    struct cursor cur[2] = { { 3, 7, 2, 0 }, { 1, 3, 4, 0 } };
    pthread_t t[2];
    int dup = 0;

    for (int i = 0; i < N_PAGES; i++)
        for (int j = 0; j < PAGE_SZ; j++)
            dbImage[i][j] = (unsigned char)(i * 17 + j * 3);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, scan, &cur[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    for (int b = 0; b < N_HASH; b++)
        for (PgHdr *x = cache.apHash[b]; x; x = x->pNext)
            for (PgHdr *y = x->pNext; y; y = y->pNext)
                dup += x->pgno == y->pgno;
    if (dup) {
        fprintf(stderr, "%d page(s) cached twice\n", dup);
        return 1;
    }
    printf("pages %d acc %u\n", cache.nPage, cur[0].acc ^ cur[1].acc);
    return 0;
}
