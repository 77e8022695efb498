/* Adds up the fields of a form. Fields are read from the command line, NAME=VALUE;
 * a field without a value gets none. The total starts at a row that the form has
 * to name with start=ROW.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 16
#define HEADING 144

struct form {
	long start;
	int fields;
	long value[ROWS];
};

static __attribute__((noinline)) void heading_print(const char *name)
{
	char *text = malloc(HEADING);

	if (text == NULL)
		exit(2);
	snprintf(text, HEADING, "== %s ==", name);
	puts(text);
	free(text);
}

static __attribute__((noinline)) struct form *form_new(void)
{
	struct form *f = malloc(sizeof *f);

	if (f == NULL)
		exit(2);
	f->fields = 0;
	memset(f->value, 0, sizeof f->value);
	return f;
}

static __attribute__((noinline)) void form_take(struct form *f, const char *text)
{
	const char *value = strchr(text, '=');

	if (value == NULL)
		return;
	if (strncmp(text, "start=", 6) == 0)
		f->start = atol(value + 1) % ROWS;
	else if (f->fields < ROWS)
		f->value[f->fields++] = atol(value + 1);
}

static __attribute__((noinline)) long form_total(const struct form *f)
{
	long total = f->value[f->start];

	for (int i = 0; i < f->fields; i++)
		if (i != f->start)
			total += f->value[i];
	return total;
}

int main(int argc, char **argv)
{
	heading_print("form");
	struct form *form = form_new();

	for (int i = 1; i < argc; i++)
		form_take(form, argv[i]);
	printf("total %ld\n", form_total(form));
	free(form);
	return 0;
}
