/* Calls that synchronise, in C. A comment names what the site table must hold for
 * its line, and for no other. Compiled only, never run. */
#define _GNU_SOURCE
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t semaphore;
static mtx_t mtx;
static cnd_t cnd;
static once_flag flag = ONCE_FLAG_INIT;
static const struct timespec soon;
int total;
char buffer[16];

static void initialise(void)
{
	total = 1;
}

/* A function of the program's own is no library function, whatever its name. */
__attribute__((noinline)) int waitid_of(int which)
{
	return total += which;
}

void *thread(void *argument)
{
	pthread_mutex_lock(&mutex); /* sync: pthread_mutex_lock */
	total++;
	pthread_cond_signal(&condition); /* sync: pthread_cond_signal */
	pthread_mutex_unlock(&mutex);    /* sync: pthread_mutex_unlock */
	pthread_barrier_wait(&barrier);  /* sync: pthread_barrier_wait */
	if (total > 3)
		pthread_exit(argument); /* sync: pthread_exit */
	return argument;
}

void locks(void)
{
	if (pthread_mutex_trylock(&mutex) == 0)                      /* sync: pthread_mutex_trylock */
		pthread_cond_timedwait(&condition, &mutex, &soon);   /* sync: pthread_cond_timedwait */
	pthread_mutex_timedlock(&mutex, &soon);                      /* sync: pthread_mutex_timedlock */
	pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon);     /* sync: pthread_mutex_clocklock */
	pthread_cond_wait(&condition, &mutex);                       /* sync: pthread_cond_wait */
	pthread_cond_broadcast(&condition);                          /* sync: pthread_cond_broadcast */
	pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock); /* sync: pthread_rwlock_rdlock pthread_rwlock_unlock */
	pthread_rwlock_trywrlock(&rwlock);                           /* sync: pthread_rwlock_trywrlock */
	pthread_spin_lock(&spin);                                    /* sync: pthread_spin_lock */
	pthread_spin_unlock(&spin);                                  /* sync: pthread_spin_unlock */
	pthread_once(&once, initialise);                             /* sync: pthread_once */
	sem_wait(&semaphore);                                        /* sync: sem_wait */
	sem_post(&semaphore);                                        /* sync: sem_post */
	mtx_lock(&mtx);                                              /* sync: mtx_lock */
	cnd_wait(&cnd, &mtx);                                        /* sync: cnd_wait */
	call_once(&flag, initialise);                                /* sync: call_once */
	thrd_yield();                                                /* sync: thrd_yield */
	sched_yield();                                               /* sync: sched_yield */
}

void waits(int file, fd_set *set, struct pollfd *polled, struct epoll_event *event)
{
	usleep(1);                          /* sync: usleep */
	nanosleep(&soon, NULL);             /* sync: nanosleep */
	read(file, buffer, sizeof buffer);  /* sync: read */
	write(file, buffer, sizeof buffer); /* sync: write */
	poll(polled, 1, -1);                /* sync: poll */
	select(1, set, NULL, NULL, NULL);   /* sync: select */
	epoll_wait(file, event, 1, -1);     /* sync: epoll_wait */
	recv(file, buffer, 1, 0);           /* sync: recv */
	accept(file, NULL, NULL);           /* sync: accept */
	syscall(SYS_futex, &total, 0, 0);   /* sync: syscall */
	strlen(buffer);                     /* no synchronisation */
	close(file);
	waitid_of(2);
}

int main(void)
{
	pthread_t one;
	pthread_create(&one, NULL, thread, NULL); /* sync: pthread_create */
	locks();
	pthread_cancel(one);     /* sync: pthread_cancel */
	pthread_kill(one, 0);    /* sync: pthread_kill */
	pthread_join(one, NULL); /* sync: pthread_join */
	assert(total > 0);       /* sync: __assert_fail */
	if (fork() == 0)         /* sync: fork */
		_exit(0);        /* sync: _exit */
	if (total == 5)
		abort(); /* sync: abort */
	exit(total);     /* sync: exit */
}
