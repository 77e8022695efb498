#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { C_OTHER, C_SPACE, C_ALPHA, C_DIGIT, C_PUNCT, NCLASS };

#define MAXTOK 64

struct rule {
    const char *name;
    int join;
};

struct token {
    int cls;
    int start;
    int len;
};

struct lexer {
    unsigned char lower[128];
    unsigned char cls[128];
    const struct rule *rules[NCLASS];
    struct token toks[MAXTOK];
    int ntok;
    int pos;
};

static const struct rule rule_table[NCLASS] = {
    { "other", 0 },
    { "space", 1 },
    { "word", 1 },
    { "number", 1 },
    { "punct", 0 },
};

static int classify(int c)
{
    if (c == ' ' || c == '\t' || c == '\n')
        return C_SPACE;
    if (c >= 'a' && c <= 'z')
        return C_ALPHA;
    if (c >= 'A' && c <= 'Z')
        return C_ALPHA;
    if (c >= '0' && c <= '9')
        return C_DIGIT;
    if (c > ' ' && c < 127)
        return C_PUNCT;
    return C_OTHER;
}

static void lexer_init(struct lexer *lx)
{
    memset(lx, 0, sizeof(*lx));
    for (int c = 0; c < 128; c++) {
        lx->lower[c] = c;
        if (c >= 'A' && c <= 'Z')
            lx->lower[c] = c + 32;
        lx->cls[c] = classify(c);
    }
    for (int k = 0; k < NCLASS; k++)
        lx->rules[k] = &rule_table[k];
}

static int class_at(const struct lexer *lx, const char *text, int pos)
{
    char c = text[pos];
    return lx->cls[(int)c];
}

static int scan(struct lexer *lx, const char *text)
{
    int start = lx->pos;
    int cls = class_at(lx, text, start);
    struct token *t = &lx->toks[lx->ntok];

    lx->pos++;
    while (text[lx->pos] != 0) {
        if (class_at(lx, text, lx->pos) != cls)
            break;
        if (!lx->rules[cls]->join)
            break;
        lx->pos++;
    }
    t->cls = cls;
    t->start = start;
    t->len = lx->pos - start;
    lx->ntok++;
    return t->len;
}

static int tokenize(struct lexer *lx, const char *text)
{
    lx->ntok = 0;
    lx->pos = 0;
    while (text[lx->pos] != 0 && lx->ntok < MAXTOK)
        scan(lx, text);
    return lx->ntok;
}

static unsigned hash_token(const struct lexer *lx, const char *text,
                           const struct token *t)
{
    unsigned h = 17;
    for (int i = 0; i < t->len; i++) {
        unsigned char c = text[t->start + i];
        if (c < 128)
            c = lx->lower[c];
        h = h * 131 + c;
    }
    return h;
}

static void summarize(const struct lexer *lx, const char *text)
{
    int words = 0;
    unsigned h = 0;
    for (int i = 0; i < lx->ntok; i++) {
        const struct token *t = &lx->toks[i];
        h ^= hash_token(lx, text, t);
        if (strcmp(lx->rules[t->cls]->name, "word") == 0)
            words++;
    }
    printf("%d tokens, %d words, hash %08x\n", lx->ntok, words, h);
}

int main(void)
{
    static const char *lines[] = {
        "set title = Main Menu 42;",
        "bind F10 -> quit(force);",
        "label file.open = Datei \xc3\xb6" "ffnen;",
        "label file.save = Speichern;",
    };
    static struct lexer lx;

    setvbuf(stdout, NULL, _IONBF, 0);
    lexer_init(&lx);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        tokenize(&lx, lines[i]);
        summarize(&lx, lines[i]);
    }
    return 0;
}
