#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define CAP_ADMIN 1u
#define CAP_NET 2u
#define NCHECKS 4
#define NAUDITORS 2
#define NSWITCHES 3

struct task {
    pthread_rwlock_t cred_lock;
    int uid;
    unsigned caps;
    int gid;
    const char *comm;
};

struct audit {
    struct task *task;
    int refused;
    int granted;
    int strange;
};

static atomic_int checks;
static int last_checked;

static int get_uid(struct task *t)
{
    int uid;
    pthread_rwlock_rdlock(&t->cred_lock);
    uid = t->uid;
    pthread_rwlock_unlock(&t->cred_lock);
    return uid;
}

static unsigned get_caps(struct task *t)
{
    unsigned caps;
    pthread_rwlock_rdlock(&t->cred_lock);
    caps = t->caps;
    pthread_rwlock_unlock(&t->cred_lock);
    return caps;
}

static void become_user(struct task *t, int uid)
{
    pthread_rwlock_wrlock(&t->cred_lock);
    t->uid = uid;
    t->gid = uid;
    t->caps = CAP_NET;
    pthread_rwlock_unlock(&t->cred_lock);
}

static void become_root(struct task *t)
{
    pthread_rwlock_wrlock(&t->cred_lock);
    t->uid = 0;
    t->gid = 0;
    t->caps = CAP_NET | CAP_ADMIN;
    pthread_rwlock_unlock(&t->cred_lock);
}

static int may_mount(struct audit *a)
{
    int uid = get_uid(a->task);
    unsigned caps = get_caps(a->task);
    int admin = (caps & CAP_ADMIN) != 0;
    atomic_fetch_add_explicit(&checks, 1, memory_order_relaxed);
    last_checked = uid;
    if (admin != (uid == 0))
        a->strange++;
    return uid == 0 && admin;
}

static void *auditor_main(void *arg)
{
    struct audit *a = arg;
    int i;
    for (i = 0; i < NCHECKS; i++) {
        if (may_mount(a))
            a->granted++;
        else
            a->refused++;
    }
    return NULL;
}

int main(void)
{
    static struct task task = { .caps = CAP_NET | CAP_ADMIN, .comm = "mountd" };
    struct audit audits[NAUDITORS];
    pthread_t t[NAUDITORS];
    int i, strange = 0, judged = 0;
    pthread_rwlock_init(&task.cred_lock, NULL);
    for (i = 0; i < NAUDITORS; i++) {
        audits[i] = (struct audit){ &task, 0, 0, 0 };
        pthread_create(&t[i], NULL, auditor_main, &audits[i]);
    }
    for (i = 0; i < NSWITCHES; i++) {
        become_user(&task, 1000 + i);
        become_root(&task);
    }
    for (i = 0; i < NAUDITORS; i++) {
        pthread_join(t[i], NULL);
        strange += audits[i].strange;
        judged += audits[i].granted + audits[i].refused;
    }
    printf("%s: %d checks, %d strange, uid %d gid %d, last %s\n", task.comm, judged, strange, task.uid, task.gid,
           last_checked == 0 ? "root" : "user");
    return strange != 0 || judged != atomic_load(&checks);
}
