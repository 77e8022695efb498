/* Spinlocks exclude, and trylock says EBUSY. */
#include "check.h"

static pthread_spinlock_t lock;
static int total, tries;

static void *count(void *none)
{
	for (int i = 0; i < 3; i++) {
		EQUAL(pthread_spin_lock(&lock), 0);
		int old = total;
		total = old + 1;
		EQUAL(pthread_spin_unlock(&lock), 0);
	}
	return none;
}

/* Spins by itself. */
static void *insist(void *none)
{
	int code;
	while ((code = pthread_spin_trylock(&lock)))
		EQUAL(code, EBUSY);
	tries++;
	total++;
	EQUAL(pthread_spin_unlock(&lock), 0);
	return none;
}

int main(void)
{
	EQUAL(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE), 0);
	EQUAL(pthread_spin_lock(&lock), 0);
	EQUAL(pthread_spin_trylock(&lock), EBUSY);
	pthread_t threads[] = { start(count, NULL), start(insist, NULL), start(count, NULL),
				start(insist, NULL) };
	total++;
	EQUAL(pthread_spin_unlock(&lock), 0);
	for (int i = 0; i < 4; i++)
		finish(threads[i]);
	EQUAL(pthread_spin_destroy(&lock), 0);
	printf("%d %d\n", total, tries);
	return 0;
}
