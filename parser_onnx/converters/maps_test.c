/* Maps as tensors: which extents, which words, and what no tensor can stand for. */
#include "core/base/test.h"
#include "testing/under_test.h"
#include "tests/support/onnx_message.h"

enum { KEY_INT64 = 7, KEY_STRING = 8, VALUE_FLOAT = 1, VALUE_STRING = 8 };

static tenon__message_t message;
static tenon__fake_t fake;

static void begin_model(void) {
  memset(&message, 0, sizeof(message));
  tenon__message_varint(&message, 1, 10);
  tenon__message_begin(&message, 8);
  tenon__message_varint(&message, 2, 21);
  tenon__message_end(&message);
  tenon__message_begin(&message, 8);
  tenon__message_text(&message, 1, "ai.onnx.ml");
  tenon__message_varint(&message, 2, 1);
  tenon__message_end(&message);
  tenon__message_begin(&message, 7);
}

/* Field 11 is an input, 12 an output. */
static void add_map(uint32_t field, const char* name, uint64_t key, uint64_t value,
                    bool is_sequence) {
  tenon__message_begin(&message, field);
  tenon__message_text(&message, 1, name);
  tenon__message_begin(&message, 2);
  if (is_sequence) {
    tenon__message_begin(&message, 4);
    tenon__message_begin(&message, 1);
  }
  tenon__message_begin(&message, 5);
  tenon__message_varint(&message, 1, key);
  tenon__message_begin(&message, 2);
  tenon__message_begin(&message, 1);
  tenon__message_varint(&message, 1, value);
  for (int ends = is_sequence ? 7 : 5; ends > 0; --ends) {
    tenon__message_end(&message);
  }
}

static void begin_node(const char* type, const char* inputs, const char* output) {
  tenon__message_begin_node(&message, 1, type, type, inputs, output);
  tenon__message_text(&message, 7, "ai.onnx.ml");
}

static void attribute(const char* name, uint64_t type) {
  tenon__message_begin(&message, 5);
  tenon__message_text(&message, 1, name);
  tenon__message_varint(&message, 20, type);
}

static void set_texts(const char* name, size_t count, const char* const* values) {
  attribute(name, 8);
  for (size_t i = 0; i < count; ++i) {
    tenon__message_text(&message, 9, values[i]);
  }
  tenon__message_end(&message);
}

static void set_ints(const char* name, size_t count, const int64_t* values) {
  attribute(name, 7);
  for (size_t i = 0; i < count; ++i) {
    tenon__message_varint(&message, 8, (uint64_t)values[i]);
  }
  tenon__message_end(&message);
}

static void set_text(const char* name, const char* value) {
  attribute(name, 3);
  tenon__message_text(&message, 4, value);
  tenon__message_end(&message);
}

static void set_int(const char* name, int64_t value) {
  attribute(name, 2);
  tenon__message_varint(&message, 3, (uint64_t)value);
  tenon__message_end(&message);
}

/* Ends the model and parses it; `messages` and `log` stay until the next. */
static void expect(tenon_status_t status, const char* expected, const char* line) {
  tenon__message_end(&message);
  tenon__message_end(&message);
  tenon__fake_deinitialize(&fake);
  EXPECT_STATUS(tenon__fake_parse_file(&fake, &under_test, message.bytes, message.size), status);
  EXPECT_CONTAINS(fake.messages, expected);
  EXPECT_CONTAINS(fake.log, line);
}

static const char* const three[3] = {"no", "yes", "perhaps"};

static void begin_zip(uint32_t rank, const int64_t* dims) {
  begin_model();
  tenon__message_value_info(&message, 11, "x", 1, rank, dims);
  add_map(12, "y", KEY_STRING, VALUE_FLOAT, true);
  begin_node("ZipMap", "x", "y");
}

TENON_TEST(what_zip_map_makes_is_the_table_with_its_keys_told) {
  static const int64_t table[2] = {-1, 3};
  static const int64_t row[1] = {3};
  static const int64_t keys[3] = {-1, 0, 7};
  begin_zip(2, table);
  set_texts("classlabels_strings", 3, three);
  expect(TENON_OK,
         "ZipMap 'ZipMap': 'y' is a tensor, not maps: a row for each map, a column for each key: "
         "no, yes, perhaps",
         "output y %1");
  EXPECT_CONTAINS(fake.declared, "y");
  EXPECT_INT(fake.error_count, 0);
  begin_zip(1, row);
  set_ints("classlabels_int64s", 3, keys);
  expect(TENON_OK, "a column for each key: -1, 0, 7", "node standard.unsqueeze/1");
}

TENON_TEST(of_many_keys_the_first_are_told) {
  static int64_t keys[1000];
  static const int64_t table[2] = {-1, 1000};
  for (int64_t i = 0; i < 1000; ++i) {
    keys[i] = i;
  }
  begin_zip(2, table);
  set_ints("classlabels_int64s", 1000, keys);
  expect(TENON_OK, ", 58, ... (of 1000)", "output y %1");
}

TENON_TEST(keys_that_are_not_as_many_as_columns_are_refused) {
  static const int64_t table[2] = {-1, 4};
  static const int64_t cube[3] = {2, 2, 3};
  static const int64_t keys[3] = {1, 2, 3};
  begin_zip(2, table);
  set_texts("classlabels_strings", 3, three);
  expect(TENON_ERROR_INVALID_DATA, "it has 3 keys for a tensor of rank 2 with 4 columns", "");
  begin_zip(3, cube);
  set_texts("classlabels_strings", 3, three);
  expect(TENON_ERROR_INVALID_DATA, "a tensor of rank 3", "");
  begin_zip(2, table);
  expect(TENON_ERROR_INVALID_DATA, "0 classlabels_int64s and 0 classlabels_strings", "");
  begin_zip(2, table);
  set_texts("classlabels_strings", 3, three);
  set_ints("classlabels_int64s", 3, keys);
  expect(TENON_ERROR_INVALID_DATA, "3 classlabels_int64s and 3 classlabels_strings", "");
}

/* A model that reads map x by one node, whose attributes follow. */
static void begin_reader(const char* type, uint64_t key, uint64_t value) {
  static const int64_t any[2] = {-1, -1};
  begin_model();
  add_map(11, "x", key, value, false);
  tenon__message_value_info(&message, 12, "y", 1, 2, any);
  begin_node(type, "x", "y");
}

TENON_TEST(a_map_as_an_input_has_a_column_for_each_key_of_its_reader) {
  begin_reader("DictVectorizer", KEY_STRING, VALUE_FLOAT);
  set_texts("string_vocabulary", 3, three);
  expect(TENON_OK,
         "'x' is a tensor, not a map: a row with a column for each key, 0 where the map would lack "
         "it: no, yes, perhaps",
         "input x %1: f32[-1,3]");
  EXPECT_CONTAINS(fake.log, "output y %1");
  begin_reader("CastMap", KEY_INT64, VALUE_STRING);
  set_text("map_form", "SPARSE");
  set_int("max_map", 5);
  expect(TENON_OK, "the value of key k in column k", "input x %1: str[-1,5]");
  EXPECT_CONTAINS(fake.log, "node standard.text_to_number/1");
  begin_reader("CastMap", KEY_INT64, VALUE_FLOAT);
  set_text("cast_to", "TO_INT64");
  expect(TENON_OK, "a row of its values by ascending keys", "input x %1: f32[-1,-1]");
  EXPECT_CONTAINS(fake.log, "node standard.cast/1");
}

TENON_TEST(readers_that_no_tensor_suits_are_refused) {
  begin_reader("DictVectorizer", KEY_STRING, VALUE_FLOAT);
  set_texts("string_vocabulary", 3, three);
  tenon__message_end(&message);
  begin_node("DictVectorizer", "x", "z");
  set_texts("string_vocabulary", 2, three);
  expect(TENON_ERROR_UNSUPPORTED, "reads input 'x', a map, with 2 keys, another node with 3", "");
  begin_reader("Normalizer", KEY_STRING, VALUE_FLOAT);
  expect(
      TENON_ERROR_UNSUPPORTED,
      "Normalizer 'Normalizer' reads input 'x', a map: only DictVectorizer and CastMap say which "
      "tensor can stand for it",
      "");
  begin_reader("CastMap", KEY_INT64, VALUE_FLOAT);
  set_text("cast_to", "TO_BOOL");
  expect(TENON_ERROR_INVALID_DATA, "cast_to 'TO_BOOL'", "");
  tenon__fake_deinitialize(&fake);
}
