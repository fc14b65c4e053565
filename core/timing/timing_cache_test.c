/* The timing cache: what is written is read, and what is damaged is skipped with words. */
#include "core/timing/timing_cache.h"

#include "core/base/allocator.h"
#include "core/base/test.h"

static tenon__timing_cache_t* make_cache(void) {
  tenon__timing_cache_t* cache = NULL;
  EXPECT_STATUS(tenon__timing_cache_create(tenon__allocator_default(), &cache), TENON_OK);
  return cache;
}

static tenon__digest_t key_of(const char* text) {
  return tenon__digest_of(text, strlen(text));
}

/* The file's text; `free_text` gives it back. */
static char* write_cache(tenon__timing_cache_t* cache, size_t* out_size) {
  char* text = NULL;
  *out_size = 0;
  EXPECT_STATUS(tenon__timing_cache_write(cache, &text, out_size), TENON_OK);
  return text;
}

static void free_text(char* text, size_t size) {
  tenon__free(tenon__allocator_default(), text, size + 1);
}

TENON_TEST(what_was_written_is_read_to_the_last_digit) {
  static const tenon__timing_t timings[] = {{1.0 / 3, TENON_CHECKED_ALONE, false},
                                            {1e-9, TENON_CHECKED_AGREES, true},
                                            {4.0000000000000002e-5, TENON_CHECKED_WRONG, false},
                                            {12345.678, TENON_CHECKED_ALONE, true}};
  static const char* const names[] = {"a", "b", "c", "d"};
  tenon__timing_cache_t* cache = make_cache();
  tenon__timing_cache_t* copy = make_cache();
  tenon__test_messages_t messages;
  size_t size = 0;
  for (int k = 0; k < 4; ++k) {
    const tenon__digest_t key = key_of(names[k]);
    EXPECT_STATUS(tenon__timing_cache_add(cache, &key, timings[k]), TENON_OK);
  }
  char* text = write_cache(cache, &size);
  EXPECT_STATUS(tenon__timing_cache_read(copy, text, size, "file", tenon__test_listen(&messages)),
                TENON_OK);
  EXPECT_INT(messages.count, 0);
  EXPECT_INT(tenon__timing_cache_count(copy), 4);
  for (int k = 0; k < 4; ++k) {
    tenon__timing_t found = {0};
    const tenon__digest_t key = key_of(names[k]);
    EXPECT(tenon__timing_cache_find(copy, &key, &found));
    EXPECT_NEAR(found.seconds, timings[k].seconds, 0);
    EXPECT_INT(found.checked, timings[k].checked);
    EXPECT(found.is_disturbed == timings[k].is_disturbed);
  }
  free_text(text, size);
  tenon__timing_cache_destroy(copy);
  tenon__timing_cache_destroy(cache);
}

TENON_TEST(the_first_time_of_a_key_stays_and_what_was_checked_adds_up) {
  tenon__timing_cache_t* cache = make_cache();
  const tenon__digest_t key = key_of("key");
  const tenon__digest_t other = key_of("other");
  const tenon__timing_t timings[] = {{1, TENON_CHECKED_ALONE, false},
                                     {2, TENON_CHECKED_AGREES, false},
                                     {3, TENON_CHECKED_ALONE, true}};
  tenon__timing_t found = {0};
  for (int k = 0; k < 3; ++k) {
    EXPECT_STATUS(tenon__timing_cache_add(cache, &key, timings[k]), TENON_OK);
    EXPECT(tenon__timing_cache_find(cache, &key, &found));
    EXPECT_NEAR(found.seconds, 1, 0);
    EXPECT_INT(found.checked, k == 0 ? TENON_CHECKED_ALONE : TENON_CHECKED_AGREES);
  }
  EXPECT(!tenon__timing_cache_find(cache, &other, &found));
  EXPECT_INT(tenon__timing_cache_count(cache), 1);
  tenon__timing_cache_destroy(cache);
}

TENON_TEST(a_time_that_was_disturbed_gives_way) {
  tenon__timing_cache_t* cache = make_cache();
  const tenon__digest_t key = key_of("key");
  const tenon__timing_t timings[] = {{3, TENON_CHECKED_AGREES, true},
                                     {4, TENON_CHECKED_ALONE, true},
                                     {5, TENON_CHECKED_ALONE, false},
                                     {2, TENON_CHECKED_ALONE, false}};
  const double kept[] = {3, 3, 5, 5};
  tenon__timing_t found = {0};
  for (int k = 0; k < 4; ++k) {
    EXPECT_STATUS(tenon__timing_cache_add(cache, &key, timings[k]), TENON_OK);
    EXPECT(tenon__timing_cache_find(cache, &key, &found));
    EXPECT_NEAR(found.seconds, kept[k], 0);
    EXPECT(found.is_disturbed == (k < 2));
    EXPECT_INT(found.checked, TENON_CHECKED_AGREES);
  }
  tenon__timing_cache_renew(cache, &key, 1, true);
  EXPECT(tenon__timing_cache_find(cache, &key, &found));
  EXPECT_NEAR(found.seconds, 1, 0);
  EXPECT(found.is_disturbed);
  tenon__timing_cache_destroy(cache);
}

/* Reads a text into an empty cache; the count of entries, and what was said. */
static uint32_t read_text(const char* text, size_t size, tenon__test_messages_t* out_messages) {
  tenon__timing_cache_t* cache = make_cache();
  EXPECT_STATUS(
      tenon__timing_cache_read(cache, text, size, "some.file", tenon__test_listen(out_messages)),
      TENON_OK);
  const uint32_t count = tenon__timing_cache_count(cache);
  tenon__timing_cache_destroy(cache);
  return count;
}

TENON_TEST(other_files_are_ignored_with_a_warning) {
  static const char* const texts[] = {"", "tenon timing", "tenon timing cache 1\n", "{}\n"};
  for (size_t k = 0; k < sizeof texts / sizeof texts[0]; ++k) {
    tenon__test_messages_t messages;
    EXPECT_INT(read_text(texts[k], strlen(texts[k]), &messages), 0);
    EXPECT_INT(messages.count, 1);
    EXPECT_INT(messages.severity, TENON_SEVERITY_WARNING);
    EXPECT_CONTAINS(messages.text, "some.file: not a timing cache");
  }
}

#define KEY_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

TENON_TEST(damaged_lines_are_skipped_and_counted) {
  static const char* const lines[] = {
      "x" KEY_B " 1 alone\n", /* not hexadecimal */
      KEY_B "\n",             /* no seconds */
      KEY_B " \n",            /* none either */
      KEY_B " fast alone\n",  /* no number */
      KEY_B " 1\n",           /* was it checked? */
      KEY_B " 1 second\n",    /* something else */
      KEY_B " 1 alone \n",    /* something behind it */
      KEY_B " 1 alone so\n",  /* likewise */
      KEY_B " -1 alone\n",    /* less than nothing */
      KEY_B " 0 alone\n",     /* nothing at all */
      KEY_B " nan alone\n",   /* no order */
      KEY_B " 1e9 alone\n",   /* thirty years */
      KEY_B " 1 alone",       /* cut: no end of line */
      KEY_B KEY_B KEY_B "\n"  /* too long */
  };
  for (size_t k = 0; k < sizeof lines / sizeof lines[0]; ++k) {
    char text[512];
    tenon__test_messages_t messages;
    (void)snprintf(text, sizeof(text), "tenon timing cache 2\n" KEY_A " 0.5 agrees\n%s", lines[k]);
    EXPECT_INT(read_text(text, strlen(text), &messages), 1);
    EXPECT_INT(messages.count, 1);
    EXPECT_CONTAINS(messages.text, "some.file: 1 damaged lines");
  }
}

static bool fill_and_write(tenon_allocator_t allocator, void* user) {
  tenon__timing_cache_t* cache = NULL;
  (void)user;
  if (tenon__timing_cache_create(allocator, &cache) != TENON_OK) {
    return false;
  }
  bool good = true;
  for (uint32_t k = 0; k < 40 && good; ++k) {
    const tenon__digest_t key = tenon__digest_of(&k, sizeof k);
    good = tenon__timing_cache_add(cache, &key, (tenon__timing_t){.seconds = k + 1}) == TENON_OK;
  }
  char* text = NULL;
  size_t size = 0;
  good = good && tenon__timing_cache_write(cache, &text, &size) == TENON_OK &&
         tenon__timing_cache_read(cache, text, size, "file", NULL) == TENON_OK;
  tenon__free(allocator, text, size + 1);
  tenon__timing_cache_destroy(cache);
  return good;
}

TENON_TEST(every_failing_allocation_is_reported) {
  tenon__test_each_allocation(fill_and_write, NULL);
}
