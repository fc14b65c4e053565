/* Protocol buffers' wire format, byte by byte. */
#include "core/base/test.h"
#include "tests/support/fake.h"
#include "tests/support/message.h"

static void expect_varint(const uint8_t* bytes, size_t size, uint64_t expected) {
  const uint8_t* at = bytes;
  uint64_t value = 0;
  EXPECT(tenon_reader_read_varint(&at, bytes + size, &value));
  EXPECT(value == expected);
  EXPECT(at == bytes + size);
}

/* Nothing moves, nothing is written. */
static void expect_no_varint(const uint8_t* bytes, size_t size) {
  const uint8_t* at = bytes;
  uint64_t value = 77;
  EXPECT(!tenon_reader_read_varint(&at, bytes + size, &value));
  EXPECT(at == bytes && value == 77);
}

TENON_TEST(reads_what_is_written) {
  static const uint64_t values[] = {0,
                                    1,
                                    127,
                                    128,
                                    300,
                                    16383,
                                    16384,
                                    UINT32_MAX,
                                    INT64_MAX,
                                    (uint64_t)1 << 63,
                                    1u << 7,
                                    1u << 14,
                                    (uint64_t)1 << 35,
                                    UINT64_MAX};
  for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); ++i) {
    tenon__message_t message = {.size = 0};
    tenon__message_varint(&message, 1, values[i]);
    expect_varint(message.bytes + 1, message.size - 1, values[i]);
    for (size_t size = 0; size + 1 < message.size; ++size) {
      expect_no_varint(message.bytes + 1, size);
    }
  }
}

TENON_TEST(varints_may_be_longer_than_they_need_be) {
  expect_varint((const uint8_t[]){0x80, 0x00}, 2, 0);
  expect_varint((const uint8_t[]){0x85, 0x80, 0x80, 0x80, 0x00}, 5, 5);
  expect_varint((const uint8_t[]){0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, 10,
                1);
}

TENON_TEST(a_tenth_byte_has_one_bit) {
  expect_varint((const uint8_t[]){0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F}, 10,
                UINT64_MAX);
  expect_varint((const uint8_t[]){0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7E}, 10,
                0);
}

TENON_TEST(an_eleventh_byte_is_refused) {
  static const uint8_t zeros[12] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                    0x80, 0x80, 0x80, 0x80, 0x00, 0x00};
  expect_no_varint(zeros, sizeof(zeros));
}

/* ---- Records ---- */

static tenon_reader_record_t expect_record(const uint8_t** inout_at, const uint8_t* end,
                                           uint64_t number, uint32_t wire) {
  const uint8_t* start = *inout_at;
  tenon_reader_record_t record = {.number = 0};
  EXPECT(tenon_reader_read_record(inout_at, end, &record));
  EXPECT_INT(record.number, number);
  EXPECT_INT(record.wire, wire);
  EXPECT(record.start == start);
  EXPECT(record.data + record.size == *inout_at);
  return record;
}

TENON_TEST(reads_every_wire_type) {
  static const uint64_t wide = 0x0123456789ABCDEF;
  static const uint32_t narrow = 0x89ABCDEF;
  tenon__message_t m = {.size = 0};
  tenon__message_varint(&m, 3, 300);
  tenon__message_fixed(&m, 16, &wide, sizeof(wide));
  tenon__message_text(&m, 536870911, "text");
  tenon__message_text(&m, 2, "");
  tenon__message_fixed(&m, 1, &narrow, sizeof(narrow));
  const uint8_t* at = m.bytes;
  const uint8_t* end = m.bytes + m.size;
  tenon_reader_record_t record = expect_record(&at, end, 3, TENON_READER_WIRE_VARINT);
  EXPECT_INT(record.value, 300);
  EXPECT_INT(record.size, 2);
  record = expect_record(&at, end, 16, TENON_READER_WIRE_FIXED64);
  EXPECT(record.size == sizeof(wide) && memcmp(record.data, &wide, sizeof(wide)) == 0);
  record = expect_record(&at, end, 536870911, TENON_READER_WIRE_LENGTH);
  EXPECT(record.size == 4 && memcmp(record.data, "text", 4) == 0);
  record = expect_record(&at, end, 2, TENON_READER_WIRE_LENGTH);
  EXPECT_INT(record.size, 0);
  record = expect_record(&at, end, 1, TENON_READER_WIRE_FIXED32);
  EXPECT(record.size == sizeof(narrow) && memcmp(record.data, &narrow, sizeof(narrow)) == 0);
  EXPECT(at == end);
}

static void expect_no_record(const uint8_t* bytes, size_t size) {
  const uint8_t* at = bytes;
  tenon_reader_record_t record = {.number = 77};
  EXPECT(!tenon_reader_read_record(&at, bytes + size, &record));
  EXPECT(at == bytes && record.number == 77);
}

#define EXPECT_NO_RECORD(...) \
  expect_no_record((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

TENON_TEST(refuses_what_is_no_record) {
  expect_no_record((const uint8_t*)"", 0);
  for (uint8_t wire = 0; wire < 8; ++wire) { /* the number 0 */
    EXPECT_NO_RECORD(wire, 0x00, 0, 0, 0, 0, 0, 0, 0, 0);
  }
  EXPECT_NO_RECORD(0x0B, 0x0C, 0, 0, 0, 0, 0, 0, 0, 0); /* a group begins */
  EXPECT_NO_RECORD(0x0C, 0x00, 0, 0, 0, 0, 0, 0, 0, 0); /* a group ends */
  EXPECT_NO_RECORD(0x0E, 0x00, 0, 0, 0, 0, 0, 0, 0, 0); /* there is no wire type 6 */
  EXPECT_NO_RECORD(0x0F, 0x00, 0, 0, 0, 0, 0, 0, 0, 0); /* nor 7 */
  EXPECT_NO_RECORD(0x80);                               /* a tag that is cut off */
  EXPECT_NO_RECORD(0x0A);                               /* no length */
  EXPECT_NO_RECORD(0x0A, 0x80);                         /* a length that is cut off */
  EXPECT_NO_RECORD(0x0A, 0x02, 0x00);                   /* a length beyond the end, by one */
  EXPECT_NO_RECORD(0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0x00);
  EXPECT_NO_RECORD(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0x00);
}

TENON_TEST(refuses_every_record_that_is_cut_off) {
  static const uint64_t wide = 1;
  for (int kind = 0; kind < 4; ++kind) {
    tenon__message_t m = {.size = 0};
    if (kind == 0) {
      tenon__message_varint(&m, 20, 1u << 20);
    } else if (kind == 1) {
      tenon__message_text(&m, 20, "some text");
    } else {
      tenon__message_fixed(&m, 20, &wide, kind == 2 ? 8 : 4);
    }
    for (size_t size = 0; size < m.size; ++size) {
      expect_no_record(m.bytes, size);
    }
  }
}
