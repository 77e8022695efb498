/* Looks places up with libdw. A place inlined from a system header is put down to
 * the program's own line around it, as in programs with hooks.
 */
#include "model/symbols.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "model/dwarf_unit.h"
#include "model/library_state.h"
#include "model/unit_format.h"

struct file {
	char *path;
	Dwfl *dwfl;
	Dwfl_Module *module; /* NULL: it cannot be read */
};

struct symbols {
	VEC(struct file) files;
};

/* What is found of an address; strings belong to libdw or to `own`. */
struct found {
	const char *function, *file, *variable, *through;
	int line, column;
	char *own_function, *own_through, *own_name;
};

static char *debug_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debug_path,
};

struct symbols *symbols_new(void)
{
	return memory_alloc(sizeof(struct symbols));
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->files.n; i++) {
		free(symbols->files.items[i].path);
		dwfl_end(symbols->files.items[i].dwfl);
	}
	VEC_FREE(&symbols->files);
	free(symbols);
}

static Dwfl_Module *module_of(struct symbols *symbols, const char *path)
{
	for (size_t i = 0; i < symbols->files.n; i++)
		if (!strcmp(symbols->files.items[i].path, path))
			return symbols->files.items[i].module;
	struct file *file = VEC_PUSH(&symbols->files);

	*file = (struct file){ .path = memory_string(path), .dwfl = dwfl_begin(&callbacks) };
	if (!file->dwfl)
		return NULL;
	dwfl_report_begin(file->dwfl);
	file->module = dwfl_report_offline(file->dwfl, path, path, -1);
	dwfl_report_end(file->dwfl, NULL, NULL);
	return file->module;
}

struct Dwfl_Module *symbols_module(struct symbols *symbols, const char *path)
{
	return module_of(symbols, path);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_system(const char *file)
{
	static const char *const folders[] = { "/usr/include/", "/usr/lib/", "/usr/local/include/",
					       "/usr/local/lib/" };

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if (!strncmp(file, folders[i], strlen(folders[i])))
			return true;
	return false;
}

/* ---- inlined frames ---- */

static int number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0)
		return 0;
	return (int)value;
}

/* The file from which the inlined function was called (DWARF 5 counts from 0). */
static const char *call_file(Dwarf_Die *die, Dwarf_Die *unit)
{
	Dwarf_Files *files;
	size_t n;
	int number = number_of(die, DW_AT_call_file), least = dwarf_hasattr(die, DW_AT_call_file) ? 0 : 1;

	if (dwarf_getsrcfiles(unit, &files, &n) != 0 || number < least || (size_t)number >= n)
		return NULL;
	return dwarf_filesrc(files, (size_t)number, NULL, NULL);
}

/* The name of a function with the classes and namespaces around its declaration; the caller frees it. */
static char *scoped_name(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Die declared = *function, next, *scopes = NULL;
	const char *name = dwarf_diename(function);
	char *out = name ? memory_string(name) : NULL;

	while (dwarf_attr(&declared, DW_AT_abstract_origin, &attribute) ||
	       dwarf_attr(&declared, DW_AT_specification, &attribute)) {
		if (!dwarf_formref_die(&attribute, &next))
			break;
		declared = next;
	}
	int n = out ? dwarf_getscopes_die(&declared, &scopes) : 0;

	for (int i = 1; i < n; i++) {
		int tag = dwarf_tag(&scopes[i]);
		const char *around = dwarf_diename(&scopes[i]);

		if (around && (tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
			       tag == DW_TAG_union_type || tag == DW_TAG_namespace)) {
			char *longer = memory_format("%s::%s", around, out);

			free(out);
			out = longer;
		}
	}
	free(scopes);
	return out;
}

/* Walks out of functions of system headers to the program's own line. */
static void leave_headers(Dwarf_Die *unit, Dwarf_Die *scopes, int n, struct found *found)
{
	for (int i = 0; i < n; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		const char *name = dwarf_diename(&scopes[i]);

		if (tag == DW_TAG_subprogram || !found->file || !is_system(found->file)) {
			free(found->own_name);
			found->own_name = scoped_name(&scopes[i]);
			found->function = found->own_name;
			return;
		}
		free(found->own_through);
		found->own_through = memory_format("%s at %s:%d:%d", name ? name : "?",
						   base_name(found->file), found->line, found->column);
		found->through = found->own_through;
		const char *file = call_file(&scopes[i], unit);

		if (file) {
			found->file = file;
			found->line = number_of(&scopes[i], DW_AT_call_line);
			found->column = number_of(&scopes[i], DW_AT_call_column);
		}
	}
}

/* Walks out of the innermost function of the program's own to where it was inlined; false: it was not. */
static bool leave_inlined(Dwarf_Die *unit, Dwarf_Die *scopes, int n, struct found *found)
{
	for (int i = 0; i < n; i++) {
		int tag = dwarf_tag(&scopes[i]);
		const char *file = tag == DW_TAG_inlined_subroutine ? call_file(&scopes[i], unit) : NULL;
		bool of_header = found->file && is_system(found->file);

		if (tag == DW_TAG_subprogram)
			return false;
		if (!file)
			continue;
		found->file = file;
		if (of_header)
			continue;
		found->line = number_of(&scopes[i], DW_AT_call_line);
		found->column = number_of(&scopes[i], DW_AT_call_column);
		leave_headers(unit, scopes + i + 1, n - i - 1, found);
		return true;
	}
	return false;
}

/* With `around` of an inlined function the place where it is called; nothing where there is none. */
static void look_up_line(Dwfl_Module *module, uint64_t address, bool around, struct found *found)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = dwarf_unit_at(module, address, &bias);
	Dwarf_Line *line = unit ? dwarf_getsrc_die(unit, address - bias) : NULL;
	Dwarf_Die *scopes = NULL;

	if (!line)
		return;
	found->file = dwarf_linesrc(line, NULL, NULL);
	dwarf_lineno(line, &found->line);
	dwarf_linecol(line, &found->column);
	int n = dwarf_getscopes(unit, address - bias, &scopes);

	/* Beyond the first inlined function libdw goes on where that was declared; where it was called is told by what
	 * stands around the innermost one. */
	if (n > 0) {
		Dwarf_Die innermost = scopes[0];

		free(scopes);
		scopes = NULL;
		n = dwarf_getscopes_die(&innermost, &scopes);
	}
	if (around && !leave_inlined(unit, scopes, n, found))
		found->line = 0;
	if (n > 0 && !around)
		leave_headers(unit, scopes, n, found);
	free(scopes);
}

/* What stands in a function of a header is put down to the program's call that led there. */
static void look_up_caller(Dwfl_Module *module, uint64_t address, struct found *found)
{
	struct found caller = { 0 };

	look_up_line(module, address, false, &caller);
	if (!caller.line || !caller.file || is_system(caller.file)) {
		free(caller.own_through);
		free(caller.own_name);
		return;
	}
	char *through = memory_format("%s at %s:%d:%d", found->function ? found->function : "?",
				      base_name(found->file), found->line, found->column);

	free(caller.own_through);
	free(found->own_through);
	free(found->own_name);
	*found = caller;
	found->own_through = through;
	found->through = through;
}

/* ---- names ---- */

static void look_up_function(Dwfl_Module *module, const char *path, const struct code_place *place,
			     uint64_t bias, struct found *found)
{
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name =
		dwfl_module_addrinfo(module, place->address + bias, &offset, &symbol, NULL, NULL, NULL);

	if (name && offset < symbol.st_size)
		found->own_function = found->line
					      ? memory_string(name)
					      : memory_format("%s+0x%llx", name, (unsigned long long)offset);
	else
		found->own_function =
			memory_format("%s+0x%llx", base_name(path), (unsigned long long)place->address);
	if (!found->function || !found->line)
		found->function = found->own_function;
}

static void look_up_variable(Dwfl_Module *module, const struct code_place *place, uint64_t bias,
			     struct found *found)
{
	GElf_Off offset;
	GElf_Sym symbol;

	if (!place->variable)
		return;
	const char *name =
		dwfl_module_addrinfo(module, place->variable + bias, &offset, &symbol, NULL, NULL, NULL);

	if (name && offset < (symbol.st_size ? symbol.st_size : 1) &&
	    GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
		found->variable = name;
}

/* Of calls that synchronise or allocate, and of what libc keeps, the name is the variable; what a call frees is told apart by it. */
static void take_what(const struct code_place *place, const char *what, struct found *found)
{
	uint32_t kind = place->kind & ~PLACE_ATOMIC;

	if (!*what)
		return;
	if (kind == SITE_SYNC || kind == SITE_ALLOCATION || library_state_named(what) != LIBRARY_STATES)
		found->variable = what;
	else
		found->through = what;
}

/* ---- the table ---- */

static uint32_t pool_add(char **pool, uint32_t *size, const char *text)
{
	uint32_t at = *size, length = (uint32_t)strlen(text) + 1;

	*pool = memory_resize(*pool, at + length);
	memcpy(*pool + at, text, length);
	*size = at + length;
	return at;
}

static void make_unit(const struct found *found, const struct code_place *place, uint64_t id, uint64_t hash,
		      struct unit *out)
{
	_cleanup_free_ char *pool = NULL, *table = NULL;
	uint32_t size = 0, none = pool_add(&pool, &size, "");
	/* Places without a line are told apart by their names. */
	const char *file = found->line ? found->file : found->function;
	struct unit_site site = {
		.id = id,
		.line = (uint32_t)found->line,
		.column = (uint32_t)found->column,
		.size = place->size,
		.kind = place->kind,
		.function = found->function ? pool_add(&pool, &size, found->function) : none,
		.file = file ? pool_add(&pool, &size, file) : none,
		.variable = found->variable ? pool_add(&pool, &size, found->variable) : none,
		.through = found->through ? pool_add(&pool, &size, found->through) + 1 : 0
	};
	struct unit_header header = { .magic = UNIT_MAGIC,
				      .version = UNIT_VERSION,
				      .hash = hash,
				      .nsites = 1,
				      .strings = sizeof header + sizeof site };

	header.size = (uint32_t)(sizeof header + sizeof site + size + 16) & ~15u;
	table = memory_alloc(header.size);
	memcpy(table, &header, sizeof header);
	memcpy(table + sizeof header, &site, sizeof site);
	memcpy(table + header.strings, pool, size);
	error_free(unit_parse(table, header.size, out));
}

void symbols_unit(struct symbols *symbols, const char *path, const struct code_place *asked, const char *what,
		  uint64_t hash, struct unit *out)
{
	const bool around = asked->kind & PLACE_AROUND;
	struct code_place here = *asked, *place = &here;
	struct found found = { 0 };
	Dwfl_Module *module = module_of(symbols, path);
	const char *led = strrchr(what, CODE_PLACE_LED);
	_cleanup_free_ char *name = memory_format("%.*s", (int)(led ? led - what : INT_MAX), what);
	GElf_Addr bias = 0;

	if (module && dwfl_module_getelf(module, &bias)) {
		here.kind &= ~PLACE_AROUND;
		look_up_line(module, place->address + bias, around, &found);
		if (led && found.file && is_system(found.file))
			look_up_caller(module, strtoull(led + 1, NULL, 16) + bias, &found);
		look_up_function(module, path, place, bias, &found);
		look_up_variable(module, place, bias, &found);
	} else {
		found.own_function =
			memory_format("%s+0x%llx", base_name(path), (unsigned long long)place->address);
		found.function = found.own_function;
	}
	take_what(place, name, &found);
	make_unit(&found, place, code_place_id(base_name(path), place, what), hash, out);
	free(found.own_function);
	free(found.own_through);
	free(found.own_name);
}

/* Is one path the end of the other, by whole names? */
static bool ends_alike(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	const char *longer = n > m ? a : b, *shorter = n > m ? b : a;
	const char *end = longer + (n > m ? n - m : m - n);

	return !strcmp(end, shorter) && (end == longer || end[-1] == '/');
}

static size_t unit_ranges(Dwarf_Die *unit, Dwarf_Addr bias, const char *file, int wanted,
			  struct symbols_range *out, size_t most)
{
	Dwarf_Lines *lines;
	size_t n, found = 0;

	if (dwarf_getsrclines(unit, &lines, &n) != 0)
		return 0;
	for (size_t i = 0; i + 1 < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		const char *source = dwarf_linesrc(line, NULL, NULL);
		Dwarf_Addr from, to;
		int number;

		if (dwarf_lineno(line, &number) != 0 || number != wanted || !source ||
		    !ends_alike(source, file) || dwarf_lineaddr(line, &from) != 0 ||
		    dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &to) != 0 || from >= to)
			continue;
		if (found < most)
			out[found] = (struct symbols_range){ from + bias, to + bias };
		found++;
	}
	return found;
}

size_t symbols_line_ranges(struct symbols *symbols, const char *path, const char *file, unsigned line,
			   struct symbols_range *out, size_t most)
{
	Dwfl_Module *module = module_of(symbols, path);
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;
	GElf_Addr moved = 0;
	size_t n = 0;

	if (!module || !dwfl_module_getelf(module, &moved))
		return 0;
	while ((unit = dwfl_module_nextcu(module, unit, &bias)))
		n += unit_ranges(unit, bias - moved, file, (int)line, out + (n < most ? n : most),
				 n < most ? most - n : 0);
	return n;
}

/* The code of a function begins with one row of the table of lines for the place where it is declared; the next row
 * is its first line. */
static bool is_before_second_row(Dwarf_Die *unit, Dwarf_Addr entry, Dwarf_Addr address)
{
	Dwarf_Lines *lines;
	size_t n;

	if (dwarf_getsrclines(unit, &lines, &n) != 0)
		return false;
	for (size_t i = 0; i + 1 < n; i++) {
		Dwarf_Addr from, to;

		if (dwarf_lineaddr(dwarf_onesrcline(lines, i), &from) == 0 && from == entry &&
		    dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &to) == 0 && to > from)
			return address < to;
	}
	return false;
}

bool symbols_is_prologue(struct symbols *symbols, const char *path, uint64_t address)
{
	Dwfl_Module *module = module_of(symbols, path);
	Dwarf_Die *scopes = NULL;
	Dwarf_Addr bias, entry;
	GElf_Addr moved = 0;
	bool is = false;

	if (!module || !dwfl_module_getelf(module, &moved))
		return false;
	Dwarf_Die *unit = dwarf_unit_at(module, address + moved, &bias);
	int n = unit ? dwarf_getscopes(unit, address + moved - bias, &scopes) : 0;

	for (int i = 0; i < n && !is; i++)
		is = dwarf_tag(&scopes[i]) == DW_TAG_subprogram && dwarf_lowpc(&scopes[i], &entry) == 0 &&
		     is_before_second_row(unit, entry, address + moved - bias);
	free(scopes);
	return is;
}

uint64_t symbols_build(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status = { 0 };
	const void *id = NULL;

	if (fd < 0 || fstat(fd, &status) < 0)
		return 0;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	ssize_t size = elf ? dwelf_elf_gnu_build_id(elf, &id) : 0;
	int64_t facts[] = { status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec };
	uint64_t hash = size > 0 ? hash_bytes(HASH_START, id, (size_t)size)
				 : hash_bytes(HASH_START, facts, sizeof facts);

	elf_end(elf);
	return hash;
}
