/* Convolution against sums of doubles, for random shapes, windows, groups and epilogues. */
#include "fake_convolution.h"

static void random_case(unsigned seed) {
  unsigned s = seed * 977;
  case_t c = {.rank = (uint32_t)fake_choice(&s, 1, 3),
              .batch = fake_choice(&s, 1, 2),
              .groups = fake_choice(&s, 0, 2) == 0 ? fake_choice(&s, 2, 40) : 1,
              .bias = fake_choice(&s, 0, 1) == 1,
              .slot = (slot_kind_t)fake_choice(&s, 0, SLOT_COUNT - 1)};
  c.in = fake_choice(&s, 1, c.groups > 1 ? 3 : 70);
  c.out = fake_choice(&s, 1, c.groups > 1 ? 3 : 100);
  if (c.groups > 1 && fake_choice(&s, 0, 1) == 1) {
    c.in = c.out = 1;
  }
  for (uint32_t k = 0; k < c.rank; k++) {
    c.extent[k] = fake_choice(&s, 1, c.rank == 1 ? 150 : c.rank == 2 ? 17 : 6);
    c.kernel[k] = fake_choice(&s, 1, c.rank == 3 ? 3 : 5);
    c.stride[k] = fake_choice(&s, 1, 3);
    c.dilation[k] = fake_choice(&s, 0, 2) == 0 ? 2 : 1;
    c.pads[k] = fake_choice(&s, 0, 3);
    c.pads[c.rank + k] = fake_choice(&s, 0, 3);
  }
  if (fake_choice(&s, 0, 3) == 0) {
    for (uint32_t k = 0; k < c.rank; k++) {
      c.kernel[k] = c.stride[k] = 1;
      c.pads[k] = c.pads[c.rank + k] = 0;
    }
    c.prologue = c.groups == 1 && fake_choice(&s, 0, 1) == 0;
  }
  c.given = fake_choice(&s, 0, 2) == 0;
  check(&c, seed);
}

TENON_TEST(random_convolutions_equal_the_sums) {
  fake_each_seed(400, random_case);
}

TENON_TEST(every_slot_on_every_kind) {
  for (int slot = 0; slot < SLOT_COUNT; slot++) {
    const case_t pointwise = {.rank = 2,
                              .batch = 2,
                              .groups = 1,
                              .in = 33,
                              .out = 70,
                              .extent = {9, 11},
                              .kernel = {1, 1},
                              .stride = {1, 1},
                              .dilation = {1, 1},
                              .slot = (slot_kind_t)slot};
    const case_t stem = {.rank = 2,
                         .batch = 1,
                         .groups = 1,
                         .in = 3,
                         .out = 40,
                         .extent = {31, 33},
                         .kernel = {7, 7},
                         .stride = {2, 2},
                         .dilation = {1, 1},
                         .pads = {3, 3, 3, 3},
                         .bias = true,
                         .slot = (slot_kind_t)slot};
    const case_t depthwise = {.rank = 2,
                              .batch = 2,
                              .groups = 37,
                              .in = 1,
                              .out = 1,
                              .extent = {12, 13},
                              .kernel = {3, 3},
                              .stride = {1, 1},
                              .dilation = {1, 1},
                              .pads = {1, 1, 1, 1},
                              .bias = true,
                              .slot = (slot_kind_t)slot};
    const case_t deep = {.rank = 2,
                         .batch = 1,
                         .groups = 1,
                         .in = 130,
                         .out = 33,
                         .extent = {14, 15},
                         .kernel = {3, 3},
                         .stride = {1, 1},
                         .dilation = {1, 1},
                         .pads = {1, 1, 1, 1},
                         .slot = (slot_kind_t)slot};
    check(&pointwise, 5);
    check(&stem, 6);
    check(&depthwise, 7);
    check(&deep, 8);
  }
}

/* More rows, and more depth, than a block has. */
TENON_TEST(every_slot_behind_a_prologue) {
  for (int slot = 0; slot < SLOT_COUNT; slot++) {
    const case_t wide = {.rank = 2,
                         .batch = 2,
                         .groups = 1,
                         .in = 33,
                         .out = 70,
                         .extent = {19, 23},
                         .kernel = {1, 1},
                         .stride = {1, 1},
                         .dilation = {1, 1},
                         .bias = true,
                         .prologue = true,
                         .slot = (slot_kind_t)slot};
    const case_t deep = {.rank = 2,
                         .batch = 1,
                         .groups = 1,
                         .in = 700,
                         .out = 20,
                         .extent = {5, 6},
                         .kernel = {1, 1},
                         .stride = {1, 1},
                         .dilation = {1, 1},
                         .prologue = true,
                         .slot = (slot_kind_t)slot};
    check(&wide, 9);
    check(&deep, 10);
  }
}

static void expect_prologue_refused(case_t c) {
  fake_t fake = {.kind = TENON_REGION_OPERATOR, .op = "standard.convolution/1", .seed = 3};
  draft_t before = {0};
  tenon__cpu_state_t states[3];
  tenon_refusal_t refusal = {0};
  const int64_t x_dims[] = {1, c.groups * c.in, 9, 9};
  const int64_t w_dims[] = {c.groups * c.out, c.in, c.kernel[0], c.kernel[1]};
  const int64_t y_dims[] = {1, c.groups * c.out, 9, 9};
  (void)fake_states(states);
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 4, x_dims, false, false);
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 4, w_dims, true, false);
  fill_prologue(&fake, &c, x_dims, &before);
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 4, y_dims);
  fake_set_space(&fake, 4, y_dims);
  fake_ints(&fake, "strides", 2, c.stride);
  fake_ints(&fake, "pads", 4, c.pads);
  fake_int(&fake, "groups", c.groups);
  EXPECT(!fake_tactic(&fake, &tenon__cpu_convolution_kernel, &states[0], 0, &refusal));
  EXPECT_INT(refusal.reason, TENON_REFUSAL_SLOT);
  EXPECT_TEXT(refusal.detail, "before windows of single pixels alone");
  fake_free(&fake);
}

/* Padding is zero whatever the prologue makes of it. */
TENON_TEST(a_prologue_stands_before_single_pixels_alone) {
  const case_t pointwise = {.rank = 2,
                            .groups = 1,
                            .in = 4,
                            .out = 4,
                            .kernel = {1, 1},
                            .stride = {1, 1},
                            .prologue = true};
  case_t cases[] = {pointwise, pointwise, pointwise, pointwise};
  cases[0].kernel[1] = 3;
  cases[1].stride[0] = 2;
  cases[2].pads[3] = 1;
  cases[3].groups = 2;
  for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
    expect_prologue_refused(cases[k]);
  }
}

/* Rows shorter than a block of pixels, as long, and longer; channels that fill several vectors. */
TENON_TEST(depthwise_windows_strides_and_widths) {
  static const int64_t widths[] = {3, 7, 8, 12, 23};
  for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
    for (int64_t kernel = 1; kernel <= 9; kernel++) {
      for (int64_t stride = 1; stride <= 3; stride++) {
        const int64_t dilation = stride == 1 && kernel % 4 == 0 ? 2 : 1;
        const int64_t pad = kernel / 2 * dilation;
        const case_t c = {.rank = 2,
                          .batch = 1,
                          .groups = kernel % 2 == 0 ? 150 : 21,
                          .in = 1,
                          .out = 1,
                          .extent = {9, widths[w]},
                          .kernel = {kernel, kernel},
                          .stride = {stride, stride},
                          .dilation = {dilation, dilation},
                          .pads = {pad, pad, pad, pad},
                          .bias = true,
                          .given = stride == 2,
                          .infinite = widths[w] == 12};
        check(&c, (unsigned)(kernel * 10 + stride));
      }
    }
  }
}

/* Groups of 2, 4 and 8 channels, and of 3, which take the path of patches. */
TENON_TEST(small_groups) {
  static const int64_t widths[] = {5, 8, 19};
  for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
    for (int64_t group = 2; group <= 8; group += group < 4 ? 1 : 4) {
      for (int64_t kernel = 1; kernel <= 5; kernel += 2) {
        const case_t c = {.rank = 2,
                          .batch = 2,
                          .groups = group == 4 ? 37 : 5,
                          .in = group,
                          .out = group,
                          .extent = {7, widths[w]},
                          .kernel = {3, kernel},
                          .stride = {1, kernel == 3 ? 2 : 1},
                          .dilation = {1, kernel == 5 ? 2 : 1},
                          .pads = {1, kernel, 1, kernel},
                          .bias = kernel > 1,
                          .given = kernel == 1,
                          .infinite = widths[w] == 8,
                          .slot = widths[w] == 8 ? SLOT_EMPTY
                                  : kernel == 5  ? SLOT_GATE
                                                 : SLOT_RELU};
        check(&c, (unsigned)(kernel * 10 + group));
      }
    }
  }
}
