/* A unit test in one source file: cases, expectations, main.
 *
 *   TENON_TEST(rejects_negative_padding) { EXPECT_STATUS(check(-1), TENON_ERROR_INVALID_DATA); }
 *
 * The program runs all cases, or those whose name contains its first argument, and prints which
 * failed and where. An EXPECT that fails is counted and the case goes on; a REQUIRE returns. */
#ifndef TENON_CORE_BASE_TEST_H_
#define TENON_CORE_BASE_TEST_H_

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"

typedef struct tenon__test_case_t {
  const char* name;
  void (*run)(void);
} tenon__test_case_t;

/* A case registers itself in a section; the linker places all cases consecutively. */
#define TENON_TEST(name)                                              \
  static void name(void);                                             \
  static const tenon__test_case_t name##_case = {#name, name};        \
  static const tenon__test_case_t* const name##_entry                 \
      __attribute__((section("tenon_tests"), used)) = &(name##_case); \
  static void name(void)

static int tenon__test_failures = 0;

__attribute__((format(printf, 3, 4))) static inline void tenon__test_fail(const char* file,
                                                                          int line,
                                                                          const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)fprintf(stderr, "%s:%d: ", file, line);
  (void)vfprintf(stderr, format, arguments);
  (void)fputc('\n', stderr);
  va_end(arguments);
  ++tenon__test_failures;
}

static inline void tenon__test_check(const char* file, int line, bool holds, const char* words) {
  if (!holds) {
    tenon__test_fail(file, line, "expected %s", words);
  }
}

static inline void tenon__test_check_int(const char* file, int line, const char* words,
                                         long long actual, long long expected) {
  if (actual != expected) {
    tenon__test_fail(file, line, "%s is %lld, expected %lld", words, actual, expected);
  }
}

static inline const char* tenon__test_text(const char* text) {
  return text != NULL ? text : "(NULL)";
}

static inline void tenon__test_check_text(const char* file, int line, const char* words,
                                          const char* actual, const char* expected) {
  const bool same =
      actual == expected || (actual != NULL && expected != NULL && strcmp(actual, expected) == 0);
  if (!same) {
    tenon__test_fail(file, line, "%s is \"%s\", expected \"%s\"", words, tenon__test_text(actual),
                     tenon__test_text(expected));
  }
}

static inline void tenon__test_check_contains(const char* file, int line, const char* words,
                                              const char* text, const char* part) {
  if (text == NULL || strstr(text, part) == NULL) {
    tenon__test_fail(file, line, "%s is \"%s\", expected to contain \"%s\"", words,
                     tenon__test_text(text), part);
  }
}

static inline void tenon__test_check_near(const char* file, int line, const char* words,
                                          double actual, double expected, double tolerance) {
  const bool near = actual == expected || (isnan(actual) && isnan(expected)) ||
                    fabs(actual - expected) <= tolerance;
  if (!near) {
    tenon__test_fail(file, line, "%s is %.17g, expected %.17g", words, actual, expected);
  }
}

static inline void tenon__test_check_status(const char* file, int line, const char* words,
                                            tenon_status_t actual, tenon_status_t expected) {
  if (actual != expected) {
    tenon__test_fail(file, line, "%s gives '%s', expected '%s'", words, tenon__status_text(actual),
                     tenon__status_text(expected));
  }
}

#define EXPECT(condition) tenon__test_check(__FILE__, __LINE__, (condition), #condition)

#define REQUIRE(condition)                                             \
  do {                                                                 \
    if (!(condition)) {                                                \
      tenon__test_fail(__FILE__, __LINE__, "required %s", #condition); \
      return;                                                          \
    }                                                                  \
  } while (0)

/* Any integers that fit 64 bits. */
#define EXPECT_INT(actual, expected) \
  tenon__test_check_int(__FILE__, __LINE__, #actual, (long long)(actual), (long long)(expected))

/* Strings, either of which may be NULL. */
#define EXPECT_TEXT(actual, expected) \
  tenon__test_check_text(__FILE__, __LINE__, #actual, (actual), (expected))

/* `text` contains `part`. */
#define EXPECT_CONTAINS(text, part) \
  tenon__test_check_contains(__FILE__, __LINE__, #text, (text), (part))

/* Numbers that differ by at most `tolerance`; NaN equals NaN. */
#define EXPECT_NEAR(actual, expected, tolerance)                                            \
  tenon__test_check_near(__FILE__, __LINE__, #actual, (double)(actual), (double)(expected), \
                         (double)(tolerance))

#define EXPECT_STATUS(actual, expected) \
  tenon__test_check_status(__FILE__, __LINE__, #actual, (actual), (expected))

/* A sink that keeps messages, one in each line, as far as there is space. */
typedef struct tenon__test_messages_t {
  tenon_sink_t sink;
  int count;
  int32_t severity; /* of the newest */
  char text[8192];
} tenon__test_messages_t;

static inline void tenon__test_keep_message(void* user, int32_t severity, const char* message) {
  tenon__test_messages_t* messages = user;
  const size_t used = strlen(messages->text);
  (void)snprintf(messages->text + used, sizeof(messages->text) - used, "%s\n", message);
  messages->severity = severity;
  ++messages->count;
}

/* Clears `out_messages` and returns the sink for the callee. */
static inline const tenon_sink_t* tenon__test_listen(tenon__test_messages_t* out_messages) {
  memset(out_messages, 0, sizeof(*out_messages));
  out_messages->sink.user = out_messages;
  out_messages->sink.report = tenon__test_keep_message;
  return &out_messages->sink;
}

/* Runs `body` with the first allocation failing, then the second, and so on until none does. The
 * body releases everything that it has made and returns true on success. It must succeed if no
 * allocation failed, and must never leak. */
static inline void tenon__test_each_allocation(bool (*body)(tenon_allocator_t allocator,
                                                            void* user),
                                               void* user) {
  for (uint64_t fail_at = 1; fail_at < 1000000; ++fail_at) {
    tenon__test_allocator_t state = {.fail_at = fail_at};
    const bool succeeded = body(tenon__test_allocator(&state), user);
    if (state.live_blocks != 0 || state.live_bytes != 0) {
      tenon__test_fail(__FILE__, __LINE__,
                       "failure of allocation %llu leaves %llu blocks, %llu bytes behind",
                       (unsigned long long)fail_at, (unsigned long long)state.live_blocks,
                       (unsigned long long)state.live_bytes);
      return;
    }
    if (state.allocation_count < fail_at) {
      EXPECT(succeeded);
      return;
    }
  }
  tenon__test_fail(__FILE__, __LINE__, "the body never stops allocating");
}

/* The linker's names for the two ends of the section. NOLINTNEXTLINE */
extern const tenon__test_case_t* const __start_tenon_tests[];
/* NOLINTNEXTLINE */
extern const tenon__test_case_t* const __stop_tenon_tests[];

int main(int argc, char** argv) {
  int ran = 0;
  int failed = 0;
  for (const tenon__test_case_t* const* entry = __start_tenon_tests; entry < __stop_tenon_tests;
       ++entry) {
    /* Where clang's address sanitizer pads the section there is nothing. */
    if (*entry == NULL || (argc > 1 && strstr((*entry)->name, argv[1]) == NULL)) {
      continue;
    }
    tenon__test_failures = 0;
    (*entry)->run();
    if (tenon__test_failures > 0) {
      (void)fprintf(stderr, "FAILED %s\n", (*entry)->name);
      ++failed;
    }
    ++ran;
  }
  (void)printf("%d cases, %d failed\n", ran, failed);
  return failed == 0 && ran > 0 ? 0 : 1;
}

#endif
