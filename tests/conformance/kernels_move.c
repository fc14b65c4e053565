/* Tests moves: boxes with any strides, compared with the reference. */
#include "kernel_case.h"
#include "kernels.h"

enum { BOXES = 24 };

typedef struct boxes_t {
  tenon_move_t move;
  tenon_move_piece_t pieces[BOXES];
  int64_t begin[BOXES][FAKE_RANK];
  int64_t extent[BOXES][FAKE_RANK];
  int64_t strides[BOXES][FAKE_RANK];
} boxes_t;

static void begin_boxes(boxes_t* boxes, uint32_t rank, bool covers, uint32_t fill) {
  memset(boxes, 0, sizeof(*boxes));
  boxes->move = (tenon_move_t){.rank = rank,
                               .fill_argument = fill,
                               .covers_output = covers ? 1 : 0,
                               .pieces = boxes->pieces};
}

static void add_box(boxes_t* boxes, uint32_t input, int64_t offset, const int64_t* begin,
                    const int64_t* extent, const int64_t* strides) {
  const uint32_t k = boxes->move.piece_count++;
  const size_t bytes = boxes->move.rank * sizeof(int64_t);
  memcpy(boxes->begin[k], begin, bytes);
  memcpy(boxes->extent[k], extent, bytes);
  memcpy(boxes->strides[k], strides, bytes);
  boxes->pieces[k] = (tenon_move_piece_t){.input = input,
                                          .begin = boxes->begin[k],
                                          .extent = boxes->extent[k],
                                          .strides = boxes->strides[k],
                                          .offset = offset};
}

/* Axis k of the result is axis order[k] of the source. The result may have gaps. */
static void check_permutation(tenon_dtype_t dtype, uint32_t rank, const int64_t* source,
                              const uint32_t* order, const kernel_lie_t* lie, uint32_t shift) {
  static const int64_t nowhere[FAKE_RANK] = {0};
  kernel_case_t c;
  boxes_t boxes;
  int64_t dims[FAKE_RANK];
  int64_t strides[FAKE_RANK];
  kernel_case_begin(&c, 0, NULL);
  c.shift = shift;
  const kernel_tensor_t* from = kernel_move_tensor(&c, false, dtype, rank, source, NULL);
  for (uint32_t k = 0; k < rank; k++) {
    dims[k] = source[order[k]];
    strides[k] = from->strides[order[k]];
  }
  (void)kernel_move_tensor(&c, true, dtype, rank, dims, lie);
  begin_boxes(&boxes, rank, true, TENON_NONE);
  add_box(&boxes, 0, 0, nowhere, dims, strides);
  c.move = &boxes.move;
  kernel_check(&c, "permutation", 0);
}

/* Concatenates `count` pieces along axis 1. Each has the extent `width` or a slightly larger
 * one. */
static void check_concatenation(tenon_dtype_t dtype, uint32_t count, int64_t width,
                                uint32_t shift) {
  kernel_case_t c;
  boxes_t boxes;
  int64_t whole[3] = {5, 0, 8};
  int64_t begin[3] = {0, 0, 0};
  kernel_case_begin(&c, 0, NULL);
  c.shift = shift;
  begin_boxes(&boxes, 3, true, TENON_NONE);
  for (uint32_t k = 0; k < count; k++) {
    const uint32_t input = k % 4;
    const int64_t dims[3] = {5, width + input, 8};
    const kernel_tensor_t* from =
        k < 4 ? kernel_move_tensor(&c, false, dtype, 3, dims, NULL) : &c.tensors[input];
    add_box(&boxes, input, 0, begin, dims, from->strides);
    begin[1] += dims[1];
  }
  whole[1] = begin[1];
  (void)kernel_move_tensor(&c, true, dtype, 3, whole, NULL);
  c.move = &boxes.move;
  kernel_check(&c, "concatenation", 0);
}

/* Copies a box into the middle. Zeros or an element fill the remaining part. */
static void check_padding(tenon_dtype_t dtype, bool given, const kernel_lie_t* lie) {
  static const int64_t one[1] = {1};
  static const int64_t inside[3] = {4, 9, 10};
  static const int64_t whole[3] = {6, 12, 15};
  static const int64_t begin[3] = {1, 0, 3};
  kernel_case_t c;
  boxes_t boxes;
  kernel_case_begin(&c, 0, NULL);
  const kernel_tensor_t* from = kernel_move_tensor(&c, false, dtype, 3, inside, NULL);
  if (given) {
    (void)kernel_move_tensor(&c, false, dtype, 1, one, NULL);
  }
  (void)kernel_move_tensor(&c, true, dtype, 3, whole, lie);
  begin_boxes(&boxes, 3, false, given ? 1 : TENON_NONE);
  add_box(&boxes, 0, 0, begin, inside, from->strides);
  c.move = &boxes.move;
  kernel_check(&c, "padding", 0);
}

/* Reads an axis backwards, every second element, and one element repeatedly. */
static void check_slices(tenon_dtype_t dtype) {
  static const int64_t source[2] = {20, 30};
  static const int64_t half[2] = {10, 15};
  static const int64_t begin[2] = {0, 0};
  static const int64_t second[2] = {0, 15};
  static const int64_t whole[2] = {10, 30};
  static const int64_t backwards[2] = {-60, -2};
  static const int64_t repeated[2] = {30, 0};
  kernel_case_t c;
  boxes_t boxes;
  kernel_case_begin(&c, 0, NULL);
  (void)kernel_move_tensor(&c, false, dtype, 2, source, NULL);
  (void)kernel_move_tensor(&c, true, dtype, 2, whole, NULL);
  begin_boxes(&boxes, 2, true, TENON_NONE);
  add_box(&boxes, 0, 19 * 30 + 29, begin, half, backwards);
  add_box(&boxes, 0, 7, second, half, repeated);
  c.move = &boxes.move;
  kernel_check(&c, "slices", 0);
}

/* Reads every second element of each axis, and the last axis backwards. The boxes have many
 * elements and many axes, and no axes can be joined. */
static void check_box(tenon_dtype_t dtype, uint32_t rank, const int64_t* dims) {
  static const int64_t nowhere[FAKE_RANK] = {0};
  kernel_case_t c;
  boxes_t boxes;
  int64_t source[FAKE_RANK] = {0};
  int64_t strides[FAKE_RANK];
  int64_t last = 0;
  kernel_case_begin(&c, 0, NULL);
  for (uint32_t k = 0; k < rank; k++) {
    source[k] = 2 * dims[k];
    last = source[k] - 1;
  }
  const kernel_tensor_t* from = kernel_move_tensor(&c, false, dtype, rank, source, NULL);
  for (uint32_t k = 0; k < rank; k++) {
    strides[k] = k + 1 < rank ? 2 * from->strides[k] : -2;
  }
  (void)kernel_move_tensor(&c, true, dtype, rank, dims, NULL);
  begin_boxes(&boxes, rank, true, TENON_NONE);
  add_box(&boxes, 0, last, nowhere, dims, strides);
  c.move = &boxes.move;
  kernel_check(&c, "a box", 0);
}

void kernels_check_moves(void) {
  static const tenon_dtype_t dtypes[] = {TENON_DTYPE_INT8, TENON_DTYPE_FLOAT16, TENON_DTYPE_FLOAT32,
                                         TENON_DTYPE_INT64};
  static const uint32_t to_last[] = {0, 2, 3, 1};
  static const uint32_t turned[] = {1, 0};
  static const uint32_t same[] = {0, 1, 2, 3};
  static const uint32_t heads[] = {0, 2, 1, 3};
  static const kernel_lie_t wider = {.order = NULL, .pitch = 5, .step = 1};
  static const kernel_lie_t reversed = {.step = 1, .reversed = 2};
  for (size_t k = 0; k < sizeof(dtypes) / sizeof(*dtypes); k++) {
    const tenon_dtype_t dtype = dtypes[k];
    const int64_t image[] = {2, 40, 7, 9};
    const int64_t colours[] = {2, 3, 20, 24};
    const int64_t plain[] = {100, 67};
    const int64_t attention[] = {2, 12, 4, 16};
    check_permutation(dtype, 4, image, to_last, NULL, 0);
    check_permutation(dtype, 4, colours, to_last, NULL, 0);
    check_permutation(dtype, 2, plain, turned, NULL, 0);
    check_permutation(dtype, 2, plain, turned, &wider, 1);
    check_permutation(dtype, 4, attention, heads, NULL, 0);
    check_permutation(dtype, 4, attention, heads, NULL, 1);
    check_permutation(dtype, 4, attention, same, NULL, 0);
    check_permutation(dtype, 4, attention, same, &wider, 0);
    check_concatenation(dtype, 3, 4, 0);
    check_concatenation(dtype, 23, 3, 0);
    check_concatenation(dtype, 4, 5, 1);
    check_padding(dtype, false, NULL);
    check_padding(dtype, true, &wider);
    check_padding(dtype, true, &reversed);
    check_slices(dtype);
  }
  check_slices(TENON_DTYPE_BOOL);
  check_box(TENON_DTYPE_INT8, 1, (const int64_t[]){140001});
  check_box(TENON_DTYPE_INT8, 2, (const int64_t[]){370, 373});
  check_box(TENON_DTYPE_INT8, 3, (const int64_t[]){57, 43, 59});
  check_box(TENON_DTYPE_FLOAT16, 4, (const int64_t[]){3, 5, 1, 7});
  check_box(TENON_DTYPE_FLOAT32, 5, (const int64_t[]){3, 2, 5, 4, 7});
  check_box(TENON_DTYPE_INT8, 6, (const int64_t[]){13, 4, 5, 13, 7, 7});
}
