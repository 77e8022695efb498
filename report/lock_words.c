/* Takes the name of a lock out of the source line that takes it, and answers small questions
 * about who holds what.
 */
#include "model/place.h"
#include "report/lock_words.h"

#include <stdlib.h>
#include <string.h>

#include "report/text.h"

#define NAME_MOST 40

/* Where the brackets begin of the call or declaration that the lock is in. */
static const char *brackets(const char *line)
{
	/* A wait on a condition takes its mutex, the second of its arguments, again. */
	const char *wait = strstr(line, "cond_wait(");

	wait = wait ? wait : strstr(line, "cond_timedwait(");
	if (wait && strchr(wait, ','))
		return strchr(wait, ',');
	static const char *const calls[] = { "lock(",       "wrlock(",     "rdlock(",    "lock_guard",
					     "unique_lock", "scoped_lock", "shared_lock" };

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		const char *found = strstr(line, calls[i]);

		/* The last of several on a line: what is declared stands after its type. */
		while (found && strstr(found + 1, calls[i]))
			found = strstr(found + 1, calls[i]);
		if (found)
			return strpbrk(found, "({");
	}
	return NULL;
}

/* "queue.lock()" names its lock before the dot. */
static char *name_before(const char *line, const char *bracket)
{
	const char *end = bracket;

	while (end > line && end[-1] != '.' && end[-1] != '>')
		end--;
	end -= end > line && end[-1] == '>' ? 2 : 1;
	const char *start = end;

	while (start > line &&
	       (strchr("_.>-:[]", start[-1]) || ((start[-1] | 32) >= 'a' && (start[-1] | 32) <= 'z') ||
		(start[-1] >= '0' && start[-1] <= '9')))
		start--;
	return end > start ? memory_format("%.*s", (int)(end - start), start) : memory_string("");
}

char *lock_name_in(const char *line)
{
	const char *start = brackets(line), *end;
	int depth = 0;

	if (!start)
		return memory_string("");
	for (end = start + 1; *end && (depth || !strchr(",)}", *end)); end++)
		depth += *end == '(' || *end == '[' ? 1 : *end == ')' || *end == ']' ? -1 : 0;
	const char *name = start + 1;

	name += strspn(name, " &");
	while (end > name && end[-1] == ' ')
		end--;
	if (name >= end)
		return name_before(line, start);
	return end - name <= NAME_MOST ? memory_format("%.*s", (int)(end - name), name) : memory_string("");
}

char *lock_place(const char *file, uint32_t line, const char *function)
{
	_cleanup_free_ char *words = place_words(file, line, function);

	return text_clean(words);
}

char *lock_words(const struct finding_lock *lock, struct excerpts *excerpts)
{
	_cleanup_free_ char *line = lock->line ? excerpt_line(excerpts, lock->file, lock->line) : NULL;
	char *name = line ? lock_name_in(line) : memory_string("");

	if (*name)
		return name;
	free(name);
	_cleanup_free_ char *where = lock_place(lock->file, lock->line, lock->function);

	return *lock->function ? memory_format("the lock taken at %s", where) : memory_string("a lock");
}

const struct finding_lock *lock_held(const struct finding_access *access, uint64_t object)
{
	for (size_t i = 0; i < access->locks.n; i++)
		if (access->locks.items[i].object == object)
			return &access->locks.items[i];
	return NULL;
}

bool locks_all_known(const struct finding *finding)
{
	for (size_t i = 0; i < finding->accesses.n; i++)
		if (!finding->accesses.items[i].locks_known)
			return false;
	return finding->accesses.n > 0;
}

bool locks_any(const struct finding *finding)
{
	for (size_t i = 0; i < finding->accesses.n; i++)
		if (finding->accesses.items[i].locks.n)
			return true;
	return false;
}
