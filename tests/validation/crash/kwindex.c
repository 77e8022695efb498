/* Permuted index: option strings may hold backslash escapes. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct matcher {
    const char *kind;
    int (*is_word)(const char *set, int c);
};

struct options {
    char raw_set[16];
    char title[40];
    char word_set[24];
    const struct matcher *matcher;
    int width;
};

static int match_set(const char *set, int c)
{
    return strchr(set, c) != NULL || isalpha(c);
}

static const struct matcher set_matcher = { "set", match_set };

static const char *const lines[] = {
    "the art of computer programming",
    "structure and interpretation",
    "a discipline of programming",
};

static void copy_unescaped(char *to, const char *from)
{
    while (*from) {
        if (*from != '\\') {
            *to++ = *from++;
            continue;
        }
        switch (from[1]) {
        case 't':
            *to++ = '\t';
            from += 2;
            break;
        case 'n':
            *to++ = '\n';
            from += 2;
            break;
        case '\\':
            *to++ = '\\';
            from += 2;
            break;
        default:
            *to++ = '\\';
            *to++ = from[1];
            from += 2;
            break;
        }
    }
    *to = '\0';
}

static struct options *parse_options(const char *set, const char *title)
{
    struct options *o = calloc(1, sizeof *o);

    if (!o)
        exit(1);
    o->matcher = &set_matcher;
    o->width = 72;
    snprintf(o->raw_set, sizeof o->raw_set, "%s", set);
    snprintf(o->title, sizeof o->title, "%s", title);
    copy_unescaped(o->word_set, o->raw_set);
    return o;
}

static int count_words(const struct options *o, const char *s)
{
    int n = 0, in = 0;

    for (; *s; s++) {
        int w = o->matcher->is_word(o->word_set, (unsigned char)*s);
        if (w && !in)
            n++;
        in = w;
    }
    return n;
}

int main(void)
{
    struct options *o = parse_options("0123456789_-'+\\",
                                      "Titles, by keyword");
    size_t i;
    int total = 0;

    for (i = 0; i < sizeof lines / sizeof *lines; i++)
        total += count_words(o, lines[i]);
    printf("%s: %d words\n", o->title, total);
    free(o);
    return 0;
}
