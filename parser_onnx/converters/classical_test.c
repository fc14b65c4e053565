/* Forms of ai.onnx.ml that are refused, and what is said. What is computed, tests/classical
 * records.
 */
#include "core/base/test.h"
#include "testing/under_test.h"
#include "tests/support/onnx_message.h"

static tenon__message_t message;
static tenon__fake_t fake;

static const int64_t table[2] = {4, 3};

/* A model of one node that reads x, f32 [4, 3]. */
static void begin(const char* type) {
  memset(&message, 0, sizeof(message));
  tenon__message_varint(&message, 1, 10);
  tenon__message_begin(&message, 8);
  tenon__message_varint(&message, 2, 21);
  tenon__message_end(&message);
  tenon__message_begin(&message, 8);
  tenon__message_text(&message, 1, "ai.onnx.ml");
  tenon__message_varint(&message, 2, 5);
  tenon__message_end(&message);
  tenon__message_begin(&message, 7);
  tenon__message_value_info(&message, 11, "x", 1, 2, table);
  tenon__message_value_info(&message, 12, "y", 1, 2, table);
  tenon__message_begin_node(&message, 1, type, "n", "x", "y");
  tenon__message_text(&message, 7, "ai.onnx.ml");
}

static void set_ints(const char* name, size_t count, const int64_t* values) {
  tenon__message_begin(&message, 5);
  tenon__message_text(&message, 1, name);
  tenon__message_varint(&message, 20, 7);
  for (size_t i = 0; i < count; ++i) {
    tenon__message_varint(&message, 8, (uint64_t)values[i]);
  }
  tenon__message_end(&message);
}

static void set_int(const char* name, int64_t value) {
  tenon__message_begin(&message, 5);
  tenon__message_text(&message, 1, name);
  tenon__message_varint(&message, 20, 2);
  tenon__message_varint(&message, 3, (uint64_t)value);
  tenon__message_end(&message);
}

static void set_texts(const char* name, size_t count, const char* const* values) {
  tenon__message_begin(&message, 5);
  tenon__message_text(&message, 1, name);
  tenon__message_varint(&message, 20, 8);
  for (size_t i = 0; i < count; ++i) {
    tenon__message_text(&message, 9, values[i]);
  }
  tenon__message_end(&message);
}

static void set_floats(const char* name, size_t count, const float* values) {
  tenon__message_begin(&message, 5);
  tenon__message_text(&message, 1, name);
  tenon__message_varint(&message, 20, 6);
  for (size_t i = 0; i < count; ++i) {
    tenon__message_float(&message, 7, values[i]);
  }
  tenon__message_end(&message);
}

static void expect_refused(tenon_status_t status, const char* expected) {
  tenon__message_end_model(&message);
  EXPECT_STATUS(tenon__fake_parse_file(&fake, &under_test, message.bytes, message.size), status);
  EXPECT_CONTAINS(fake.messages, expected);
  tenon__fake_deinitialize(&fake);
}

TENON_TEST(inputdimensions_that_fit_no_inputs_are_refused) {
  static const int64_t counts[2] = {3, 0};
  begin("FeatureVectorizer");
  set_ints("inputdimensions", 2, counts);
  expect_refused(TENON_ERROR_INVALID_DATA, "2 inputdimensions for 1 inputs");
  begin("FeatureVectorizer");
  set_ints("inputdimensions", 1, counts + 1);
  expect_refused(TENON_ERROR_INVALID_DATA, "inputdimensions has 0 for input 0");
}

/* Element 1 of a table of 1 element is read if no category is found, which every run refuses. */
TENON_TEST(one_hot_that_must_know_every_category_reads_a_table) {
  static const int64_t categories[2] = {1, 2};
  for (int64_t zeros = 0; zeros < 2; ++zeros) {
    begin("OneHotEncoder");
    set_ints("cats_int64s", 2, categories);
    set_int("zeros", zeros);
    tenon__message_end_model(&message);
    EXPECT_STATUS(tenon__fake_parse_file(&fake, &under_test, message.bytes, message.size),
                  TENON_OK);
    EXPECT_INT(strstr(fake.log, "node standard.gather/1 'n'") != NULL, zeros == 0);
    tenon__fake_deinitialize(&fake);
  }
}

/* One node and two leaves; the tests spoil one list each. */
static void tree(const int64_t children[3], const int64_t ids[3], const char* mode) {
  static const int64_t zeros[3] = {0, 0, 0};
  static const float floats[3] = {0, 1, 2};
  const char* const modes[3] = {mode, "LEAF", "LEAF"};
  begin("TreeEnsembleRegressor");
  set_ints("nodes_treeids", 3, zeros);
  set_ints("nodes_nodeids", 3, ids);
  set_ints("nodes_featureids", 3, zeros);
  set_ints("nodes_truenodeids", 3, children);
  set_ints("nodes_falsenodeids", 3, children);
  set_floats("nodes_values", 3, floats);
  set_texts("nodes_modes", 3, modes);
  set_ints("target_treeids", 3, zeros);
  set_ints("target_nodeids", 3, ids);
  set_ints("target_ids", 3, zeros);
  set_floats("target_weights", 3, floats);
}

TENON_TEST(trees_with_wrong_lists_are_refused) {
  static const int64_t good[3] = {0, 1, 2};
  static const int64_t twice[3] = {0, 1, 1};
  static const int64_t children[3] = {1, 0, 0};
  static const int64_t nowhere[3] = {7, 0, 0};
  tree(nowhere, good, "BRANCH_LEQ");
  expect_refused(TENON_ERROR_INVALID_DATA, "tree 0 has no node 7");
  tree(children, twice, "BRANCH_LEQ");
  expect_refused(TENON_ERROR_INVALID_DATA, "tree 0 has node 1 twice");
  tree(children, good, "BRANCH_MAYBE");
  expect_refused(TENON_ERROR_INVALID_DATA, "nodes_modes has 'BRANCH_MAYBE'");
  tree(children, good, "BRANCH_LEQ");
  set_ints("nodes_missing_value_tracks_true", 2, good);
  expect_refused(TENON_ERROR_INVALID_DATA, "nodes_missing_value_tracks_true 2, of 3");
  tree(children, good, "BRANCH_LEQ");
  set_floats("base_values", 2, (const float[]){1, 2});
  expect_refused(TENON_ERROR_INVALID_DATA, "2 base_values for 1 scores");
}

static void set_tensor(const char* name, int32_t data_type, size_t count, const void* data,
                       size_t size) {
  tenon__message_begin(&message, 5);
  tenon__message_text(&message, 1, name);
  tenon__message_varint(&message, 20, 4);
  tenon__message_begin(&message, 5);
  tenon__message_varint(&message, 1, count);
  tenon__message_varint(&message, 2, (uint64_t)data_type);
  tenon__message_bytes(&message, 9, data, count * size);
  tenon__message_end(&message);
  tenon__message_end(&message);
}

/* One node that asks for a member of 1.5 (as f16), and two leaves. */
TENON_TEST(lists_of_trees_are_no_values_of_the_network) {
  enum { UINT8 = 2, FLOAT16 = 10 };
  static const uint16_t halves[2] = {0x3E00, 0x7E00}; /* 1.5, NaN */
  static const uint8_t member[1] = {6};
  static const int64_t places[2] = {0, 1};
  begin("TreeEnsemble");
  set_ints("tree_roots", 1, places);
  set_ints("nodes_featureids", 1, places);
  set_tensor("nodes_modes", UINT8, 1, member, 1);
  set_tensor("nodes_splits", FLOAT16, 1, halves, 2);
  set_tensor("membership_values", FLOAT16, 2, halves, 2);
  set_ints("nodes_truenodeids", 1, places);
  set_ints("nodes_trueleafs", 1, places + 1);
  set_ints("nodes_falsenodeids", 1, places + 1);
  set_ints("nodes_falseleafs", 1, places + 1);
  set_ints("leaf_targetids", 2, (const int64_t[]){0, 0});
  set_tensor("leaf_weights", FLOAT16, 2, (const uint16_t[]){0x3C00, 0xC000}, 2);
  tenon__message_end_model(&message);
  EXPECT_STATUS(tenon__fake_parse_file(&fake, &under_test, message.bytes, message.size), TENON_OK);
  uint32_t count = 0;
  for (const char* at = strstr(fake.log, "constant "); at != NULL;
       at = strstr(at + 1, "constant ")) {
    ++count;
  }
  EXPECT_INT(count, 7); /* the operator's inputs but x */
  tenon__fake_deinitialize(&fake);
}

/* Two nodes that ask for members, and one set, closed by its NaN. */
TENON_TEST(a_tree_with_more_members_than_sets_is_refused) {
  enum { UINT8 = 2, FLOAT16 = 10 };
  static const uint16_t halves[2] = {0x3E00, 0x7E00};
  static const uint8_t members[2] = {6, 6};
  static const int64_t zeros[2] = {0, 0};
  static const int64_t next[2] = {1, 0};
  static const int64_t leaves[2] = {0, 1};
  static const int64_t all[2] = {1, 1};
  begin("TreeEnsemble");
  set_ints("tree_roots", 1, zeros);
  set_ints("nodes_featureids", 2, zeros);
  set_tensor("nodes_modes", UINT8, 2, members, 1);
  set_tensor("nodes_splits", FLOAT16, 2, halves, 2);
  set_tensor("membership_values", FLOAT16, 2, halves, 2);
  set_ints("nodes_truenodeids", 2, next);
  set_ints("nodes_trueleafs", 2, leaves);
  set_ints("nodes_falsenodeids", 2, next);
  set_ints("nodes_falseleafs", 2, all);
  set_ints("leaf_targetids", 2, zeros);
  set_tensor("leaf_weights", FLOAT16, 2, halves, 2);
  expect_refused(TENON_ERROR_INVALID_DATA, "membership_values has fewer sets than nodes ask for");
}
