#include "tensor.h"

#include "core/base/test.h"
#include "testing/under_test.h"
#include "tests/support/onnx_message.h"

/* A model with one initialiser "w" of which the test writes the fields; then read. */
typedef struct fixture_t {
  tenon__message_t message;
  tenon__fake_t fake;
  tenon_reader_t reader;
  tenon__onnx_model_t model;
  tenon__onnx_tensor_t tensor;
} fixture_t;

static fixture_t fixture;

static void begin(int32_t data_type, uint32_t rank, const int64_t* dims) {
  memset(&fixture, 0, sizeof(fixture));
  tenon__message_begin(&fixture.message, 7);
  tenon__message_begin(&fixture.message, 5);
  for (uint32_t i = 0; i < rank; ++i) {
    tenon__message_varint(&fixture.message, 1, (uint64_t)dims[i]);
  }
  tenon__message_varint(&fixture.message, 2, (uint64_t)data_type);
  tenon__message_text(&fixture.message, 8, "w");
}

/* Of one axis. */
static void begin_vector(int32_t data_type, int64_t count) {
  begin(data_type, 1, &count);
}

static tenon_status_t finish(void) {
  tenon__message_end_model(&fixture.message);
  tenon__fake_initialize(&fixture.fake, &under_test);
  tenon__fake_add_part(&fixture.fake, fixture.message.bytes, fixture.message.size);
  fixture.fake.file_path = "weights.bin";
  fixture.fake.file_data = "0123456789abcdef";
  fixture.fake.file_size = 16;
  tenon__fake_reader(&fixture.fake, &fixture.reader);
  const tenon_status_t status = tenon__onnx_model_read(&fixture.reader, fixture.message.bytes,
                                                       fixture.message.size, &fixture.model);
  if (status != TENON_OK) {
    return status;
  }
  return tenon__onnx_tensor_read(&fixture.reader, &fixture.model,
                                 fixture.model.proto->graph->initializer[0], "initialiser 'w'",
                                 &fixture.tensor);
}

/* Bit by bit. */
static bool holds(const void* bytes, size_t size) {
  const uint8_t* data = fixture.tensor.view.data;
  return data != NULL && fixture.tensor.size_bytes == size && memcmp(data, bytes, size) == 0;
}

static void release(void) {
  tenon__fake_deinitialize(&fixture.fake);
}

static void expect_refused(tenon_status_t status, const char* expected) {
  EXPECT_STATUS(finish(), status);
  EXPECT_CONTAINS(fixture.fake.messages, "initialiser 'w'");
  EXPECT_CONTAINS(fixture.fake.messages, expected);
  EXPECT_INT(fixture.fake.error_count, 1);
  release();
}

static void expect_bytes(const void* bytes, size_t size) {
  EXPECT_STATUS(finish(), TENON_OK);
  EXPECT_INT(fixture.tensor.size_bytes, size);
  EXPECT(holds(bytes, size));
  release();
}

TENON_TEST(raw_data_is_borrowed) {
  static const float values[2] = {1.5F, -2};
  const int64_t dims[2] = {1, 2};
  begin(1, 2, dims);
  tenon__message_bytes(&fixture.message, 9, values, sizeof(values));
  EXPECT_STATUS(finish(), TENON_OK);
  EXPECT(fixture.tensor.borrowed);
  EXPECT_INT(fixture.tensor.view.dtype, TENON_DTYPE_FLOAT32);
  EXPECT_INT(fixture.tensor.view.rank, 2);
  EXPECT_INT(fixture.tensor.view.strides[0], 2);
  EXPECT(holds(values, sizeof(values)));
  release();
}

TENON_TEST(misaligned_data_is_copied_when_asked) {
  static const float values[2] = {1.5F, -2};
  for (uint32_t shift = 0; shift < 4; ++shift) {
    begin_vector(1, 2);
    tenon__message_bytes(&fixture.message, 12, "....", shift); /* documentation: moves the rest */
    tenon__message_bytes(&fixture.message, 9, values, sizeof(values));
    EXPECT_STATUS(finish(), TENON_OK);
    EXPECT_STATUS(tenon__onnx_tensor_align(&fixture.reader, &fixture.tensor), TENON_OK);
    EXPECT((uintptr_t)fixture.tensor.view.data % sizeof(float) == 0);
    EXPECT(holds(values, sizeof(values)));
    release();
  }
}

TENON_TEST(float_data_packed_and_not) {
  static const float values[3] = {1, 2, 3};
  begin_vector(1, 3);
  tenon__message_bytes(&fixture.message, 4, values, sizeof(values));
  expect_bytes(values, sizeof(values));
  begin_vector(1, 3);
  for (int i = 0; i < 3; ++i) {
    tenon__message_float(&fixture.message, 4, values[i]);
  }
  expect_bytes(values, sizeof(values));
  begin_vector(1, 3);
  tenon__message_bytes(&fixture.message, 4, values, 4);
  tenon__message_float(&fixture.message, 4, values[1]);
  tenon__message_bytes(&fixture.message, 4, values + 2, 4);
  expect_bytes(values, sizeof(values));
}

TENON_TEST(complex_numbers_are_pairs) {
  static const float pairs[4] = {1, -1, 2, -2};
  static const double wide[2] = {0.5, 0.25};
  begin_vector(14, 2);
  tenon__message_bytes(&fixture.message, 4, pairs, sizeof(pairs));
  expect_bytes(pairs, sizeof(pairs));
  begin_vector(15, 1);
  tenon__message_bytes(&fixture.message, 10, wide, sizeof(wide));
  expect_bytes(wide, sizeof(wide));
}

TENON_TEST(int32_data_holds_narrow_types) {
  static const struct {
    int32_t type;
    int64_t numbers[2];
    uint8_t bytes[8];
    size_t size;
  } rows[] = {
      {6, {-2, 3}, {0xFE, 0xFF, 0xFF, 0xFF, 3, 0, 0, 0}, 8}, /* int32 */
      {5, {-2, 3}, {0xFE, 0xFF, 3, 0}, 4},                   /* int16 */
      {4, {65535, 3}, {0xFF, 0xFF, 3, 0}, 4},                /* uint16 */
      {3, {-2, 3}, {0xFE, 3}, 2},                            /* int8 */
      {2, {255, 3}, {0xFF, 3}, 2},                           /* uint8 */
      {9, {1, 0}, {1, 0}, 2},                                /* bool */
      {10, {0x3C00, 0xC000}, {0, 0x3C, 0, 0xC0}, 4},         /* float16 */
      {16, {0x3F80, 0xC000}, {0x80, 0x3F, 0, 0xC0}, 4},      /* bfloat16 */
      {17, {0x38, 0xB8}, {0x38, 0xB8}, 2},                   /* float8e4m3fn */
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    begin_vector(rows[i].type, 2);
    for (int k = 0; k < 2; ++k) {
      tenon__message_varint(&fixture.message, 5, (uint64_t)rows[i].numbers[k]);
    }
    expect_bytes(rows[i].bytes, rows[i].size);
  }
}

TENON_TEST(narrow_elements_come_packed) {
  begin_vector(22, 3); /* int4: two in each number */
  tenon__message_varint(&fixture.message, 5, 0x21);
  tenon__message_varint(&fixture.message, 5, 0x0F);
  expect_bytes("\x21\x0F", 2);
  begin_vector(25, 5); /* uint2: four in each */
  tenon__message_bytes(&fixture.message, 9, "\xE4\x03", 2);
  expect_bytes("\xE4\x03", 2);
  begin_vector(23, 2); /* float4e2m1 */
  tenon__message_bytes(&fixture.message, 9, "\x7A", 1);
  expect_bytes("\x7A", 1);
}

TENON_TEST(wide_integers_have_their_fields) {
  static const int64_t negative[2] = {-5, INT64_MAX};
  static const uint64_t large[1] = {UINT64_MAX};
  begin_vector(7, 2);
  tenon__message_varint(&fixture.message, 7, (uint64_t)negative[0]);
  tenon__message_varint(&fixture.message, 7, (uint64_t)negative[1]);
  expect_bytes(negative, sizeof(negative));
  begin_vector(13, 1);
  tenon__message_varint(&fixture.message, 11, large[0]);
  expect_bytes(large, sizeof(large));
  begin_vector(12, 1);
  tenon__message_varint(&fixture.message, 11, 0xFFFFFFFEu);
  expect_bytes("\xFE\xFF\xFF\xFF", 4);
}

TENON_TEST(strings_are_views) {
  begin_vector(8, 2);
  tenon__message_text(&fixture.message, 6, "one");
  tenon__message_text(&fixture.message, 6, "");
  EXPECT_STATUS(finish(), TENON_OK);
  const tenon_string_view_t* texts = fixture.tensor.view.data;
  EXPECT(texts[0].size == 3 && memcmp(texts[0].data, "one", 3) == 0);
  EXPECT_INT(texts[1].size, 0);
  release();
}

TENON_TEST(bools_are_zero_or_one) {
  begin_vector(9, 3);
  tenon__message_bytes(&fixture.message, 9, "\x02\x00\xFF", 3);
  expect_bytes("\x01\x00\x01", 3);
}

TENON_TEST(tensors_without_elements_need_none) {
  begin_vector(1, 0);
  expect_bytes("", 0);
  begin_vector(1, 0);
  tenon__message_bytes(&fixture.message, 9, "", 0);
  expect_bytes("", 0);
}

TENON_TEST(fewer_elements_than_declared_are_refused) {
  begin_vector(1, 3);
  tenon__message_bytes(&fixture.message, 9, "12345678", 8);
  expect_refused(TENON_ERROR_INVALID_DATA, "3 elements of f32 need 12 bytes, the file holds 8");
  begin_vector(7, 3);
  tenon__message_varint(&fixture.message, 7, 1);
  expect_refused(TENON_ERROR_INVALID_DATA, "asks for 3 numbers of i64, the file holds 1");
  begin_vector(1, 3);
  expect_refused(TENON_ERROR_INVALID_DATA, "the file holds 0");
}

TENON_TEST(impossible_shapes_are_refused) {
  const int64_t huge[3] = {INT64_MAX, 2, 2};
  const int64_t negative[1] = {-1};
  begin(1, 3, huge);
  expect_refused(TENON_ERROR_INVALID_DATA, "extents overflow");
  begin(1, 1, negative);
  expect_refused(TENON_ERROR_INVALID_DATA, "extent -1");
}

TENON_TEST(element_types_that_do_not_exist_are_refused) {
  begin_vector(99, 1);
  expect_refused(TENON_ERROR_INVALID_DATA, "element type 99");
  begin_vector(0, 1);
  expect_refused(TENON_ERROR_INVALID_DATA, "element type 0");
}

TENON_TEST(segments_are_refused) {
  begin_vector(1, 1);
  tenon__message_begin(&fixture.message, 3);
  tenon__message_end(&fixture.message);
  expect_refused(TENON_ERROR_UNSUPPORTED, "segment");
}

static void external(const char* key, const char* value) {
  tenon__message_begin(&fixture.message, 13);
  tenon__message_text(&fixture.message, 1, key);
  tenon__message_text(&fixture.message, 2, value);
  tenon__message_end(&fixture.message);
}

static void begin_external(const char* location, const char* offset, const char* length) {
  begin_vector(2, 4);
  tenon__message_varint(&fixture.message, 14, 1);
  external("location", location);
  if (offset != NULL) {
    external("offset", offset);
  }
  if (length != NULL) {
    external("length", length);
  }
}

TENON_TEST(external_data_is_borrowed) {
  begin_external("weights.bin", "10", "4");
  expect_bytes("abcd", 4);
  begin_external("weights.bin", NULL, NULL);
  expect_bytes("0123", 4);
}

TENON_TEST(external_data_outside_is_refused) {
  begin_external("weights.bin", "13", "4");
  expect_refused(TENON_ERROR_INVALID_DATA, "the file has 16");
  begin_external("weights.bin", "18446744073709551615", "4");
  expect_refused(TENON_ERROR_INVALID_DATA, "the file has 16");
  begin_external("weights.bin", "99999999999999999999", "4");
  expect_refused(TENON_ERROR_INVALID_DATA, "no usable location");
  begin_external("weights.bin", "-1", "4");
  expect_refused(TENON_ERROR_INVALID_DATA, "no usable location");
  begin_external("weights.bin", "0", "3");
  expect_refused(TENON_ERROR_INVALID_DATA, "need 4 bytes");
  begin_external("", "0", "4");
  expect_refused(TENON_ERROR_INVALID_DATA, "no usable location");
  begin_external("absent.bin", "0", "4");
  expect_refused(TENON_ERROR_NOT_FOUND, "'absent.bin'");
  begin_external("weights.bin", "0", "4");
  external("location", "absent.bin");
  expect_refused(TENON_ERROR_INVALID_DATA, "more than one location");
  begin_external("../weights.bin", "0", "4");
  expect_refused(TENON_ERROR_DENIED, "'../weights.bin'");
}
