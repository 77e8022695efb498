/* A day at a small bank: tellers work through stacks of payment orders on a
 * few shared accounts. Every booking goes into the journal, and at closing
 * time the journal is checked against the balances. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "../pause.h"

#define TELLERS 3
#define ORDERS 14
#define ACCOUNTS 3
#define OPENING 100000

struct account {
	int number;
	long balance;
	pthread_mutex_t lock;
};

struct booking {
	int account;
	int teller;
	long amount;
};

static struct journal {
	struct booking book[TELLERS * ORDERS];
	int used;
	pthread_mutex_t lock;
} journal = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct account accounts[ACCOUNTS];

static void journal_add(int account, int teller, long amount)
{
	pthread_mutex_lock(&journal.lock);
	journal.book[journal.used++] = (struct booking){account, teller, amount};
	pthread_mutex_unlock(&journal.lock);
}

static long account_balance(struct account *a)
{
	pthread_mutex_lock(&a->lock);
	long now = a->balance;
	pthread_mutex_unlock(&a->lock);
	return now;
}

static void deposit(struct account *a, int teller, long amount)
{
	journal_add(a->number, teller, amount);
	pthread_mutex_lock(&a->lock);
	a->balance += amount;
	pthread_mutex_unlock(&a->lock);
}

/* Refuses an overdraft; a refused order leaves no entry in the journal. */
static int withdraw(struct account *a, int teller, long amount)
{
	long before = account_balance(a); PAUSE(6);

	if (before < amount)
		return -1;
	journal_add(a->number, teller, -amount);
	pthread_mutex_lock(&a->lock);
	a->balance = before - amount;
	pthread_mutex_unlock(&a->lock);
	return 0;
}

struct order {
	int account;
	long amount; /* negative: pay out */
	uint32_t seal;
};

static uint32_t next_number(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static uint32_t seal_of(int account, long amount)
{
	uint32_t h = (uint32_t)account * 2654435761u ^ (uint32_t)amount;

	for (int round = 0; round < 60000; round++) {
		h ^= h << 13;
		h ^= h >> 17;
		h ^= h << 5;
	}
	return h;
}

static struct order read_order(uint32_t *stack, int n)
{
	struct order o = {.account = (int)(next_number(stack) % ACCOUNTS)};
	long amount = 10 + (long)(next_number(stack) % 90);

	o.amount = n % 2 ? amount : -amount;
	o.seal = seal_of(o.account, o.amount);
	return o;
}

struct teller {
	pthread_t thread;
	int id;
	int refused;
	uint32_t seals;
};

static void *work_through(void *arg)
{
	struct teller *t = arg;
	uint32_t stack = 77u + 13u * (uint32_t)t->id;

	for (int n = 0; n < ORDERS; n++) {
		struct order o = read_order(&stack, n);
		struct account *a = &accounts[o.account];

		t->seals ^= o.seal;
		if (o.amount >= 0)
			deposit(a, t->id, o.amount);
		else if (withdraw(a, t->id, -o.amount) != 0)
			t->refused++;
	}
	return NULL;
}

/* Counts the accounts whose balance is not what the journal adds up to. */
static int closing_audit(void)
{
	int off = 0;

	for (int i = 0; i < ACCOUNTS; i++) {
		long books = OPENING;

		for (int k = 0; k < journal.used; k++)
			if (journal.book[k].account == i)
				books += journal.book[k].amount;
		printf("account %d: %ld\n", i, accounts[i].balance);
		if (books != accounts[i].balance) {
			fprintf(stderr, "account %d: journal says %ld\n", i, books);
			off++;
		}
	}
	return off;
}

int main(void)
{
	struct teller tellers[TELLERS] = {0};
	uint32_t seals = 0;
	int refused = 0;

	for (int i = 0; i < ACCOUNTS; i++) {
		accounts[i].number = i;
		accounts[i].balance = OPENING;
		pthread_mutex_init(&accounts[i].lock, NULL);
	}
	for (int i = 0; i < TELLERS; i++) {
		tellers[i].id = i;
		if (pthread_create(&tellers[i].thread, NULL, work_through, &tellers[i]) != 0)
			return 2;
	}
	for (int i = 0; i < TELLERS; i++) {
		pthread_join(tellers[i].thread, NULL);
		refused += tellers[i].refused;
		seals ^= tellers[i].seals;
	}
	printf("%d bookings, %d refused, seal %08x\n", journal.used, refused, seals);
	return closing_audit() == 0 ? 0 : 1;
}
