/* Recorded tensors: raw and typed fields, containers; truncation and flipped bits anywhere. */
#include "data/tensor_proto.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/test.h"
#include "data/file.h"
#include "text/console.h"
#include "text/memory.h"

#define PARSE(bytes, kind, value) \
  tool_tensor_proto_parse("x.pb", (const uint8_t*)(bytes), sizeof(bytes) - 1, (kind), (value))

TENON_TEST(reads_typed_fields) {
  tool_value_t value;
  /* dims [2], type int32, int32_data packed [1, -1] */
  REQUIRE(PARSE("\x08\x02\x10\x06\x2A\x0B\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01",
                TENON_ARGUMENT_TENSOR, &value) == TENON_OK);
  EXPECT_INT(((int32_t*)value.data)[1], -1);
  tool_value_free(&value);
  /* the same, one number a field */
  REQUIRE(PARSE("\x08\x02\x10\x06\x28\x01\x28\x07", TENON_ARGUMENT_TENSOR, &value) == TENON_OK);
  EXPECT_INT(((int32_t*)value.data)[1], 7);
  tool_value_free(&value);
  /* dims packed [1], float_data */
  REQUIRE(PARSE("\x0A\x01\x01\x10\x01\x22\x04\x00\x00\x80\x3F", TENON_ARGUMENT_TENSOR, &value) ==
          TENON_OK);
  EXPECT_NEAR(((float*)value.data)[0], 1, 0);
  tool_value_free(&value);
  /* int4 [3]: two bytes */
  REQUIRE(PARSE("\x08\x03\x10\x16\x2A\x03\x21\xF3\x01", TENON_ARGUMENT_TENSOR, &value) == TENON_OK);
  EXPECT_INT(((uint8_t*)value.data)[0], 0x21);
  EXPECT_INT(((uint8_t*)value.data)[1], 0xF3);
  tool_value_free(&value);
  /* two strings and a name */
  REQUIRE(PARSE("\x08\x02\x10\x08\x32\x02hi\x32\x00\x42\x01n", TENON_ARGUMENT_TENSOR, &value) ==
          TENON_OK);
  EXPECT_INT(((tenon_string_view_t*)value.data)[0].size, 2);
  EXPECT_TEXT(value.name, "n");
  tool_value_free(&value);
}

TENON_TEST(refuses_what_does_not_agree) {
  tool_value_t value;
  tool_console_silence(true);
  /* two elements wanted, one there; and three there */
  EXPECT_STATUS(PARSE("\x08\x02\x10\x06\x2A\x01\x01", TENON_ARGUMENT_TENSOR, &value),
                TENON_ERROR_INVALID_DATA);
  EXPECT_STATUS(PARSE("\x08\x02\x10\x06\x2A\x03\x01\x01\x01", TENON_ARGUMENT_TENSOR, &value),
                TENON_ERROR_INVALID_DATA);
  /* raw data too short, negative extent, no type, external data, a terabyte */
  EXPECT_STATUS(PARSE("\x08\x02\x10\x01\x4A\x04\x00\x00\x00\x00", TENON_ARGUMENT_TENSOR, &value),
                TENON_ERROR_INVALID_DATA);
  EXPECT_STATUS(
      PARSE("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x10\x01", TENON_ARGUMENT_TENSOR, &value),
      TENON_ERROR_INVALID_DATA);
  EXPECT_STATUS(PARSE("\x08\x01", TENON_ARGUMENT_TENSOR, &value), TENON_ERROR_UNSUPPORTED);
  EXPECT_STATUS(PARSE("\x10\x01\x70\x01", TENON_ARGUMENT_TENSOR, &value), TENON_ERROR_UNSUPPORTED);
  EXPECT_STATUS(PARSE("\x08\x80\x80\x80\x80\x80\x20\x10\x01", TENON_ARGUMENT_TENSOR, &value),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(tool_console_last_error(), "x.pb");
}

static void make_sequence(tool_value_t* out_value) {
  tool_value_make_items(TENON_ARGUMENT_SEQUENCE, 2, out_value);
  (void)tool_value_make("x", TENON_DTYPE_FLOAT32, 1, (const int64_t[]){3}, &out_value->items[0]);
  (void)tool_value_make("x", TENON_DTYPE_STRING, 0, NULL, &out_value->items[1]);
  tool_value_randomize(out_value, 3, -INFINITY, INFINITY);
}

TENON_TEST(reads_what_it_writes) {
  char path[] = "/tmp/tenon_pb_XXXXXX";
  REQUIRE(close(mkstemp(path)) == 0);
  tool_value_t optional;
  tool_value_make_items(TENON_ARGUMENT_OPTIONAL, 1, &optional);
  make_sequence(&optional.items[0]);
  REQUIRE(tool_tensor_proto_write(path, &optional) == TENON_OK);
  uint8_t* data = NULL;
  size_t size = 0;
  REQUIRE(tool_file_read(path, &data, &size) == TENON_OK);
  tool_value_t again;
  REQUIRE(tool_tensor_proto_parse(path, data, size, TENON_ARGUMENT_OPTIONAL, &again) == TENON_OK);
  REQUIRE(again.item_count == 1 && again.items[0].item_count == 2);
  EXPECT(memcmp(again.items[0].items[0].data, optional.items[0].items[0].data, 12) == 0);
  EXPECT_INT(again.items[0].items[1].dtype, TENON_DTYPE_STRING);
  tool_value_free(&again);
  tool_value_free(&optional);
  tool_free(data);
  (void)unlink(path);
}

TENON_TEST(bounds_nesting) {
  uint8_t* bytes = NULL;
  size_t size = 0;
  tool_console_silence(true);
  /* optional(optional(optional(...))), field 7, each level adds its header */
  for (int depth = 0; depth < 40; ++depth) {
    uint8_t* more = malloc(size + 3);
    if (more == NULL) {
      abort();
    }
    more[0] = 0x3A;
    more[1] = (uint8_t)size;
    if (size > 0) {
      memcpy(more + 2, bytes, size);
    }
    free(bytes);
    bytes = more;
    size += 2;
  }
  tool_value_t value;
  EXPECT_STATUS(tool_tensor_proto_parse("x", bytes, size, TENON_ARGUMENT_OPTIONAL, &value),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(tool_console_last_error(), "too deeply");
  free(bytes);
}

TENON_TEST(survives_truncation_and_flipped_bits) {
  char path[] = "/tmp/tenon_pb_XXXXXX";
  REQUIRE(close(mkstemp(path)) == 0);
  tool_console_silence(true);
  tool_value_t sequence;
  make_sequence(&sequence);
  REQUIRE(tool_tensor_proto_write(path, &sequence) == TENON_OK);
  tool_value_free(&sequence);
  uint8_t* data = NULL;
  size_t size = 0;
  REQUIRE(tool_file_read(path, &data, &size) == TENON_OK);
  for (size_t i = 0; i < size * 8; ++i) {
    uint8_t* copy = malloc(size);
    REQUIRE(copy != NULL);
    memcpy(copy, data, size);
    copy[i / 8] ^= (uint8_t)(1u << i % 8);
    for (uint32_t kind = TENON_ARGUMENT_TENSOR; kind <= TENON_ARGUMENT_OPTIONAL; ++kind) {
      tool_value_t value;
      if (tool_tensor_proto_parse("x", copy, size, kind, &value) == TENON_OK) {
        tool_value_free(&value);
      }
      if (tool_tensor_proto_parse("x", copy, i / 8, kind, &value) == TENON_OK) {
        tool_value_free(&value);
      }
    }
    free(copy);
  }
  tool_free(data);
  (void)unlink(path);
}
