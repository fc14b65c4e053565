/* Support vector machines of very many classes: what a file of a few megabytes may ask for. */
#include <stdlib.h>

#include "core/base/test.h"
#include "testing/under_test.h"

static tenon__fake_t fake;

/* Wire format as it grows, without a limit. */
typedef struct bytes_t {
  uint8_t* data;
  size_t size;
  size_t capacity;
} bytes_t;

static void put(bytes_t* bytes, const void* data, size_t size) {
  if (bytes->size + size > bytes->capacity) {
    bytes->capacity = 2 * (bytes->size + size);
    bytes->data = realloc(bytes->data, bytes->capacity);
    if (bytes->data == NULL) {
      abort();
    }
  }
  memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
}

static void put_varint(bytes_t* bytes, uint64_t value) {
  uint8_t encoded[10];
  size_t size = 0;
  for (; value > 127; value >>= 7) {
    encoded[size++] = (uint8_t)(value & 127) | 128;
  }
  encoded[size++] = (uint8_t)value;
  put(bytes, encoded, size);
}

static void put_number(bytes_t* bytes, uint32_t field, uint64_t value) {
  put_varint(bytes, field << 3);
  put_varint(bytes, value);
}

static void put_block(bytes_t* bytes, uint32_t field, const void* data, size_t size) {
  put_varint(bytes, field << 3 | 2);
  put_varint(bytes, size);
  put(bytes, data, size);
}

/* What was written becomes a message of its own in another one. */
static void put_message(bytes_t* bytes, uint32_t field, bytes_t* inner) {
  put_block(bytes, field, inner->data, inner->size);
  free(inner->data);
  *inner = (bytes_t){0};
}

static void put_text(bytes_t* bytes, uint32_t field, const char* text) {
  put_block(bytes, field, text, strlen(text));
}

/* `count` entries, all of them `value`. */
static void put_ints(bytes_t* node, const char* name, size_t count, uint64_t value) {
  bytes_t list = {0};
  bytes_t attribute = {0};
  for (size_t i = 0; i < count; ++i) {
    put_varint(&list, value);
  }
  put_text(&attribute, 1, name);
  put_number(&attribute, 20, 7);
  put_message(&attribute, 8, &list);
  put_message(node, 5, &attribute);
}

static void put_zeros(bytes_t* node, const char* name, size_t count) {
  bytes_t attribute = {0};
  float* zeros = calloc(count, sizeof(*zeros));
  if (zeros == NULL) {
    abort();
  }
  put_text(&attribute, 1, name);
  put_number(&attribute, 20, 6);
  put_block(&attribute, 7, zeros, count * sizeof(*zeros));
  put_message(node, 5, &attribute);
  free(zeros);
}

static void put_value(bytes_t* graph, uint32_t field, const char* name) {
  bytes_t shape = {0};
  bytes_t tensor = {0};
  bytes_t type = {0};
  bytes_t value = {0};
  for (int i = 0; i < 2; ++i) {
    bytes_t dim = {0};
    put_number(&dim, 1, 4);
    put_message(&shape, 1, &dim);
  }
  put_number(&tensor, 1, 1);
  put_message(&tensor, 2, &shape);
  put_message(&type, 1, &tensor);
  put_text(&value, 1, name);
  put_message(&value, 2, &type);
  put_message(graph, field, &value);
}

/* A model of one machine with so many classes, support vectors of each and coefficients. */
static void parse_machine(size_t classes, uint64_t vectors, size_t coefficients, size_t rho) {
  bytes_t node = {0};
  bytes_t graph = {0};
  bytes_t model = {0};
  bytes_t operators = {0};
  put_text(&node, 1, "x");
  put_text(&node, 2, "y");
  put_text(&node, 3, "machine");
  put_text(&node, 4, "SVMClassifier");
  put_text(&node, 7, "ai.onnx.ml");
  put_ints(&node, "classlabels_ints", classes, 1);
  put_ints(&node, "vectors_per_class", classes, vectors);
  put_zeros(&node, "coefficients", coefficients);
  put_zeros(&node, "support_vectors", 4 * classes);
  put_zeros(&node, "rho", rho);
  put_message(&graph, 1, &node);
  put_value(&graph, 11, "x");
  put_value(&graph, 12, "y");
  put_text(&operators, 1, "ai.onnx.ml");
  put_number(&operators, 2, 3);
  put_number(&model, 1, 8);
  put_message(&model, 8, &operators);
  put_message(&model, 7, &graph);
  EXPECT(tenon__fake_parse_file(&fake, &under_test, model.data, model.size) != TENON_OK);
  tenon__fake_deinitialize(&fake);
  free(model.data);
}

/* Products of what the lists say do not fit 64 bits. */
TENON_TEST(counts_of_vectors_are_bounded_by_the_coefficients) {
  enum { MANY = 2200000 };
  parse_machine(MANY, MANY, MANY, 1);
  EXPECT_CONTAINS(fake.messages, "2200000 coefficients and 1 rho for 2200000 classes");
}

/* 4 MB of coefficients stand for 4 GB of weights: most of them are 0. */
TENON_TEST(machines_of_too_many_classes_are_refused) {
  static const size_t pairs = 499500;
  parse_machine(1000, 1, 2 * pairs, pairs);
  EXPECT_CONTAINS(fake.messages,
                  "1000 classes with 1000 support vectors need a matrix of 499500000");
}
