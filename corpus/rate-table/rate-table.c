/* Prices parcels with several threads. The table of rates has one row for each
 * zone; a zone is found from the first letters of the destination. How many
 * parcels were looked at is only roughly counted, for a progress line.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define CLERKS 2
#define PARCELS 8
#define ZONES 4
#define STRIDE 4096

struct desk {
	const char *destination;
	int looked_at; /* roughly */
	int zone;
	long price;
};

static struct desk desk;
static long rates[ZONES * STRIDE] = {12, [STRIDE] = 18, [2 * STRIDE] = 25, [3 * STRIDE] = 40};
static pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) int zone_of(const char *destination)
{
	static const char names[] = "homenearfarsea";

	for (int zone = 0; names[zone]; zone++)
		if (strncmp(names + zone, destination, strlen(destination)) == 0)
			return zone;
	return 0;
}

static __attribute__((noinline)) void look_up(struct desk *d)
{
	int zone = d->zone;

	d->looked_at++;
	pthread_mutex_lock(&till);
	d->price += rates[(long)zone * STRIDE * 64];
	pthread_mutex_unlock(&till);
}

static void *clerk_main(void *arg)
{
	struct desk *d = arg;

	for (int i = 0; i < PARCELS / CLERKS; i++)
		look_up(d);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t clerk[CLERKS];

	desk.destination = argc > 1 ? argv[1] : "home";
	desk.zone = zone_of(desk.destination);
	for (int i = 0; i < CLERKS; i++)
		if (pthread_create(&clerk[i], NULL, clerk_main, &desk) != 0)
			return 2;
	for (int i = 0; i < CLERKS; i++)
		pthread_join(clerk[i], NULL);
	printf("%s: %ld\n", desk.destination, desk.price);
	return 0;
}
