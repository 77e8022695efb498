/* Three, five and eight readers of a value end, and their slots go to others before somebody writes: with so
 * many threads in between, that one has the slot of one of them.
 * run: 0 -> 0
 * run: 1013 -> 0
 * run: 1014 -> 0
 * run: 1016 -> 0
 * run: 1020 -> 0
 * pair: get1 > few
 * pair: get2 > few
 * pair: get3 > few
 * pair: get1 > more
 * pair: get2 > more
 * pair: get3 > more
 * pair: get4 > more
 * pair: get5 > more
 * pair: get1 > most
 * pair: get2 > most
 * pair: get3 > most
 * pair: get4 > most
 * pair: get5 > most
 * pair: get6 > most
 * pair: get7 > most
 * pair: get8 > most
 * no pair: get4 > few
 * no pair: get6 > more
 * no pair: other > most
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile long few, more, most, unused;

static void *read_all(void *argument)
{
	long got = 0;
	switch (*(int *)argument) {
	case 0: got = few + more + most; break; /* @get1 */
	case 1: got = few + more + most; break; /* @get2 */
	case 2: got = few + more + most; break; /* @get3 */
	case 3: got = more + most; break; /* @get4 */
	case 4: got = more + most; break; /* @get5 */
	case 5: got = most; break; /* @get6 */
	case 6: got = most; break; /* @get7 */
	case 7: got = most; break; /* @get8 */
	default: unused++; /* @other */
	}
	return (char *)argument + got;
}

static void *write_all(void *argument)
{
	few = 0; /* @few */
	more = 0; /* @more */
	most = 0; /* @most */
	return argument;
}

static void run_one(void *(*routine)(void *), int which)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, routine, &which) != 0)
		exit(1);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	int between = argc > 1 ? atoi(argv[1]) : 0;
	for (int i = 0; i < 8 + between; i++)
		run_one(read_all, i);
	run_one(write_all, 0);
	printf("%ld\n", few + more + most + unused);
	return 0;
}
