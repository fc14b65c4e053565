/* Memory, messages, characters, and what the host is asked for. */
#include "core/base/test.h"
#include "tests/support/fake.h"

static tenon__fake_t fake;
static tenon_reader_t reader;

static void begin(void) {
  tenon__fake_initialize(&fake, NULL);
  tenon__fake_reader(&fake, &reader);
}

static void end(void) {
  tenon__fake_deinitialize(&fake);
}

/* ---- Memory ---- */

static bool is_zero(const uint8_t* data, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (data[i] != 0) {
      return false;
    }
  }
  return true;
}

TENON_TEST(memory_is_zero_aligned_and_apart) {
  uint8_t* last = NULL;
  begin();
  for (size_t size = 0; size < 6000; size += 7) {
    uint8_t* data = tenon_reader_allocate(&reader, size, 1);
    REQUIRE(data != NULL);
    EXPECT((uintptr_t)data % 16 == 0 && data != last && is_zero(data, size));
    memset(data, 0xFF, size);
    last = data;
  }
  end();
}

TENON_TEST(small_blocks_share_one_of_the_host) {
  begin();
  for (int i = 0; i < 64; ++i) {
    EXPECT(tenon_reader_allocate(&reader, 8, 64) != NULL);
  }
  EXPECT_INT(fake.allocation_count, 1);
  EXPECT(tenon_reader_allocate(&reader, 4097, 1) != NULL);
  EXPECT_INT(fake.allocation_count, 2);
  EXPECT(tenon_reader_allocate(&reader, 1, 1) != NULL);
  EXPECT_INT(fake.allocation_count, 2);
  end();
}

TENON_TEST(sizes_that_overflow_are_refused) {
  begin();
  EXPECT(tenon_reader_allocate(&reader, SIZE_MAX, 1) == NULL);
  EXPECT(tenon_reader_allocate(&reader, SIZE_MAX / 8 + 2, 8) == NULL);
  EXPECT(tenon_reader_allocate(&reader, 3, SIZE_MAX / 2) == NULL);
  EXPECT_INT(fake.allocation_count, 0);
  EXPECT(tenon_reader_allocate(&reader, SIZE_MAX, 0) != NULL);
  fake.fail_at = fake.allocation_count + 1;
  EXPECT(tenon_reader_allocate(&reader, 4097, 1) == NULL);
  EXPECT_TEXT(fake.messages, "");
  end();
}

TENON_TEST(enlarging_keeps_what_is_there) {
  static const int32_t old[3] = {1, 2, 3};
  begin();
  const int32_t* larger = tenon_reader_enlarge(&reader, old, 3, 5, sizeof(int32_t));
  REQUIRE(larger != NULL);
  EXPECT(memcmp(larger, old, sizeof(old)) == 0 && larger[3] == 0 && larger[4] == 0);
  EXPECT(tenon_reader_enlarge(&reader, NULL, 0, 4, 4) != NULL);
  EXPECT(tenon_reader_enlarge(&reader, old, 3, SIZE_MAX / 2, sizeof(int32_t)) == NULL);
  end();
}

TENON_TEST(formats_texts_of_any_length) {
  begin();
  const char* text = tenon_reader_format(&reader, "%s %05d", "node", 42);
  EXPECT_TEXT(text, "node 00042");
  text = tenon_reader_format(&reader, "%10000d", 1);
  REQUIRE(text != NULL);
  EXPECT_INT(strlen(text), 10000);
  fake.fail_at = fake.allocation_count + 1;
  EXPECT(tenon_reader_format(&reader, "%10000d", 1) == NULL);
  end();
}

TENON_TEST(what_a_file_makes_much_of_is_bounded) {
  begin();
  EXPECT_STATUS(tenon_reader_spend(&reader, TENON_READER_MADE_LIMIT / 8 - 1, 8), TENON_OK);
  EXPECT_STATUS(tenon_reader_spend(&reader, SIZE_MAX, 0), TENON_OK);
  EXPECT_STATUS(tenon_reader_spend(&reader, 1, 8), TENON_OK);
  EXPECT_TEXT(fake.messages, "");
  EXPECT_STATUS(tenon_reader_spend(&reader, 1, 1), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(fake.messages, "need more than 1 GiB");
  end();
  begin();
  EXPECT_STATUS(tenon_reader_spend(&reader, SIZE_MAX / 2, 4), TENON_ERROR_UNSUPPORTED);
  EXPECT_STATUS(tenon_reader_spend(&reader, 1, SIZE_MAX), TENON_ERROR_UNSUPPORTED);
  EXPECT_INT(fake.error_count, 2);
  end();
}

TENON_TEST(what_is_only_read_stays_where_it_is) {
  static const int value = 3;
  EXPECT(tenon_reader_unconst(&value) == &value);
  EXPECT(tenon_reader_unconst(NULL) == NULL);
}

/* ---- Words ---- */

static tenon_status_t give_up(bool fails) {
  TENON_READER_TRY(fails ? TENON_ERROR_IO : TENON_OK);
  return TENON_ERROR_DENIED;
}

TENON_TEST(a_failure_is_said_and_handed_on) {
  begin();
  EXPECT_STATUS(TENON_READER_FAIL(&reader, TENON_ERROR_IO, "byte %d: %s", 3, "odd"),
                TENON_ERROR_IO);
  EXPECT_TEXT(fake.messages, "byte 3: odd\n");
  EXPECT_STATUS(tenon_reader_fail_memory(&reader), TENON_ERROR_OUT_OF_MEMORY);
  EXPECT_INT(fake.error_count, 2);
  tenon_reader_say(&reader, TENON_SEVERITY_WARNING, "by the way");
  EXPECT_INT(fake.error_count, 2);
  EXPECT_TEXT(fake.messages, "byte 3: odd\nout of memory\nby the way\n");
  EXPECT_STATUS(give_up(true), TENON_ERROR_IO);
  EXPECT_STATUS(give_up(false), TENON_ERROR_DENIED);
  end();
}

TENON_TEST(long_messages_are_cut) {
  begin();
  tenon_reader_say(&reader, TENON_SEVERITY_INFO, "%3000d", 1);
  EXPECT_INT(strlen(fake.messages), TENON_READER_MESSAGE_SIZE - 1 + 1);
  end();
}

TENON_TEST(nobody_need_listen) {
  static const tenon_sink_t deaf = {NULL, NULL};
  begin();
  reader.sink = NULL;
  EXPECT_STATUS(TENON_READER_FAIL(&reader, TENON_ERROR_IO, "unheard"), TENON_ERROR_IO);
  reader.sink = &deaf;
  EXPECT_STATUS(TENON_READER_FAIL(&reader, TENON_ERROR_IO, "unheard"), TENON_ERROR_IO);
  EXPECT_TEXT(fake.messages, "");
  end();
}

/* ---- The host, also an older one ---- */

TENON_TEST(asks_for_settings_where_there_are_any) {
  begin();
  fake.setting_name = "level";
  fake.setting_value = "3";
  EXPECT_TEXT(tenon_reader_setting(&reader, "level"), "3");
  EXPECT(tenon_reader_setting(&reader, "stage") == NULL);
  fake.host.size = offsetof(tenon_parse_table_t, setting);
  EXPECT(tenon_reader_setting(&reader, "level") == NULL);
  fake.host.size = sizeof(fake.host);
  fake.host.setting = NULL;
  EXPECT(tenon_reader_setting(&reader, "level") == NULL);
  end();
}

TENON_TEST(declares_where_somebody_listens) {
  begin();
  EXPECT(tenon_reader_can_declare(&reader));
  fake.host.size = offsetof(tenon_parse_table_t, declare_node);
  EXPECT(!tenon_reader_can_declare(&reader));
  fake.host.size = sizeof(fake.host);
  fake.host.declare_value = NULL;
  EXPECT(!tenon_reader_can_declare(&reader));
  end();
}

/* ---- Characters ---- */

static void expect_readable(const char* bytes, size_t size, const char* expected) {
  begin();
  EXPECT_TEXT(tenon_reader_readable(&reader, bytes, size), expected);
  end();
}

#define EXPECT_READABLE(bytes, expected) expect_readable(bytes, sizeof(bytes) - 1, expected)

TENON_TEST(what_is_utf8_stays) {
  expect_readable(NULL, 0, "");
  EXPECT_READABLE("conv1/weights", "conv1/weights");
  EXPECT_READABLE("\x01\x1F\x7F\\", "\x01\x1F\x7F\\");
  EXPECT_READABLE("\xC2\x80\xDF\xBF", "\xC2\x80\xDF\xBF");
  EXPECT_READABLE("\xE0\xA0\x80\xED\x9F\xBF\xEF\xBF\xBF", "\xE0\xA0\x80\xED\x9F\xBF\xEF\xBF\xBF");
  EXPECT_READABLE("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF");
}

TENON_TEST(what_is_none_is_written_out) {
  EXPECT_READABLE("a\0b", "a\\x00b");
  EXPECT_READABLE("\x80", "\\x80");                                     /* begins nothing */
  EXPECT_READABLE("\xC0\x80\xC1\xBF", "\\xc0\\x80\\xc1\\xbf");          /* longer than need be */
  EXPECT_READABLE("\xE0\x9F\xBF", "\\xe0\\x9f\\xbf");                   /* likewise */
  EXPECT_READABLE("\xF0\x8F\xBF\xBF", "\\xf0\\x8f\\xbf\\xbf");          /* likewise */
  EXPECT_READABLE("\xED\xA0\x80", "\\xed\\xa0\\x80");                   /* half of a surrogate */
  EXPECT_READABLE("\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");          /* beyond Unicode */
  EXPECT_READABLE("\xF5\x80\x80\x80\xFF", "\\xf5\\x80\\x80\\x80\\xff"); /* no first byte */
  EXPECT_READABLE("\xC3(", "\\xc3(");                                   /* broken off */
  EXPECT_READABLE("\xE2\x82", "\\xe2\\x82");                            /* by the end */
  expect_readable("\xE2\x82\xAC", 2, "\\xe2\\x82");   /* the rest lies behind it */
  EXPECT_READABLE("\xF0\x9F\x98", "\\xf0\\x9f\\x98"); /* likewise */
}

TENON_TEST(characters_come_one_by_one) {
  static const uint8_t bytes[] = {0xC3, 0xA9, 'a', 0xFF};
  char text[TENON_READER_CHARACTER_SIZE];
  size_t taken = 0;
  EXPECT_INT(tenon_reader_character(bytes, 4, text, &taken), 2);
  EXPECT(taken == 2 && memcmp(text, bytes, 2) == 0);
  EXPECT_INT(tenon_reader_character(bytes + 2, 2, text, &taken), 1);
  EXPECT(taken == 1 && text[0] == 'a');
  EXPECT_INT(tenon_reader_character(bytes + 3, 1, text, &taken), 4);
  EXPECT(taken == 1 && memcmp(text, "\\xff", 4) == 0);
}

TENON_TEST(readable_may_lack_memory) {
  begin();
  fake.fail_at = 1;
  EXPECT(tenon_reader_readable(&reader, "a", 1) == NULL);
  EXPECT(tenon_reader_readable(&reader, "a", SIZE_MAX / 2) == NULL);
  end();
}

/* ---- Source nodes ---- */

TENON_TEST(what_a_format_lacks_is_not_found) {
  const tenon_source_t* tree = NULL;
  tenon_tensor_view_t view = {.rank = 7};
  tenon_converted_body_t body = {.body = 7};
  EXPECT_STATUS(tenon_reader_no_tensor(NULL, "a", &view), TENON_ERROR_NOT_FOUND);
  EXPECT_STATUS(tenon_reader_no_blob(NULL, 0, &view), TENON_ERROR_NOT_FOUND);
  EXPECT_STATUS(tenon_reader_no_tree(NULL, "a", 0, &tree), TENON_ERROR_NOT_FOUND);
  EXPECT_STATUS(tenon_reader_no_body(NULL, "a", NULL, 0, &body), TENON_ERROR_NOT_FOUND);
  EXPECT_INT(tenon_reader_no_trees(NULL, "a"), 0);
  EXPECT_INT(tenon_reader_no_blobs(NULL), 0);
  EXPECT(view.rank == 7 && tree == NULL && body.body == 7);
}
