/* How far a library call must read for its answer. `unsnarl cc` asks here right before such
 * a call and hooks just these bytes: a loop that searches a long text from match to match
 * reads it once, not its whole rest at every step. Arguments are those of the call, widened
 * to 64 bits; a null pointer is left for the call itself to stumble over. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "loom/runtime/runtime.h"

/* Up to and with the byte at `found`. */
static uint64_t up_to(uint64_t start, const void *found)
{
	return (uint64_t)found - start + 1;
}

static uint64_t whole(uint64_t text)
{
	return strlen((const char *)text) + 1;
}

EXPORT uint64_t unsnarl_reach_character(uint64_t text, uint64_t wanted)
{
	return text ? up_to(text, strchrnul((const char *)text, (int)wanted)) : 0;
}

EXPORT uint64_t unsnarl_reach_byte(uint64_t block, uint64_t wanted, uint64_t most)
{
	const void *found = most ? memchr((const void *)block, (int)wanted, most) : NULL;
	return found ? up_to(block, found) : most;
}

EXPORT uint64_t unsnarl_reach_sure_byte(uint64_t block, uint64_t wanted)
{
	return block ? up_to(block, rawmemchr((const void *)block, (int)wanted)) : 0;
}

EXPORT uint64_t unsnarl_reach_block(uint64_t block, uint64_t size, uint64_t wanted, uint64_t length)
{
	const void *found = memmem((const void *)block, size, (const void *)wanted, length);
	return found ? (uint64_t)found - block + length : length <= size ? size : 0;
}

EXPORT uint64_t unsnarl_reach_word(uint64_t text, uint64_t word)
{
	if (!text || !word)
		return 0;
	const char *found = strstr((const char *)text, (const char *)word);
	return found ? (uint64_t)found - text + strlen((const char *)word) : whole(text);
}

EXPORT uint64_t unsnarl_reach_case_word(uint64_t text, uint64_t word)
{
	if (!text || !word)
		return 0;
	const char *found = strcasestr((const char *)text, (const char *)word);
	return found ? (uint64_t)found - text + strlen((const char *)word) : whole(text);
}

EXPORT uint64_t unsnarl_reach_any_of(uint64_t text, uint64_t wanted)
{
	return text && wanted ? strcspn((const char *)text, (const char *)wanted) + 1 : 0;
}

EXPORT uint64_t unsnarl_reach_none_of(uint64_t text, uint64_t wanted)
{
	return text && wanted ? strspn((const char *)text, (const char *)wanted) + 1 : 0;
}

/* Up to and with the first difference, at most `most` bytes. */
static uint64_t difference(uint64_t first, uint64_t second, uint64_t most, bool any_case)
{
	const unsigned char *a = (const unsigned char *)first, *b = (const unsigned char *)second;
	uint64_t n = 0;
	if (!a || !b)
		return 0;
	while (n < most && a[n] && (any_case ? tolower(a[n]) == tolower(b[n]) : a[n] == b[n]))
		n++;
	return n < most ? n + 1 : most;
}

EXPORT uint64_t unsnarl_reach_difference(uint64_t first, uint64_t second)
{
	return difference(first, second, UINT64_MAX, false);
}

EXPORT uint64_t unsnarl_reach_difference_most(uint64_t first, uint64_t second, uint64_t most)
{
	return difference(first, second, most, false);
}

EXPORT uint64_t unsnarl_reach_case_difference(uint64_t first, uint64_t second)
{
	return difference(first, second, UINT64_MAX, true);
}

EXPORT uint64_t unsnarl_reach_case_difference_most(uint64_t first, uint64_t second, uint64_t most)
{
	return difference(first, second, most, true);
}

static unsigned digit_value(unsigned char c)
{
	return isdigit(c)             ? c - '0'
	       : c >= 'a' && c <= 'z' ? c - 'a' + 10u
	       : c >= 'A' && c <= 'Z' ? c - 'A' + 10u
				      : 99;
}

/* Blanks, a sign, the digits, and the character that ends them. */
EXPORT uint64_t unsnarl_reach_number(uint64_t text, uint64_t end, uint64_t base)
{
	const unsigned char *at = (const unsigned char *)text;
	(void)end;
	if (!at)
		return 0;
	while (isspace(*at))
		at++;
	at += *at == '+' || *at == '-';
	unsigned digits = (uint32_t)base;
	if ((digits == 0 || digits == 16) && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
		digits = 16;
		at += 2;
	} else if (digits == 0) {
		digits = *at == '0' ? 8 : 10;
	}
	while (digit_value(*at) < digits)
		at++;
	return up_to(text, at);
}

EXPORT uint64_t unsnarl_reach_decimal(uint64_t text)
{
	return unsnarl_reach_number(text, 0, 10);
}

/* What is a number with a fraction depends on the locale, so libc says where it ends. */
EXPORT uint64_t unsnarl_reach_real(uint64_t text)
{
	const char *at = (const char *)text;
	char *end;
	int kept = errno;
	if (!at)
		return 0;
	(void)strtod(at, &end);
	errno = kept;
	if (end == at)
		while (isspace((unsigned char)*end))
			end++;
	return up_to(text, end);
}
