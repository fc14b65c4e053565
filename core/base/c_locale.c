/* One C locale for the process, which uselocale sets for a thread. */
#include "core/base/c_locale.h"

#include <pthread.h>

static locale_t c_locale; /* (locale_t)0 leaves a thread's locale as it is */

static void make_c_locale(void) {
  c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t tenon__c_locale_enter(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, make_c_locale);
  return uselocale(c_locale);
}

void tenon__c_locale_leave(locale_t previous) {
  (void)uselocale(previous);
}
