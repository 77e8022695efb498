/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The fork server (loom/area.h): stops before the first instruction that is
 * the program's own and forks a child for every order. What Valgrind, the
 * dynamic linker and libc do at the start is then paid for once. Children note
 * which code they had to translate; the server translates it before it forks the
 * next one, so that this is paid for once as well. */
#include "loom/grind/tool.h"

#define AREA_DESCRIPTOR 1000
#define CLONE_PARENT 0x8000
#define CLONE_PARENT_SETTID 0x100000
#define SIGNAL_CHILD 17
#define SIGNAL_KILL 9
#define PR_SET_PDEATHSIG 1
#define MADV_DONTFORK 10
#define MSG_NOSIGNAL 0x4000
#define MSG_CMSG_CLOEXEC 0x40000000
#define SCM_RIGHTS 1

enum { AREA, OUT, ERR, NOTE };

static int server_socket = -1;
static bool arranged; /* the program's first block calls server_loop */

/* ---- code that children needed ---- */

#define NEEDED_MOST 65536u
#define PROT_EXECUTE 4
#define EVERYWHERE (1ull << 47)

/* In memory that the server and its children share. */
static struct needed {
	uint32_t n;  /* may exceed NEEDED_MOST */
	bool faults; /* the program handles them: see server_note_faults */
	Addr addresses[NEEDED_MOST];
} *needed;

Bool VG_(translate)(ThreadId tid, Addr address, Bool debugging, Int verbosity, ULong blocks_done,
		    Bool redirects);
Bool VG_(search_transtab)(Addr *host, UInt *sector, UInt *index, Addr guest, Bool updates);
Addr VG_(redir_do_lookup)(Addr address, Bool *wraps);

static void needed_start(void)
{
	long fd = raw_call(__NR_memfd_create, (long)"unsnarl-needed", 1 /* MFD_CLOEXEC */, 0, 0, 0, 0);

	if (fd < 0)
		return;
	raw_call(__NR_ftruncate, fd, sizeof *needed, 0, 0, 0, 0);
	SysRes result = VG_(am_shared_mmap_file_float_valgrind)(sizeof *needed,
								VKI_PROT_READ | VKI_PROT_WRITE, (Int)fd, 0);

	raw_call(__NR_close, fd, 0, 0, 0, 0, 0);
	needed = sr_isError(result) ? NULL : (struct needed *)sr_Res(result);
}

void server_note_translation(Addr address)
{
	if (!needed || grind.serves)
		return;
	/* Nobody reads it before the child has ended. */
	uint32_t at = __atomic_fetch_add(&needed->n, 1, __ATOMIC_RELAXED);

	if (at < NEEDED_MOST)
		needed->addresses[at] = address;
}

/* Optimised code leaves out loads whose value is thrown away, and keeps registers behind. */
static bool exact;

static void translate_exactly(void)
{
	exact = true;
	if (VG_(clo_vex_control).iropt_register_updates_default < VexRegUpdAllregsAtMemAccess)
		VG_(clo_px_file_backed) = VexRegUpdAllregsAtMemAccess;
}

/* What was translated before is given up, unless a thread may stand in the middle of it. */
void server_note_faults(void)
{
	if (exact)
		return;
	translate_exactly();
	if (needed)
		__atomic_store_n(&needed->faults, true, __ATOMIC_RELEASE);
	if (thread_is_alone())
		VG_(discard_translations)(0, EVERYWHERE, "grind.faults");
}

/* A function that is wrapped is translated twice: its wrapper, and itself. */
static void translate(Addr address)
{
	Bool wraps;

	if (!VG_(am_is_valid_for_client)(address, 1, PROT_EXECUTE) ||
	    VG_(search_transtab)(NULL, NULL, NULL, address, False))
		return;
	VG_(translate)(grind.thread->tid, address, False, 0, 0, True);
	if (VG_(redir_do_lookup)(address, &wraps) != address)
		VG_(translate)(grind.thread->tid, address, False, 0, 0, False);
}

static void translate_needed(void)
{
	static uint32_t done;

	if (needed && !done && __atomic_load_n(&needed->faults, __ATOMIC_ACQUIRE))
		translate_exactly();
	for (; needed && done < NEEDED_MOST && done < __atomic_load_n(&needed->n, __ATOMIC_ACQUIRE); done++)
		translate(needed->addresses[done]);
}

/* ---- orders ---- */

/* The entry of the client's environment becomes that of the area, which has the same length. */
static void rename_variable(void)
{
	for (HChar **entry = VG_(client_envp); entry && *entry; entry++)
		if (VG_(strncmp)(*entry, SERVER_ENVIRONMENT "=", sizeof SERVER_ENVIRONMENT) == 0)
			VG_(sprintf)(*entry, "%s=%06d", AREA_HIDDEN, AREA_DESCRIPTOR);
}

bool server_prepare(void)
{
	const HChar *value = VG_(getenv)(SERVER_ENVIRONMENT);

	if (!value)
		return false;
	server_socket = (int)VG_(strtoll10)(value, NULL);
	if (server_socket == AREA_DESCRIPTOR) {
		server_socket = (int)raw_call(__NR_fcntl, server_socket, 1030 /* F_DUPFD_CLOEXEC */,
					      AREA_DESCRIPTOR + 1, 0, 0, 0);
		raw_call(__NR_close, AREA_DESCRIPTOR, 0, 0, 0, 0, 0);
	}
	rename_variable();
	needed_start();
	return true;
}

/* As the kernel wants them. */
struct control_message {
	uint64_t length;
	int level, type;
	int descriptors[SERVER_DESCRIPTORS];
};
struct message {
	void *name;
	uint32_t name_length;
	struct {
		void *base;
		uint64_t length;
	} *parts;
	uint64_t nparts;
	struct control_message *control;
	uint64_t control_length;
	int flags;
};

/* An order, or descriptors for those to come. False when there will be no more. */
static bool receive(int descriptors[SERVER_DESCRIPTORS], bool *fresh)
{
	char order;
	struct {
		void *base;
		uint64_t length;
	} part = { &order, 1 };
	struct control_message control = { 0 };
	struct message message = {
		.parts = (void *)&part, .nparts = 1, .control = &control, .control_length = sizeof control
	};
	long n;

	do {
		n = raw_call(__NR_recvmsg, server_socket, (long)&message, MSG_CMSG_CLOEXEC, 0, 0, 0);
	} while (n == -VKI_EINTR);
	*fresh = n == 1 && message.control_length >= sizeof control && control.type == SCM_RIGHTS;
	if (*fresh)
		VG_(memcpy)(descriptors, control.descriptors, sizeof control.descriptors);
	return n == 1;
}

static void put_descriptor(int fd, int wanted)
{
	raw_call(__NR_dup2, fd, wanted, 0, 0, 0, 0);
	raw_call(__NR_close, fd, 0, 0, 0, 0, 0);
}

static struct server_note *map_note(int fd)
{
	SysRes result = VG_(am_shared_mmap_file_float_valgrind)(SERVER_NOTE_SIZE,
								VKI_PROT_READ | VKI_PROT_WRITE, fd, 0);

	raw_call(__NR_close, fd, 0, 0, 0, 0, 0);
	if (sr_isError(result))
		return NULL;
	raw_call(__NR_madvise, (long)sr_Res(result), SERVER_NOTE_SIZE, MADV_DONTFORK, 0, 0, 0);
	return (struct server_note *)sr_Res(result);
}

static void answer(void)
{
	raw_call(__NR_sendto, server_socket, (long)"", 1, MSG_NOSIGNAL, 0, 0);
}

void VG_(do_atfork_child)(ThreadId tid);

/* In the child: the run ends with whoever waits for it. */
static void begin_run(long parent)
{
	raw_call(__NR_close, server_socket, 0, 0, 0, 0, 0);
	server_socket = -1;
	raw_call(__NR_prctl, PR_SET_PDEATHSIG, SIGNAL_KILL, 0, 0, 0, 0);
	if (raw_call(__NR_getppid, 0, 0, 0, 0, 0, 0) != parent)
		VG_(exit)(0);
	VG_(do_atfork_child)(grind.thread->tid);
	/* libc keeps the number of its thread there. */
	if (grind.thread->clear_tid)
		*(uint32_t *)grind.thread->clear_tid = (uint32_t)VG_(gettid)();
	grind_take_area();
}

bool server_stops_here(void)
{
	/* Valgrind's core forks only after a first system call: in a program without shared libraries its first
	 * block comes before that. */
	bool here = grind.serves && !arranged && calls_made;

	arranged |= here;
	return here;
}

void server_loop(void)
{
	if (!grind.serves)
		return;
	long parent = raw_call(__NR_getppid, 0, 0, 0, 0, 0, 0);
	int descriptors[SERVER_DESCRIPTORS];
	struct server_note *note = NULL;
	bool fresh;

	while (receive(descriptors, &fresh)) {
		if (fresh) {
			note = map_note(descriptors[NOTE]);
			put_descriptor(descriptors[OUT], 1);
			put_descriptor(descriptors[ERR], 2);
			put_descriptor(descriptors[AREA], AREA_DESCRIPTOR);
			answer();
			continue;
		}
		if (!note)
			break;
		translate_needed();
		long pid = raw_call(__NR_clone, CLONE_PARENT | CLONE_PARENT_SETTID | SIGNAL_CHILD, 0,
				    (long)&note->pid, 0, 0, 0);

		if (pid == 0) {
			begin_run(parent);
			return;
		}
		if (pid < 0) {
			__atomic_store_n(&note->pid, (int32_t)pid, __ATOMIC_RELEASE);
			answer();
		}
	}
	VG_(exit)(0);
}
