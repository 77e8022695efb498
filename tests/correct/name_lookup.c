/* Calls of libc with locks of their own inside, from several threads: getaddrinfo, localtime_r, strerror, getenv,
 * dlsym, qsort, iconv, setlocale, regcomp, backtrace. */
#include "check.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <iconv.h>
#include <locale.h>
#include <netdb.h>
#include <pwd.h>
#include <regex.h>

static void *worker(void *none)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_family = AF_INET }, *found;
	EQUAL(getaddrinfo("127.0.0.1", "80", &hints, &found), 0);
	freeaddrinfo(found);
	time_t t = 0;
	struct tm tm;
	CHECK(localtime_r(&t, &tm));
	CHECK(dlsym(RTLD_DEFAULT, "malloc"));
	iconv_t convert = iconv_open("UTF-8", "ISO-8859-1");
	if (convert != (iconv_t)-1)
		iconv_close(convert);
	regex_t regex;
	EQUAL(regcomp(&regex, "a+b", REG_EXTENDED), 0);
	EQUAL(regexec(&regex, "xaab", 0, NULL, 0), 0);
	regfree(&regex);
	void *frames[8];
	CHECK(backtrace(frames, 8) > 0);
	struct passwd entry, *result;
	char buffer[2048];
	getpwuid_r(0, &entry, buffer, sizeof buffer, &result);
	locale_t locale = newlocale(LC_ALL_MASK, "C", 0);
	freelocale(locale);
	CHECK(getenv("PATH"));
	return none;
}

int main(void)
{
	pthread_t a = start(worker, NULL), b = start(worker, NULL), c = start(worker, NULL);
	finish(a), finish(b), finish(c);
	printf("found\n");
	return 0;
}
