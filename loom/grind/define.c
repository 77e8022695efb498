/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Marks of memory: for every byte the number of its last definition and whether that is
 * suppressed. Loads and definitions are numbered over the whole run and kept in rings, the
 * youngest few millions; what is older is not known any more. */
#include "loom/grind/define.h"

#include "loom/grind/control.h"

#define LOADS (1u << 22)
#define LOAD_NUMBER (MARK_MADE - 1)
#define DEFINITIONS (1u << 22)
#define SUPPRESSED (1u << 31)
#define PAGE 4096u
#define LEAF_PAGES 4096u
#define ROOTS (1u << 23) /* of 16 MiB each: 47 bits */

struct define define;

static struct load *loads;
static struct definition *definitions;
static uint32_t nloads = 1, ndefinitions = 1;
static uint32_t ***roots;
static struct value_thread *threads[AREA_SLOTS];

static void *map_zeros(SizeT size)
{
	SysRes result = VG_(am_mmap_anon_float_valgrind)(size);

	return sr_isError(result) ? NULL : (void *)sr_Res(result);
}

static uint32_t *bytes_of(Addr address, bool make)
{
	uint64_t root = address >> 24, leaf = address >> 12 & (LEAF_PAGES - 1);

	if (root >= ROOTS)
		return NULL;
	if (!roots[root]) {
		if (!make)
			return NULL;
		roots[root] = VG_(calloc)("define.leaf", LEAF_PAGES, sizeof(uint32_t *));
	}
	if (!roots[root][leaf]) {
		if (!make)
			return NULL;
		roots[root][leaf] = VG_(calloc)("define.page", PAGE, sizeof(uint32_t));
	}
	return &roots[root][leaf][address & (PAGE - 1)];
}

static void set_bytes(Addr address, SizeT size, uint32_t number)
{
	while (size) {
		SizeT part = PAGE - (address & (PAGE - 1));
		uint32_t *bytes = bytes_of(address, number != 0);

		part = part < size ? part : size;
		for (SizeT i = 0; bytes && i < part; i++)
			bytes[i] = number;
		address += part;
		size -= part;
	}
}

uint32_t define_at(Addr address)
{
	const uint32_t *byte = bytes_of(address, false);

	return byte ? *byte & ~SUPPRESSED : 0;
}

uint64_t define_marked(Addr address, SizeT size)
{
	for (SizeT i = 0; i < size; i++) {
		const uint32_t *byte = bytes_of(address + i, false);

		if (byte && *byte & SUPPRESSED)
			return MARK_SUPPRESSED;
	}
	return 0;
}

const struct load *define_load_numbered(uint32_t number)
{
	const struct load *load = &loads[number % LOADS];

	return number && load->number == number ? load : NULL;
}

const struct definition *define_numbered(uint32_t number)
{
	const struct definition *definition = &definitions[number % DEFINITIONS];

	return number && definition->number == number ? definition : NULL;
}

uint32_t define_next(void)
{
	return ndefinitions & ~SUPPRESSED;
}

uint32_t define_next_load(void)
{
	return nloads & LOAD_NUMBER;
}

uint64_t define_decided(Addr address, uint64_t first)
{
	const struct definition *definition = define_numbered((uint32_t)first);

	definition = definition ? definition : define_numbered(define_at(address));
	return definition && definition->first == first ? definition->decided : 0;
}

struct value_thread *define_thread(void)
{
	struct value_thread **thread = &threads[grind.thread->slot];

	if (!*thread) {
		*thread = VG_(calloc)("define.thread", 1, sizeof **thread);
		(*thread)->stack_low = ~(Addr)0;
		if (!define.arguments)
			define.arguments = VG_(get_SP)(grind.thread->tid);
	}
	return *thread;
}

const struct value_thread *define_thread_in(uint32_t slot)
{
	return slot < AREA_SLOTS ? threads[slot] : NULL;
}

/* Translations come and go: executions are counted by address. */
static uint64_t count(struct value_thread *thread, Addr key)
{
	uint64_t at = (key * 0x9e3779b97f4a7c15u) >> 20;

	if (!thread->ncounts) {
		thread->ncounts = 1u << 16;
		thread->counts = VG_(calloc)("define.counts", thread->ncounts, 2 * sizeof *thread->counts);
	}
	for (uint32_t i = 0; i < thread->ncounts; i++) {
		uint64_t *entry = &thread->counts[2 * ((at + i) & (thread->ncounts - 1))];

		if (!entry[0])
			entry[0] = key;
		if (entry[0] == key)
			return ++entry[1];
	}
	return 0;
}

static bool is_joint(uint32_t number)
{
	const struct load *load = &loads[number % LOADS];

	return load->number == number && !load->site;
}

/* Stands for two loads where a mark has room for one. */
static uint32_t join(uint32_t first, uint32_t second)
{
	uint32_t number = nloads++ & LOAD_NUMBER;

	loads[number % LOADS] =
		(struct load){ .number = number, .mark = (uint64_t)second << MARK_BITS | first };
	return number;
}

/* Is `a` to stand before `b`? Loads before what stands for several, the youngest first. */
static bool comes_first(uint32_t a, uint32_t b)
{
	return is_joint(a) != is_joint(b) ? is_joint(b) : a > b;
}

VG_REGPARM(2) uint64_t define_merge(uint64_t a, uint64_t b)
{
	uint64_t suppressed = (a | b) & MARK_SUPPRESSED;
	uint32_t numbers[4] = { MARK_FIRST(a), MARK_SECOND(a), MARK_FIRST(b), MARK_SECOND(b) }, sorted[4];
	uint32_t n = 0;

	/* What is made of a load and a constant is of the load. */
	if (!define_is_loaded(a) || !define_is_loaded(b))
		return suppressed |
		       ((define_is_loaded(a) || !MARK_FIRST(b) ? a : b) & ~(MARK_COPY | MARK_SUPPRESSED));

	for (int i = 0; i < 4; i++) {
		uint32_t at = n;

		for (uint32_t j = 0; j < n; j++)
			if (sorted[j] == numbers[i])
				numbers[i] = 0;
		if (!numbers[i])
			continue;
		for (n++; at && comes_first(numbers[i], sorted[at - 1]); at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = numbers[i];
	}
	for (; n > 2; n--)
		sorted[n - 2] = join(sorted[n - 2], sorted[n - 1]);
	return suppressed | (n > 1 ? (uint64_t)sorted[1] << MARK_BITS : 0) | (n ? sorted[0] : 0);
}

VG_REGPARM(2) void define_operand(uint64_t mark, const struct value_site *site)
{
	struct value_thread *thread = define_thread();

	thread->operand.site = site;
	thread->operand.mark = mark;
	thread->divides = true;
}

static bool is_watched_byte(Addr address, SizeT size)
{
	Addr watched = define.area->watched_address;

	return watched && watched >= address && watched < address + size;
}

#define ACCESSES_PER_LOOK (1u << 16) /* at the clock */
static void look_at_clock(void)
{
	static UInt began;
	UInt now = VG_(read_millisecond_timer)();

	if (!began)
		began = now;
	if (!define.area->longest_ms || now - began < define.area->longest_ms)
		return;
	define.area->too_long = 1;
	control_finish(END_LIVELOCK);
}

static void note_giver(struct value_givers *givers, const struct value_site *site)
{
	uint32_t at = 0;

	while (at < givers->n && givers->items[at].site != site)
		at++;
	givers->all++;
	if (at == GIVERS)
		return;
	givers->items[at].site = site;
	givers->items[at].n++;
	givers->n += at == givers->n;
}

/* What is read again and again is not forgotten for what is written again and again. */
static uint32_t definition_read(Addr address)
{
	uint32_t number = define_at(address);
	const struct definition *from = define_numbered(number);

	if (LIKELY(!from || ndefinitions - number < DEFINITIONS / 2))
		return number;
	uint32_t fresh = ndefinitions++ & ~SUPPRESSED;

	definitions[fresh % DEFINITIONS] = *from;
	definitions[fresh % DEFINITIONS].number = fresh;
	for (SizeT i = 0; i < from->size; i++) {
		uint32_t *byte = bytes_of(from->address + i, false);

		if (byte && (*byte & ~SUPPRESSED) == number)
			*byte = fresh | (*byte & SUPPRESSED);
	}
	return fresh;
}

VG_REGPARM(3) Addr define_load(Addr address, uint64_t mark, const struct value_site *site)
{
	struct value_thread *thread = define_thread();
	uint32_t number = nloads++ & LOAD_NUMBER;

	thread->access.site = site;
	thread->access.address = address;
	thread->access.mark = mark;
	thread->access.write = false;
	thread->divides = false;
	if (UNLIKELY(define.area->quiet_most && ++define.quiet > define.area->quiet_most))
		control_finish(END_LIVELOCK);
	if (UNLIKELY(number % ACCESSES_PER_LOOK == 0))
		look_at_clock();
	if (define.suppresses && mark & MARK_SUPPRESSED) {
		define.area->loads++;
		define.result = MARK_SUPPRESSED;
		return (Addr)define.nowhere;
	}
	struct load *load = &loads[number % LOADS];

	*load = (struct load){ .number = number,
			       .address = address,
			       .mark = mark,
			       .site = site,
			       .call = define_call_to(site),
			       .thread = grind.thread->number,
			       .order = *grind.thread->order };
	for (uint32_t i = 0; i < LOAD_WORDS && 8 * i < site->size; i++)
		load->definition[i] = definition_read(address + 8 * i);
	define.result = MARK_COPY | number;
	/* What a function had saved of its caller's registers is what it was, unless a pointer leads there. */
	const struct definition *saved = define_numbered(load->definition[0]);

	if (saved && saved->address == address && saved->size == site->size && define_saves_register(saved) &&
	    !define_is_loaded(mark))
		define.result = saved->mark & ~MARK_SUPPRESSED;
	if (site->size < 4 && site->kind == CODE_PROGRAM && saved && saved->definer == DEFINED_STORE &&
	    saved->address == address && saved->size > site->size && saved->size <= 8)
		define_loaded_part(saved, define.result, site);
	if (site->givers)
		note_giver(site->givers, saved ? saved->site : NULL);
	if (define.suppresses)
		define.result |= define_marked(address, site->size);
	if (UNLIKELY(site->watched || is_watched_byte(address, site->size)))
		define_watched(site, define.result);
	return address;
}

uint64_t define_read_by_watch(Addr address, SizeT size, uint64_t mark, const struct value_site *site)
{
	uint32_t number = nloads++ & LOAD_NUMBER;
	struct value_site *read = VG_(calloc)("define.watched", 1, sizeof *read);

	*read = *site;
	read->size = (uint32_t)size;
	loads[number % LOADS] = (struct load){ .number = number,
					       .address = address,
					       .mark = mark,
					       .site = read,
					       .call = define_call_to(site),
					       .thread = grind.thread->number,
					       .order = *grind.thread->order,
					       .definition = { define_at(address) } };
	return number | (define.suppresses ? define_marked(address, size) : 0);
}

static Addr caller(void)
{
	const struct value_thread *thread = define_thread();

	return thread->nreturns ? thread->returns[thread->nreturns - 1] - 1 : 0;
}

/* Who led to a definition: of code of others the program's call; of a value that nothing says where it came from, the
 * call of the function that has it. */
static Addr led_by(const struct value_site *site, uint64_t mark)
{
	return site && site->kind == CODE_PROGRAM && !site->in_header && !MARK_FIRST(mark)
		       ? caller()
		       : define_call_to(site);
}

static uint32_t add(Addr address, SizeT size, uint32_t definer, const struct value_site *site, uint64_t mark,
		    uint64_t value, uint64_t instance)
{
	uint32_t number = ndefinitions++ & ~SUPPRESSED;

	definitions[number % DEFINITIONS] = (struct definition){ .number = number,
								 .first = number,
								 .address = address,
								 .size = size,
								 .definer = definer,
								 .site = site,
								 .mark = mark,
								 .value = value,
								 .instance = instance,
								 .decided = define_thread()->decided,
								 .caller = caller(),
								 .call = led_by(site, mark),
								 .thread = grind.thread->number,
								 .order = *grind.thread->order };
	return number;
}

Addr define_store(Addr address, uint64_t address_mark, uint64_t mark, const struct value_site *site,
		  uint64_t value, uint64_t whole)
{
	struct value_thread *thread = define_thread();
	uint64_t instance = count(thread, site->pc);

	thread->access.site = site;
	thread->access.address = address;
	thread->access.mark = address_mark;
	thread->access.write = true;
	thread->divides = false;
	if (UNLIKELY(ndefinitions % ACCESSES_PER_LOOK == 0))
		look_at_clock();
	if (define.suppresses) {
		if (address_mark & MARK_SUPPRESSED) {
			define.area->stores++;
			return (Addr)define.nowhere;
		}
		bool planned = site->planned && suppress_plans(DEFINED_STORE, site->pc, instance);

		if (planned || mark & MARK_SUPPRESSED) {
			uint32_t number =
				add(address, site->size, DEFINED_STORE, site, mark, value, instance);

			define.area->stores++;
			set_bytes(address, site->size, number | SUPPRESSED);
			return (Addr)define.nowhere;
		}
	}
	uint32_t number = add(address, site->size, DEFINED_STORE, site, mark, value, instance);

	definitions[number % DEFINITIONS].where = address_mark;
	definitions[number % DEFINITIONS].whole = whole;
	set_bytes(address, site->size, number);
	if (UNLIKELY(site->watched))
		define_watched(site, mark);
	define_renew(site, instance);
	/* Whoever goes on into deeper calls gets somewhere: to the end of its stack, if nothing else. */
	if (!thread_has_stack_at(grind.thread, address) || address < thread->stack_low)
		define.quiet = 0;
	if (thread_has_stack_at(grind.thread, address) && address < thread->stack_low)
		thread->stack_low = address;
	return address;
}

void define_by_kernel(Addr address, SizeT size)
{
	uint64_t instance = count(define_thread(), define_call() + 1);
	bool planned = define.suppresses && suppress_plans(DEFINED_KERNEL, define_call(), instance);

	set_bytes(address, size,
		  add(address, size, DEFINED_KERNEL, NULL, 0, 0, instance) | (planned ? SUPPRESSED : 0));
}

void define_allocated(Addr address, SizeT size, bool zero)
{
	set_bytes(address, size,
		  add(address, size, zero ? DEFINED_CLEARED : DEFINED_ALLOCATED, NULL, 0, 0, 0));
}

/* The calls of the program that the one at hand is in, from inside out, beyond it only such as stand in no header: a free
 * has no value, so they stand there. */
static void note_callers(struct definition *definition)
{
	const struct value_thread *thread = define_thread();
	Addr callers[1 + ISOLATE_CALLERS] = { 0 };
	uint32_t n = 0;

	for (uint32_t i = thread->nreturns; i-- > 0 && n <= ISOLATE_CALLERS;) {
		Addr call = thread->returns[i] - 1;

		if (code_kind(call) == CODE_PROGRAM && (!n || !site_in_header(call)))
			callers[n++] = call;
	}
	definition->mark = callers[1]; /* the first is the call itself */
	definition->value = callers[2];
}

bool define_freed(Addr address, SizeT size)
{
	uint64_t instance = count(define_thread(), define_call() + 2);

	if (define.suppresses && suppress_plans(DEFINED_FREED, define_call(), instance)) {
		define.area->calls++;
		return false;
	}
	uint32_t number = add(address, size, DEFINED_FREED, NULL, 0, 0, instance);

	note_callers(&definitions[number % DEFINITIONS]);
	definitions[number % DEFINITIONS].where = define_freed_by(address);
	set_bytes(address, size, number);
	return true;
}

void define_left(struct value_thread *thread, Addr sp)
{
	if (thread->stack_low < sp && sp - thread->stack_low < (1u << 20))
		set_bytes(thread->stack_low, sp - thread->stack_low, 0);
	if (thread->stack_low < sp)
		thread->stack_low = sp;
}

void define_start(void)
{
	const HChar *value = VG_(getenv)(ISOLATE_ENVIRONMENT);

	if (!value)
		return;
	SysRes result = VG_(am_shared_mmap_file_float_valgrind)(sizeof(struct isolate_area),
								VKI_PROT_READ | VKI_PROT_WRITE,
								(int)VG_(strtoll10)(value, NULL), 0);

	if (sr_isError(result) || ((struct isolate_area *)sr_Res(result))->magic != ISOLATE_MAGIC)
		return;
	define.area = (struct isolate_area *)sr_Res(result);
	define.suppresses = define.area->nplanned > 0;
	if (define.area->npoints)
		VG_(clo_px_file_backed) = VexRegUpdAllregsAtEachInsn; /* variables may lie in registers */
	loads = map_zeros(LOADS * sizeof *loads);
	definitions = map_zeros(DEFINITIONS * sizeof *definitions);
	roots = map_zeros(ROOTS * sizeof *roots);
	define.on = loads && definitions && roots;
}
