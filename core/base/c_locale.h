/*
 * The C locale for the calling thread.
 *
 * Texts that are read and written in here (expressions, timing caches, numbers in names) are the
 * same on every machine, whatever the program's locale is; and so that each plugin may use strtod
 * and printf for its own, the border of the library enters the C locale before it calls anything
 * else. Entering takes some nanoseconds and may be nested. It changes nothing for other threads,
 * which setlocale would.
 */
#ifndef TENON_CORE_BASE_C_LOCALE_H_
#define TENON_CORE_BASE_C_LOCALE_H_

#include <locale.h>

/* What the thread had before, to be given to the leave that belongs to this. Cannot fail: where the
 * system has no such locale the thread keeps its own. */
locale_t tenon__c_locale_enter(void);
void tenon__c_locale_leave(locale_t previous);

#endif
