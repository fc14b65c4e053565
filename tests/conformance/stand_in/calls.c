/* Which functions of the driver were called, for tests that say which must be. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "stand_in.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char* names; /* NULL: nobody listens */
static size_t room;

void stand_in_listen(char* text, size_t capacity) {
  (void)pthread_mutex_lock(&lock);
  names = text;
  room = capacity;
  if (names != NULL) {
    names[0] = '\0';
  }
  (void)pthread_mutex_unlock(&lock);
}

void stand_in_called(const char* name) {
  (void)pthread_mutex_lock(&lock);
  if (names != NULL) {
    const size_t used = strlen(names);
    (void)snprintf(names + used, room - used, "%s ", name);
  }
  (void)pthread_mutex_unlock(&lock);
}
