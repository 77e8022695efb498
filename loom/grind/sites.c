/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sites and modules. A site is numbered when an instruction is translated, and
 * shown in the area when it is executed. What the dynamic linker and libc do on
 * their own account is nobody's access; what libc's memory and string functions
 * and the C++ library do is done by the call that the program made. */
#include "loom/grind/tool.h"

#define MODULE_NONE UINT32_MAX

struct module {
	const DebugInfo *info;
	enum code_kind kind;
	bool is_libc;
	PtrdiffT bias;
	const HChar *path, *name; /* the name is the end of the path */
	uint32_t shown;           /* number in the area plus 1 */
};

struct site_info {
	uint64_t key;
	struct code_place place;
	uint64_t id; /* 0 = not asked for yet */
	uint32_t module;
	uint32_t next; /* of the same hash */
	const HChar *what;
	bool shown;
	enum { HEADER_NOT_ASKED, HEADER_NO, HEADER_YES } in_header;
};

#define BUCKETS (1u << 16)
#define MOST_SITES AREA_PLACES

static struct module *modules;
static uint32_t nmodules, modules_room;
static struct site_info *sites; /* by number, from 1 */
static uint32_t nsites, sites_room;
static uint32_t buckets[BUCKETS];

/* ---- modules ---- */

static bool starts_with(const HChar *text, const HChar *start)
{
	return VG_(strncmp)(text, start, VG_(strlen)(start)) == 0;
}

/* Files whose own work is none of the program's. */
static bool is_of_system(const HChar *name)
{
	static const HChar *const starts[] = { "ld-linux", "libc.so",    "libc-",     "libm.so",
					       "libm-",    "libpthread", "libdl",     "librt",
					       "libgcc_s", "vgpreload",  "libresolv", "libnss_" };

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (starts_with(name, starts[i]))
			return true;
	return false;
}

static struct module describe(const DebugInfo *info)
{
	const HChar *path = VG_(DebugInfo_get_filename)(info);
	const HChar *slash = VG_(strrchr)(path, '/');
	struct module module = { .info = info,
				 .bias = VG_(DebugInfo_get_text_bias)(info),
				 .path = VG_(strdup)("grind.module", path) };

	module.name = module.path + (slash ? slash + 1 - path : 0);
	module.is_libc = starts_with(module.name, "libc.so") || starts_with(module.name, "libc-") ||
			 starts_with(module.name, "libpthread");
	module.kind = is_of_system(module.name)                  ? CODE_NONE
		      : starts_with(module.name, "libstdc++.so") ? CODE_LIBRARY
								 : CODE_PROGRAM;
	return module;
}

static uint32_t module_at(Addr pc)
{
	const DebugInfo *info = VG_(find_DebugInfo)(VG_(current_DiEpoch)(), pc);

	if (!info)
		return MODULE_NONE;
	for (uint32_t i = 0; i < nmodules; i++)
		if (modules[i].info == info)
			return i;
	if (nmodules == modules_room) {
		modules_room = modules_room ? modules_room * 2 : 32;
		modules = VG_(realloc)("grind.modules", modules, modules_room * sizeof *modules);
	}
	modules[nmodules] = describe(info);
	return nmodules++;
}

static bool is_data_of(uint32_t module, Addr variable)
{
	const HChar *path;

	if (!variable)
		return false;
	const VgSectKind kind = VG_(DebugInfo_sect_kind)(&path, variable);

	return (kind == Vg_SectData || kind == Vg_SectBSS) && VG_(strcmp)(path, modules[module].path) == 0;
}

/* Functions of libc that read or write what they are given; they have variants by processor. */
static bool handles_memory(Addr pc)
{
	static const HChar *const starts[] = { "mem",     "__mem",     "str",       "__str",
					       "wmem",    "__wmem",    "wcs",       "__wcs",
					       "bcopy",   "bzero",     "stpcpy",    "__stpcpy",
					       "stpncpy", "__stpncpy", "rawmemchr", "__rawmemchr" };
	const HChar *name;

	if (!VG_(get_fnname)(VG_(current_DiEpoch)(), pc, &name))
		return false;
	if (starts_with(name, "strto") || starts_with(name, "__strto") || starts_with(name, "strftime") ||
	    starts_with(name, "strerror") || starts_with(name, "strdup") || starts_with(name, "strsignal") ||
	    starts_with(name, "memalign"))
		return false;
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (starts_with(name, starts[i]))
			return true;
	return false;
}

enum code_kind code_kind(Addr pc)
{
	uint32_t module = module_at(pc);

	if (module == MODULE_NONE)
		return CODE_NONE;
	if (modules[module].is_libc)
		return handles_memory(pc) ? CODE_LIBRARY : CODE_NONE;
	if (modules[module].kind == CODE_PROGRAM && VG_(DebugInfo_sect_kind)(NULL, pc) == Vg_SectPLT)
		return CODE_NONE;
	return modules[module].kind;
}

/* What a thread or a std::function begins with: compilers put the program's own code into these functions. */
static bool is_beginning(const HChar *name)
{
	return VG_(strstr)(name, "_M_run") || VG_(strstr)(name, "_M_invoke");
}

/* The namespaces of the C++ library are reserved, so that its headers' functions can be told by their names. */
bool site_in_header(Addr pc)
{
	static const HChar *const starts[] = { "_ZSt",          "_ZNSt",          "_ZNKSt",
					       "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx", "_ZNVSt",
					       "_ZNVKSt",       "_ZNOSt",         "_ZL",
					       "_ZNRSt",        "_ZNKRSt" };
	const HChar *name;

	if (!VG_(get_fnname_raw)(VG_(current_DiEpoch)(), pc, &name))
		return false;
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (starts_with(name, starts[i]))
			return !is_beginning(name) &&
			       (VG_(strcmp)(starts[i], "_ZL") || VG_(strstr)(name, "__gthread"));
	return false;
}

Addr site_own_call(void)
{
	return grind.own_call && VG_(get_SP)(grind.thread->tid) < grind.own_sp ? grind.own_call : 0;
}

Addr site_led_by(void)
{
	return grind.call != grind.own_call ? site_own_call() : 0;
}

/* ---- sites ---- */

static uint32_t *bucket_of(uint64_t key)
{
	return &buckets[(key * 0x9e3779b97f4a7c15u) >> 48 & (BUCKETS - 1)];
}

static uint32_t add(uint64_t key, uint32_t module, const struct code_place *place, const HChar *what)
{
	if (nsites + 1 >= MOST_SITES) {
		if (grind.observed)
			grind.process->dropped++;
		return 0;
	}
	if (nsites + 1 >= sites_room) {
		sites_room = sites_room ? sites_room * 2 : 4096;
		sites = VG_(realloc)("grind.sites", sites, sites_room * sizeof *sites);
	}
	uint32_t *bucket = bucket_of(key);

	sites[++nsites] = (struct site_info){
		.key = key, .place = *place, .module = module, .next = *bucket, .what = what
	};
	*bucket = nsites;
	return nsites;
}

uint32_t site_at(Addr pc, enum site_kind kind, bool atomic, uint32_t size, Addr variable, const char *what)
{
	uint64_t key = code_place_mix_text(
		code_place_mix(code_place_mix(code_place_mix(0, pc), kind), atomic), what ? what : "");

	for (uint32_t at = *bucket_of(key); at; at = sites[at].next)
		if (sites[at].key == key)
			return at;
	uint32_t module = module_at(pc);

	if (module == MODULE_NONE)
		return 0;
	struct code_place place = { .address = pc - (Addr)modules[module].bias,
				    .variable = is_data_of(module, variable)
							? variable - (Addr)modules[module].bias
							: 0,
				    .kind = kind | (atomic ? PLACE_ATOMIC : 0),
				    .size = size };

	return add(key, module, &place, what ? VG_(strdup)("grind.site", what) : NULL);
}

/* A call in a function of a header: the site is told apart by the program's call that led there. */
static uint32_t site_led(Addr pc, enum site_kind kind, const char *what, Addr led)
{
	uint32_t module = led ? module_at(led) : MODULE_NONE;
	HChar text[256];

	if (module == MODULE_NONE || module != module_at(pc) ||
	    (what && VG_(strlen)(what) > sizeof text - 2 - 2 * sizeof led))
		return site_at(pc, kind, false, 0, 0, what);
	VG_(sprintf)(text, "%s%c%lx", what ? what : "", CODE_PLACE_LED, led - (Addr)modules[module].bias);
	return site_at(pc, kind, false, 0, 0, text);
}

/* Functions that copy or compare ask again for every word. */
static uint32_t site_of_last_call(enum site_kind kind)
{
	static struct {
		Addr call, led;
		uint32_t site;
	} last[2];
	uint32_t at = kind == SITE_WRITE;
	Addr led = site_led_by();

	if (last[at].call != grind.call || last[at].led != led) {
		last[at].call = grind.call;
		last[at].led = led;
		last[at].site = site_led(grind.call, kind, NULL, led);
	}
	return last[at].site;
}

uint32_t site_of_call(enum site_kind kind, const char *what)
{
	if (!grind.call)
		return 0;
	if (!what && (kind == SITE_READ || kind == SITE_WRITE))
		return site_of_last_call(kind);
	return site_led(grind.call, kind, what, site_led_by());
}

Addr site_header_code(uint32_t site)
{
	struct site_info *info = &sites[site];
	Addr pc = site ? info->place.address + (Addr)modules[info->module].bias : 0;

	if (site && info->in_header == HEADER_NOT_ASKED)
		info->in_header = site_in_header(pc) ? HEADER_YES : HEADER_NO;
	return site && info->in_header == HEADER_YES ? pc : 0;
}

#define CALLS_MOST 24

void site_callers(uint32_t site, struct area_caller *out)
{
	const struct site_info *info = &sites[site];
	const Addr bias = (Addr)modules[info->module].bias;
	Addr calls[CALLS_MOST];
	UInt n = VG_(get_StackTrace)(VG_(get_running_tid)(), calls, CALLS_MOST, NULL, NULL, 0);

	out->at = (uint32_t)(info->place.address + 1);
	for (UInt i = 1; i < n && !out->caller; i++)
		if (module_at(calls[i]) == info->module && calls[i] - bias < UINT32_MAX)
			out->caller = (uint32_t)(calls[i] - bias + 1);
}

uint64_t site_id(uint32_t site)
{
	struct site_info *info = &sites[site];

	if (site && !info->id)
		info->id =
			code_place_id(modules[info->module].name, &info->place, info->what ? info->what : "");
	return site ? info->id : 0;
}

static uint32_t show_module(struct module *module)
{
	struct area_process *p = grind.process;

	if (module->shown)
		return module->shown - 1;
	if (p->nmodules >= AREA_MODULES)
		return MODULE_NONE;
	struct area_module *entry = &p->modules[p->nmodules];

	entry->path = area_text(module->path);
	entry->state = AREA_VALID;
	module->shown = ++p->nmodules;
	return module->shown - 1;
}

void site_used(uint32_t site)
{
	if (!site || sites[site].shown)
		return;
	struct site_info *info = &sites[site];
	struct area_place *entry = &grind.process->places[site - 1];

	info->shown = true;
	*entry = (struct area_place){ .address = info->place.address,
				      .variable = info->place.variable,
				      .module = show_module(&modules[info->module]),
				      .kind = info->place.kind,
				      .size = info->place.size,
				      .what = info->what ? area_text(info->what) : 0 };
	__atomic_store_n(&entry->state, AREA_VALID, __ATOMIC_RELEASE);
	if (grind.process->nplaces < site)
		grind.process->nplaces = site;
}

void sites_fork_child(void)
{
	for (uint32_t i = 1; i <= nsites; i++)
		sites[i].shown = false;
	for (uint32_t i = 0; i < nmodules; i++)
		modules[i].shown = 0;
}

/* Lines are looked up by unsnarl, not here; to read them would take most of the start's time, and this version of
 * Valgrind gives up on programs whose compiler is younger. The linker sends the core's call here. */
void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void);
void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void)
{
}

/* Every name of every library is compared with the patterns of all functions that are replaced or wrapped, a fifth of
 * the start's time. Most differ in their first letter. The linker sends the core's calls here. */
Bool __real_vgPlain_string_match(const HChar *pattern, const HChar *text);
Bool __wrap_vgPlain_string_match(const HChar *pattern, const HChar *text);
Bool __wrap_vgPlain_string_match(const HChar *pattern, const HChar *text)
{
	if (*pattern != *text && *pattern != '*' && *pattern != '?')
		return False;
	return __real_vgPlain_string_match(pattern, text);
}
