#include "core/base/bytes.h"

#include "core/base/test.h"

static void write_sample(tenon__byte_writer_t* writer) {
  tenon__write_u8(writer, 0xab);
  tenon__write_u32(writer, 0x01020304);
  tenon__write_u64(writer, UINT64_MAX - 1);
  tenon__write_i64(writer, INT64_MIN);
  tenon__write_f64(writer, -0.15625);
  tenon__write_string(writer, "tenon");
  tenon__write_string(writer, NULL);
  tenon__write_bytes(writer, "xyz", 3);
}

TENON_TEST(what_was_written_is_read) {
  tenon__byte_writer_t writer;
  tenon__byte_writer_initialize(&writer, tenon__allocator_default());
  write_sample(&writer);
  EXPECT(!writer.failed);
  EXPECT_INT(writer.size, 47);
  tenon__byte_reader_t reader;
  tenon__byte_reader_initialize(&reader, writer.data, writer.size);
  EXPECT_INT(tenon__read_u8(&reader), 0xab);
  EXPECT_INT(tenon__read_u32(&reader), 0x01020304);
  EXPECT(tenon__read_u64(&reader) == UINT64_MAX - 1);
  EXPECT(tenon__read_i64(&reader) == INT64_MIN);
  EXPECT_NEAR(tenon__read_f64(&reader), -0.15625, 0.0);
  EXPECT_TEXT(tenon__read_string(&reader), "tenon");
  EXPECT_TEXT(tenon__read_string(&reader), "");
  const char* view = tenon__read_view(&reader, 3);
  EXPECT(view != NULL && memcmp(view, "xyz", 3) == 0);
  EXPECT(!reader.failed);
  EXPECT_INT(reader.position, 47);
  tenon__byte_writer_deinitialize(&writer);
}

TENON_TEST(numbers_are_little_endian) {
  const uint8_t bytes[] = {0x04, 0x03, 0x02, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  tenon__byte_reader_t reader;
  tenon__byte_reader_initialize(&reader, bytes, sizeof(bytes));
  EXPECT_INT(tenon__read_u32(&reader), 0x01020304);
  EXPECT_INT(tenon__read_i64(&reader), -1);
}

TENON_TEST(every_truncation_fails_and_stays_failed) {
  tenon__byte_writer_t writer;
  tenon__byte_writer_initialize(&writer, tenon__allocator_default());
  write_sample(&writer);
  for (size_t size = 0; size < writer.size; ++size) {
    tenon__byte_reader_t reader;
    tenon__byte_reader_initialize(&reader, writer.data, size);
    (void)tenon__read_u8(&reader);
    (void)tenon__read_u32(&reader);
    (void)tenon__read_u64(&reader);
    (void)tenon__read_i64(&reader);
    (void)tenon__read_f64(&reader);
    (void)tenon__read_string(&reader);
    (void)tenon__read_string(&reader);
    (void)tenon__read_view(&reader, 3);
    EXPECT(reader.failed);
    EXPECT(reader.position <= size);
    EXPECT_INT(tenon__read_u8(&reader), 0);
    EXPECT_TEXT(tenon__read_string(&reader), "");
    EXPECT(tenon__read_view(&reader, 0) == NULL);
    EXPECT_INT(tenon__read_count(&reader, 1), 0);
  }
  tenon__byte_writer_deinitialize(&writer);
}

TENON_TEST(strings_end_where_they_say) {
  const uint8_t without_end[] = {2, 0, 0, 0, 'a', 'b', 'c'};
  const uint8_t end_inside[] = {2, 0, 0, 0, 'a', 0, 0};
  const uint8_t too_long[] = {0xff, 0xff, 0xff, 0xff, 'a', 0};
  const struct {
    const uint8_t* data;
    size_t size;
  } cases[] = {{without_end, sizeof(without_end)},
               {end_inside, sizeof(end_inside)},
               {too_long, sizeof(too_long)}};
  for (size_t i = 0; i < 3; ++i) {
    tenon__byte_reader_t reader;
    tenon__byte_reader_initialize(&reader, cases[i].data, cases[i].size);
    EXPECT_TEXT(tenon__read_string(&reader), "");
    EXPECT(reader.failed);
  }
}

TENON_TEST(a_count_must_fit_what_is_left) {
  const uint8_t bytes[] = {3, 0, 0, 0, 1, 2, 3, 4, 5, 6};
  tenon__byte_reader_t reader;
  tenon__byte_reader_initialize(&reader, bytes, sizeof(bytes));
  EXPECT_INT(tenon__read_count(&reader, 2), 3);
  EXPECT(!reader.failed);
  tenon__byte_reader_initialize(&reader, bytes, sizeof(bytes));
  EXPECT_INT(tenon__read_count(&reader, 3), 0);
  EXPECT(reader.failed);
  tenon__byte_reader_initialize(&reader, bytes, sizeof(bytes));
  EXPECT_INT(tenon__read_count(&reader, SIZE_MAX), 0);
  EXPECT(reader.failed);
}

TENON_TEST(nothing_can_be_read_from_nothing) {
  tenon__byte_reader_t reader;
  tenon__byte_reader_initialize(&reader, NULL, 0);
  EXPECT(tenon__read_view(&reader, 0) != NULL);
  EXPECT(!reader.failed);
  EXPECT_INT(tenon__read_u64(&reader), 0);
  EXPECT(reader.failed);
}

static bool write_many(tenon_allocator_t allocator, void* user) {
  (void)user;
  tenon__byte_writer_t writer;
  tenon__byte_writer_initialize(&writer, allocator);
  for (int i = 0; i < 50; ++i) {
    write_sample(&writer);
  }
  const bool ok = !writer.failed && writer.size == (size_t)50 * 47;
  tenon__byte_writer_deinitialize(&writer);
  return ok;
}

TENON_TEST(survives_each_failed_allocation) {
  tenon__test_each_allocation(write_many, NULL);
}
