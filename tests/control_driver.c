/* Runs a program under control without the rest of the tool: makes an area, sets
 * policy, seed and plan, runs it through the fork server or in a fresh process,
 * and prints how it ended and its turns. For the tests of the runtime.
 *
 * control_driver [-p policy] [-s seed] [-n runs] [-d depth] [-m most points]
 *                [-t seconds] [-x file] [-P file] [-r] [-f] [-T] [-q] [-v] [-e] [-g] [-l] PROGRAM ARGUMENTS...
 * -x: a good run prints this; -r: replays each run from its turns, strictly, in a fresh process, and compares;
 * -f: fresh process for every run; -T: every thread on its own kernel thread; -q: counts only; -v: turns too;
 * -e: every access is a point; -g: the set of sites that are points grows by the open pairs of each run;
 * -l: no access takes a short way; -P: follows the plans in the file, one a line, with -g again and again
 * until no more sites become points. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "loom/area.h"
#include "model/site.h"

static const char *const policies[] = { "free",       "random",      "pct",           "pos",
					"surw",       "stay",        "random-places", "pct-groups",
					"pos-places", "surw-places", "clock" };
static const char *const ends[] = { "none", "deadlock", "lost-wakeup", "livelock", "diverged", "memory" };

static struct area_control control = {
	.policy = POLICY_RANDOM, .depth = 3, .carry = 1, .most_points = 2000000
};
static uint32_t observe = OBSERVE_ALL;
static bool replays, fresh, quiet, verbose, grows;
static uint64_t sites[AREA_POINT_SITES]; /* rising; control.nsites of them */
static int server = -1, server_pid;
static struct server_note *note;
static unsigned timeout_s = 10;
static char **program;
static char *expected; /* what a good run prints, NULL = anything */
static char *plans;    /* one a line: all are followed, until no more sites become points; NULL = none */

static void die(const char *what)
{
	perror(what);
	exit(2);
}

struct area {
	int fd;
	struct area_head *head;
	struct area_process *process;
	struct area_schedule *schedule;
};

static void *part(int fd, uint64_t offset, size_t size)
{
	void *place = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, (off_t)offset);
	if (place == MAP_FAILED)
		die("mmap");
	return place;
}

static struct area area_new(void)
{
	struct area area = { .fd = memfd_create("area", 0) };
	if (area.fd < 0 || ftruncate(area.fd, (off_t)AREA_SIZE) != 0)
		die("area");
	area.head = part(area.fd, 0, AREA_HEAD_SIZE);
	area.process = part(area.fd, AREA_PROCESS_OFFSET(0), AREA_PROCESS_SIZE);
	area.schedule = part(area.fd, AREA_SCHEDULE_OFFSET, AREA_SCHEDULE_SIZE);
	return area;
}

/* As if new: only what the counts say was used. */
static void area_reset(struct area *area, uint64_t seed)
{
	struct area_process *process = area->process;
	struct area_schedule *schedule = area->schedule;
	memset(process->pairs, 0, process->npairs * sizeof *process->pairs);
	memset(process->predecessors, 0, process->npredecessors * sizeof *process->predecessors);
	memset(process->edges, 0, process->nedges * sizeof *process->edges);
	memset(process->units, 0, process->nunits * sizeof *process->units);
	memset(process, 0, offsetof(struct area_process, paths));
	schedule->nturns = schedule->end = schedule->nwaits = 0;
	schedule->points = schedule->contested = 0;
	memset(schedule->uncontrolled, 0, sizeof schedule->uncontrolled);
	*area->head = (struct area_head){ .magic = AREA_MAGIC,
					  .version = AREA_VERSION,
					  .options = { .observe = observe, .context = 5, .seed = seed },
					  .control = control };
	memcpy(schedule->sites, sites, control.nsites * sizeof *sites);
}

/* ---- sites ---- */

static struct unit *units;
static size_t nunits;

static void read_units(const char *path)
{
	struct error *error = unit_read_elf(path, &units, &nunits);
	if (error)
		die(error->message);
}

/* The id of a site that the process numbered so; 0 when it is not known. */
static uint64_t id_of(const struct area_process *process, uint32_t number)
{
	for (uint32_t i = 0; i < process->nunits; i++) {
		const struct area_unit *loaded = &process->units[i];
		if (number - loaded->first >= loaded->nsites)
			continue;
		for (size_t u = 0; u < nunits; u++)
			if (units[u].hash == loaded->hash)
				return units[u].sites[number - loaded->first].id;
	}
	return 0;
}

static void add_site(uint64_t id)
{
	uint32_t at = 0;
	while (at < control.nsites && sites[at] < id)
		at++;
	if (!id || (at < control.nsites && sites[at] == id) || control.nsites == AREA_POINT_SITES)
		return;
	memmove(sites + at + 1, sites + at, (control.nsites - at) * sizeof *sites);
	sites[at] = id;
	control.nsites++;
}

/* Both ends of each pair are points in the runs to come. */
static void grow_sites(const struct area_process *process)
{
	for (uint32_t i = 0; i < process->npairs && i < AREA_PAIRS; i++) {
		if (!process->pairs[i].open)
			continue;
		add_site(id_of(process, process->pairs[i].head_site));
		add_site(id_of(process, process->pairs[i].tail_site));
	}
}

static void start_server(void)
{
	int pair[2];
	char entry[32];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		die("socketpair");
	server_pid = fork();
	if (server_pid == 0) {
		fcntl(pair[1], F_SETFD, 0);
		snprintf(entry, sizeof entry, "%d", pair[1]);
		setenv(SERVER_ENVIRONMENT, entry, 1);
		setenv("LD_BIND_NOW", "unsnarl", 1);
		execvp(program[0], program);
		die(program[0]);
	}
	close(pair[1]);
	server = pair[0];
}

/* Gives the server what its runs need. */
static void introduce(const struct area *area, int out)
{
	int descriptors[SERVER_DESCRIPTORS] = { area->fd, out, quiet ? out : 2, memfd_create("note", 0) };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof descriptors)];
	} ancillary = { .header = { .cmsg_len = CMSG_LEN(sizeof descriptors),
				    .cmsg_level = SOL_SOCKET,
				    .cmsg_type = SCM_RIGHTS } };
	struct iovec piece = { (void *)"i", 1 };
	struct msghdr message = { .msg_iov = &piece,
				  .msg_iovlen = 1,
				  .msg_control = &ancillary,
				  .msg_controllen = sizeof ancillary };
	char answer;
	if (ftruncate(descriptors[3], SERVER_NOTE_SIZE) != 0)
		die("note");
	note = part(descriptors[3], 0, SERVER_NOTE_SIZE);
	memcpy(CMSG_DATA(&ancillary.header), descriptors, sizeof descriptors);
	if (sendmsg(server, &message, MSG_NOSIGNAL) < 0 || recv(server, &answer, 1, 0) != 1)
		die("server");
	close(descriptors[3]);
}

static void kill_run(int number)
{
	(void)number;
	if (note->pid > 1)
		kill(note->pid, SIGKILL);
}

static int run_in_server(const struct area *area, int out)
{
	static int known = -1;
	int status;
	if (known != area->fd)
		introduce(area, out);
	known = area->fd;
	note->pid = 0;
	signal(SIGALRM, kill_run);
	alarm(timeout_s);
	if (send(server, "r", 1, MSG_NOSIGNAL) != 1)
		die("server");
	for (;;) {
		pid_t ended = waitpid(-1, &status, 0);
		if (ended > 0 && ended == note->pid)
			break;
		if (ended < 0 ? errno != EINTR : ended == server_pid)
			die("server");
	}
	alarm(0);
	return status;
}

static int run_fresh(const struct area *area, int out)
{
	pid_t child = fork();
	if (child == 0) {
		char entry[32];
		snprintf(entry, sizeof entry, "%d", area->fd);
		setenv(AREA_ENVIRONMENT, entry, 1);
		dup2(out, 1);
		if (quiet)
			dup2(out, 2);
		alarm(timeout_s);
		execvp(program[0], program);
		die(program[0]);
	}
	int status;
	waitpid(child, &status, 0);
	return status;
}

static void print_wait(const struct area_wait *wait)
{
	printf("  thread %u waits: kind %u object %u holder %d site %016llx", wait->thread, wait->kind,
	       wait->object, (int)wait->holder, (unsigned long long)wait->site);
	if (wait->missed_thread != AREA_THREAD_GONE)
		printf(" missed by %u", wait->missed_thread);
	printf("\n");
}

static uint64_t mixed(uint64_t a, uint64_t b)
{
	return (a ^ b * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu ^ a >> 29;
}

/* All that was observed, as sums of hashes: logs of two runs may have the same in another order. */
static void print_observed(const struct area_process *process)
{
	uint64_t pairs = 0, orders = 0, predecessors = 0, edges = 0;
	for (uint32_t i = 0; i < process->npairs && i < AREA_PAIRS; i++) {
		const struct area_pair *pair = &process->pairs[i];
		uint64_t what = mixed(mixed(pair->kind, pair->head_site), mixed(pair->tail_site, pair->open));
		pairs += what;
		orders += mixed(mixed(what, mixed(pair->head_thread, pair->tail_thread)),
				mixed(pair->head_order, pair->tail_order));
	}
	for (uint32_t i = 0; i < process->npredecessors && i < AREA_PREDECESSORS; i++)
		predecessors += mixed(process->predecessors[i].site, process->predecessors[i].before);
	for (uint32_t i = 0; i < process->nedges && i < AREA_EDGES; i++) {
		const struct area_edge *edge = &process->edges[i];
		edges += mixed(mixed(edge->source, edge->sink),
			       mixed(edge->write, mixed(edge->source_context, edge->sink_context)));
	}
	printf("  observed: pairs %016llx orders %016llx predecessors %u %016llx edges %u %016llx\n",
	       (unsigned long long)pairs, (unsigned long long)orders, process->npredecessors,
	       (unsigned long long)predecessors, process->nedges, (unsigned long long)edges);
}

static void print_run(const struct area *area, int status, uint64_t seed)
{
	const struct area_schedule *schedule = area->schedule;
	printf("seed %llu: status %d signal %d end %s points %llu contested %llu turns %u pairs %u\n",
	       (unsigned long long)seed, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
	       WIFSIGNALED(status) ? WTERMSIG(status) : 0, ends[schedule->end],
	       (unsigned long long)schedule->points, (unsigned long long)schedule->contested,
	       schedule->nturns, area->process->npairs);
	for (uint32_t i = 0; i < schedule->nwaits; i++)
		print_wait(&schedule->waits[i]);
	if (schedule->end == END_DIVERGED)
		printf("  diverged at turn %u thread %u site %016llx\n", schedule->diverged_turn,
		       schedule->diverged_thread, (unsigned long long)schedule->diverged_site);
	if (*schedule->uncontrolled)
		printf("  uncontrolled: %s", schedule->uncontrolled);
	if (verbose)
		print_observed(area->process);
	for (uint32_t i = 0; verbose && i < schedule->nturns; i++) {
		const struct area_turn *turn = &schedule->turns[i];
		printf("  %u: thread %u kind %u end %u points %llu site %016llx\n", i, turn->thread,
		       turn->kind, turn->end, (unsigned long long)turn->points,
		       (unsigned long long)turn->site);
	}
	fflush(stdout);
}

static char *output_of(int out, size_t *size)
{
	*size = (size_t)lseek(out, 0, SEEK_CUR);
	char *text = calloc(1, *size + 1);
	if (pread(out, text, *size, 0) != (ssize_t)*size)
		die("output");
	lseek(out, 0, SEEK_SET);
	if (ftruncate(out, 0) != 0)
		die("output");
	return text;
}

static char *whole_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = calloc(1, (size_t)size + 1);
	if (pread(fd, text, (size_t)size, 0) != size)
		die(path);
	close(fd);
	return text;
}

/* Replays the run from its turns; true when turns, status and output are the same. */
static bool replay(const struct area *run, struct area *again, int status, const char *text, size_t size,
		   int out)
{
	struct area_control before = control;
	uint32_t n = run->schedule->nturns;
	control.nplan = n;
	control.strict = 1;
	control.carry = 0;
	control.policy = POLICY_STAY;
	area_reset(again, 99);
	memcpy(again->schedule->plan, run->schedule->turns, n * sizeof *run->schedule->turns);
	int got = run_fresh(again, out);
	control = before;
	size_t got_size;
	char *got_text = output_of(out, &got_size);
	bool same =
		got == status && got_size == size && memcmp(text, got_text, size) == 0 &&
		again->schedule->nturns == n && again->schedule->end == run->schedule->end &&
		memcmp(again->schedule->turns, run->schedule->turns, n * sizeof *run->schedule->turns) == 0;
	if (!same) {
		printf("  replay differs: status %d\n", got);
		print_run(again, got, 99);
	}
	free(got_text);
	return same;
}

static uint32_t policy_named(const char *name)
{
	for (uint32_t i = 0; i < sizeof policies / sizeof *policies; i++)
		if (strcmp(policies[i], name) == 0)
			return i;
	fprintf(stderr, "no policy %s\n", name);
	exit(2);
}

/* Reads a plan, a line of THREAD:POINTS, points 0 for as long as it can run; returns the next line, NULL behind
 * the last. */
static char *set_plan(char *text, struct area *area)
{
	uint32_t n = 0;
	for (char *end; *text && *text != '\n'; text = end + (*end == ' ')) {
		uint32_t thread = (uint32_t)strtoul(text, &end, 10);
		uint64_t points = *end == ':' ? strtoull(end + 1, &end, 10) : 0;
		if (end == text)
			die("a plan");
		area->schedule->plan[n++] = (struct area_turn){ .thread = thread,
								.kind = TURN_RUN,
								.points = points ? points : AREA_ENDLESS };
	}
	area->head->control.nplan = n;
	area->head->control.policy = POLICY_STAY;
	return *text && text[1] ? text + 1 : NULL;
}

int main(int argc, char **argv)
{
	uint64_t seed = 1, runs = 1;
	int option;
	while ((option = getopt(argc, argv, "+p:P:s:n:d:m:k:t:x:rfTqvegl")) >= 0) {
		switch (option) {
		case 'p':
			control.policy = policy_named(optarg);
			break;
		case 'P':
			plans = whole_file(optarg);
			break;
		case 's':
			seed = strtoull(optarg, NULL, 10);
			break;
		case 'n':
			runs = strtoull(optarg, NULL, 10);
			break;
		case 'd':
			control.depth = (uint32_t)atoi(optarg);
			break;
		case 'm':
			control.most_points = strtoull(optarg, NULL, 10);
			break;
		case 'k':
			control.points = strtoull(optarg, NULL, 10);
			break;
		case 't':
			timeout_s = (unsigned)atoi(optarg);
			break;
		case 'x':
			expected = whole_file(optarg);
			break;
		case 'r':
			replays = true;
			break;
		case 'f':
			fresh = true;
			break;
		case 'T':
			control.carry = 0;
			break;
		case 'q':
			quiet = true;
			break;
		case 'v':
			verbose = true;
			break;
		case 'e':
			control.everywhere = 1;
			break;
		case 'l':
			observe = OBSERVE_ALL | OBSERVE_TRACE;
			break;
		case 'g':
			grows = true;
			break;
		default:
			return 2;
		}
	}
	program = argv + optind;
	if (grows)
		read_units(program[0]);
	if (!fresh)
		start_server();
	struct area area = area_new(), again = area_new();
	uint64_t passed = 0, failed = 0, first = 0, ended[6] = { 0 }, identical = 0, points = 0, turns = 0,
		 done = 0;
	struct timespec start, now;
	int out = memfd_create("out", MFD_CLOEXEC);
	clock_gettime(CLOCK_MONOTONIC, &start);
	char *plan = plans;
	uint32_t known = 0; /* sites, when the plans began */
	for (uint64_t i = 0; plans ? plan != NULL : i < runs; i++) {
		area_reset(&area, seed + i);
		if (plans)
			plan = set_plan(plan, &area);
		int status = fresh ? run_fresh(&area, out) : run_in_server(&area, out);
		size_t size;
		char *text = output_of(out, &size);
		if (!quiet) {
			fwrite(text, 1, size, stdout);
			print_run(&area, status, seed + i);
		}
		bool good = status == 0 && (!expected || strcmp(expected, text) == 0);
		*(good ? &passed : &failed) += 1;
		if (!good && !first)
			first = i + 1;
		ended[area.schedule->end % 6]++;
		points += area.schedule->points;
		turns += area.schedule->nturns;
		if (control.points == 0)
			control.points = area.schedule->contested;
		if (replays)
			identical += replay(&area, &again, status, text, size, out);
		if (grows)
			grow_sites(area.process);
		if (!plan && plans && control.nsites > known) { /* all plans again, with more points */
			known = control.nsites;
			plan = plans;
		}
		done++;
		free(text);
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	double seconds = (double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) * 1e-9;
	printf("%s: %llu passed %llu failed: deadlock %llu lost-wakeup %llu livelock %llu diverged %llu "
	       "memory %llu; "
	       "%.0f runs/s %.0f points %.0f turns",
	       policies[control.policy], (unsigned long long)passed, (unsigned long long)failed,
	       (unsigned long long)ended[1], (unsigned long long)ended[2], (unsigned long long)ended[3],
	       (unsigned long long)ended[4], (unsigned long long)ended[5], (double)done / seconds,
	       (double)points / (double)done, (double)turns / (double)done);
	if (first)
		printf("; first %llu", (unsigned long long)first);
	if (replays)
		printf("; %llu of %llu identical", (unsigned long long)identical, (unsigned long long)runs);
	printf("\n");
	if (server_pid) {
		close(server);
		waitpid(server_pid, NULL, 0);
	}
	return failed != 0;
}
