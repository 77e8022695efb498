/* Takes the units' bitcode out of ELF files: walks the section that holds it, unpacks
 * each unit, and goes on with the libraries that the file needs. The bytes are
 * believed in nothing: every size is compared with what is there before it is used,
 * and what was unpacked is compared with the hash that stands beside it. */
#include "static/bitcode.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/hash.h"
#include "model/unit_format.h"

#define UNPACKED_MOST ((size_t)1 << 31) /* larger than any unit that compiles in practice */
#define REBUILD "build it again with: unsnarl cc"

struct image {
	const unsigned char *bytes;
	size_t size;
};

static void unmap(struct image *image)
{
	if (image->bytes)
		munmap((void *)image->bytes, image->size);
}

static struct error *map_file(const char *path, struct image *image)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_errno(errno, "cannot read %s", path);
	if (S_ISDIR(status.st_mode))
		return error_new("%s is a folder; give the path of a program", path);
	if (status.st_size == 0)
		return error_new("%s is an empty file; give a program that was built with unsnarl cc", path);
	void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (bytes == MAP_FAILED)
		return error_errno(errno, "cannot read %s", path);
	*image = (struct image){ bytes, (size_t)status.st_size };
	return NULL;
}

static bool inside(const struct image *image, uint64_t offset, uint64_t size)
{
	return offset <= image->size && size <= image->size - offset;
}

static bool section_at(const struct image *image, const Elf64_Ehdr *head, uint64_t index, Elf64_Shdr *out)
{
	if (index >= head->e_shnum || !inside(image, head->e_shoff, (index + 1) * sizeof *out))
		return false;
	memcpy(out, image->bytes + head->e_shoff + index * sizeof *out, sizeof *out);
	return true;
}

/* A string of the image, NULL when it does not end inside. */
static const char *string_at(const struct image *image, uint64_t table, uint64_t size, uint64_t offset)
{
	if (offset >= size || !inside(image, table, size) ||
	    !memchr(image->bytes + table + offset, 0, size - offset))
		return NULL;
	return (const char *)image->bytes + table + offset;
}

/* ---- units ---- */

static struct error *unpack(const char *path, const unsigned char *packed, const struct unit_bitcode *header,
			    struct bitcodes *out)
{
	unsigned long long size = ZSTD_getFrameContentSize(packed, header->size);

	if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > UNPACKED_MOST)
		return error_new("%s: the bitcode in it is damaged; " REBUILD, path);
	char *bytes = memory_alloc((size_t)size + 1);
	size_t got = ZSTD_decompress(bytes, (size_t)size, packed, header->size);

	if (ZSTD_isError(got) || got != size || hash_bytes(HASH_START, bytes, got) != header->hash) {
		free(bytes);
		return error_new("%s: the bitcode in it is damaged; " REBUILD, path);
	}
	*VEC_PUSH(&out->items) = (struct bitcode){ bytes, got, memory_string(path), true };
	return NULL;
}

static struct error *unpack_all(const char *path, const unsigned char *bytes, uint64_t size,
				struct bitcodes *out)
{
	struct unit_bitcode header;

	while (size >= sizeof header) {
		memcpy(&header, bytes, sizeof header);
		/* The compiler itself may use the section too, and ends with other padding. */
		if (header.magic != UNIT_BITCODE_MAGIC) {
			bytes += 8;
			size -= 8;
			continue;
		}
		if (header.size > size - sizeof header)
			return error_new("%s: the bitcode in it is cut short; " REBUILD, path);
		TRY(unpack(path, bytes + sizeof header, &header, out));
		uint64_t whole = (sizeof header + header.size + 15) & ~15ull;

		if (whole > size)
			break;
		bytes += whole;
		size -= whole;
	}
	return NULL;
}

/* ---- needed libraries ---- */

static void read_dynamic(const struct image *image, const Elf64_Shdr *dynamic, const Elf64_Shdr *strings,
			 struct bitcodes *out)
{
	Elf64_Dyn entry;

	for (uint64_t at = 0; at + sizeof entry <= dynamic->sh_size; at += sizeof entry) {
		if (!inside(image, dynamic->sh_offset + at, sizeof entry))
			return;
		memcpy(&entry, image->bytes + dynamic->sh_offset + at, sizeof entry);
		const char *text = string_at(image, strings->sh_offset, strings->sh_size, entry.d_un.d_val);

		if (!text)
			continue;
		if (entry.d_tag == DT_NEEDED)
			*VEC_PUSH(&out->libraries) = memory_string(text);
		else if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH)
			*VEC_PUSH(&out->folders) = memory_string(text);
	}
}

static bool is_there(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The file of a library: in the folders that the program names, beside it, or where LD_LIBRARY_PATH says.
 * The system's own libraries hold no bitcode and are not looked for. */
static char *library_file(const char *program, const char *name, const struct bitcodes *known)
{
	const char *slash = strrchr(program, '/');
	_cleanup_free_ char *origin =
		slash ? memory_format("%.*s", (int)(slash - program), program) : memory_string(".");
	const char *path = getenv("LD_LIBRARY_PATH");
	_cleanup_free_ char *folders = memory_format("%s:%s", path ? path : "", origin);

	for (size_t i = 0; i < known->folders.n; i++) {
		char *more = memory_format("%s:%s", known->folders.items[i], folders);

		free(folders);
		folders = more;
	}
	char *rest = folders;

	for (char *folder; (folder = strsep(&rest, ":"));) {
		bool relative = strncmp(folder, "$ORIGIN", 7) == 0;
		char *file = memory_format("%s%s/%s", relative ? origin : "", relative ? folder + 7 : folder,
					   name);

		if (*folder && is_there(file))
			return file;
		free(file);
	}
	return NULL;
}

/* ---- files ---- */

static struct error *read_elf(const char *path, const struct image *image, struct bitcodes *out)
{
	Elf64_Ehdr head;
	Elf64_Shdr names, section, strings;

	memcpy(&head, image->bytes, sizeof head);
	if (head.e_machine != EM_X86_64 || head.e_shentsize != sizeof section)
		return error_new("%s is not a 64-bit x86 program; build it with: unsnarl cc", path);
	if (!section_at(image, &head, head.e_shstrndx, &names))
		return error_new("%s has no section table, so that its bitcode cannot be found; was it "
				 "stripped, or cut short? " REBUILD,
				 path);
	for (uint64_t i = 0; section_at(image, &head, i, &section); i++) {
		const char *name = string_at(image, names.sh_offset, names.sh_size, section.sh_name);

		if (section.sh_type == SHT_DYNAMIC && section_at(image, &head, section.sh_link, &strings))
			read_dynamic(image, &section, &strings, out);
		if (!name || strcmp(name, UNIT_BITCODE_SECTION) != 0 || section.sh_type != SHT_PROGBITS)
			continue;
		if (!inside(image, section.sh_offset, section.sh_size))
			return error_new("%s is cut short; " REBUILD, path);
		TRY(unpack_all(path, image->bytes + section.sh_offset, section.sh_size, out));
	}
	return NULL;
}

static bool is_bitcode(const struct image *image)
{
	return image->size >= 4 && (memcmp(image->bytes, "BC\xc0\xde", 4) == 0 ||
				    memcmp(image->bytes, "\xde\xc0\x17\x0b", 4) == 0);
}

static struct error *read_file(const char *path, struct bitcodes *out)
{
	_cleanup_(unmap) struct image image = { 0 };

	TRY(map_file(path, &image));
	if (is_bitcode(&image)) {
		char *bytes = memory_alloc(image.size + 1);

		memcpy(bytes, image.bytes, image.size);
		*VEC_PUSH(&out->items) = (struct bitcode){ bytes, image.size, memory_string(path), false };
		return NULL;
	}
	if (image.size < sizeof(Elf64_Ehdr) || memcmp(image.bytes, ELFMAG, SELFMAG) != 0 ||
	    image.bytes[EI_CLASS] != ELFCLASS64)
		return error_new("%s is neither a program nor bitcode; give a program that was built with "
				 "unsnarl cc, or what clang-19 -c -emit-llvm wrote",
				 path);
	return read_elf(path, &image, out);
}

struct error *bitcode_read(const char *path, struct bitcodes *out)
{
	size_t before = out->items.n, next = out->libraries.n;

	TRY(read_file(path, out));
	if (out->items.n == before)
		return error_new("%s holds no bitcode; build it with: unsnarl cc", path);
	for (; next < out->libraries.n; next++) {
		bool seen = false;

		for (size_t i = 0; i < next && !seen; i++)
			seen = strcmp(out->libraries.items[i], out->libraries.items[next]) == 0;
		_cleanup_free_ char *file = seen ? NULL : library_file(path, out->libraries.items[next], out);

		if (!file)
			continue;
		before = out->items.n;
		TRY(read_file(file, out));
		if (out->items.n == before)
			*VEC_PUSH(&out->skipped) = memory_string(file);
		else
			*VEC_PUSH(&out->merged) = memory_string(out->libraries.items[next]);
	}
	return NULL;
}

static void free_strings(char **items, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(items[i]);
	free(items);
}

void bitcode_free(struct bitcodes *bitcodes)
{
	for (size_t i = 0; i < bitcodes->items.n; i++) {
		free(bitcodes->items.items[i].bytes);
		free(bitcodes->items.items[i].from);
	}
	free(bitcodes->items.items);
	free_strings(bitcodes->libraries.items, bitcodes->libraries.n);
	free_strings(bitcodes->folders.items, bitcodes->folders.n);
	free_strings(bitcodes->merged.items, bitcodes->merged.n);
	free_strings(bitcodes->skipped.items, bitcodes->skipped.n);
	*bitcodes = (struct bitcodes){ 0 };
}
