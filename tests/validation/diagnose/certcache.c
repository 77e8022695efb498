/* Certificate store: the extensions of a certificate are decoded when they
 * are first needed, and kept with it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NCERTS   4
#define NTHREADS 3

#define EXFLAG_BCONS  0x01u
#define EXFLAG_KUSAGE 0x02u
#define EXFLAG_CA     0x10u
#define EXFLAG_SET    0x100u

#define KU_DIGITAL_SIGNATURE 0x80u
#define KU_KEY_CERT_SIGN     0x04u

struct extension {
    int           nid;
    unsigned char der[4];
};

enum { NID_BASIC_CONSTRAINTS = 87, NID_KEY_USAGE = 83, NID_SUBJECT_KEY_ID = 82 };

struct cert {
    char             subject[24];
    pthread_mutex_t  lock;
    int              nexts;
    struct extension exts[3];
    atomic_int       references;

    atomic_uint      ex_flags;
    unsigned         ex_kusage;
    long             ex_pathlen;
    unsigned char    skid[4];
};

struct verifier {
    int       id;
    int       accepted, rejected;
    pthread_t thread;
};

static struct cert store[NCERTS];
static atomic_ulong verifications;
static unsigned long cached_hits;   /* statistics */

static const struct extension *get_ext(const struct cert *x, int nid)
{
    for (int i = 0; i < x->nexts; i++)
        if (x->exts[i].nid == nid)
            return &x->exts[i];
    return NULL;
}

/* Called with the certificate locked. */
static void cache_extensions(struct cert *x)
{
    const struct extension *e;
    unsigned flags = atomic_load(&x->ex_flags);

    if (flags & EXFLAG_SET)
        return;
    if (get_ext(x, NID_BASIC_CONSTRAINTS) != NULL)
        flags |= EXFLAG_BCONS | EXFLAG_CA;
    if (get_ext(x, NID_KEY_USAGE) != NULL)
        flags |= EXFLAG_KUSAGE;
    atomic_store(&x->ex_flags, flags | EXFLAG_SET);

    if ((e = get_ext(x, NID_BASIC_CONSTRAINTS)) != NULL)
        x->ex_pathlen = e->der[0];
    if ((e = get_ext(x, NID_KEY_USAGE)) != NULL)
        x->ex_kusage = e->der[0] | (unsigned)e->der[1] << 8;
    if ((e = get_ext(x, NID_SUBJECT_KEY_ID)) != NULL)
        memcpy(x->skid, e->der, sizeof(x->skid));
}

static void ensure_cached(struct cert *x)
{
    if (atomic_load(&x->ex_flags) & EXFLAG_SET) {
        cached_hits++;
        return;
    }
    pthread_mutex_lock(&x->lock);
    cache_extensions(x);
    pthread_mutex_unlock(&x->lock);
}

static int ku_reject(const struct cert *x, unsigned usage)
{
    if (!(atomic_load(&x->ex_flags) & EXFLAG_KUSAGE))
        return 0;
    return (x->ex_kusage & usage) == 0;
}

static int check_issuer(struct cert *x)
{
    ensure_cached(x);
    atomic_fetch_add_explicit(&verifications, 1, memory_order_relaxed);
    if (!(atomic_load(&x->ex_flags) & EXFLAG_CA))
        return 0;
    return !ku_reject(x, KU_KEY_CERT_SIGN);
}

static void cert_up_ref(struct cert *x, int n)
{
    atomic_fetch_add(&x->references, n);
}

static void *verify_main(void *arg)
{
    struct verifier *v = arg;

    for (int i = 0; i < NCERTS; i++) {
        struct cert *x = &store[(i + v->id) % NCERTS];

        cert_up_ref(x, 1);
        if (check_issuer(x))
            v->accepted++;
        else
            v->rejected++;
        cert_up_ref(x, -1);
    }
    return NULL;
}

static void cert_init(struct cert *x, int n)
{
    snprintf(x->subject, sizeof(x->subject), "CN=issuing CA %d", n);
    pthread_mutex_init(&x->lock, NULL);
    x->exts[0] = (struct extension){ NID_SUBJECT_KEY_ID, { 1, 2, 3, (unsigned char)n } };
    x->exts[1] = (struct extension){ NID_BASIC_CONSTRAINTS, { 2 } };
    x->exts[2] = (struct extension){ NID_KEY_USAGE, { KU_DIGITAL_SIGNATURE | KU_KEY_CERT_SIGN } };
    x->nexts = 3;
    atomic_init(&x->references, 1);
    x->ex_pathlen = -1;
}

int main(void)
{
    struct verifier v[NTHREADS];
    int accepted = 0, rejected = 0;

    for (int i = 0; i < NCERTS; i++)
        cert_init(&store[i], i);
    memset(v, 0, sizeof(v));
    for (int i = 0; i < NTHREADS; i++) {
        v[i].id = i;
        pthread_create(&v[i].thread, NULL, verify_main, &v[i]);
    }
    for (int i = 0; i < NTHREADS; i++) {
        pthread_join(v[i].thread, NULL);
        accepted += v[i].accepted;
        rejected += v[i].rejected;
    }
    printf("%lu verifications, %d accepted\n", atomic_load(&verifications), accepted);
    if (rejected != 0) {
        fprintf(stderr, "%d valid issuers rejected\n", rejected);
        return 1;
    }
    return 0;
}
