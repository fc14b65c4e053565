/* What tests of whole graphs begin with: a model written field by field, parsed into the fake. */
#ifndef TENON_PARSER_ONNX_TESTING_GRAPH_H_
#define TENON_PARSER_ONNX_TESTING_GRAPH_H_

#include "core/base/test.h"
#include "testing/under_test.h"
#include "tests/support/onnx_message.h"

static const int64_t two[1] = {2};

static tenon__fake_t fake;

/* Parses, keeps the fake for looking at; the test releases. */
static inline tenon_status_t parse(const tenon__message_t* message) {
  const tenon_status_t status =
      tenon__fake_parse_file(&fake, &under_test, message->bytes, message->size);
  EXPECT(status == TENON_OK || fake.error_count > 0 || fake.missing_count > 0);
  EXPECT(status != TENON_OK || fake.error_count == 0);
  EXPECT_INT(fake.open_bodies, 0);
  return status;
}

static inline void release(void) {
  tenon__fake_deinitialize(&fake);
}

static inline void expect_refused(const tenon__message_t* message, tenon_status_t status,
                                  const char* expected) {
  EXPECT_STATUS(parse(message), status);
  EXPECT_CONTAINS(fake.messages, expected);
  EXPECT_INT(fake.error_count, 1);
  release();
}

static inline tenon__message_t begin(uint64_t opset) {
  tenon__message_t m = {.size = 0};
  tenon__message_begin_model(&m, opset);
  tenon__message_text(&m, 2, "graph");
  return m;
}

static inline void node(tenon__message_t* m, const char* type, const char* name, const char* inputs,
                        const char* outputs) {
  tenon__message_begin_node(m, 1, type, name, inputs, outputs);
  tenon__message_end(m);
}

static inline void input(tenon__message_t* m, const char* name) {
  tenon__message_value_info(m, 11, name, 1, 1, two);
}

static inline void output(tenon__message_t* m, const char* name) {
  tenon__message_value_info(m, 12, name, 1, 1, two);
}

static inline void initialiser(tenon__message_t* m, const char* name) {
  static const float values[2] = {1, 2};
  tenon__message_begin(m, 5);
  tenon__message_varint(m, 1, 2);
  tenon__message_varint(m, 2, 1);
  tenon__message_text(m, 8, name);
  tenon__message_bytes(m, 9, values, sizeof(values));
  tenon__message_end(m);
}

static inline void begin_attribute(tenon__message_t* m, const char* name, uint64_t type) {
  tenon__message_begin(m, 5);
  tenon__message_text(m, 1, name);
  tenon__message_varint(m, 20, type);
}

#endif
