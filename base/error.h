/* Errors are values: a sentence that says what failed, on what, and what to
 * do. They are returned up to cmds/, which prints them once. NULL is success.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

struct error {
	char *message; /* never NULL, no trailing newline */
};

/* A new error with a printf-style message. Never returns NULL. */
struct error *error_new(const char *format, ...) __attribute__((format(printf, 1, 2), returns_nonnull));

/* Like error_new, with ": " and the text of `errnum` appended. */
struct error *error_errno(int errnum, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));

void error_free(struct error *error);

/* For _cleanup_(error_freep). */
void error_freep(struct error **error);

/* Returns from the calling function when `expression` is an error. */
#define TRY(expression)                          \
	do {                                     \
		struct error *_e = (expression); \
		if (_e)                          \
			return _e;               \
	} while (0)

#endif
