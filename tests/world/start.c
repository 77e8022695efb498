/* A program that fails when it does not start alone and alike: each letter of its
 * argument is one thing that a second run in the same place could not do again. Two
 * threads make it worth a hunt. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *work(void *unused)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		count++;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static int complain(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	return 1;
}

static int make_alone(const char *path)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);

	return fd < 0 || write(fd, "x", 1) != 1 || close(fd) ? complain(path) : 0;
}

/* A file that was there before, read by one descriptor and changed through another. */
static int change(void)
{
	char text[8] = { 0 };
	int reader = open("count", O_RDONLY), writer = open("count", O_RDWR);

	if (reader < 0 || writer < 0 || read(writer, text, 7) < 1 || strcmp(text, "7\n"))
		return complain("count is not 7");
	if (pwrite(writer, "8", 1, 0) != 1 || pread(reader, text, 1, 0) != 1)
		return complain("count");
	close(reader);
	close(writer);
	errno = 0;
	return text[0] == '8' ? 0 : complain("the reader saw another file than the writer");
}

static int serve(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(23457),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	char byte;

	if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 5))
		return complain("bind");
	if (connect(client, (struct sockaddr *)&address, sizeof address))
		return complain("connect");
	int served = accept(listener, NULL, NULL);

	if (write(served, "x", 1) != 1 || read(client, &byte, 1) != 1)
		return complain("talk");
	/* The side that closes first keeps the port for a while. */
	close(served);
	close(client);
	close(listener);
	return 0;
}

static int name_socket(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "\0unsnarl-test-start" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return bind(fd, (struct sockaddr *)&address, sizeof address) ? complain("name") : 0;
}

static int count_input(void)
{
	int bytes = 0;

	while (getchar() != EOF)
		bytes++;
	printf("%d bytes of input\n", bytes);
	return bytes != 12;
}

static int where(void)
{
	char program[4096] = { 0 }, folder[4096], *wanted = getenv("WANTED");

	if (readlink("/proc/self/exe", program, sizeof program - 1) < 0 || !getcwd(folder, sizeof folder))
		return complain("where");
	printf("%s\n%s\n", program, folder);
	errno = 0;
	return !wanted || (!strncmp(program, wanted, strlen(wanted)) && !strcmp(folder, wanted)) ?
		       0 :
		       complain("somewhere else");
}

int main(int argc, char **argv)
{
	int failed = 0;
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (const char *at = argc > 1 ? argv[1] : ""; *at; at++)
		switch (*at) {
		case 'l': failed |= make_alone("lock"); break;
		case 't': failed |= make_alone("/tmp/unsnarl-test-start"); break;
		case 'c': failed |= change(); break;
		case 'd': failed |= unlink("gone") ? complain("gone") : 0; break;
		case 'm': failed |= mkdir("made", 0755) ? complain("made") : make_alone("made/file"); break;
		case 'r': failed |= rename("old", "new") ? complain("old") : 0; break;
		case 's': failed |= sem_open("/unsnarl-test-start", O_CREAT | O_EXCL, 0600, 0) == SEM_FAILED; break;
		case 'p': failed |= serve(); break;
		case 'n': failed |= name_socket(); break;
		case 'i': failed |= count_input(); break;
		case 'w': failed |= where(); break;
		case 'f': failed = 1; break; /* whatever else */
		}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return failed;
}
