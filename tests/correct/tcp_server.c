/* A server of TCP connections with a thread for each, on a port that the system chooses, with clients in threads;
 * shut down by closing the socket's reading side. */
#include "check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS 3

static int listener;
static struct sockaddr_in address;

static void *serve(void *argument)
{
	int fd = (int)(long)argument;
	char text[16];
	ssize_t got;
	while ((got = recv(fd, text, sizeof text, 0)) > 0)
		EQUAL(send(fd, text, (size_t)got, 0), got);
	EQUAL(got, 0);
	close(fd);
	return NULL;
}

static void *listen_(void *none)
{
	pthread_t threads[CLIENTS];
	for (int i = 0; i < CLIENTS; i++) {
		int fd = accept(listener, NULL, NULL);
		CHECK(fd >= 0);
		threads[i] = start(serve, (void *)(long)fd);
	}
	CHECK(accept(listener, NULL, NULL) < 0); /* shut down */
	for (int i = 0; i < CLIENTS; i++)
		finish(threads[i]);
	return none;
}

static void *client(void *none)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char text[16];
	EQUAL(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	for (int i = 0; i < 2; i++) {
		EQUAL(send(fd, "hello", 5, 0), 5);
		EQUAL(recv(fd, text, 5, MSG_WAITALL), 5);
	}
	close(fd);
	return none;
}

int main(void)
{
	socklen_t size = sizeof address;
	pthread_t clients[CLIENTS];
	listener = socket(AF_INET, SOCK_STREAM, 0);
	address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	EQUAL(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
	EQUAL(listen(listener, 8), 0);
	EQUAL(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	pthread_t server = start(listen_, NULL);
	for (int i = 0; i < CLIENTS; i++)
		clients[i] = start(client, NULL);
	for (int i = 0; i < CLIENTS; i++)
		finish(clients[i]);
	EQUAL(shutdown(listener, SHUT_RD), 0);
	finish(server);
	close(listener);
	printf("served\n");
	return 0;
}
