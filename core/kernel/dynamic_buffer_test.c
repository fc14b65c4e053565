/* Tensors and sequences that grow: deep copies of what callers lend. */
#include "core/kernel/dynamic_buffer.h"
#include "core/base/test.h"

static tenon_argument_t tensor_of(float* data, const int64_t* dims, const int64_t* strides) {
  return (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR,
                            .tensor = {.data = data,
                                       .dims = dims,
                                       .strides = strides,
                                       .rank = 2,
                                       .dtype = TENON_DTYPE_FLOAT32,
                                       .layout = TENON_NONE}};
}

static void expect_floats(const tenon__dynamic_buffer_t* buffer, const float* expected,
                          size_t count) {
  for (size_t k = 0; k < count; ++k) {
    EXPECT_NEAR(((const float*)buffer->data)[k], expected[k], 0);
  }
}

TENON_TEST(copies_views_with_and_without_strides) {
  float data[] = {1, 2, 3, 4, 5, 6};
  const int64_t dims[] = {2, 3};
  const int64_t columns[] = {1, 2};
  const float transposed[] = {1, 3, 5, 2, 4, 6};
  tenon__dynamic_buffer_t buffer;
  tenon__dynamic_buffer_initialize(&buffer, tenon__memory_host(tenon__allocator_default()),
                                   TENON_ARGUMENT_TENSOR, TENON_DTYPE_FLOAT32);
  tenon_argument_t argument = tensor_of(data, dims, NULL);
  EXPECT_STATUS(tenon__dynamic_buffer_assign(&buffer, &argument), TENON_OK);
  expect_floats(&buffer, data, 6);
  argument.tensor.strides = columns;
  EXPECT_STATUS(tenon__dynamic_buffer_assign(&buffer, &argument), TENON_OK);
  expect_floats(&buffer, transposed, 6);
  EXPECT_INT(buffer.strides[0], 3);
  tenon__dynamic_buffer_deinitialize(&buffer);
}

TENON_TEST(copies_the_items_of_a_sequence) {
  float first[] = {1, 2};
  float second[] = {3, 4};
  const int64_t row[] = {1, 2};
  const tenon_argument_t items[] = {tensor_of(first, row, NULL), tensor_of(second, row, NULL)};
  const tenon_argument_t sequence = {.kind = TENON_ARGUMENT_SEQUENCE, .count = 2, .items = items};
  tenon__dynamic_buffer_t buffer;
  tenon__dynamic_buffer_initialize(&buffer, tenon__memory_host(tenon__allocator_default()),
                                   TENON_ARGUMENT_TENSOR, TENON_DTYPE_FLOAT32);
  EXPECT_STATUS(tenon__dynamic_buffer_assign(&buffer, &sequence), TENON_OK);
  second[0] = 9; /* the copy does not change with the original */
  REQUIRE(buffer.item_count == 2);
  EXPECT_NEAR(((const float*)buffer.items[1].tensor.data)[0], 3, 0);
  EXPECT_INT(buffer.items[1].tensor.strides[0], 2);
  tenon__dynamic_buffer_deinitialize(&buffer);
}

TENON_TEST(holds_a_sequence_in_an_optional_and_nests_no_further) {
  float data[] = {1, 2};
  const int64_t row[] = {1, 2};
  const tenon_argument_t tensor = tensor_of(data, row, NULL);
  const tenon_argument_t sequence = {.kind = TENON_ARGUMENT_SEQUENCE, .count = 1, .items = &tensor};
  const tenon_argument_t optional = {
      .kind = TENON_ARGUMENT_OPTIONAL_SEQUENCE, .count = 1, .items = &sequence};
  tenon__dynamic_buffer_t buffer;
  tenon__dynamic_buffer_initialize(&buffer, tenon__memory_host(tenon__allocator_default()),
                                   TENON_ARGUMENT_OPTIONAL_SEQUENCE, TENON_DTYPE_FLOAT32);
  EXPECT_STATUS(tenon__dynamic_buffer_append(&buffer, &tensor), TENON_ERROR_UNSUPPORTED);
  REQUIRE(tenon__dynamic_buffer_assign(&buffer, &optional) == TENON_OK);
  data[1] = 9;
  const tenon_argument_t copy = tenon__dynamic_buffer_argument(&buffer);
  EXPECT_INT(copy.kind, TENON_ARGUMENT_OPTIONAL_SEQUENCE);
  REQUIRE(copy.count == 1 && copy.items[0].kind == TENON_ARGUMENT_SEQUENCE);
  REQUIRE(copy.items[0].count == 1);
  EXPECT_NEAR(((const float*)copy.items[0].items[0].tensor.data)[1], 2, 0);
  const tenon_argument_t nested = {.kind = TENON_ARGUMENT_SEQUENCE, .count = 1, .items = &sequence};
  EXPECT_STATUS(tenon__dynamic_buffer_assign(&buffer, &nested), TENON_ERROR_UNSUPPORTED);
  tenon__dynamic_buffer_deinitialize(&buffer);
}
