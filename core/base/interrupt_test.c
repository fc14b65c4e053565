#include "core/base/interrupt.h"

#include "core/base/test.h"

typedef struct caller_t {
  int calls;
  int refuse_at;
  char phase[16];
  uint32_t done;
} caller_t;

static int32_t hear(void* user, const char* phase, uint32_t done, uint32_t total) {
  caller_t* caller = user;
  (void)total;
  ++caller->calls;
  (void)snprintf(caller->phase, sizeof caller->phase, "%s", phase);
  caller->done = done;
  return caller->calls == caller->refuse_at ? 1 : 0;
}

static void* want(void* user) {
  tenon__interrupt_want(user);
  return NULL;
}

TENON_TEST(another_thread_may_want_the_end) {
  tenon__interrupt_t interrupt;
  pthread_t thread;
  tenon__interrupt_initialize(&interrupt, NULL, NULL);
  EXPECT(!tenon__interrupt_is_wanted(&interrupt));
  REQUIRE(pthread_create(&thread, NULL, want, &interrupt) == 0);
  REQUIRE(pthread_join(thread, NULL) == 0);
  EXPECT(tenon__interrupt_is_wanted(&interrupt));
  tenon__interrupt_forget(&interrupt);
  EXPECT(!tenon__interrupt_is_wanted(&interrupt));
  EXPECT(!tenon__interrupt_is_wanted(NULL));
}

TENON_TEST(a_refusal_stays) {
  tenon__interrupt_t interrupt;
  caller_t caller = {.refuse_at = 2};
  tenon__interrupt_initialize(&interrupt, hear, &caller);
  EXPECT(!tenon__interrupt_tell(&interrupt, "first", 1, 9));
  EXPECT(tenon__interrupt_tell(&interrupt, "second", 2, 9));
  EXPECT_INT(caller.done, 2);
  EXPECT(tenon__interrupt_tell(&interrupt, "third", 3, 9));
  EXPECT(tenon__interrupt_is_wanted(&interrupt));
}

static void* ask(void* user) {
  return tenon__interrupt_is_wanted(user) ? user : NULL;
}

/* Between two words of the work itself the caller is asked, with the last of them, not too often,
 * and in its own thread. */
TENON_TEST(the_caller_is_asked_in_between) {
  tenon__interrupt_t interrupt;
  pthread_t thread;
  caller_t caller = {.refuse_at = 2};
  tenon__interrupt_initialize(&interrupt, hear, &caller);
  EXPECT(!tenon__interrupt_is_wanted(&interrupt)); /* nothing has begun */
  EXPECT_INT(caller.calls, 0);
  EXPECT(!tenon__interrupt_tell(&interrupt, "work", 5, 9));
  EXPECT(!tenon__interrupt_is_wanted(&interrupt));
  EXPECT_INT(caller.calls, 1);
  interrupt.told -= 1; /* a second later */
  REQUIRE(pthread_create(&thread, NULL, ask, &interrupt) == 0);
  REQUIRE(pthread_join(thread, NULL) == 0);
  EXPECT_INT(caller.calls, 1);
  EXPECT(tenon__interrupt_is_wanted(&interrupt));
  EXPECT_INT(caller.calls, 2);
  EXPECT_TEXT(caller.phase, "work");
  EXPECT_INT(caller.done, 5);
}
