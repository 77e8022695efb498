/* Findings as data: names of classes and kinds, building and releasing them. */
#include "model/finding.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *words;
} classes[FINDING_CLASSES] = {
	[FINDING_NONE] = { "none", "nothing found" },
	[FINDING_ATOMICITY] = { "atomicity-violation", "atomicity violation" },
	[FINDING_MULTI_ATOMICITY] = { "multi-variable-atomicity-violation",
				      "atomicity violation over several variables" },
	[FINDING_ORDER] = { "order-violation", "order violation" },
	[FINDING_RACE] = { "data-race", "data race" },
	[FINDING_DEADLOCK] = { "deadlock", "deadlock" },
	[FINDING_LOST_WAKEUP] = { "lost-wakeup", "lost wake-up" },
	[FINDING_MEMORY] = { "memory-error", "memory error" },
};

/* LOCON, Table 1. The first and the last access are one thread's, those between another's. */
static const char *const scenarios[] = {
	"",
	"W-R",
	"R-W",
	"W-W",
	"W-W-R",
	"R-W-W",
	"R-W-R",
	"W-R-W",
	"R(x) W(x) R(y) W(y)",
	"R(x) R(y) W(x) W(y)",
	"W(x) R(x) R(y) W(y)",
	"W(x) W(x) R(y) W(y)",
	"W(x) W(x) W(y) W(y)",
	"W(x) R(y) R(x) W(y)",
	"W(x) R(y) W(x) W(y)",
	"W(x) W(y) W(x) W(y)",
};

#define NSCENARIOS (sizeof scenarios / sizeof *scenarios)

const char *finding_class_name(enum finding_class class)
{
	return (unsigned)class < FINDING_CLASSES ? classes[class].name : classes[0].name;
}

const char *finding_class_words(enum finding_class class)
{
	return (unsigned)class < FINDING_CLASSES ? classes[class].words : classes[0].words;
}

const char *finding_scenario_pattern(unsigned scenario)
{
	return scenario < NSCENARIOS ? scenarios[scenario] : "";
}

struct finding_access *finding_add_access(struct finding_accesses *list, uint32_t number,
					  const struct site *site)
{
	struct finding_access *access = VEC_PUSH(list);

	access->thread = FINDING_NO_THREAD;
	access->site = number;
	access->kind = site ? site->kind : SITE_READ;
	access->file = memory_string(site ? site->file : "");
	access->function = memory_string(site ? site->function : "");
	access->variable = memory_string(site ? site->variable : "");
	access->through = memory_format("%.*s", site ? site_through_length(site->through) : 0,
					site && site->through ? site->through : "");
	access->line = site ? site->line : 0;
	access->column = site ? site->column : 0;
	return access;
}

bool finding_frees(const struct finding_access *access)
{
	return access->kind == SITE_WRITE &&
	       (!strcmp(access->through, "free") || !strcmp(access->through, "operator delete"));
}

const char *finding_verb(const struct finding_access *access)
{
	return finding_frees(access) ? "free" : site_kind_name(access->kind);
}

void finding_settle(struct finding *finding)
{
	const struct finding_access *accesses = finding->accesses.items;

	if (finding->class != FINDING_ORDER || finding->accesses.n != 2 || !accesses[0].line ||
	    accesses[0].line != accesses[1].line || strcmp(accesses[0].file, accesses[1].file) ||
	    accesses[0].thread == accesses[1].thread)
		return;
	finding->class = FINDING_ATOMICITY;
	finding->scenario = 0;
}

bool finding_has_calls(const struct finding *finding)
{
	for (size_t i = 0; i < finding->accesses.n; i++)
		if (finding->accesses.items[i].role)
			return true;
	return false;
}

bool finding_taken_signal(const struct finding *finding)
{
	size_t n = finding->accesses.n;

	return finding->class == FINDING_LOST_WAKEUP && n >= 3 && finding->accesses.items[n - 2].role &&
	       !strcmp(finding->accesses.items[n - 2].role, "woken");
}

void finding_add_variable(struct finding *finding, const char *name)
{
	if (!*name)
		return;
	for (size_t i = 0; i < finding->variables.n; i++)
		if (!strcmp(finding->variables.items[i], name))
			return;
	*VEC_PUSH(&finding->variables) = memory_string(name);
}

void finding_lock_free(struct finding_lock *lock)
{
	free(lock->file);
	free(lock->function);
	free(lock->back);
}

void finding_accesses_free(struct finding_accesses *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->items[i].file);
		free(list->items[i].function);
		free(list->items[i].variable);
		free(list->items[i].through);
		free(list->items[i].caller.file);
		free(list->items[i].caller.function);
		for (size_t l = 0; l < list->items[i].locks.n; l++)
			finding_lock_free(&list->items[i].locks.items[l]);
		VEC_FREE(&list->items[i].locks);
	}
	VEC_FREE(list);
}

void finding_free(struct finding *finding)
{
	for (size_t i = 0; i < finding->variables.n; i++)
		free(finding->variables.items[i]);
	VEC_FREE(&finding->variables);
	for (size_t i = 0; i < finding->blocks.n; i++)
		free(finding->blocks.items[i]);
	VEC_FREE(&finding->blocks);
	finding_accesses_free(&finding->accesses);
	finding_accesses_free(&finding->otherwise);
	free(finding->method);
	free(finding->summary);
	free(finding->evidence);
	free(finding->schedule);
	*finding = (struct finding){ 0 };
}

void findings_free(struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		finding_free(&findings->items[i]);
	VEC_FREE(findings);
}
