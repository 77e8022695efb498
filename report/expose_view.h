/* What unsnarl expose says, on the terminal and as JSON. */
#ifndef REPORT_EXPOSE_VIEW_H
#define REPORT_EXPOSE_VIEW_H

#include "model/finding.h"

struct exposed {
	const char *program;
	size_t orders;             /* that passing runs always kept */
	uint64_t turned, harmless; /* of them turned round in a run; in a run that passed */
	const struct findings *findings;
};

/* The sentences of a finding, from its counts of runs and the run that failed. */
void expose_tell_finding(struct finding *finding);
void expose_print(const struct exposed *exposed);
void expose_json(const struct exposed *exposed);

#endif
