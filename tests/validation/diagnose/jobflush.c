/* Compression by several workers: each job writes into its own buffer, and
 * what is there already is flushed in the order of the jobs. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NJOBS    4
#define NWORKERS 2
#define CHUNK    16
#define NCHUNKS  4
#define SRCSIZE  (CHUNK * NCHUNKS)

struct job {
    pthread_mutex_t     mutex;          /* consumed, csize */
    pthread_cond_t      cond;
    const unsigned char *src;
    unsigned char       dst[SRCSIZE + NCHUNKS];
    size_t              consumed;       /* bytes of src that are done */
    size_t              csize;          /* bytes in dst */
};

static unsigned char input[NJOBS * SRCSIZE];
static unsigned char output[NJOBS * (SRCSIZE + NCHUNKS)];
static size_t outsize;
static struct job jobs[NJOBS];
static pthread_mutex_t next_lock = PTHREAD_MUTEX_INITIALIZER;
static int next_job;
static atomic_long progress_in, progress_out;

/* One byte of header, then the bytes, mangled. */
static size_t compress_chunk(unsigned char *dst, const unsigned char *src, int n)
{
    dst[0] = (unsigned char)(0xf0 + n);
    for (int i = 0; i < CHUNK; i++)
        dst[1 + i] = src[i] ^ 0x5a;
    return CHUNK + 1;
}

static void compress_job(struct job *j)
{
    size_t op = 0;

    for (int n = 0; n < NCHUNKS; n++) {
        size_t c = compress_chunk(j->dst + op, j->src + n * CHUNK, n);

        op += c;
        pthread_mutex_lock(&j->mutex);
        j->csize += c;
        j->consumed += CHUNK;
        pthread_cond_signal(&j->cond);
        pthread_mutex_unlock(&j->mutex);
        atomic_fetch_add_explicit(&progress_in, CHUNK, memory_order_relaxed);
    }
}

static void *worker_main(void *arg)
{
    (void)arg;
    for (;;) {
        int n;

        pthread_mutex_lock(&next_lock);
        n = next_job < NJOBS ? next_job++ : -1;
        pthread_mutex_unlock(&next_lock);
        if (n < 0)
            return NULL;
        compress_job(&jobs[n]);
    }
}

static size_t job_csize(struct job *j)
{
    size_t n;

    pthread_mutex_lock(&j->mutex);
    n = j->csize;
    pthread_mutex_unlock(&j->mutex);
    return n;
}

static int job_finished(struct job *j)
{
    int done;

    pthread_mutex_lock(&j->mutex);
    done = j->consumed == SRCSIZE;
    pthread_mutex_unlock(&j->mutex);
    return done;
}

static void job_wait(struct job *j, size_t flushed)
{
    pthread_mutex_lock(&j->mutex);
    while (j->csize == flushed && j->consumed < SRCSIZE)
        pthread_cond_wait(&j->cond, &j->mutex);
    pthread_mutex_unlock(&j->mutex);
}

static void flush_job(struct job *j)
{
    size_t flushed = 0;

    for (;;) {
        size_t csize;

        job_wait(j, flushed);
        csize = job_csize(j);
        memcpy(output + outsize, j->dst + flushed, csize - flushed);
        outsize += csize - flushed;
        flushed = csize;
        atomic_store_explicit(&progress_out, (long)outsize, memory_order_relaxed);
        if (job_finished(j))
            return;
    }
}

static int verify(void)
{
    size_t op = 0;

    if (outsize != sizeof(output))
        return 0;
    for (size_t ip = 0; ip < sizeof(input); ip += CHUNK, op += CHUNK + 1)
        for (int i = 0; i < CHUNK; i++)
            if ((output[op + 1 + i] ^ 0x5a) != input[ip + i])
                return 0;
    return 1;
}

int main(void)
{
    pthread_t t[NWORKERS];

    for (size_t i = 0; i < sizeof(input); i++)
        input[i] = (unsigned char)(i * 31 + 7);
    for (int i = 0; i < NJOBS; i++) {
        pthread_mutex_init(&jobs[i].mutex, NULL);
        pthread_cond_init(&jobs[i].cond, NULL);
        jobs[i].src = input + i * SRCSIZE;
    }
    for (int i = 0; i < NWORKERS; i++)
        pthread_create(&t[i], NULL, worker_main, NULL);
    for (int i = 0; i < NJOBS; i++)
        flush_job(&jobs[i]);
    for (int i = 0; i < NWORKERS; i++)
        pthread_join(t[i], NULL);
    printf("%ld bytes in, %zu bytes out\n", atomic_load(&progress_in), outsize);
    if (!verify()) {
        fprintf(stderr, "frame is corrupt\n");
        return 1;
    }
    return 0;
}
