/* Tags of an article, as strings on the heap. A tag can be renamed and removed;
 * the last one that was removed can be brought back. The script of what to do
 * is given on the command line: +NAME, -NAME, uNDO.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAGS 8

struct article {
	char *tag[TAGS];
	int tags;
	char *removed; /* what undo brings back */
};

static __attribute__((noinline)) void tag_add(struct article *a, const char *name)
{
	if (a->tags < TAGS)
		a->tag[a->tags++] = strdup(name);
}

static __attribute__((noinline)) void tag_remove(struct article *a, const char *name)
{
	for (int i = 0; i < a->tags; i++)
		if (strcmp(a->tag[i], name) == 0) {
			free(a->removed);
			a->removed = a->tag[i];
			a->tag[i] = a->tag[--a->tags];
			return;
		}
}

static __attribute__((noinline)) void tag_undo(struct article *a)
{
	if (a->removed != NULL && a->tags < TAGS)
		a->tag[a->tags++] = a->removed;
}

static __attribute__((noinline)) void article_close(struct article *a)
{
	for (int i = 0; i < a->tags; i++)
		free(a->tag[i]);
	free(a->removed);
}

int main(int argc, char **argv)
{
	struct article article = {{NULL}, 0, NULL};

	for (int i = 1; i < argc; i++)
		switch (argv[i][0]) {
		case '+':
			tag_add(&article, argv[i] + 1);
			break;
		case '-':
			tag_remove(&article, argv[i] + 1);
			break;
		default:
			tag_undo(&article);
		}
	printf("%d tags\n", article.tags);
	article_close(&article);
	return 0;
}
