/* Readers share, a writer is alone, and the codes of the try variants. */
#include "check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both_inside;
static int a, b, reads;

static void *reader(void *none)
{
	for (int i = 0; i < 3; i++) {
		EQUAL(pthread_rwlock_rdlock(&lock), 0);
		EQUAL(a, b);
		EQUAL(pthread_rwlock_unlock(&lock), 0);
	}
	__atomic_add_fetch(&reads, 3, __ATOMIC_RELAXED);
	return none;
}

static void *writer(void *none)
{
	for (int i = 0; i < 3; i++) {
		EQUAL(pthread_rwlock_wrlock(&lock), 0);
		a++;
		b++;
		EQUAL(pthread_rwlock_unlock(&lock), 0);
	}
	return none;
}

/* Two readers that hold the lock at the same time, or this never ends. */
static void *reader_with_another(void *none)
{
	EQUAL(pthread_rwlock_rdlock(&lock), 0);
	int code = pthread_barrier_wait(&both_inside);
	CHECK(code == 0 || code == PTHREAD_BARRIER_SERIAL_THREAD);
	EQUAL(pthread_rwlock_trywrlock(&lock), EBUSY);
	code = pthread_barrier_wait(&both_inside);
	CHECK(code == 0 || code == PTHREAD_BARRIER_SERIAL_THREAD);
	EQUAL(pthread_rwlock_unlock(&lock), 0);
	return none;
}

static void *try_written(void *none)
{
	EQUAL(pthread_rwlock_tryrdlock(&lock), EBUSY);
	EQUAL(pthread_rwlock_trywrlock(&lock), EBUSY);
	return none;
}

static void *try_read(void *none)
{
	EQUAL(pthread_rwlock_tryrdlock(&lock), 0);
	EQUAL(pthread_rwlock_unlock(&lock), 0);
	EQUAL(pthread_rwlock_trywrlock(&lock), EBUSY);
	return none;
}

int main(void)
{
	pthread_t threads[] = { start(reader, NULL), start(writer, NULL), start(reader, NULL),
				start(writer, NULL) };
	for (int i = 0; i < 4; i++)
		finish(threads[i]);
	EQUAL(pthread_barrier_init(&both_inside, NULL, 2), 0);
	pthread_t one = start(reader_with_another, NULL), two = start(reader_with_another, NULL);
	finish(one);
	finish(two);
	EQUAL(pthread_rwlock_wrlock(&lock), 0);
	EQUAL(pthread_rwlock_rdlock(&lock), EDEADLK);
	EQUAL(pthread_rwlock_wrlock(&lock), EDEADLK);
	finish(start(try_written, NULL));
	EQUAL(pthread_rwlock_unlock(&lock), 0);
	EQUAL(pthread_rwlock_rdlock(&lock), 0);
	EQUAL(pthread_rwlock_rdlock(&lock), 0);
	finish(start(try_read, NULL));
	EQUAL(pthread_rwlock_unlock(&lock), 0);
	EQUAL(pthread_rwlock_trywrlock(&lock), EBUSY);
	EQUAL(pthread_rwlock_unlock(&lock), 0);
	EQUAL(pthread_rwlock_trywrlock(&lock), 0);
	EQUAL(pthread_rwlock_unlock(&lock), 0);
	EQUAL(pthread_rwlock_destroy(&lock), 0);
	printf("%d %d %d\n", a, b, reads);
	return 0;
}
