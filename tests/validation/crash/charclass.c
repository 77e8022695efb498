/* Tokenizer of a query language: a table gives the class of every character,
   and every class has its handler. */
#include <stdio.h>
#include <string.h>

enum class { SPACE, WORD, NUMBER, SIGN, NCLASSES };

struct lexer {
    long weights[32];
    unsigned char class_of[256];
    int counts[NCLASSES];
    const char *at;
};

typedef const char *(*handler)(struct lexer *, const char *);

static const char *skip_space(struct lexer *l, const char *p)
{
    l->counts[SPACE]++;
    return p + 1;
}

static const char *take_word(struct lexer *l, const char *p)
{
    l->counts[WORD]++;
    while ((*p >= 'a' && *p <= 'z') || *p == '_')
        p++;
    return p;
}

static const char *take_number(struct lexer *l, const char *p)
{
    l->counts[NUMBER]++;
    while (*p >= '0' && *p <= '9')
        p++;
    return p;
}

static const char *take_sign(struct lexer *l, const char *p)
{
    l->counts[SIGN]++;
    return p + 1;
}

static const handler handlers[NCLASSES] = { skip_space, take_word, take_number, take_sign };

static void lexer_init(struct lexer *l)
{
    int c, i;

    memset(l, 0, sizeof *l);
    for (i = 0; i < 32; i++)
        l->weights[i] = 0x0101010101010101L * (i + 90);
    for (c = 0; c < 256; c++)
        l->class_of[c] = SIGN;
    for (c = 'a'; c <= 'z'; c++)
        l->class_of[c] = WORD;
    for (c = '0'; c <= '9'; c++)
        l->class_of[c] = NUMBER;
    l->class_of['_'] = WORD;
    l->class_of[' '] = SPACE;
}

static int classify(const struct lexer *l, const char *p)
{
    const unsigned char *table = l->class_of;
    signed char c = *p;

    return table[c];
}

static int tokenize(struct lexer *l, const char *text)
{
    int n = 0;

    for (l->at = text; *l->at; n++) {
        handler h = handlers[classify(l, l->at)];

        l->at = h(l, l->at);
    }
    return n;
}

int main(void)
{
    static const char *const queries[] = {
        "select name from users", "limit = 10", "name = \"Andr\xe9\"",
    };
    struct lexer l;
    int i;

    lexer_init(&l);
    for (i = 0; i < 3; i++)
        printf("%d tokens\n", tokenize(&l, queries[i]));
    printf("%d words\n", l.counts[WORD]);
    return 0;
}
