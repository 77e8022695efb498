/* Values and code of an expression that is being compiled.
 */
#include "isolate/expression_values.h"

#include <stdarg.h>

#include "base/memory.h"

void parser_refuse(struct parser *parser, const char *format, ...)
{
	va_list args;

	if (parser->error)
		return;
	va_start(args, format);
	_cleanup_free_ char *reason = memory_vformat(format, args);
	va_end(args);
	parser->error = error_new("--watch cannot evaluate %s: %s", parser->text, reason);
}

/* ---- the program ---- */

void parser_emit(struct parser *parser, uint32_t operation, uint32_t size, uint64_t value)
{
	struct isolate_point *point = &parser->area->points[parser->area->npoints];

	if (parser->first + point->count == ISOLATE_CODE) {
		parser_refuse(parser, "it is too long");
		return;
	}
	parser->area->code[parser->first + point->count++] =
		(struct isolate_op){ .operation = operation, .size = size, .value = value };
}

uint32_t parser_emitted(const struct parser *parser)
{
	return parser->area->points[parser->area->npoints].count;
}

/* Whoever left an operation for this place leaves all out that came since. */
void parser_land(struct parser *parser, uint32_t from)
{
	if (!parser->error)
		parser->area->code[parser->first + from].value = parser_emitted(parser) - from - 1;
}

uint32_t type_width(const struct type *type)
{
	return type->size | (type->is_signed ? OP_SIGNED : 0);
}

struct value value_number(uint32_t size, bool is_signed)
{
	return (struct value){ .type = { .kind = TYPE_INTEGER, .size = size, .is_signed = is_signed } };
}

/* As a value on the stack: loaded, arrays as pointers to their first element. */
void value_settle(struct parser *parser, struct value *value, const char *what)
{
	const struct type *type = &value->type;

	if (type->kind == TYPE_OTHER)
		parser_refuse(parser, "%s is %s", what, type->refuse);
	else if (type->kind == TYPE_RECORD)
		parser_refuse(parser, "%s is a whole structure; name a member of it", what);
	else if (type->kind == TYPE_ARRAY && !value->is_place)
		parser_refuse(parser, "%s is an array that lies nowhere in memory", what);
	else if (type->kind == TYPE_ARRAY)
		value->type = (struct type){ .kind = TYPE_POINTER, .size = 8, .die = type->die };
	else if (value->is_place)
		parser_emit(parser, OP_LOAD, type_width(type), 0);
	else if (type->size < 8)
		parser_emit(parser, OP_CUT, type_width(type), 0);
	value->is_place = false;
}

/* The address of what the value points to. */
struct value value_pointed_to(struct parser *parser, struct value value, const char *what)
{
	if (value.type.kind != TYPE_POINTER && value.type.kind != TYPE_ARRAY) {
		parser_refuse(parser, "%s is no pointer", what);
		return value;
	}
	struct type target = variables_target(parser->variables, &value.type);

	value_settle(parser, &value, what);
	return (struct value){ .type = target, .is_place = true };
}

void parser_scale(struct parser *parser, const struct value *pointer)
{
	struct type target = variables_target(parser->variables, &pointer->type);

	parser_emit(parser, OP_CONSTANT, 0, target.size ? target.size : 1);
	parser_emit(parser, OP_MULTIPLY, 8 | OP_SIGNED, 0);
}
