/* Streams over pipes: who reads lines, fields and blocks waits in stdio for another thread to write them. */
#include "check.h"

#include <unistd.h>

static FILE *from, *to;
static int back[2];

static void *writer(void *none)
{
	fprintf(to, "one ");
	fflush(to);
	fprintf(to, "line\nanother\n");
	fflush(to);
	for (int i = 0; i < 4; i++) {
		CHECK(fputc('a' + i, to) != EOF);
		EQUAL(fflush(to), 0);
	}
	fprintf(to, "17 4\nx");
	EQUAL(fclose(to), 0);
	EQUAL(write(back[1], "", 1), 1);
	return none;
}

int main(void)
{
	int ends[2], first = 0, second = 0;
	char line[32], block[4], *grown = NULL, byte;
	size_t size = 0;
	EQUAL(pipe(ends), 0);
	EQUAL(pipe(back), 0);
	from = fdopen(ends[0], "r");
	to = fdopen(ends[1], "w");
	CHECK(from && to);
	pthread_t thread = start(writer, NULL);
	CHECK(fgets(line, sizeof line, from) == line);
	EQUAL(strcmp(line, "one line\n"), 0);
	EQUAL(getline(&grown, &size, from), 8);
	EQUAL(strcmp(grown, "another\n"), 0);
	EQUAL(fread(block, 1, 4, from), 4);
	EQUAL(memcmp(block, "abcd", 4), 0);
	EQUAL(fscanf(from, "%d %d\n", &first, &second), 2);
	EQUAL(first + second, 21);
	EQUAL(fgetc(from), 'x');
	EQUAL(fgetc(from), EOF);
	CHECK(feof(from) && !ferror(from));
	CHECK(!fgets(line, sizeof line, from));
	EQUAL(read(back[0], &byte, 1), 1);
	finish(thread);
	free(grown);
	printf("%d %d\n", first, second);
	return 0;
}
