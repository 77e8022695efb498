/* A small ledger: a title, the account that entries begin at, and the totals of
 * eight accounts. The title is given on the command line.
 */
#include <stdio.h>

#define ACCOUNTS 8

struct ledger {
	char title[16];
	long base;
	long entries;
};

static struct ledger ledger;
static long totals[ACCOUNTS];
static long cursor;

static __attribute__((noinline)) void ledger_name(struct ledger *l, const char *title)
{
	size_t n = 0;

	while (title[n]) {
		l->title[n] = title[n];
		n++;
	}
}

static __attribute__((noinline)) void ledger_seek(const struct ledger *l, long offset)
{
	cursor = l->base + offset;
}

static __attribute__((noinline)) void ledger_post(struct ledger *l, long amount)
{
	totals[cursor] += amount;
	l->entries++;
}

static __attribute__((noinline)) long ledger_first(const struct ledger *l)
{
	return totals[l->base];
}

int main(int argc, char **argv)
{
	ledger.base = 2;
	ledger_name(&ledger, argc > 1 ? argv[1] : "cash");
	ledger_seek(&ledger, 1);
	for (long amount = 10; amount <= 40; amount += 10)
		ledger_post(&ledger, amount);
	printf("first %ld, entries %ld\n", ledger_first(&ledger), ledger.entries);
	return 0;
}
