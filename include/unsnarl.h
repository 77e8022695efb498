/* Marks for unsnarl learn --annotated: guard this function, these lines, this address.
 * They are nothing unless the file is compiled by unsnarl cc, where each is a read that
 * the tool knows by its name. Free to copy into your own sources. */
#ifndef UNSNARL_H
#define UNSNARL_H

#ifdef UNSNARL_OBSERVED

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((weak)) volatile char unsnarl_mark_function, unsnarl_mark_begin, unsnarl_mark_end,
	unsnarl_mark_address;
#ifdef __cplusplus
}
#endif

/* All accesses of the function in which it stands. */
#define UNSNARL_GUARD_FUNCTION ((void)unsnarl_mark_function)
/* The accesses on the lines between the two, in one function. */
#define UNSNARL_GUARD_BEGIN ((void)unsnarl_mark_begin)
#define UNSNARL_GUARD_END ((void)unsnarl_mark_end)
/* All accesses to the byte that `address` points to, wherever they stand. */
#define UNSNARL_GUARD_ADDRESS(address) ((void)unsnarl_mark_address, (void)*(const volatile char *)(address))

#else

#define UNSNARL_GUARD_FUNCTION ((void)0)
#define UNSNARL_GUARD_BEGIN ((void)0)
#define UNSNARL_GUARD_END ((void)0)
#define UNSNARL_GUARD_ADDRESS(address) ((void)0)

#endif

#endif
