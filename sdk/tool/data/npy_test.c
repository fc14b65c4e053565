/* .npy: orders, types, strings; truncation and flipped bits anywhere. */
#include "data/npy.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/test.h"
#include "data/file.h"
#include "text/console.h"
#include "text/memory.h"

/* A file with the header given and `size` bytes of data. */
static size_t make_file(uint8_t* out_file, const char* header, const void* data, size_t size) {
  const size_t length = strlen(header);
  memcpy(out_file, "\x93NUMPY\x01\x00", 8);
  out_file[8] = (uint8_t)length;
  out_file[9] = 0;
  memcpy(out_file + 10, header, length);
  memcpy(out_file + 10 + length, data, size);
  return 10 + length + size;
}

TENON_TEST(reads_c_and_fortran_order) {
  uint8_t file[512];
  const float numbers[] = {0, 1, 2, 3, 4, 5};
  tool_value_t value;
  size_t size = make_file(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                          numbers, sizeof(numbers));
  REQUIRE(tool_npy_parse("x", file, size, &value) == TENON_OK);
  EXPECT_INT(value.dims[1], 3);
  EXPECT_NEAR(((float*)value.data)[4], 4, 0);
  tool_value_free(&value);
  size = make_file(file, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", numbers,
                   sizeof(numbers));
  REQUIRE(tool_npy_parse("x", file, size, &value) == TENON_OK);
  EXPECT_NEAR(((float*)value.data)[1], 2, 0);
  EXPECT_NEAR(((float*)value.data)[3], 1, 0);
  tool_value_free(&value);
}

TENON_TEST(names_a_type_that_is_not_read) {
  uint8_t file[512] = {0};
  tool_value_t value;
  size_t size = make_file(file,
                          "{'descr': [('a', '<f4'), ('b', '<i4', (2,))], "
                          "'fortran_order': False, 'shape': (1,), }",
                          file, 0);
  EXPECT_STATUS(tool_npy_parse("x", file, size, &value), TENON_ERROR_UNSUPPORTED);
  size = make_file(file, "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", file, 0);
  EXPECT_STATUS(tool_npy_parse("x", file, size, &value), TENON_ERROR_UNSUPPORTED);
  size = make_file(file, "{'descr': [('a', '<f4'), 'fortran_order'", file, 0);
  EXPECT_STATUS(tool_npy_parse("x", file, size, &value), TENON_ERROR_INVALID_DATA);
}

TENON_TEST(swaps_bytes) {
  uint8_t file[512];
  const uint8_t numbers[] = {0, 1, 2, 3};
  tool_value_t value;
  const size_t size =
      make_file(file, "{'descr': '>u2', 'fortran_order': False, 'shape': (2,), }", numbers, 4);
  REQUIRE(tool_npy_parse("x", file, size, &value) == TENON_OK);
  EXPECT_INT(((uint16_t*)value.data)[1], 0x0203);
  tool_value_free(&value);
}

TENON_TEST(reads_strings) {
  uint8_t file[512];
  const uint32_t text[] = {'a', 0xE4, 0, 'b', 0, 0};
  tool_value_t value;
  const size_t size = make_file(file, "{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }",
                                text, sizeof(text));
  REQUIRE(tool_npy_parse("x", file, size, &value) == TENON_OK);
  const tenon_string_view_t* strings = value.data;
  EXPECT_INT(strings[0].size, 3);
  EXPECT(memcmp(strings[0].data, "a\xC3\xA4", 3) == 0);
  EXPECT_INT(strings[1].size, 1);
  tool_value_free(&value);
}

TENON_TEST(refuses_with_the_files_name) {
  static const char* const headers[] = {
      "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9), }",
      "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }",
      "{'descr': '<f4', 'shape': (1,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)",
      "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
      "",
  };
  uint8_t file[512];
  tool_console_silence(true);
  for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); ++i) {
    tool_value_t value;
    const size_t size = make_file(file, headers[i], "\0\0\0\0", 4);
    EXPECT(tool_npy_parse("the/file.npy", file, size, &value) != TENON_OK);
    EXPECT_CONTAINS(tool_console_last_error(), "the/file.npy");
  }
}

static void write_and_read(const char* path, const tool_value_t* value, tool_value_t* out_value) {
  uint8_t* data = NULL;
  size_t size = 0;
  REQUIRE(tool_npy_write(path, value) == TENON_OK);
  REQUIRE(tool_file_read(path, &data, &size) == TENON_OK);
  EXPECT_STATUS(tool_npy_parse(path, data, size, out_value), TENON_OK);
  tool_free(data);
  (void)unlink(path);
}

TENON_TEST(reads_what_it_writes) {
  static const tenon_dtype_t dtypes[] = {TENON_DTYPE_BOOL, TENON_DTYPE_FLOAT16, TENON_DTYPE_INT64,
                                         TENON_DTYPE_COMPLEX64, TENON_DTYPE_STRING};
  char path[] = "/tmp/tenon_npy_XXXXXX";
  REQUIRE(close(mkstemp(path)) == 0);
  for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); ++i) {
    tool_value_t value;
    tool_value_t again = {0};
    REQUIRE(tool_value_make("x", dtypes[i], 2, (const int64_t[]){3, 2}, &value) == TENON_OK);
    tool_value_randomize(&value, 7, -INFINITY, INFINITY);
    write_and_read(path, &value, &again);
    EXPECT_INT(again.dtype, value.dtype);
    REQUIRE(again.dims != NULL && again.data != NULL);
    EXPECT_INT(again.dims[0], 3);
    if (dtypes[i] == TENON_DTYPE_STRING) {
      const tenon_string_view_t* a = value.data;
      const tenon_string_view_t* b = again.data;
      EXPECT(a[5].size == b[5].size && memcmp(a[5].data, b[5].data, a[5].size) == 0);
    } else {
      EXPECT(memcmp(value.data, again.data, value.size_bytes) == 0);
    }
    tool_value_free(&value);
    tool_value_free(&again);
  }
}

TENON_TEST(writes_types_that_numpy_lacks_as_wider_ones) {
  char path[] = "/tmp/tenon_npy_XXXXXX";
  REQUIRE(close(mkstemp(path)) == 0);
  tool_value_t value;
  tool_value_t again = {0};
  REQUIRE(tool_value_make("x", TENON_DTYPE_INT4, 1, (const int64_t[]){2}, &value) == TENON_OK);
  ((uint8_t*)value.data)[0] = 0x7F;
  write_and_read(path, &value, &again);
  EXPECT_INT(again.dtype, TENON_DTYPE_INT8);
  REQUIRE(again.data != NULL);
  EXPECT_INT(((int8_t*)again.data)[0], -1);
  EXPECT_INT(((int8_t*)again.data)[1], 7);
  tool_value_free(&value);
  tool_value_free(&again);
}

TENON_TEST(survives_truncation_and_flipped_bits) {
  uint8_t file[512];
  const double numbers[] = {0, 1, 2, 3, 4, 5};
  tool_console_silence(true);
  const size_t size = make_file(file, "{'descr': '>f8', 'fortran_order': True, 'shape': (2, 3), }",
                                numbers, sizeof(numbers));
  for (size_t i = 0; i < size * 8; ++i) {
    tool_value_t value;
    uint8_t* copy = malloc(size); /* of the exact size, so that the sanitizer sees one byte more */
    REQUIRE(copy != NULL);
    memcpy(copy, file, size);
    EXPECT(tool_npy_parse("x", copy, i / 8, &value) != TENON_OK);
    copy[i / 8] ^= (uint8_t)(1u << i % 8);
    if (tool_npy_parse("x", copy, size, &value) == TENON_OK) {
      tool_value_free(&value);
    }
    free(copy);
  }
}
