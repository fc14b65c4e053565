#include "scanner.h"

#include "core/base/test.h"
#include "model.h"
#include "testing/under_test.h"
#include "tests/support/onnx_message.h"

/* A model with one node, one initialiser of each kind of field, names of odd bytes. */
static tenon__message_t sample(void) {
  static const float floats[2] = {1, 2};
  const int64_t dims[1] = {2};
  tenon__message_t m = {.size = 0};
  tenon__message_begin_model(&m, 13);
  tenon__message_begin_node(&m, 1, "Add", "sum", "x w", "y");
  tenon__message_begin(&m, 5);
  tenon__message_text(&m, 1, "note");
  tenon__message_varint(&m, 20, 7);
  tenon__message_varint(&m, 8, 300);
  tenon__message_varint(&m, 8, (uint64_t)-1);
  tenon__message_end(&m);
  tenon__message_end(&m);
  tenon__message_begin(&m, 5);
  tenon__message_varint(&m, 1, 2);
  tenon__message_varint(&m, 2, 1);
  tenon__message_text(&m, 8, "w");
  tenon__message_bytes(&m, 9, floats, sizeof(floats));
  tenon__message_end(&m);
  tenon__message_text(&m, 10, "documentation");
  tenon__message_value_info(&m, 11, "x", 1, 1, dims);
  tenon__message_value_info(&m, 12, "y", 1, 1, dims);
  tenon__message_end_model(&m);
  return m;
}

static tenon_status_t read(tenon__fake_t* fake, tenon__onnx_model_t* out_model) {
  tenon_reader_t* reader = fake->host.allocate(tenon__fake_handle(fake), sizeof(tenon_reader_t));
  if (reader == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  tenon__fake_reader(fake, reader);
  return tenon__onnx_model_read(reader, fake->parts[0].data, fake->parts[0].size, out_model);
}

static tenon_status_t read_bytes(const void* bytes, size_t size) {
  tenon__fake_t fake;
  tenon__onnx_model_t model;
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_add_part(&fake, bytes, size);
  const tenon_status_t status = read(&fake, &model);
  EXPECT(status == TENON_OK || fake.error_count == 1);
  tenon__fake_deinitialize(&fake);
  return status;
}

TENON_TEST(keeps_what_is_needed) {
  const tenon__message_t m = sample();
  tenon__fake_t fake;
  tenon__onnx_model_t model = {0};
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_add_part(&fake, m.bytes, m.size);
  EXPECT_STATUS(read(&fake, &model), TENON_OK);
  REQUIRE(model.proto != NULL);
  const Onnx__GraphProto* graph = model.proto->graph;
  REQUIRE(graph->n_node == 1 && graph->n_initializer == 1);
  EXPECT_TEXT(graph->node[0]->op_type, "Add");
  REQUIRE(graph->node[0]->n_attribute == 1 && graph->node[0]->attribute[0]->n_ints == 2);
  EXPECT_INT(graph->node[0]->attribute[0]->ints[0], 300);
  EXPECT_INT(graph->node[0]->attribute[0]->ints[1], -1);
  EXPECT(graph->doc_string == NULL);
  tenon__fake_deinitialize(&fake);
}

TENON_TEST(elements_stay_in_the_file) {
  const tenon__message_t m = sample();
  tenon__fake_t fake;
  tenon__onnx_model_t model = {0};
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_add_part(&fake, m.bytes, m.size);
  EXPECT_STATUS(read(&fake, &model), TENON_OK);
  REQUIRE(model.proto != NULL);
  const tenon__onnx_payload_t* payload =
      tenon__onnx_model_payload(&model, model.proto->graph->initializer[0]);
  REQUIRE(payload->chunks != NULL);
  EXPECT_INT(payload->chunks->field, 9);
  EXPECT_INT(payload->chunks->size, 8);
  EXPECT(payload->chunks->data >= m.bytes && payload->chunks->data < m.bytes + m.size);
  tenon__fake_deinitialize(&fake);
}

TENON_TEST(names_become_utf8) {
  static const char odd[] = {'a', (char)0xFF, 0, (char)0xC3, (char)0xA9};
  tenon__message_t m = {.size = 0};
  tenon__message_begin(&m, 7);
  tenon__message_bytes(&m, 2, odd, sizeof(odd));
  tenon__message_end_model(&m);
  tenon__fake_t fake;
  tenon__onnx_model_t model = {0};
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_add_part(&fake, m.bytes, m.size);
  EXPECT_STATUS(read(&fake, &model), TENON_OK);
  REQUIRE(model.proto != NULL);
  EXPECT_TEXT(model.proto->graph->name, "a\\xff\\x00\xC3\xA9");
  tenon__fake_deinitialize(&fake);
}

/* No cut is taken for whole data by mistake, and none makes the reader stumble. */
TENON_TEST(every_truncation_is_refused_or_read) {
  const tenon__message_t m = sample();
  for (size_t size = 0; size < m.size; ++size) {
    const tenon_status_t status = read_bytes(m.bytes, size);
    EXPECT(status == TENON_ERROR_INVALID_DATA);
  }
}

TENON_TEST(every_flipped_bit_is_refused_or_read) {
  tenon__message_t m = sample();
  for (size_t i = 0; i < m.size * 8; ++i) {
    m.bytes[i / 8] ^= (uint8_t)(1u << i % 8);
    const tenon_status_t status = read_bytes(m.bytes, m.size);
    EXPECT(status == TENON_OK || status == TENON_ERROR_INVALID_DATA);
    m.bytes[i / 8] ^= (uint8_t)(1u << i % 8);
  }
}

/* Graphs in attributes in nodes, `levels` deep; lengths are longer than three bytes can tell. */
static size_t nest(uint8_t* bytes, size_t capacity, uint32_t levels) {
  static const uint8_t tags[3] = {1 << 3 | 2, 5 << 3 | 2, 6 << 3 | 2};
  size_t start = capacity;
  for (uint32_t i = levels; i > 0; --i) {
    size_t length = capacity - start;
    start -= 5;
    for (size_t k = 0; k < 5; ++k) {
      bytes[start + k] = (uint8_t)((length & 0x7Fu) | (k < 4 ? 0x80u : 0));
      length >>= 7;
    }
    bytes[--start] = i == 1 ? 7 << 3 | 2 : tags[(i - 2) % 3];
  }
  memmove(bytes, bytes + start, capacity - start);
  return capacity - start;
}

TENON_TEST(deep_nesting_is_refused) {
  static uint8_t bytes[6 * 200000];
  const size_t shallow = nest(bytes, sizeof(bytes), 60);
  EXPECT_STATUS(read_bytes(bytes, shallow), TENON_OK);
  const size_t deep = nest(bytes, sizeof(bytes), 200000);
  EXPECT_STATUS(read_bytes(bytes, deep), TENON_ERROR_INVALID_DATA);
}

TENON_TEST(second_graph_is_refused) {
  tenon__message_t m = {.size = 0};
  for (int i = 0; i < 2; ++i) {
    tenon__message_begin(&m, 7);
    tenon__message_end(&m);
  }
  EXPECT_STATUS(read_bytes(m.bytes, m.size), TENON_ERROR_INVALID_DATA);
}

TENON_TEST(model_without_graph_is_refused) {
  EXPECT_STATUS(read_bytes("", 0), TENON_ERROR_INVALID_DATA);
  EXPECT_STATUS(read_bytes("\x08\x0a", 2), TENON_ERROR_INVALID_DATA);
}

TENON_TEST(endless_varint_is_refused) {
  static const uint8_t bytes[12] = {0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
  EXPECT_STATUS(read_bytes(bytes, sizeof(bytes)), TENON_ERROR_INVALID_DATA);
}

TENON_TEST(sniffs_models_and_nothing_else) {
  const tenon__message_t m = sample();
  EXPECT(tenon__onnx_sniff(m.bytes, m.size) >= 80);
  EXPECT(tenon__onnx_sniff(m.bytes, 16) >= 40);
  EXPECT_INT(tenon__onnx_sniff("name: \"net\"", 11), 0);
  EXPECT_INT(tenon__onnx_sniff("\x0a\x03net", 5), 0);
  EXPECT_INT(tenon__onnx_sniff("\x08\x01\x10\x01", 4), 0); /* UFF: field 2 is a number */
  EXPECT_INT(tenon__onnx_sniff("", 0), 0);
}

TENON_TEST(every_failing_allocation_is_reported) {
  const tenon__message_t m = sample();
  for (size_t fail_at = 1;; ++fail_at) {
    tenon__fake_t fake;
    tenon__onnx_model_t model;
    tenon__fake_initialize(&fake, &under_test);
    tenon__fake_add_part(&fake, m.bytes, m.size);
    fake.fail_at = fail_at;
    const tenon_status_t status = read(&fake, &model);
    const bool failed = fake.allocation_count >= fail_at;
    EXPECT(failed == (status != TENON_OK));
    tenon__fake_deinitialize(&fake);
    if (!failed) {
      break;
    }
  }
}
