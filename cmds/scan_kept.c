/* Keeps candidates as the JSON that scan prints (doc/formats.md, "Scan").
 */
#include "cmds/scan_kept.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "report/candidate.h"
#include "store/store.h"

static char *path_of(const char *folder, uint64_t build)
{
	return memory_format("%s/scan-%016llx.json", folder, (unsigned long long)build);
}

struct error *scan_keep(const char *folder, uint64_t build, const struct scan *scan)
{
	_cleanup_free_ char *path = path_of(folder, build), *fresh = memory_format("%s.new-XXXXXX", path);
	_cleanup_(store_closep) struct store *store = NULL;

	/* Makes the folder a store, if it is none yet. */
	TRY(store_open(folder, true, &store));
	json_t *all = json_object(), *list = json_array();

	for (size_t i = 0; i < scan->candidates.n && i < SCAN_KEPT_MOST; i++)
		json_array_append_new(list, candidate_json(&scan->candidates.items[i]));
	json_object_set_new(all, "version", json_integer(1));
	json_object_set_new(all, "findings", list);
	/* A new file of the owner's alone, whatever others have put into the folder. */
	_cleanup_close_ int fd = mkostemp(fresh, O_CLOEXEC);
	int failed = fd < 0 || json_dumpfd(all, fd, JSON_COMPACT);

	json_decref(all);
	/* Whole or not at all. */
	if (failed || rename(fresh, path) < 0) {
		int number = errno;

		if (fd >= 0)
			unlink(fresh);
		return error_errno(number, "cannot keep the list in %s", path);
	}
	return NULL;
}

/* ---- reading ---- */

static const char *text_at(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static bool kind_of(const char *class, enum candidate_kind *out)
{
	for (int kind = 0; kind < CANDIDATE_KINDS; kind++)
		if (!strcmp(class, candidate_class((enum candidate_kind)kind))) {
			*out = (enum candidate_kind)kind;
			return true;
		}
	return false;
}

static enum site_kind access_kind(const char *word)
{
	return !strcmp(word, "write")    ? SITE_WRITE
	       : !strcmp(word, "update") ? SITE_UPDATE
	       : !strcmp(word, "read")   ? SITE_READ
					 : SITE_SYNC;
}

static bool read_access(const json_t *from, struct candidate_access *out)
{
	json_int_t line = json_integer_value(json_object_get(from, "line"));
	json_int_t thread = json_integer_value(json_object_get(from, "thread"));

	if (line < 0 || line > INT32_MAX || thread < 1 || thread > 64)
		return false;
	*out = (struct candidate_access){ .thread = (unsigned)thread,
					  .kind = access_kind(text_at(from, "kind")),
					  .line = (uint32_t)line,
					  .file = memory_string(text_at(from, "file")),
					  .function = memory_string(text_at(from, "function")),
					  .variable = memory_string(text_at(from, "variable")),
					  .through = memory_string(""),
					  .root = memory_string(""),
					  .locks = memory_string(""),
					  .instruction = UINT32_MAX,
					  .statement = UINT32_MAX,
					  .lock = UINT32_MAX };
	return true;
}

static bool read_candidate(const json_t *from, unsigned rank, struct candidate *out)
{
	const json_t *accesses = json_object_get(from, "accesses"), *others = json_object_get(from, "others");
	const json_t *access;
	size_t i;

	*out = (struct candidate){
		.rank = rank,
		.score = json_number_value(json_object_get(from, "score")),
		.variable = memory_string(
			json_string_value(json_array_get(json_object_get(from, "variables"), 0)) ?: ""),
	};
	if (!kind_of(text_at(from, "class"), &out->kind))
		return false;
	json_array_foreach(accesses, i, access)
	{
		struct candidate_access *made = VEC_PUSH(&out->accesses);

		if (!read_access(access, made))
			return false;
	}
	json_array_foreach(others, i, access)
	{
		struct candidate_access *made = VEC_PUSH(&out->others);

		if (!read_access(access, made))
			return false;
	}
	return out->accesses.n >= 2;
}

struct error *scan_kept(const char *folder, uint64_t build, struct scan *out)
{
	_cleanup_free_ char *path = path_of(folder, build);

	*out = (struct scan){ 0 };
	return access(path, F_OK) < 0 ? NULL : scan_kept_read(path, out);
}

struct error *scan_kept_read(const char *path, struct scan *out)
{
	json_error_t mistake;

	*out = (struct scan){ 0 };
	json_t *all = json_load_file(path, JSON_REJECT_DUPLICATES, &mistake), *candidate;
	bool sound = json_is_array(json_object_get(all, "findings"));
	size_t i;

	json_array_foreach(json_object_get(all, "findings"), i, candidate) if (sound && i < SCAN_KEPT_MOST)
		sound = read_candidate(candidate, (unsigned)i + 1, VEC_PUSH(&out->candidates));
	json_decref(all);
	if (sound)
		return NULL;
	scan_free(out);
	*out = (struct scan){ 0 };
	return error_new("%s is damaged; unsnarl scan writes it anew", path);
}
