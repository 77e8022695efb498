/* A menu of four levels. A path of digits selects an entry on each level; the
 * screen, its column and the mark beside it follow from where that leads.
 */
#include <stdio.h>

#define LEVELS 4
#define LINES 16

struct menu {
	int path[LEVELS];
	long top;
};

static struct menu menu;
static char screen[LINES][32];
static long line, column;
static unsigned marks[LINES];

static __attribute__((noinline)) void menu_select(struct menu *m, const char *digits)
{
	for (int level = 0; digits[level]; level++)
		m->path[level] = digits[level] * 4097;
}

static __attribute__((noinline)) void menu_line(const struct menu *m)
{
	line = m->top + 1;
}

static __attribute__((noinline)) void menu_column(void)
{
	column = line * 2;
}

static __attribute__((noinline)) void menu_mark(void)
{
	marks[column] |= 1;
}

static __attribute__((noinline)) void menu_draw(char what)
{
	screen[line][0] = what;
}

static __attribute__((noinline)) void menu_clear(const struct menu *m)
{
	screen[m->top][1] = ' ';
}

int main(int argc, char **argv)
{
	menu.top = 1;
	menu_select(&menu, argc > 1 ? argv[1] : "12");
	menu_line(&menu);
	menu_column();
	menu_mark();
	menu_draw('>');
	menu_clear(&menu);
	printf("line %ld%c, column %ld, %s\n", line, screen[2][0], column, screen[1] + 1);
	return 0;
}
