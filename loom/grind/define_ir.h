/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the files share that put marks into VEX IR. */
#ifndef GRIND_DEFINE_IR_H
#define GRIND_DEFINE_IR_H

#include "loom/grind/define.h"

struct marking {
	IRSB *out;
	const IRSB *in;
	const VexGuestLayout *layout;
	IRExpr **marks;             /* by temporary; NULL = no mark */
	IRTemp loaded;              /* the last load's value */
	struct value_site *loading; /* and the instruction */
	IRExpr **whole;             /* by temporary: what it is the low part of; NULL = not known */
	Addr pc;
	UInt length;
};

IRExpr *define_ir_word(uint64_t value);
bool define_ir_is_none(const IRExpr *mark);
IRExpr *define_ir_fresh(struct marking *m, IRType type, IRExpr *value);
IRExpr *define_ir_mark_of(const struct marking *m, const IRExpr *atom);
IRExpr *define_ir_ask(struct marking *m, const HChar *name, void *function, IRExpr **args);
Int define_ir_place(const struct marking *m, Int offset); /* of the mark of a register */
IRExpr *define_ir_register(struct marking *m, Int offset, IRType type);
struct value_site *define_ir_site(const struct marking *m, Int size);

/* ---- define_ir_control.c ---- */
Addr define_ir_constant(const IRExpr *e); /* 0: it is none */
void define_ir_branch(struct marking *m, IRStmt *st, bool last);
void define_ir_end(struct marking *m);

/* ---- define_ir_cuts.c ---- */
bool define_ir_is_register(Int offset);
/* Where it is kept whether a register was last written in part only: then the rest of it is no part of the value. */
Int define_ir_partly(const struct marking *m, Int offset);
IRExpr *define_ir_whole(const struct marking *m,
			const IRExpr *atom);              /* what it is the low part of; NULL: not known */
IRExpr *define_ir_alone(struct marking *m, IRExpr *data); /* what it is then: itself */
/* Remembers of what a temporary is a part, and looks at what is made whole again without what it had lost. */
void define_ir_note_whole(struct marking *m, IRTemp temp, const IRExpr *e);

#endif
