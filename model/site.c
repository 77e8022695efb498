/* Reads the site tables that the compiler wrapper embeds in objects. The file
 * may come from anywhere: nothing in it is believed before it was checked. */
#include "model/site.h"

#include <elf.h> /* section headers of the executable */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "model/unit_format.h"

const char *site_kind_name(enum site_kind kind)
{
	switch (kind) {
	case SITE_READ:
		return "read";
	case SITE_WRITE:
		return "write";
	case SITE_UPDATE:
		return "update";
	case SITE_SYNC:
		return "sync";
	case SITE_LOOP:
		return "loop";
	case SITE_ALLOCATION:
		return "allocation";
	}
	return "unknown";
}

int site_through_length(const char *through)
{
	const char *end = through ? strstr(through, " at ") : NULL;
	return end ? (int)(end - through) : through ? (int)strlen(through) : 0;
}

bool site_frees(const struct site *site)
{
	return site->kind == SITE_WRITE && site->through &&
	       (!strcmp(site->through, "free") || !strcmp(site->through, "operator delete"));
}

/* The string at `offset` of the pool, which is known to end with a NUL. */
static const char *pool_string(const char *table, const struct unit_header *header, uint32_t offset)
{
	uint64_t at = (uint64_t)header->strings + offset;
	return at < header->size ? table + at : "";
}

static bool header_is_sound(const struct unit_header *header, const char *table, size_t size)
{
	uint64_t sites_end = sizeof *header + (uint64_t)header->nsites * sizeof(struct unit_site);
	return header->magic == UNIT_MAGIC && header->version == UNIT_VERSION && header->size <= size &&
	       header->size > sizeof *header && header->size % 16 == 0 && header->strings == sites_end &&
	       header->strings < header->size && table[header->size - 1] == '\0';
}

struct error *unit_parse(const void *table, size_t size, struct unit *out)
{
	struct unit_header header;
	if (size < sizeof header)
		return error_new("the site table is cut short (%zu bytes)", size);
	memcpy(&header, table, sizeof header);
	if (header.magic == UNIT_MAGIC && header.version > UNIT_VERSION)
		return error_new(
			"the site table has version %u, this unsnarl reads up to %u: rebuild the program or "
			"update unsnarl",
			header.version, UNIT_VERSION);
	if (!header_is_sound(&header, table, size))
		return error_new("the site table is damaged: rebuild the program with unsnarl cc");

	char *copy = memory_alloc(header.size);
	memcpy(copy, table, header.size);
	*out = (struct unit){
		.hash = header.hash, .nsites = header.nsites, .table = copy, .table_size = header.size
	};
	out->sites = memory_alloc(header.nsites * sizeof *out->sites);
	for (uint32_t i = 0; i < header.nsites; i++) {
		struct unit_site raw;
		memcpy(&raw, copy + sizeof header + i * sizeof raw, sizeof raw);
		bool atomic = raw.kind & UNIT_ATOMIC;
		raw.kind &= ~UNIT_ATOMIC;
		out->sites[i] = (struct site){
			.id = raw.id,
			.kind = raw.kind >= SITE_READ && raw.kind <= SITE_ALLOCATION
					? (enum site_kind)raw.kind
					: SITE_READ,
			.atomic = atomic,
			.size = raw.size,
			.line = raw.line,
			.column = raw.column,
			.function = pool_string(copy, &header, raw.function),
			.file = pool_string(copy, &header, raw.file),
			.variable = pool_string(copy, &header, raw.variable),
			.through = raw.through ? pool_string(copy, &header, raw.through - 1) : "",
		};
	}
	return NULL;
}

void unit_free(struct unit *unit)
{
	cleanup_free(&unit->sites);
	cleanup_free(&unit->table);
	*unit = (struct unit){ 0 };
}

struct image {
	const unsigned char *bytes;
	size_t size;
};

static void image_unmap(struct image *image)
{
	if (image->bytes)
		munmap((void *)image->bytes, image->size);
}

static struct error *image_map(const char *path, struct image *out)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno(errno, "cannot read %s", path);
	out->size = (size_t)st.st_size;
	if (out->size == 0)
		return NULL;
	void *bytes = mmap(NULL, out->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return error_errno(errno, "cannot read %s", path);
	out->bytes = bytes;
	return NULL;
}

static bool inside(const struct image *image, uint64_t offset, uint64_t size)
{
	return offset <= image->size && size <= image->size - offset;
}

/* Copies section header `index`; false when it is not inside the file. */
static bool section_at(const struct image *image, const Elf64_Ehdr *elf, size_t index, Elf64_Shdr *out)
{
	uint64_t at = elf->e_shoff + index * sizeof *out;
	if (elf->e_shoff > image->size || index >= elf->e_shnum || !inside(image, at, sizeof *out))
		return false;
	memcpy(out, image->bytes + at, sizeof *out);
	return true;
}

static bool section_named(const struct image *image, const Elf64_Shdr *names, const Elf64_Shdr *section,
			  const char *name)
{
	size_t length = strlen(name) + 1;
	return inside(image, names->sh_offset, names->sh_size) && section->sh_name < names->sh_size &&
	       names->sh_size - section->sh_name >= length &&
	       memcmp(image->bytes + names->sh_offset + section->sh_name, name, length) == 0;
}

static struct error *units_in(const char *path, const unsigned char *bytes, size_t size, struct unit **out,
			      size_t *n)
{
	while (size >= sizeof(struct unit_header)) {
		struct unit unit;
		struct error *e = unit_parse(bytes, size, &unit);
		if (e) {
			struct error *whole = error_new("%s: %s", path, e->message);
			error_free(e);
			return whole;
		}
		*out = memory_resize(*out, (*n + 1) * sizeof **out);
		(*out)[(*n)++] = unit;
		bytes += unit.table_size;
		size -= unit.table_size;
	}
	return NULL;
}

struct error *unit_read_elf(const char *path, struct unit **out, size_t *n)
{
	*out = NULL;
	*n = 0;
	_cleanup_(image_unmap) struct image image = { 0 };
	TRY(image_map(path, &image));
	Elf64_Ehdr elf;
	if (image.size < sizeof elf || memcmp(image.bytes, ELFMAG, SELFMAG) != 0 ||
	    image.bytes[EI_CLASS] != ELFCLASS64)
		return error_new("%s is not a 64-bit ELF file", path);
	memcpy(&elf, image.bytes, sizeof elf);
	Elf64_Shdr names, section;
	if (!section_at(&image, &elf, elf.e_shstrndx, &names))
		return NULL;
	for (size_t i = 0; section_at(&image, &elf, i, &section); i++) {
		if (section.sh_type != SHT_PROGBITS || !section_named(&image, &names, &section, UNIT_SECTION))
			continue;
		if (!inside(&image, section.sh_offset, section.sh_size))
			return error_new("%s is cut short: rebuild it", path);
		struct error *e = units_in(path, image.bytes + section.sh_offset, section.sh_size, out, n);
		if (e) {
			for (size_t u = 0; u < *n; u++)
				unit_free(&(*out)[u]);
			cleanup_free(out);
			*out = NULL;
			*n = 0;
			return e;
		}
	}
	return NULL;
}
