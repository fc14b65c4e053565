#include "core/frame/copy.h"

#include "core/base/test.h"

TENON_TEST(elements_go_where_they_belong_whatever_the_strides) {
  static const int64_t dims[] = {2, 3};
  static const int64_t rows[] = {3, 1};
  static const int64_t columns[] = {1, 2};
  static const int64_t backwards[] = {3, -1};
  float data[] = {0, 1, 2, 3, 4, 5};
  float copy[6] = {0};
  const tenon_tensor_view_t source = {
      .data = data, .dims = dims, .strides = rows, .rank = 2, .dtype = TENON_DTYPE_FLOAT32};
  tenon_tensor_view_t target = source;
  target.data = copy;
  target.strides = columns;
  EXPECT_STATUS(tenon__copy_tensor(&source, &target), TENON_OK);
  EXPECT(copy[0] == 0 && copy[1] == 3 && copy[2] == 1 && copy[3] == 4 && copy[5] == 5);
  tenon_tensor_view_t mirrored = source;
  mirrored.data = data + 2;
  mirrored.strides = backwards;
  target.strides = rows;
  EXPECT_STATUS(tenon__copy_tensor(&mirrored, &target), TENON_OK);
  EXPECT(copy[0] == 2 && copy[2] == 0 && copy[3] == 5 && copy[5] == 3);
}

/* Elements within a byte have no address of their own: in rows alone they are copied. */
TENON_TEST(elements_within_a_byte_are_copied_in_rows_alone) {
  static const int64_t dims[] = {2, 2};
  static const int64_t rows[] = {2, 1};
  static const int64_t columns[] = {1, 2};
  uint8_t data[2] = {0x21, 0x43};
  uint8_t copy[2] = {0};
  const tenon_tensor_view_t source = {
      .data = data, .dims = dims, .strides = rows, .rank = 2, .dtype = TENON_DTYPE_INT4};
  tenon_tensor_view_t target = source;
  target.data = copy;
  EXPECT_STATUS(tenon__copy_tensor(&source, &target), TENON_OK);
  EXPECT(copy[0] == 0x21 && copy[1] == 0x43);
  target.strides = columns;
  EXPECT_STATUS(tenon__copy_tensor(&source, &target), TENON_ERROR_UNSUPPORTED);
}

TENON_TEST(a_tensor_without_elements_touches_no_memory) {
  static const int64_t dims[] = {0, 3};
  static const int64_t rows[] = {3, 1};
  const tenon_tensor_view_t none = {
      .dims = dims, .strides = rows, .rank = 2, .dtype = TENON_DTYPE_FLOAT32};
  EXPECT_STATUS(tenon__copy_tensor(&none, &none), TENON_OK);
}
