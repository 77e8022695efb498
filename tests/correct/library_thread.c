/* dlopen and dlclose from two threads at a time, of a library that libc brings along. */
#include "check.h"

#include <dlfcn.h>

static void *worker(void *none)
{
	for (int i = 0; i < 3; i++) {
		void *library = dlopen("libresolv.so.2", RTLD_NOW);
		CHECK(library);
		CHECK(dlsym(library, "__res_query") || dlsym(library, "ns_name_ntop") || dlerror());
		EQUAL(dlclose(library), 0);
	}
	return none;
}

int main(void)
{
	pthread_t a = start(worker, NULL), b = start(worker, NULL);
	finish(a), finish(b);
	printf("loaded\n");
	return 0;
}
