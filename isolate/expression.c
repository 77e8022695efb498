/* The expression of --watch FILE:LINE:EXPRESSION: C's operators on integers and pointers over the
 * variables that can be named at an address, as a program for the binary loom
 * (model/isolate_format.h). What cannot be evaluated is refused by name.
 */
#include "isolate/expression.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "isolate/expression_values.h"

#define NESTED_MOST 64 /* parentheses and operators before a value: the parser calls itself for each */

/* ---- tokens ---- */

static void skip_space(struct parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
}

/* Takes the operator unless it is the beginning of a longer one. */
static bool take(struct parser *parser, const char *token)
{
	size_t n = strlen(token);

	skip_space(parser);
	if (strncmp(parser->at, token, n) != 0)
		return false;
	char next = parser->at[n];

	if (n == 1 && strchr("&|<>=", *token) && next == *token)
		return false;
	if (strchr("+-*/%&|^<>!=", token[n - 1]) && next == '=' && token[n - 1] != '=' &&
	    strcmp(token, "!") != 0)
		return false;
	parser->at += n;
	return true;
}

static char *take_name(struct parser *parser)
{
	size_t n = 0;

	skip_space(parser);
	if (!isalpha((unsigned char)*parser->at) && *parser->at != '_')
		return NULL;
	while (isalnum((unsigned char)parser->at[n]) || parser->at[n] == '_')
		n++;
	parser->at += n;
	return memory_format("%.*s", (int)n, parser->at - n);
}

/* ---- grammar, from inside out ---- */

static struct value expression(struct parser *parser);
static struct value unary(struct parser *parser);

static struct value take_number(struct parser *parser)
{
	char *end;
	uint64_t value = strtoull(parser->at, &end, 0);
	bool is_unsigned = false, is_long = value > INT32_MAX;

	if (*end == '.' || *end == 'e' || *end == 'E')
		parser_refuse(parser, "%s is a floating-point number", parser->at);
	for (; *end == 'u' || *end == 'U' || *end == 'l' || *end == 'L'; end++) {
		is_unsigned |= *end == 'u' || *end == 'U';
		is_long |= *end == 'l' || *end == 'L';
	}
	parser->at = end;
	parser_emit(parser, OP_CONSTANT, 0, value);
	return value_number(is_long ? 8 : 4, !is_unsigned && value <= INT64_MAX);
}

static struct value take_character(struct parser *parser)
{
	static const char escapes[] = "n\nt\tr\r0\0\\\\''";
	unsigned char c = (unsigned char)parser->at[1];
	size_t n = 2;

	for (size_t i = 0; c == '\\' && n == 2 && i + 1 < sizeof escapes; i += 2)
		if (escapes[i] == parser->at[2]) {
			c = (unsigned char)escapes[i + 1];
			n = 3;
		}
	if (!parser->at[1] || parser->at[n] != '\'') {
		parser_refuse(parser, "%s is no character that is understood here", parser->at);
		return value_number(4, true);
	}
	parser->at += n + 1;
	parser_emit(parser, OP_CONSTANT, 0, c);
	return value_number(4, true);
}

static struct value take_variable(struct parser *parser)
{
	_cleanup_free_ char *name = take_name(parser);
	struct variable variable;

	if (!name) {
		parser_refuse(parser,
			      *parser->at ? "%s is not understood there" : "%sa value is missing at its end",
			      parser->at);
		return value_number(4, true);
	}
	skip_space(parser);
	if (*parser->at == '(') {
		parser_refuse(parser, "%s(...) calls a function", name);
		return value_number(4, true);
	}
	switch (variables_find(parser->variables, name, &variable)) {
	case VARIABLE_UNKNOWN:
		parser_refuse(parser, "no variable %s can be named at that line", name);
		return value_number(4, true);
	case VARIABLE_NOWHERE:
		parser->nowhere = true;
		parser_refuse(
			parser,
			"%s has no value at that line, the compiler has optimised it away or taken it apart; "
			"build with -O0 or name another line",
			name);
		return value_number(4, true);
	case VARIABLE_KNOWN:
		break;
	}
	for (uint32_t i = 0; i < variable.nops; i++)
		parser_emit(parser, variable.ops[i].operation, variable.ops[i].size, variable.ops[i].value);
	return (struct value){ .type = variable.type, .is_place = !variable.is_value };
}

static struct value primary(struct parser *parser)
{
	skip_space(parser);
	if (isdigit((unsigned char)*parser->at))
		return take_number(parser);
	if (*parser->at == '\'')
		return take_character(parser);
	if (!take(parser, "("))
		return take_variable(parser);
	struct value value = expression(parser);

	if (!take(parser, ")"))
		parser_refuse(parser, "a closing parenthesis is missing before \"%s\"", parser->at);
	return value;
}

static struct value element(struct parser *parser, struct value array, const char *what)
{
	struct value whole = array;
	struct value place = value_pointed_to(parser, array, what), index = expression(parser);

	value_settle(parser, &index, "the index");
	if (index.type.kind != TYPE_INTEGER)
		parser_refuse(parser, "the index of %s is no number", what);
	parser_scale(parser, &whole);
	parser_emit(parser, OP_ADD, 8, 0);
	if (!take(parser, "]"))
		parser_refuse(parser, "a closing bracket is missing before \"%s\"", parser->at);
	return place;
}

static struct value member(struct parser *parser, struct value record, const char *what)
{
	_cleanup_free_ char *name = take_name(parser);
	uint64_t offset;
	struct type type;

	if (record.type.kind != TYPE_RECORD || !record.is_place) {
		parser_refuse(parser, "%s is no structure in memory", what);
		return record;
	}
	if (!name || !variables_member(parser->variables, &record.type, name, &offset, &type)) {
		parser_refuse(parser, "%s has no member %s", what, name ? name : "there");
		return record;
	}
	parser_emit(parser, OP_CONSTANT, 0, offset);
	parser_emit(parser, OP_ADD, 8, 0);
	return (struct value){ .type = type, .is_place = true };
}

static struct value postfix(struct parser *parser)
{
	skip_space(parser);
	const char *begin = parser->at;
	struct value value = primary(parser);

	while (!parser->error) {
		_cleanup_free_ char *what = memory_format("%.*s", (int)(parser->at - begin), begin);

		if (take(parser, "->")) {
			struct value target = value_pointed_to(parser, value, what);

			value = member(parser, target, what);
		} else if (take(parser, "[")) {
			value = element(parser, value, what);
		} else if (take(parser, ".")) {
			value = member(parser, value, what);
		} else {
			break;
		}
	}
	return value;
}

/* ---- casts ---- */

struct integer_words {
	const char *word;
	uint32_t size;
	bool is_unsigned;
};
/* Longer words stand before those that they begin with. */
static const struct integer_words integers[] = {
	{ "unsigned long long", 8, true },
	{ "unsigned long", 8, true },
	{ "unsigned short", 2, true },
	{ "unsigned char", 1, true },
	{ "unsigned int", 4, true },
	{ "unsigned", 4, true },
	{ "signed char", 1, false },
	{ "signed int", 4, false },
	{ "signed", 4, false },
	{ "long long", 8, false },
	{ "long", 8, false },
	{ "short", 2, false },
	{ "char", 1, false },
	{ "int", 4, false },
	{ "int8_t", 1, false },
	{ "int16_t", 2, false },
	{ "int32_t", 4, false },
	{ "int64_t", 8, false },
	{ "uint8_t", 1, true },
	{ "uint16_t", 2, true },
	{ "uint32_t", 4, true },
	{ "uint64_t", 8, true },
	{ "size_t", 8, true },
	{ "uintptr_t", 8, true },
};

/* "(unsigned long)" and the like: the type, and how long it is with its parentheses. */
static const struct integer_words *cast_at(const char *at, size_t *length)
{
	if (*at != '(')
		return NULL;
	for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
		size_t n = 1 + strspn(at + 1, " "), word = strlen(integers[i].word);

		if (strncmp(at + n, integers[i].word, word) != 0)
			continue;
		n += word;
		n += strspn(at + n, " ");
		if (at[n] == ')') {
			*length = n + 1;
			return &integers[i];
		}
	}
	return NULL;
}

static struct value cast(struct parser *parser, const struct integer_words *to)
{
	struct value value = unary(parser);

	value_settle(parser, &value, "what is cast");
	value = value_number(to->size, !to->is_unsigned);
	parser_emit(parser, OP_CUT, type_width(&value.type), 0);
	return value;
}

/* int at least, as C has it. */
static struct type promoted(const struct type *type)
{
	struct type wide = *type;

	if (type->kind == TYPE_INTEGER && type->size < 4) {
		wide.size = 4;
		wide.is_signed = true;
	}
	return wide;
}

static struct value applied(struct parser *parser, uint32_t operation)
{
	struct value value = unary(parser);

	value_settle(parser, &value, "an operand");
	value.type = promoted(&value.type);
	if (operation == OP_NOT) {
		parser_emit(parser, OP_NOT, 8, 0);
		return value_number(4, true);
	}
	if (value.type.kind != TYPE_INTEGER)
		parser_refuse(parser, "- or ~ stands before what is no number");
	parser_emit(parser, operation, type_width(&value.type), 0);
	return value;
}

static struct value unary(struct parser *parser)
{
	const struct integer_words *to;
	struct value value = value_number(4, true);
	size_t length;

	skip_space(parser);
	if (parser->nested++ > NESTED_MOST)
		parser_refuse(parser, "it is nested too deep");
	if (parser->error)
		return value;
	if ((to = cast_at(parser->at, &length))) {
		parser->at += length;
		value = cast(parser, to);
	} else if (take(parser, "*")) {
		value = value_pointed_to(parser, unary(parser), "what * stands before");
	} else if (take(parser, "!")) {
		value = applied(parser, OP_NOT);
	} else if (take(parser, "~")) {
		value = applied(parser, OP_COMPLEMENT);
	} else if (!strncmp(parser->at, "++", 2) || !strncmp(parser->at, "--", 2)) {
		parser_refuse(parser, "%.2s would change the program", parser->at);
	} else if (take(parser, "&")) {
		parser_refuse(parser, "& takes an address; name what lies there");
	} else if (take(parser, "-")) {
		value = applied(parser, OP_NEGATE);
	} else if (take(parser, "+")) {
		value = unary(parser);
		value_settle(parser, &value, "an operand");
	} else {
		value = postfix(parser);
	}
	parser->nested--;
	return value;
}

/* ---- operators with two operands ---- */

struct binary_operator {
	const char *token;
	uint32_t operation;
	int binds; /* the tighter the higher */
	bool compares, swapped;
};
static const struct binary_operator operators[] = {
	{ "*", OP_MULTIPLY, 10, false, false },    { "/", OP_DIVIDE, 10, false, false },
	{ "%", OP_REST, 10, false, false },        { "+", OP_ADD, 9, false, false },
	{ "-", OP_SUBTRACT, 9, false, false },     { "<<", OP_SHIFT_LEFT, 8, false, false },
	{ ">>", OP_SHIFT_RIGHT, 8, false, false }, { "<=", OP_LESS_EQUAL, 7, true, false },
	{ ">=", OP_LESS, 7, true, true },          { "<", OP_LESS, 7, true, false },
	{ ">", OP_LESS_EQUAL, 7, true, true },     { "==", OP_EQUAL, 6, true, false },
	{ "!=", OP_UNEQUAL, 6, true, false },      { "&", OP_AND, 5, false, false },
	{ "^", OP_EXCLUSIVE, 4, false, false },    { "|", OP_OR, 3, false, false },
	{ "&&", OP_UNLESS_ZERO, 2, true, false },  { "||", OP_IF_ZERO, 1, true, false },
};

static const struct binary_operator *operator_at(struct parser *parser, int least)
{
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		const char *before = parser->at;

		if (operators[i].binds < least || !take(parser, operators[i].token))
			continue;
		/* "a->b" has no operator here, and "++" and "--" are none at all. */
		bool other = (operators[i].operation == OP_SUBTRACT && strchr(">-", *parser->at)) ||
			     (operators[i].operation == OP_ADD && *parser->at == '+');

		if (other && *parser->at) {
			parser->at = before;
			continue;
		}
		return &operators[i];
	}
	return NULL;
}

static struct type common(const struct type *a, const struct type *b)
{
	struct type x = promoted(a), y = promoted(b);

	if (x.kind != TYPE_INTEGER || y.kind != TYPE_INTEGER)
		return (struct type){ .kind = TYPE_INTEGER, .size = 8 };
	if (x.size == y.size)
		x.is_signed = x.is_signed && y.is_signed;
	return x.size < y.size ? y : x;
}

static bool points(const struct value *value)
{
	return value->type.kind == TYPE_POINTER || value->type.kind == TYPE_ARRAY;
}

/* A number before or behind a pointer counts elements; it is on top of the stack, so it stands behind. */
static struct value moved_pointer(struct parser *parser, const struct binary_operator *op,
				  struct value pointer, const struct value *by)
{
	bool adds = op->operation == OP_ADD || op->operation == OP_SUBTRACT;

	if (!adds || by->type.kind != TYPE_INTEGER) {
		parser_refuse(parser, "%s is used between a pointer and %s", op->token,
			      points(by) ? "another one" : "a number");
		return pointer;
	}
	parser_scale(parser, &pointer);
	parser_emit(parser, op->operation, 8, 0);
	return pointer;
}

static struct value combined(struct parser *parser, const struct binary_operator *op, struct value a,
			     struct value b)
{
	struct type type = common(&a.type, &b.type);

	if (points(&a) && !op->compares)
		return moved_pointer(parser, op, a, &b);
	if (points(&b) && !op->compares) {
		parser_refuse(parser, "the pointer has to stand before %s", op->token);
		return a;
	}
	if (op->operation == OP_SHIFT_LEFT || op->operation == OP_SHIFT_RIGHT)
		type = promoted(&a.type);
	parser_emit(parser, op->operation, type_width(&type), 0);
	if (op->swapped)
		parser_emit(parser, OP_NOT, 8, 0);
	return op->compares ? value_number(4, true) : (struct value){ .type = type };
}

static struct value binary(struct parser *parser, int least)
{
	struct value left = unary(parser);
	const struct binary_operator *op;

	while (!parser->error && (op = operator_at(parser, least))) {
		bool decides = op->operation == OP_UNLESS_ZERO || op->operation == OP_IF_ZERO;
		uint32_t from;

		value_settle(parser, &left, "an operand");
		from = parser_emitted(parser);
		if (decides)
			parser_emit(parser, op->operation, 8, 0);
		struct value right = binary(parser, op->binds + 1);

		value_settle(parser, &right, "an operand");
		if (decides) {
			parser_emit(parser, OP_TRUTH, 8, 0);
			parser_land(parser, from);
			left = value_number(4, true);
		} else {
			left = combined(parser, op, left, right);
		}
	}
	return left;
}

static struct value expression(struct parser *parser)
{
	struct value value;

	if (parser->nested++ > NESTED_MOST)
		parser_refuse(parser, "it is nested too deep");
	value = parser->error ? value_number(4, true) : binary(parser, 1);
	parser->nested--;
	return value;
}

/* ---- the whole ---- */

static bool is_condition(const struct isolate_op *code, uint32_t n)
{
	uint32_t last = n ? code[n - 1].operation : OP_CONSTANT;

	return last == OP_NOT || last == OP_TRUTH || (last >= OP_LESS && last <= OP_UNEQUAL);
}

static struct error *compile_at(struct isolate_area *area, struct symbols *symbols, const char *program,
				uint64_t address, const char *text, bool *nowhere)
{
	struct isolate_point *point = &area->points[area->npoints];
	uint32_t first = area->npoints ? point[-1].first + point[-1].count : 0;
	struct parser parser = { .area = area, .text = text, .at = text, .first = first };

	*point = (struct isolate_point){ .at = address, .first = first };
	parser.variables = variables_at(symbols, program, address);
	if (!parser.variables)
		return error_new("%s has no debug information for that line: build it with -g", program);
	struct value value = expression(&parser);

	area->is_condition = is_condition(area->code + first, point->count);
	value_settle(&parser, &value, text);
	skip_space(&parser);
	if (*parser.at)
		parser_refuse(&parser, "\"%s\" is not understood%s", parser.at,
			      *parser.at == '=' ? ": an assignment would change the program" : "");
	area->npoints += !parser.error;
	*nowhere = parser.nowhere;
	variables_free(parser.variables);
	return parser.error;
}

struct error *expression_compile(struct isolate_area *area, struct symbols *symbols, const char *program,
				 const struct symbols_range *ranges, size_t n, const char *text)
{
	struct error *first = NULL;

	area->npoints = 0;
	for (size_t i = 0; i < n && area->npoints < ISOLATE_WATCHED; i++) {
		bool nowhere = false;
		struct error *error = compile_at(area, symbols, program, ranges[i].from, text, &nowhere);

		if (error && !nowhere) {
			error_free(first);
			return error;
		}
		/* What has no value at one address of the line may have one at the next. */
		if (error && !first)
			first = error;
		else
			error_free(error);
	}
	if (!area->npoints)
		return first;
	error_free(first);
	return NULL;
}
