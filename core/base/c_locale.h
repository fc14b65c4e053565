/*
 * The C locale for the calling thread.
 *
 * Texts that the library reads and writes (expressions, timing caches, numbers in names) are equal
 * on all machines, regardless of the program's locale, and plugins may use strtod and printf for
 * their own texts. Therefore each API function enters the C locale first. This takes a few
 * nanoseconds and may be nested. Unlike setlocale, it does not affect other threads.
 */
#ifndef TENON_CORE_BASE_C_LOCALE_H_
#define TENON_CORE_BASE_C_LOCALE_H_

#include <locale.h>

/* Returns the thread's previous locale, to be passed to the matching leave. Cannot fail: if the
 * system has no C locale, the thread keeps its own. */
locale_t tenon__c_locale_enter(void);
void tenon__c_locale_leave(locale_t previous);

#endif
