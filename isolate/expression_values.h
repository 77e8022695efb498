/* Values and code of an expression that is being compiled: what expression.c, the grammar, is written in. */
#ifndef ISOLATE_EXPRESSION_VALUES_H
#define ISOLATE_EXPRESSION_VALUES_H

#include "base/error.h"
#include "model/variables.h"

/* A value on the stack of the program, or the address where it lies. */
struct value {
	struct type type;
	bool is_place;
};

struct parser {
	struct isolate_area *area;
	struct variables *variables;
	const char *text, *at; /* the whole, and what is left of it */
	uint32_t first;
	int nested;
	bool nowhere; /* refused, but perhaps not at another address of the line */
	struct error *error;
};

/* Keeps the first reason. */
void parser_refuse(struct parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));
void parser_emit(struct parser *parser, uint32_t operation, uint32_t size, uint64_t value);
uint32_t parser_emitted(const struct parser *parser);
/* Whoever left an operation for this place leaves all out that came since. */
void parser_land(struct parser *parser, uint32_t from);
/* Multiplies what is on the stack with the size of what the pointer points to. */
void parser_scale(struct parser *parser, const struct value *pointer);
uint32_t type_width(const struct type *type); /* with its sign, for operations */
struct value value_number(uint32_t size, bool is_signed);
/* As a value on the stack: loaded, arrays as pointers to their first element. */
void value_settle(struct parser *parser, struct value *value, const char *what);
/* The address of what the value points to. */
struct value value_pointed_to(struct parser *parser, struct value value, const char *what);

#endif
