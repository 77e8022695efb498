#!/usr/bin/env bash
# The binary loom, and what comes to a program from outside of its threads: timers, signals, other processes, owners of
# locks that are gone, faults that it handles. Correct programs pass under control. UNSNARL names the tool.
. "$(dirname "$0")/counting.sh"
if [ ! -x "$(dirname "$UNSNARL")/loom/grind/unsnarl-amd64-linux" ]; then
	echo "this unsnarl was built without the binary loom"
	exit 77
fi

# NAME WHAT: the program NAME.c passes in all of so many schedules.
passes() {
	local n=${schedules:-5}
	gcc -g -O1 -w -pthread "$1.c" -o "$1" && call hunt --budget "$n" --seed 1 -j 1 --no-reduce --store "$1.store" -- "./$1"
	expect_status 0 "$2"
	tr '\n' ' ' <out >line # sentences are folded
	expect line "$n +passed, +0 +failed" "$2"
}

test_timers() {
	cat >timers.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static int alarms, chimes, calls, ticks;
static void count(int *what)
{
	pthread_mutex_lock(&lock);
	++*what;
	pthread_cond_broadcast(&news);
	pthread_mutex_unlock(&lock);
}
static void on_call(union sigval value)
{
	count(&calls);
}
static void *listen(void *set)
{
	siginfo_t info;
	for (;;) {
		int number = sigwaitinfo(set, &info);
		if (number == SIGALRM)
			count(&alarms);
		if (number == SIGRTMIN && info.si_value.sival_int == 5 && info.si_code == SI_TIMER)
			count(&chimes);
		if (number == SIGUSR1)
			return NULL;
	}
}
static void *tick(void *none)
{
	struct itimerspec every = { { 0, 1000000 }, { 0, 1000000 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	uint64_t times;
	timerfd_settime(fd, 0, &every, NULL);
	while (ticks < 3 && read(fd, &times, sizeof times) == sizeof times)
		count(&ticks);
	close(fd);
	return none;
}
int main(void)
{
	struct itimerval every = { { 0, 1500 }, { 0, 1500 } }, none = { 0 };
	struct itimerspec once = { { 0, 0 }, { 0, 2000000 } };
	struct sigevent chime = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value = { 5 } };
	struct sigevent call = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_call };
	pthread_t listener, ticker;
	timer_t chimer, caller;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigaddset(&set, SIGRTMIN);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&listener, NULL, listen, &set);
	pthread_create(&ticker, NULL, tick, NULL);
	alarm(3600); /* a watchdog */
	timer_create(CLOCK_MONOTONIC, &chime, &chimer);
	timer_create(CLOCK_REALTIME, &call, &caller);
	timer_settime(chimer, 0, &once, NULL);
	timer_settime(caller, 0, &once, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	pthread_mutex_lock(&lock);
	while (alarms < 3 || !chimes || !calls)
		pthread_cond_wait(&news, &lock);
	pthread_mutex_unlock(&lock);
	setitimer(ITIMER_REAL, &none, NULL);
	pthread_join(ticker, NULL);
	kill(getpid(), SIGUSR1);
	pthread_join(listener, NULL);
	return ticks != 3 || chimes != 1 || calls != 1;
}
C
	passes timers "timers of all kinds come in virtual time"
	cat >behind.c <<'C'
#include <pthread.h>
#include <unistd.h>
static volatile int count;
static void *add(void *none)
{
	count = count + 1;
	return none;
}
int main(void)
{
	pthread_t threads[2];
	alarm(1000); /* before it has threads */
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return count != 2 || alarm(0) < 900;
}
C
	gcc -g -O1 -w -pthread behind.c -o behind && call hunt --budget 40 --seed 1 -j 1 --no-reduce --store behind.store -- timeout 1000 ./behind
	expect_status 1 "a wrapper with a timer does not come under control, what it starts does"
	cat >beats.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int ready;
static void *wait(void *none)
{
	pthread_mutex_lock(&lock);
	if (!ready)
		pthread_cond_wait(&never, &lock);
	return none;
}
int main(void)
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	pthread_t thread;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&thread, NULL, wait, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_mutex_unlock(&lock);
	return pthread_join(thread, NULL);
}
C
	gcc -g -O1 -w -pthread beats.c -o beats && call hunt --budget 10 --seed 1 -j 1 --no-reduce --store beats.store -- ./beats
	expect_status 1 "a timer that wakes nobody does not hide a deadlock"
	expect out '^Failed.*deadlock' "a timer that wakes nobody does not hide a deadlock"
}

test_handlers() {
	cat >handlers.c <<'C'
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
static sem_t given, ready;
static volatile sig_atomic_t seen;
static void on_signal(int number)
{
	seen++;
}
static int wrong;
static void *take(void *none)
{
	sem_post(&ready);
	wrong |= sem_wait(&given) != 0; /* the call begins again */
	return none;
}
static void *nap(void *none)
{
	struct timespec time = { 3600 }, left = { 0 };
	sem_post(&ready);
	while (!seen)
		if (nanosleep(&time, &left) == 0 || errno != EINTR || left.tv_sec < 3000)
			wrong |= 2;
	return none;
}
static void *answer(void *set)
{
	while (seen < 4)
		sigsuspend(set);
	return NULL;
}
int main(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pthread_t taker, napper, answerer;
	sigset_t blocked, open;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	sem_init(&given, 0, 0);
	sem_init(&ready, 0, 0);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &blocked, &open);
	pthread_create(&taker, NULL, take, NULL);
	sem_wait(&ready);
	pthread_kill(taker, SIGUSR1);
	while (seen < 1)
		usleep(100);
	seen = 0;
	pthread_create(&napper, NULL, nap, NULL);
	sem_wait(&ready);
	while (!seen) {
		usleep(100);
		pthread_kill(napper, SIGUSR1);
	}
	pthread_join(napper, NULL);
	seen = 2;
	pthread_create(&answerer, NULL, answer, &open);
	while (seen < 4) {
		int before = seen;
		kill(getpid(), SIGUSR2); /* only the one in sigsuspend lets it in */
		while (seen == before)
			usleep(100);
	}
	pthread_join(answerer, NULL);
	sem_post(&given);
	pthread_join(taker, NULL);
	return wrong;
}
C
	passes handlers "signals come to who lets them in, and calls go on or end as they do without control"
}

# Blocked but for the time of the call, and the call may be the only thing that waits.
test_masks() {
	cat >masks.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>
static volatile sig_atomic_t seen;
static void on_signal(int number)
{
	seen++;
}
static void *nothing(void *none)
{
	return none;
}
int main(void)
{
	pthread_t thread;
	sigset_t blocked, open;
	int wrong = 0, set = epoll_create1(0);
	struct epoll_event event;
	signal(SIGALRM, on_signal);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &blocked, &open);
	pthread_create(&thread, NULL, nothing, NULL);
	ualarm(1000, 0);
	wrong += pselect(0, NULL, NULL, NULL, NULL, &open) != -1 || errno != EINTR || seen != 1;
	ualarm(1000, 0);
	wrong += ppoll(NULL, 0, NULL, &open) != -1 || errno != EINTR || seen != 2;
	ualarm(1000, 0);
	wrong += epoll_pwait(set, &event, 1, -1, &open) != -1 || errno != EINTR || seen != 3;
	ualarm(1000, 0);
	wrong += ppoll(NULL, 0, &(struct timespec){ 1 }, NULL) != 0 || seen != 3;
	pthread_join(thread, NULL);
	return wrong;
}
C
	passes masks "a call that lets signals in for its time"
}

test_processes() {
	cat >processes.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static int ends[2];
static sem_t *shared;
static void *feed(void *none)
{
	sem_wait(shared); /* posted by the child, while another thread waits for its end */
	write(ends[1], "x", 1);
	return none;
}
static void *reap(void *set)
{
	int number;
	while (sigwait(set, &number) != 0 || number != SIGCHLD)
		;
	return NULL;
}
int main(void)
{
	pthread_t feeder, reaper;
	sigset_t set;
	int status;
	pipe(ends);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sem_init(shared, 1, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pid_t child = fork();
	if (child == 0) {
		char byte;
		usleep(10000);
		sem_post(shared);
		_exit(read(ends[0], &byte, 1) == 1 && byte == 'x' ? 7 : 1);
	}
	pthread_create(&feeder, NULL, feed, NULL);
	pthread_create(&reaper, NULL, reap, &set);
	waitpid(child, &status, 0);
	pthread_join(feeder, NULL);
	pthread_join(reaper, NULL);
	return WEXITSTATUS(status) != 7;
}
C
	passes processes "a child posts, waits, and ends with a signal"
	cat >heirs.c <<'C'
#include <errno.h>
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock;
static int half, whole;
static void *leave(void *none)
{
	pthread_mutex_lock(&lock);
	half++;
	usleep(1000); /* somebody waits for it by then */
	return none;  /* with the lock */
}
static void *inherit(void *none)
{
	if (pthread_mutex_lock(&lock) == EOWNERDEAD) {
		whole = half;
		pthread_mutex_consistent(&lock);
	}
	pthread_mutex_unlock(&lock);
	return none;
}
int main(void)
{
	pthread_t leaver, heirs[2];
	pthread_mutexattr_t robust;
	pthread_mutexattr_init(&robust);
	pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&lock, &robust);
	pthread_mutex_lock(&lock);
	pthread_create(&leaver, NULL, leave, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&heirs[i], NULL, inherit, NULL);
	pthread_mutex_unlock(&lock);
	pthread_join(leaver, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(heirs[i], NULL);
	inherit(NULL);
	return whole != 1;
}
C
	passes heirs "the owner of a robust mutex ends"
}

test_files() {
	cat >files.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
static int inside, wrong;
static void *lock(void *none)
{
	int fd = open("lock", O_RDWR | O_CREAT, 0600);
	for (int i = 0; i < 3; i++) {
		flock(fd, LOCK_EX);
		wrong += __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST) != 0;
		sched_yield();
		__atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
		flock(fd, LOCK_UN);
	}
	close(fd);
	return none;
}
static void *write_there(void *none)
{
	int fd = open("pipe", O_WRONLY);
	wrong += write(fd, "x", 1) != 1;
	close(fd);
	return none;
}
static void *read_there(void *none)
{
	char byte;
	int fd = open("pipe", O_RDONLY);
	wrong += read(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 0;
	close(fd);
	return none;
}
int main(void)
{
	void *(*work[])(void *) = { lock, lock, read_there, write_there };
	pthread_t threads[4];
	unlink("pipe");
	mkfifo("pipe", 0600);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work[i], NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return wrong;
}
C
	passes files "threads wait for locks on files, and for the other end of a named pipe"
}

test_inputs() {
	cat >inputs.c <<'C'
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>
static int given;
static void *take(void *none)
{
	eventfd_t one;
	for (int i = 0; i < 3; i++)
		eventfd_read(given, &one);
	return none;
}
int main(void)
{
	pthread_t threads[3];
	given = eventfd(0, EFD_SEMAPHORE);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, take, NULL);
	for (int i = 0; i < 9; i++)
		eventfd_write(given, 1);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
C
	schedules=30 passes inputs "one takes what another was woken for"
}

test_faults() {
	cat >probe.c <<'C'
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
static _Thread_local sigjmp_buf back;
static volatile char *area;
static void on_fault(int number)
{
	siglongjmp(back, 1);
}
static __attribute__((noinline)) int can_read(int page)
{
	volatile int read = 0;
	if (sigsetjmp(back, 1) == 0) {
		(void)area[page * 4096];
		read = 1;
	}
	return read;
}
static void *probe(void *bad)
{
	for (int page = 0; page < 4; page++)
		*(int *)bad += can_read(page) != (page % 2 == 0);
	return NULL;
}
int main(void)
{
	pthread_t threads[2];
	int bad[2] = { 0 };
	signal(SIGSEGV, on_fault);
	area = mmap(NULL, 4 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int page = 1; page < 4; page += 2)
		mprotect((char *)area + page * 4096, 4096, PROT_NONE);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, probe, &bad[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return bad[0] + bad[1];
}
C
	passes probe "a load whose value is thrown away faults all the same"
	cat >inner.c <<'C'
#include <pthread.h>
#include <valgrind/valgrind.h>
static long crash(unsigned thread)
{
	return *(volatile long *)8 + thread;
}
static void *work(void *none)
{
	VALGRIND_NON_SIMD_CALL0(crash); /* in the middle of Valgrind */
	return none;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
C
	gcc -g -O1 -w -pthread inner.c -o inner && call hunt --budget 2 --seed 1 -j 1 --store inner.store -- ./inner
	expect_status 0 "an error of Valgrind's own is not the program's"
	expect out 'Valgrind: ended with an error of its own' "an error of Valgrind's own is told"
}

test_timers
test_handlers
test_masks
test_processes
test_files
test_inputs
test_faults
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
