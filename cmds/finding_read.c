/* Reads what the verbs print with --json. The file may come from anywhere: what it lacks is empty, what it
 * claims is compared with the program later.
 */
#include "cmds/finding_read.h"

#include <jansson.h>
#include <errno.h>
#include <string.h>

#include "base/memory.h"

static const char *text_of(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static enum finding_class class_of(const char *name)
{
	for (enum finding_class class = FINDING_NONE; class < FINDING_CLASSES; class ++)
		if (strcmp(name, finding_class_name(class)) == 0)
			return class;
	return FINDING_NONE;
}

static void read_access(json_t *from, struct finding *finding)
{
	const char *kind = text_of(from, "kind");
	const struct site site = { .kind = strcmp(kind, "write") == 0    ? SITE_WRITE
					   : strcmp(kind, "update") == 0 ? SITE_UPDATE
					   : strcmp(kind, "read") == 0   ? SITE_READ
									 : SITE_SYNC,
				   .line = (uint32_t)json_integer_value(json_object_get(from, "line")),
				   .column = (uint32_t)json_integer_value(json_object_get(from, "column")),
				   .file = text_of(from, "file"),
				   .function = text_of(from, "function"),
				   .variable = text_of(from, "variable") };
	struct finding_access *access = finding_add_access(&finding->accesses, FINDING_NO_SITE, &site);

	access->thread = (uint32_t)json_integer_value(json_object_get(from, "thread"));
}

struct error *finding_read(const char *path, uint64_t rank, struct finding *out, char **program)
{
	json_error_t wrong;
	json_t *answer =
		strcmp(path, "-") == 0 ? json_loadf(stdin, 0, &wrong) : json_load_file(path, 0, &wrong);
	json_t *list = json_object_get(answer, "findings"), *found = NULL, *entry;
	size_t i;

	if (!answer && json_error_code(&wrong) == json_error_cannot_open_file)
		return error_new(
			"cannot read the finding %s: %s; --json makes such files, as in unsnarl diagnose "
			"--json -- ./program > finding.json",
			path, strerror(errno));
	if (!answer)
		return error_new("%s is no JSON answer: %s (line %d)", path, wrong.text, wrong.line);
	json_array_foreach(list, i,
			   entry) if ((uint64_t)json_integer_value(json_object_get(entry, "rank")) == rank &&
				      !found) found = entry;
	if (!found && rank <= json_array_size(list))
		found = json_array_get(list, (size_t)rank - 1);
	if (found) {
		out->class = class_of(text_of(found, "class"));
		json_array_foreach(json_object_get(found, "accesses"), i, entry) read_access(entry, out);
		*program = memory_string(text_of(answer, "program"));
	}
	json_decref(answer);
	if (!found)
		return error_new("%s has no finding of rank %llu", path, (unsigned long long)rank);
	if (!out->accesses.n)
		return error_new("the finding in %s names no accesses, so there is nothing to guard", path);
	return NULL;
}
