#!/bin/bash
# What isolate tells of calls that come to no end, of bits that were lost before they were missed, and of what threads
# decide in one section of a lock and do in another.
. "$(dirname "$0")/isolating.sh"

# A tree that leads back into itself: the link that was made last on the way round, and the call that follows it.
cat >ring.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct node { int size; struct node *child[3]; int n; };
static struct node nodes[6];
static void attach(struct node *parent, struct node *child) {
	parent->child[parent->n] = child; /* linked */
	parent->n++;
}
static int total(const struct node *node) {
	int sum = node->size;
	for (int i = 0; i < node->n; i++) /* ends */
		sum += total(node->child[i]); /* again */
	return sum;
}
int main(void) {
	for (int i = 0; i < 6; i++)
		nodes[i].size = i + 1;
	attach(&nodes[0], &nodes[1]);
	attach(&nodes[1], &nodes[2]);
	attach(&nodes[1], &nodes[3]);
	printf("%d\n", total(&nodes[0]));
	attach(&nodes[3], &nodes[4]);
	attach(&nodes[4], &nodes[1]);
	attach(&nodes[0], &nodes[5]);
	printf("%d\n", total(&nodes[0]));
	return 0;
}
C
gcc -g -O1 -w -o ring ring.c
tells ring '/* linked */' '/* again */'

# A mark that is taken away before the call that it is to end: the call, the check, and what takes it away. Compilers
# leave both writes of the mark out: then what was written beside it.
cat >early.c <<'C'
#include <stdio.h>
struct group { int member[2], expanding, uses; };
static struct group groups[3];
static void leave(struct group *g) {
	g->expanding = 0; /* too early */
	g->uses++; /* beside */
}
static int expand(int number) {
	struct group *g = &groups[number];
	int n = 1;
	if (g->expanding) /* checked */
		return 0;
	g->expanding = 1;
	leave(g); /* left */
	for (int i = 0; i < 2; i++)
		if (g->member[i])
			n += expand(g->member[i]); /* again */
	return n;
}
int main(void) {
	groups[0].member[0] = 1;
	groups[1].member[1] = 2;
	printf("%d\n", expand(0));
	groups[2].member[0] = 1;
	printf("%d\n", expand(0));
	return 0;
}
C
gcc -g -O0 -w -o early early.c
tells early '/* again */' '/* too early */' '/* checked */'
gcc -g -O1 -w -o early early.c
tells early '/* again */' '/* left */'

# A count that was stored into a byte, and used from a register: the store is where it lost bits, and nothing else of how
# much there was is told beside it.
cat >cut.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct outline { unsigned char n; unsigned hints, ends[320]; int *points; };
struct source { int n, each; unsigned hints; };
static void load(struct outline *o, const struct source *s) {
	if (s->n > 320)
		abort();
	o->n = (unsigned char)s->n; /* stored */
	o->hints = s->hints;
	for (int i = 0; i < s->n; i++)
		o->ends[i] = (i + 1) * s->each - 1;
	o->points = malloc(s->n * s->each * sizeof *o->points);
	for (int i = 0; i < s->n * s->each; i++)
		o->points[i] = i;
}
static unsigned last(const unsigned *ends, int n) {
	return ends[n - 1];
}
int main(void) {
	static const struct source sources[] = { { 2, 12, 0x40000011 }, { 256, 3, 0x40000007 } };
	for (int i = 0; i < 2; i++) {
		struct outline *o = malloc(sizeof *o);
		int sum = 0;
		memset(o, 0, sizeof *o);
		load(o, &sources[i]);
		unsigned count = last(o->ends, o->n) + 1;
		for (unsigned p = 0; p < count; p++)
			sum += o->points[p];
		printf("%d\n", sum);
		free(o->points);
		free(o);
	}
	return 0;
}
C
gcc -g -O0 -w -o cut cut.c
tells cut '/* stored */'
grep -q '"kind": "size"' cut.json && { echo "not ok: cut: what said how much is told beside it"; failed=1; }

# The same of a block that is too small: the byte is stored, and used from the register.
cat >small.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct text { unsigned char length; char *bytes; };
static struct text *volatile latest;
static void fill(struct text *t, const int *length) {
	t->length = *length; /* stored */
	latest = t;
	t->bytes = malloc(t->length + 1); /* too small */
	for (int i = 0; i < *length; i++)
		t->bytes[i] = 'x';
}
int main(void) {
	static int lengths[] = { 12, 300 };
	for (int i = 0; i < 2; i++) {
		struct text *t = malloc(sizeof *t);
		fill(t, &lengths[i]);
		printf("%d %c\n", t->length, t->bytes[t->length - 1]);
		free(t->bytes);
		free(t);
	}
	return 0;
}
C
gcc -g -O1 -w -o small small.c
tells small '/* stored */' '/* too small */'

# A thread puts itself on a list that was looked at already, for what is told only now to be there.
cat >late.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
struct waiter { struct waiter *next; sem_t wake; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct waiter *waiting;
static int busy = 1;
static int enlist(struct waiter *w) {
	pthread_mutex_lock(&lock);
	int was = busy;
	if (was) {
		w->next = waiting;
		waiting = w; /* enlisted */
	}
	pthread_mutex_unlock(&lock);
	return was;
}
static void *get(void *unused) {
	struct waiter w = { NULL };
	sem_init(&w.wake, 0, 0);
	while (enlist(&w))
		sem_wait(&w.wake); /* waits */
	return NULL;
}
static void *fetch(void *unused) {
	pthread_mutex_lock(&lock);
	struct waiter *list = waiting; /* looked */
	waiting = NULL;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	busy = 0; /* told */
	pthread_mutex_unlock(&lock);
	while (list) {
		struct waiter *next = list->next;
		sem_post(&list->wake);
		list = next;
	}
	return NULL;
}
int main(void) {
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, i == 2 ? fetch : get, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	puts("done");
	return 0;
}
C
gcc -g -O1 -w -pthread -o late late.c
tells late '/* enlisted */' '/* looked */' '/* told */' '/* waits */'

# The other way round: it looks, and leaves word only in a later section, behind the look of the one that wakes.
cat >sleeper.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t wake;
static int sleeping, tasks, stop;
static long ran;
static void post(int n) {
	pthread_mutex_lock(&lock);
	tasks += n;
	int wake_it = sleeping;
	pthread_mutex_unlock(&lock);
	if (wake_it)
		sem_post(&wake);
}
static void *worker(void *arg) {
	for (;;) {
		pthread_mutex_lock(&lock);
		int got = tasks, over = stop; /* went by */
		tasks = 0;
		pthread_mutex_unlock(&lock);
		ran += got;
		if (!got && over)
			return NULL;
		if (got)
			continue;
		pthread_mutex_lock(&lock);
		sleeping = 1; /* left word */
		pthread_mutex_unlock(&lock);
		sem_wait(&wake); /* waits */
		pthread_mutex_lock(&lock);
		sleeping = 0;
		pthread_mutex_unlock(&lock);
	}
}
int main(void) {
	pthread_t t;
	sem_init(&wake, 0, 0);
	pthread_create(&t, NULL, worker, NULL);
	post(3);
	pthread_mutex_lock(&lock);
	stop = 1; /* changed */
	int wake_it = sleeping; /* looked for sleepers */
	pthread_mutex_unlock(&lock);
	if (wake_it)
		sem_post(&wake);
	pthread_join(t, NULL);
	printf("%ld\n", ran);
	return ran != 3;
}
C
gcc -g -O1 -w -pthread -o sleeper sleeper.c
tells sleeper '/* went by */' '/* changed */' '/* looked for sleepers */' '/* left word */' '/* waits */'

# The last reference is dropped in one section and the object put away in the next: another thread has found it, and put
# it away as well.
cat >twice.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
struct thing { int references; long (*use)(struct thing *); struct thing *next; atomic_int uses; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thing *shared, *unused;
static atomic_int made, gone;
static long use(struct thing *t) {
	return atomic_fetch_add(&t->uses, 1);
}
static struct thing *get(void) {
	pthread_mutex_lock(&lock);
	struct thing *t = shared;
	if (t) {
		t->references++; /* found */
	} else {
		t = unused;
		if (t)
			unused = t->next;
		else
			t = calloc(1, sizeof *t);
		t->references = 1;
		t->use = use;
		atomic_fetch_add(&made, 1);
		shared = t;
	}
	pthread_mutex_unlock(&lock);
	return t;
}
static void put(struct thing *t) {
	pthread_mutex_lock(&lock);
	int last = --t->references == 0; /* dropped */
	pthread_mutex_unlock(&lock);
	if (!last)
		return;
	pthread_mutex_lock(&lock);
	if (shared == t)
		shared = NULL;
	t->use = NULL; /* put away */
	t->next = unused;
	unused = t;
	pthread_mutex_unlock(&lock);
	atomic_fetch_add(&gone, 1);
}
static void *run(void *unused) {
	long sum = 0;
	for (int i = 0; i < 3; i++) {
		struct thing *t = get();
		sum += t->use(t);
		put(t);
	}
	return (void *)(sum < 0);
}
int main(void) {
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d %d\n", made, gone);
	return 0;
}
C
gcc -g -O1 -w -pthread -o twice twice.c
tells twice '/* put away */'
grep -q '"made"' twice.json && { echo "not ok: twice: a counter beside it is told"; failed=1; }

[ $failed = 0 ] && echo "ok: rounds"
exit $failed
