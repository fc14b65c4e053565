/* Winograd convolution against sums of doubles. convolution_test.c runs it on random cases too. */
#include "fake_convolution.h"

/* Tiles of 2 x 2 outputs: single ones, parts of them at the ends, several blocks; channels that fill
 * vectors and that do not. */
TENON_TEST(windows_of_3_by_3_in_tiles) {
  static const int64_t extents[][2] = {{1, 1}, {2, 5}, {9, 8}, {39, 33}};
  static const int64_t pads[][4] = {{1, 1, 1, 1}, {2, 1, 0, 3}};
  for (int slot = 0; slot < SLOT_COUNT; slot++) {
    for (size_t k = 0; k < sizeof(extents) / sizeof(extents[0]); k++) {
      case_t c = {.rank = 2,
                  .batch = 1 + (int64_t)k % 2,
                  .groups = 1,
                  .in = k == 1 ? 50 : 16,
                  .out = k == 2 ? 71 : 16,
                  .extent = {extents[k][0], extents[k][1]},
                  .kernel = {3, 3},
                  .stride = {1, 1},
                  .dilation = {1, 1},
                  .bias = slot % 2 == 1,
                  .winograd = true,
                  .slot = (slot_kind_t)slot};
      memcpy(c.pads, pads[(size_t)slot % 2], sizeof(pads[0]));
      check(&c, (unsigned)(slot * 10) + (unsigned)k);
    }
  }
}

/* Other outputs of a tile with infinite pixels are finite. */
TENON_TEST(infinite_pixels_in_tiles) {
  const case_t c = {.rank = 2,
                    .batch = 2,
                    .groups = 1,
                    .in = 17,
                    .out = 35,
                    .extent = {7, 9},
                    .kernel = {3, 3},
                    .stride = {1, 1},
                    .dilation = {1, 1},
                    .pads = {1, 1, 1, 1},
                    .bias = true,
                    .winograd = true,
                    .strange = true,
                    .slot = SLOT_RESIDUAL_RELU};
  case_t plain = c;
  plain.slot = SLOT_EMPTY;
  check(&plain, 3);
  check(&c, 4);
}
