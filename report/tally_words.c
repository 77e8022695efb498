/* Counts of schedules: by how they ended, by who chose them.
 */
#include "report/tally_words.h"

#include <stdlib.h>

#include "report/answer.h"
#include "report/text.h"
#include "report/words.h"

char *tally_end_words(const struct run *ended)
{
	char *how = words_ended(ended);

	if (!ended->schedule.early_ns) {
		/* Exit 0 and yet failed: by its output. */
		if (ended->outcome != OUTCOME_EXIT || ended->code)
			return how;
		free(how);
		return memory_string("wrong output");
	}
	char *early = memory_format("%s after an early time-out", how);

	free(how);
	return early;
}

char *tally_words(const struct tally *tally, uint64_t pairs, double seconds)
{
	char *words =
		memory_format("%.0f/s, %llu pairs", seconds > 0.2 ? (double)tally->schedules / seconds : 0,
			      (unsigned long long)pairs);

	for (size_t i = 0; i < tally->ends.n && i < 3; i++) {
		char *longer =
			memory_format("%s, %llu %s", words, (unsigned long long)tally->ends.items[i].count,
				      tally->ends.items[i].name);

		free(words);
		words = longer;
	}
	return words;
}

char *tally_join(const struct tally_counts *counts)
{
	char *text = memory_string("");

	for (size_t i = 0; i < counts->n; i++) {
		_cleanup_free_ char *name = text_clean(counts->items[i].name);
		char *longer = memory_format("%s%s%llu %s", text, i ? ", " : "",
					     (unsigned long long)counts->items[i].count, name);

		free(text);
		text = longer;
	}
	return text;
}

json_t *tally_json(const struct tally_counts *counts)
{
	json_t *object = json_object();

	for (size_t i = 0; i < counts->n; i++) {
		_cleanup_free_ char *name = text_clean(counts->items[i].name);

		json_object_set_new(object, name, answer_count(counts->items[i].count));
	}
	return object;
}
