/* Detectors' last layers. */
#include "fake_host.h"

#define F32 TENON_DTYPE_FLOAT32

/* Two classes besides the background. */
static fake_t coded(const char* code, bool in_target, int64_t top_k, int64_t keep_top_k) {
  fake_t f = fake_of("standard.detection_output/1");
  fake_int(&f, "classes", 3);
  fake_int(&f, "share_location", 1);
  fake_int(&f, "background", 0);
  fake_string(&f, "code", code);
  fake_int(&f, "variance_in_target", in_target);
  fake_float(&f, "nms_threshold", 0.5);
  fake_float(&f, "eta", 1.0);
  fake_int(&f, "top_k", top_k);
  fake_int(&f, "keep_top_k", keep_top_k);
  fake_float(&f, "score_threshold", 0.1);
  return f;
}

static fake_t detection(int64_t top_k, int64_t keep_top_k) {
  return coded("corner", false, top_k, keep_top_k);
}

/* Three boxes: the second overlaps the first by 0.6, the third is elsewhere. */
#define PRIORS 0, 0, 1, 1, 0, 0, 1, 0.6, 2, 2, 3, 3
#define ONES 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1

static void add_scene(fake_t* f) {
  fake_input(f, F32, DIMS(1, 12), NUMBERS(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  fake_input(f, F32, DIMS(1, 9), NUMBERS(0, 0.9, 0.05, 0, 0.8, 0.3, 0, 0.2, 0.7));
  fake_input(f, F32, DIMS(1, 2, 12), NUMBERS(PRIORS, ONES));
  fake_unbounded(f, F32);
}

TENON_TEST(detection_leaves_out_what_a_better_box_overlaps) {
  fake_t f = detection(-1, -1);
  add_scene(&f);
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_DIMS(&f, 0, 1, 1, 4, 7);
  EXPECT_NUMBERS(&f, 0, 1e-6, 0, 1, 0.9, 0, 0, 1, 1, 0, 1, 0.2, 2, 2, 3, 3, 0, 2, 0.7, 2, 2, 3, 3,
                 0, 2, 0.3, 0, 0, 1, 0.6);
  fake_done(&f);
}

TENON_TEST(detection_keeps_the_best_of_all_classes) {
  fake_t f = detection(-1, 2);
  add_scene(&f);
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_DIMS(&f, 0, 1, 1, 2, 7);
  EXPECT_NUMBERS(&f, 0, 1e-6, 0, 1, 0.9, 0, 0, 1, 1, 0, 2, 0.7, 2, 2, 3, 3);
  fake_done(&f);
}

TENON_TEST(detection_looks_at_so_many_candidates) {
  fake_t f = detection(1, -1);
  add_scene(&f);
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_DIMS(&f, 0, 1, 1, 2, 7);
  fake_done(&f);
}

/* Of two images without detections there are two rows that say so. */
TENON_TEST(detection_says_that_there_is_nothing) {
  fake_t f = detection(-1, 5);
  fake_input(&f, F32, DIMS(2, 4), NUMBERS(0, 0, 0, 0, 0, 0, 0, 0));
  fake_input(&f, F32, DIMS(2, 3), NUMBERS(0, 0.09, 0, 0, 0.05, NAN));
  fake_input(&f, F32, DIMS(1, 2, 4), NUMBERS(0, 0, 1, 1, 1, 1, 1, 1));
  fake_unbounded(&f, F32);
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_DIMS(&f, 0, 1, 1, 2, 7);
  EXPECT_NUMBERS(&f, 0, 0, 0, -1, -1, -1, -1, -1, -1, 1, -1, -1, -1, -1, -1, -1);
  fake_done(&f);
}

static void decodes(const char* code, bool in_target, const double* expected) {
  fake_t f = coded(code, in_target, -1, -1);
  fake_input(&f, F32, DIMS(1, 4), NUMBERS(1, 2, 3, 4));
  fake_input(&f, F32, DIMS(1, 3), NUMBERS(0, 0.9, 0));
  fake_input(&f, F32, DIMS(1, 2, 4), NUMBERS(1, 1, 3, 5, 0.1, 0.1, 0.2, 0.2));
  fake_unbounded(&f, F32);
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 1e-5, 0, 1, 0.9, expected[0], expected[1], expected[2], expected[3]);
  fake_done(&f);
}

TENON_TEST(detection_decodes_each_form) {
  decodes("corner", true, (const double[]){2, 3, 6, 9});
  decodes("corner", false, (const double[]){1.1, 1.2, 3.6, 5.8});
  decodes("corner_size", true, (const double[]){1 + 2, 1 + 8, 3 + 6, 5 + 16});
  decodes("corner_size", false, (const double[]){1.2, 1.8, 4.2, 8.2});
  /* Middle (2, 3) + (0.1, 0.2) * (2, 4); extents 2 e^0.6 and 4 e^0.8. */
  decodes("center_size", false,
          (const double[]){2.2 - exp(0.6), 3.8 - 2 * exp(0.8), 2.2 + exp(0.6), 3.8 + 2 * exp(0.8)});
}

/* One anchor of 16 pixels at each place of a 2 x 2 map, stride 16, in an image of 24 x 32. */
static fake_t proposals(const char* op, int64_t post_top) {
  static const double anchors[4] = {0, 0, 15, 15}; /* the fake keeps the address */
  fake_t f = fake_of(op);
  fake_floats(&f, "anchors", 4, anchors);
  fake_int(&f, "stride", 16);
  fake_int(&f, "pre_top", 3);
  fake_int(&f, "post_top", post_top);
  fake_float(&f, "iou_threshold", 0.7);
  fake_float(&f, "min_size", 6);
  fake_input(&f, F32, DIMS(1, 1, 2, 2), NUMBERS(0.1, 0.9, 0.8, 0.7));
  fake_input(&f, F32, DIMS(1, 4, 2, 2), NUMBERS(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  fake_input(&f, F32, DIMS(1, 3), NUMBERS(24, 32, 2));
  return f;
}

/* Corners beyond the border are drawn in; what is then lower than 12 pixels is left out. */
TENON_TEST(proposals_are_cut_and_sorted) {
  fake_t f = proposals("standard.propose_regions/1", 300);
  fake_unbounded(&f, F32);
  fake_unbounded(&f, F32);
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_DIMS(&f, 0, 2, 5);
  EXPECT_NUMBERS(&f, 0, 1e-6, 0, 16, 0, 31, 16, 0, 0, 0, 16, 16);
  EXPECT_NUMBERS(&f, 1, 1e-6, 0.9, 0.1);
  fake_done(&f);
}

TENON_TEST(proposals_are_filled_up_with_zeros) {
  fake_t f = proposals("standard.propose_regions_padded/1", 3);
  fake_output(&f, F32, DIMS(1, 3, 4));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 1e-6, 16, 0, 31, 16, 0, 0, 16, 16, 0, 0, 0, 0);
  fake_done(&f);
}
