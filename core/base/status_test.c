#include "core/base/status.h"

#include "core/base/test.h"

TENON_TEST(every_status_has_its_own_words) {
  for (tenon_status_t a = TENON_OK; a <= TENON_ERROR_INTERNAL; ++a) {
    EXPECT(strlen(tenon__status_text(a)) > 3);
    for (tenon_status_t b = TENON_OK; b < a; ++b) {
      EXPECT(strcmp(tenon__status_text(a), tenon__status_text(b)) != 0);
    }
  }
  EXPECT_TEXT(tenon__status_text(-1), "unknown status");
  EXPECT_TEXT(tenon__status_text(TENON_ERROR_INTERNAL + 1), "unknown status");
  EXPECT_TEXT(tenon__status_text(INT32_MAX), "unknown status");
}

TENON_TEST(a_message_reaches_the_sink) {
  static tenon__test_messages_t messages;
  const tenon_sink_t* sink = tenon__test_listen(&messages);
  tenon__report(sink, TENON_SEVERITY_WARNING, "axis %d of %s", 3, "x");
  EXPECT_TEXT(messages.text, "axis 3 of x\n");
  EXPECT_INT(messages.severity, TENON_SEVERITY_WARNING);
  EXPECT_STATUS(tenon__fail(sink, TENON_ERROR_DENIED, "no"), TENON_ERROR_DENIED);
  EXPECT_INT(messages.severity, TENON_SEVERITY_ERROR);
  EXPECT_TEXT(messages.text, "axis 3 of x\nno\n");
}

TENON_TEST(without_a_sink_nothing_is_said) {
  const tenon_sink_t empty = {0};
  tenon__report(NULL, TENON_SEVERITY_ERROR, "%s", "x");
  tenon__report(&empty, TENON_SEVERITY_ERROR, "%s", "x");
  EXPECT_STATUS(tenon__fail(NULL, TENON_ERROR_IO, "x"), TENON_ERROR_IO);
}

TENON_TEST(a_long_message_is_cut_between_characters) {
  char text[4000];
  for (size_t shift = 0; shift < 3; ++shift) {
    static tenon__test_messages_t messages;
    memset(text, 'x', shift);
    for (size_t i = shift; i + 3 < sizeof(text); i += 3) {
      memcpy(text + i, "\xe2\x82\xac", 4); /* the euro sign */
    }
    tenon__report(tenon__test_listen(&messages), TENON_SEVERITY_INFO, "%s", text);
    const size_t length = strlen(messages.text) - 1;
    EXPECT(length < 2048 && length > 2040);
    EXPECT(memcmp(messages.text + length - 3, "...", 3) == 0);
    EXPECT_INT((length - 3 - shift) % 3, 0);
  }
}

TENON_TEST(a_message_that_fits_is_whole) {
  static tenon__test_messages_t messages;
  char text[2048];
  memset(text, 'x', 2047);
  text[2047] = '\0';
  tenon__report(tenon__test_listen(&messages), TENON_SEVERITY_INFO, "%s", text);
  EXPECT_INT(strlen(messages.text), 2048);
  EXPECT(memcmp(messages.text, text, 2047) == 0);
}

TENON_TEST(prefixes_nest) {
  static tenon__test_messages_t messages;
  tenon__prefix_sink_t outer;
  tenon__prefix_sink_t inner;
  tenon__prefix_sink_initialize(&outer, tenon__test_listen(&messages), "model 'a': ");
  tenon__prefix_sink_initialize(&inner, &outer.sink, "node 'b': ");
  tenon__report(&inner.sink, TENON_SEVERITY_INFO, "%s", "100% wrong");
  EXPECT_TEXT(messages.text, "model 'a': node 'b': 100% wrong\n");
  tenon__prefix_sink_initialize(&outer, NULL, "nowhere: ");
  EXPECT_STATUS(tenon__fail(&outer.sink, TENON_ERROR_IO, "x"), TENON_ERROR_IO);
}

TENON_TEST(keeps_errors_as_far_as_there_is_room) {
  tenon__keeping_sink_t kept;
  tenon__keeping_sink_initialize(&kept);
  EXPECT_TEXT(kept.message, "");
  tenon__report(&kept.sink, TENON_SEVERITY_WARNING, "a warning");
  EXPECT_STATUS(tenon__fail(&kept.sink, TENON_ERROR_IO, "one"), TENON_ERROR_IO);
  EXPECT_STATUS(tenon__fail(&kept.sink, TENON_ERROR_IO, "two"), TENON_ERROR_IO);
  EXPECT_TEXT(kept.message, "one; two");
  for (int i = 0; i < 400; ++i) {
    (void)tenon__fail(&kept.sink, TENON_ERROR_IO, "three");
    EXPECT(strlen(kept.message) < sizeof(kept.message));
  }
  EXPECT(strncmp(kept.message, "one; two; three; ", 17) == 0);
  EXPECT_TEXT(kept.message + strlen(kept.message) - 3, "...");
}

static tenon_status_t try_twice(tenon_status_t first, tenon_status_t second) {
  TENON_TRY(first);
  TENON_TRY(second);
  return TENON_OK;
}

TENON_TEST(try_returns_the_first_failure) {
  EXPECT_STATUS(try_twice(TENON_OK, TENON_OK), TENON_OK);
  EXPECT_STATUS(try_twice(TENON_ERROR_IO, TENON_ERROR_DENIED), TENON_ERROR_IO);
  EXPECT_STATUS(try_twice(TENON_OK, TENON_ERROR_DENIED), TENON_ERROR_DENIED);
}
