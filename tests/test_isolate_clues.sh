#!/bin/bash
# What isolate tells beside the values that failed: where one had lost bits, who lowered the count that freed a block,
# what said how large or how long, memory that a pool gave out again; and orders of a free and of a publication.
. "$(dirname "$0")/isolating.sh"

# tells NAME ROLE:MARK…: the lines that have these marks are in the finding in these roles (any: no matter which), and
# with SURE=no it is not sure.
tells() {
	local name=$1
	shift
	gcc -g -O1 -w -pthread -o "$name" "$name.c" || exit 1
	timeout 240 "$UNSNARL" isolate --json --seed 1 -- ./"$name" >"$name.json" 2>"$name.err"
	SURE=${SURE:-} python3 - "$name" "$@" <<'PY' || failed=1
import json, os, sys
name, wanted = sys.argv[1], [word.split(":", 1) for word in sys.argv[2:]]
text = open(name + ".c").read().splitlines()
answer = json.load(open(name + ".json"))
accesses = answer["findings"][0]["accesses"] if answer["findings"] else []
told = {(a["kind"], a["line"]) for a in accesses} | {("any", a["line"]) for a in accesses}
for role, mark in wanted:
    line = 1 + [i for i, l in enumerate(text) if mark in l][0]
    if (role, line) not in told:
        sys.exit(f"not ok: {name}: no {role} at {line} ({mark}): {sorted(told)}, sure {answer['sure']}")
if os.environ["SURE"] == "no" and answer["sure"]:
    sys.exit(f"not ok: {name}: a guess is called sure: {sorted(told)}")
PY
}

# A part of a number is stored in a signed byte, and is another number when it is read.
cat >byte.c <<'C'
#include <stdio.h>
#include <string.h>
struct code { const char *names[2]; signed char jump[8]; int length; };
static struct code code = { { "a", "b" } };
static const char *const table[4] = { "one", "two" };
__attribute__((noipa)) static void patch(struct code *c, int at) {
	c->jump[at] = (signed char)(c->length - at); /* cuts */
}
__attribute__((noipa)) static int follow(const struct code *c, int at) {
	return at + c->jump[at]; /* reads */
}
int main(int argc, char **argv) {
	code.length = 100 + argc * 60;
	patch(&code, 2);
	printf("%zu\n", strlen(table[follow(&code, 2) * 1000L]));
	return 0;
}
C
SURE=no tells byte 'cut:/* cuts */' 'any:/* reads */'
"$UNSNARL" isolate --seed 1 -- ./byte | grep -q '^A value did not fit: 158 became -98 (1 byte) at' ||
	{ echo "not ok: byte: $("$UNSNARL" isolate --seed 1 -- ./byte)"; failed=1; }

# The same number, kept in bytes beside, has lost nothing.
cat >bytes.c <<'C'
#include <stdio.h>
static unsigned char kept[2];
static long *const places[4] = { 0 };
__attribute__((noipa)) static void put(int n) {
	kept[0] = n; /* no cut */
	kept[1] = n >> 8;
}
int main(int argc, char **argv) {
	put(argc * 300);
	printf("%ld\n", *places[(kept[0] + kept[1]) % 4]);
	return 0;
}
C
SURE=no tells bytes
grep -q '"cut"' bytes.json && { echo "not ok: bytes: $(cat bytes.json)"; failed=1; }

# A length in a register of a byte: the block is too small.
cat >length.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *copy(const char *s) {
	unsigned char size = strlen(s) + 1; char *p = malloc(size); /* cuts */
	strcpy(p, s); /* copies */
	return p;
}
int main(int argc, char **argv) {
	char text[300];
	memset(text, 'x', 280 * argc);
	text[280] = 0;
	puts(copy(text));
	return 0;
}
C
SURE=no tells length 'cut:/* cuts */' 'any:/* copies */'

# A length below zero, and the check that let it through.
cat >negative.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct packet { short total, header; char data[16]; };
struct message { int length; char body[64]; };
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;
__attribute__((noipa)) static int rest(const struct packet *p) {
	return p->total - p->header; /* subtracts */
}
static void take(struct message *m, const struct packet *p) {
	int n = rest(p);
	if (n > (int)sizeof m->body) /* checks */
		return;
	m->length = n;
	copy(m->body, p->data, n); /* copies */
}
int main(int argc, char **argv) {
	struct message *m = malloc(sizeof *m);
	struct packet *packets = calloc(2, sizeof *packets);
	packets[0] = (struct packet){ 10, 4, "hello" };
	packets[1] = (struct packet){ 2 * argc, 6, "x" };
	for (int i = 0; i < 2; i++)
		take(m, &packets[i]);
	printf("%d\n", m->length);
	return 0;
}
C
SURE=no tells negative 'cut:/* subtracts */' 'any:/* checks */' 'any:/* copies */'

# A letter as an index: below zero beyond the first half.
cat >letter.c <<'C'
#include <stdio.h>
struct lexer { long weights[40]; unsigned char class_of[256]; };
static int nothing(void) { return 0; }
static int (*const handlers[4])(void) = { nothing, nothing, nothing, nothing };
__attribute__((noipa)) static int classify(const struct lexer *l, const char *p) {
	signed char c = *p;
	return l->class_of[c]; /* turns */
}
int main(int argc, char **argv) {
	static struct lexer l;
	int n = 0;
	for (int i = 0; i < 40; i++)
		l.weights[i] = 0x0101010101010101L * (90 + i);
	for (const char *p = "abc\xe9xyz"; *p; p++)
		n += handlers[classify(&l, p)]();
	printf("%d\n", n);
	return 0;
}
C
SURE=no tells letter 'cut:/* turns */'

# A reference is given back twice on the way of an error.
cat >refs.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct buf { int refs; char text[40]; };
static void put(struct buf *b) {
	if (--b->refs == 0)
		free(b); /* frees */
}
static int send(struct buf *b) {
	if (strlen(b->text) > 10) {
		put(b); /* drops */
		return -1;
	}
	return 0;
}
static int handle(struct buf *b) {
	b->refs++;
	int sent = send(b);
	put(b); /* drops again */
	return sent;
}
int main(void) {
	const char *texts[] = { "short", "a rather long one" };
	for (int i = 0; i < 2; i++) {
		struct buf *b = calloc(1, sizeof *b);
		b->refs = 1;
		strcpy(b->text, texts[i]);
		if (handle(b) < 0)
			printf("%s\n", b->text); /* uses */
		put(b);
	}
	return 0;
}
C
SURE=no tells refs 'drop:/* drops */' 'call:/* drops again */' 'any:/* frees */' 'any:/* uses */'

# A pool of the program's own: the next owner of an entry does not set all of it.
cat >pool.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct request { struct request *next; int kind; void (*done)(struct request *); char *name; };
static struct request *spare;
static int total;
static struct request *get(int kind) {
	struct request *r = spare; /* takes */
	if (r)
		spare = r->next;
	else
		r = calloc(1, sizeof *r);
	r->kind = kind; /* sets up */
	r->next = NULL;
	return r;
}
static void named_done(struct request *r) { total += strlen(r->name); /* uses */ }
static struct request *named(const char *name) {
	struct request *r = get(1);
	r->name = strdup(name);
	r->done = named_done;
	return r;
}
static void finish(struct request *r) {
	if (r->done)
		r->done(r);
	free(r->name); /* frees */
	r->next = spare;
	spare = r;
}
int main(void) {
	finish(get(0));
	finish(named("first"));
	finish(named("second"));
	finish(get(0));
	printf("%d\n", total);
	return 0;
}
C
SURE=no tells pool 'set up:/* takes */' 'set up:/* sets up */' 'any:/* frees */' 'any:/* uses */'
"$UNSNARL" isolate --seed 1 -- ./pool | grep -q '^what the last owner had left there was cleared then, nothing failed' ||
	{ echo "not ok: pool: $("$UNSNARL" isolate --seed 1 -- ./pool)"; failed=1; }

# The pointer is cleared behind its block: the free has to wait.
cat >shut.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
struct stats { long n, sum; };
struct context { atomic_int stop, running; struct stats *stats; pthread_mutex_t lock; };
static void *work(void *arg) {
	struct context *c = arg;
	while (!atomic_load(&c->stop)) {
		pthread_mutex_lock(&c->lock);
		c->stats->n++;
		pthread_mutex_unlock(&c->lock);
	}
	atomic_fetch_sub(&c->running, 1);
	pthread_mutex_lock(&c->lock);
	c->stats->sum += c->stats->n; /* uses */
	pthread_mutex_unlock(&c->lock);
	return NULL;
}
int main(void) {
	struct context *c = calloc(1, sizeof *c);
	pthread_t t;
	c->stats = calloc(1, sizeof *c->stats);
	pthread_mutex_init(&c->lock, NULL);
	c->running = 1;
	pthread_create(&t, NULL, work, c);
	atomic_store(&c->stop, 1);
	while (atomic_load(&c->running))
		;
	free(c->stats); /* frees */
	c->stats = NULL;
	pthread_join(t, NULL);
	return 0;
}
C
tells shut 'any:/* frees */' 'any:/* uses */'

# Published before it is complete; one was made before there was a thread.
cat >publish.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct codec { const char *name; int (*run)(int); int uses; };
static struct codec *table[8];
static int ncodecs;
static int twice(int x) { return 2 * x; }
static void add(const char *name, int (*run)(int)) {
	struct codec *c = calloc(1, sizeof *c);
	table[ncodecs] = c;
	__atomic_store_n(&ncodecs, ncodecs + 1, __ATOMIC_RELEASE); /* publishes */
	c->name = name;
	c->run = run; /* completes */
}
static void *load(void *unused) {
	add("twice", twice);
	return NULL;
}
static int run_all(int x) {
	int n = __atomic_load_n(&ncodecs, __ATOMIC_ACQUIRE);
	for (int i = 0; i < n; i++) {
		table[i]->uses++;
		x = table[i]->run(x); /* uses */
	}
	return x;
}
int main(void) {
	pthread_t t;
	add("one", twice);
	pthread_create(&t, NULL, load, NULL);
	int sum = run_all(1) + run_all(2);
	pthread_join(t, NULL);
	printf("%d\n", sum);
	return 0;
}
C
tells publish 'any:/* completes */' 'any:/* uses */'

# A map that keeps the entry it found last is no pool: its fields are its owner's all the time.
cat >last.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct entry { struct entry *next; char *key; int value; };
struct map { struct entry *buckets[4], *last; };
static struct entry *get(struct map *m, const char *key) {
	if (m->last && !strcmp(m->last->key, key)) /* uses */
		return m->last;
	for (struct entry *e = m->buckets[key[0] % 4]; e; e = e->next)
		if (!strcmp(e->key, key))
			return m->last = e; /* keeps */
	return NULL;
}
static void put(struct map *m, const char *key) {
	struct entry *e = calloc(1, sizeof *e);
	e->key = strdup(key);
	e->next = m->buckets[key[0] % 4];
	m->buckets[key[0] % 4] = e;
}
static void drop(struct map *m, const char *key) {
	struct entry *e = m->buckets[key[0] % 4];
	m->buckets[key[0] % 4] = e->next;
	free(e); /* frees */
}
int main(void) {
	struct map m = { 0 };
	put(&m, "a"), put(&m, "b"), put(&m, "c"), put(&m, "e");
	get(&m, "b");
	put(&m, "f"), put(&m, "g");
	drop(&m, "g"), drop(&m, "f"), drop(&m, "b");
	printf("%p\n", (void *)get(&m, "c"));
	return 0;
}
C
SURE=no tells last 'write:/* keeps */' 'any:/* frees */' 'any:/* uses */'
grep -q '"set up"' last.json && { echo "not ok: last: $(cat last.json)"; failed=1; }

# What is waited for has changed, and the wrong condition was told.
cat >full.c <<'C'
#include <pthread.h>
#include <stdio.h>
struct channel { pthread_mutex_t lock; pthread_cond_t some, room; int n, closed; };
static int put(struct channel *c) {
	pthread_mutex_lock(&c->lock);
	while (c->n == 2 && !c->closed) /* looks */
		pthread_cond_wait(&c->room, &c->lock); /* waits */
	int open = !c->closed;
	c->n += open;
	pthread_cond_signal(&c->some);
	pthread_mutex_unlock(&c->lock);
	return open;
}
static void get(struct channel *c) {
	pthread_mutex_lock(&c->lock);
	while (c->n == 0)
		pthread_cond_wait(&c->some, &c->lock);
	c->n--;
	pthread_cond_signal(&c->room);
	pthread_mutex_unlock(&c->lock);
}
static void *produce(void *c) {
	for (int i = 0; i < 6 && put(c); i++)
		;
	return NULL;
}
int main(void) {
	static struct channel c = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER };
	pthread_t t;
	pthread_create(&t, NULL, produce, &c);
	get(&c), get(&c);
	pthread_mutex_lock(&c.lock);
	c.closed = 1; /* closes */
	pthread_cond_broadcast(&c.some);
	pthread_mutex_unlock(&c.lock);
	pthread_join(t, NULL);
	return 0;
}
C
SURE=no tells full 'read:/* looks */' 'write:/* closes */' 'any:/* waits */'

[ $failed = 0 ] && echo "ok: clues"
exit $failed
