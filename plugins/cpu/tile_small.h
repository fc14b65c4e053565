/* The table of tiles where a processor has 16 vector registers. Included by tile_baseline.c,
 * tile_avx2.c. */
#include "tile_kernels.h"

TILES_1_TO_4(1)
TILES_5_TO_6(1)
TILES_7_TO_9(1)
TILES_10_TO_12(1)
TILES_1_TO_4(2)
TILES_5_TO_6(2)
TILES_1_TO_4(3)

const tenon__cpu_tiles_t ISA(tenon__cpu_tiles) = {
    .vector_floats = VECTOR_FLOATS,
    .max_rows = {12, 6, 4},
    .dots = dots,
    .functions = {{tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1, tile_7x1, tile_8x1,
                   tile_9x1, tile_10x1, tile_11x1, tile_12x1},
                  {tile_1x2, tile_2x2, tile_3x2, tile_4x2, tile_5x2, tile_6x2},
                  {tile_1x3, tile_2x3, tile_3x3, tile_4x3}}};
