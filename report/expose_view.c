/* What is said of orders that were turned round.
 */
#include "report/expose_view.h"

#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>

#include "base/options.h" /* options_fill */
#include "report/answer.h"
#include "report/finding_view.h"
#include "report/words.h"

void expose_tell_finding(struct finding *finding)
{
	uint64_t turned = finding->runs.failed + finding->runs.passed;

	finding->summary =
		memory_string("In passing runs the second access always came first; nothing in the "
			      "program sees to that, and the other way round it fails.");
	finding->evidence =
		memory_format("with the order turned round %" PRIu64 " of %" PRIu64 " runs failed",
			      (uint64_t)finding->runs.failed, turned);
	finding->schedule = memory_format("unsnarl show %" PRIu64, (uint64_t)finding->run);
}

void expose_json(const struct exposed *exposed)
{
	json_t *answer = answer_new("expose");

	json_object_set_new(answer, "program", answer_text(exposed->program));
	json_object_set_new(answer, "orders", answer_count(exposed->orders));
	json_object_set_new(answer, "turned", answer_count(exposed->turned));
	json_object_set_new(answer, "pruned", answer_count(exposed->harmless));
	json_object_set_new(answer, "findings", findings_json(exposed->findings));
	answer_print(answer);
}

void expose_print(const struct exposed *exposed)
{
	_cleanup_free_ char *program = memory_string(exposed->program);
	struct excerpts excerpts = { .folder = memory_string(dirname(program)) };

	_cleanup_free_ char *kept = words_count(exposed->orders, "access", "accesses");

	_cleanup_free_ char *text = memory_format(
		"%s only ever came after one other or a few writes. Orders that could be turned round: "
		"%" PRIu64 ", without harm: %" PRIu64 "%s.",
		kept, exposed->turned, exposed->harmless,
		exposed->findings->n ? "" : "; none did harm more often than the program fails by itself");

	if (exposed->orders)
		options_fill(stdout, text, 0, 0);
	else
		printf("No access only ever came after one other or a few writes: no order to turn round.\n");
	for (size_t i = 0; i < exposed->findings->n; i++)
		finding_print(&exposed->findings->items[i], &excerpts, stdout);
	excerpt_free(&excerpts);
	if (exposed->harmless)
		printf("Passing runs with an order turned round are recorded: unsnarl learn takes them "
		       "in.\n");
}
