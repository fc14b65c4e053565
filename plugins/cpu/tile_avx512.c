/* Tiles of 14 x 2 vectors of 16: 32 registers hold 28 sums. */
#define TENON_VECTOR_BYTES 64
#define TENON_ISA avx512
#include "tile_kernels.inc"

TILES_1_TO_4(1)
TILES_5_TO_6(1)
TILES_7_TO_9(1)
TILES_10_TO_12(1)
TILES_13_TO_14(1)
TILES_1_TO_4(2)
TILES_5_TO_6(2)
TILES_7_TO_9(2)
TILES_10_TO_12(2)
TILES_13_TO_14(2)
TILES_1_TO_4(3)
TILES_5_TO_6(3)
TILES_7_TO_9(3)

const tenon__cpu_tiles_t ISA(tenon__cpu_tiles) = {
    .vector_floats = VECTOR_FLOATS,
    .max_rows = {14, 14, 9},
    .dots = dots,
    .winograd_in = winograd_in,
    .winograd_out = winograd_out,
    .functions = {{tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1, tile_7x1, tile_8x1,
                   tile_9x1, tile_10x1, tile_11x1, tile_12x1, tile_13x1, tile_14x1},
                  {tile_1x2, tile_2x2, tile_3x2, tile_4x2, tile_5x2, tile_6x2, tile_7x2, tile_8x2,
                   tile_9x2, tile_10x2, tile_11x2, tile_12x2, tile_13x2, tile_14x2},
                  {tile_1x3, tile_2x3, tile_3x3, tile_4x3, tile_5x3, tile_6x3, tile_7x3, tile_8x3,
                   tile_9x3}}};
