/* A ticket office: two clerks sell the seats of one evening, each at a window of
 * their own. A customer wants the best seat that is left; the clerk looks it up,
 * takes the money and writes the ticket. At closing time the tickets are counted:
 * no seat may have been sold twice. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define CLERKS 2
#define CUSTOMERS 2 /* at each window */
#define SEATS 100

enum seat { FREE, SOLD };

static struct house {
	pthread_mutex_t lock;
	enum seat seats[SEATS];
	int tickets[SEATS]; /* written for each seat */
} house = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The best seat that nobody has, -1 when the house is full. */
static int find_seat(void)
{
	int found = -1;

	pthread_mutex_lock(&house.lock);
	for (int seat = 0; seat < SEATS && found < 0; seat++)
		if (house.seats[seat] == FREE)
			found = seat;
	pthread_mutex_unlock(&house.lock);
	return found;
}

static void sell_seat(int seat)
{
	pthread_mutex_lock(&house.lock);
	house.seats[seat] = SOLD;
	house.tickets[seat]++;
	pthread_mutex_unlock(&house.lock);
}

static void *clerk_main(void *queue)
{
	for (intptr_t customers = (intptr_t)queue; customers > 0; customers--) {
		int seat = find_seat();

		if (seat >= 0)
			sell_seat(seat);
	}
	return NULL;
}

int main(void)
{
	pthread_t clerks[CLERKS];
	int sold = 0, twice = 0;

	for (int c = 0; c < CLERKS; c++)
		pthread_create(&clerks[c], NULL, clerk_main, (void *)(intptr_t)CUSTOMERS);
	for (int c = 0; c < CLERKS; c++)
		pthread_join(clerks[c], NULL);

	for (int seat = 0; seat < SEATS; seat++) {
		sold += house.tickets[seat];
		twice += house.tickets[seat] > 1;
	}
	printf("%d tickets, seats sold twice: %d\n", sold, twice);
	return twice ? 1 : 0;
}
