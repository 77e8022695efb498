#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NMONTHS 12
#define NAMELEN 3

struct locale {
    const char *month[NMONTHS];
    const char *era;
    int first_day;
};

struct date {
    int year;
    int month;
    int day;
};

struct stamp {
    int column;
    int year;
    const char *label;
};

struct report {
    struct stamp rows[8];
    int n;
    size_t width;
};

static const struct locale c_locale = {
    { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" },
    NULL, 1
};

static int parse_date(struct date *d, const char *s)
{
    if (sscanf(s, "%d-%d-%d", &d->year, &d->month, &d->day) != 3)
        return -1;
    if (d->month < 1 || d->month > NMONTHS)
        return -1;
    return d->day >= 1 && d->day <= 31 ? 0 : -1;
}

static void next_month(struct date *d)
{
    d->month++;
    if (d->month > NMONTHS + 1) {
        d->month = 1;
        d->year++;
    }
}

static void due_date(struct date *d, int months)
{
    while (months-- > 0)
        next_month(d);
}

static struct stamp make_stamp(const struct locale *loc, const struct date *d)
{
    struct stamp st;
    st.column = d->month - 1;
    st.year = d->year;
    st.label = loc->month[st.column];
    return st;
}

static void report_add(struct report *r, struct stamp st)
{
    r->rows[r->n++] = st;
}

static void report_width(struct report *r)
{
    int i;
    for (i = 0; i < r->n; i++) {
        size_t w = strlen(r->rows[i].label);
        if (w > r->width)
            r->width = w;
    }
}

int main(void)
{
    static const char *const invoices[] = { "2025-03-10", "2025-08-02", "2025-11-30" };
    struct report r = { .n = 0, .width = 0 };
    int i;
    for (i = 0; i < 3; i++) {
        struct date d;
        if (parse_date(&d, invoices[i]) < 0)
            return 2;
        due_date(&d, 2);
        report_add(&r, make_stamp(&c_locale, &d));
    }
    report_width(&r);
    for (i = 0; i < r.n; i++)
        printf("%*s %d\n", (int)r.width, r.rows[i].label, r.rows[i].year);
    return r.width == NAMELEN ? 0 : 1;
}
