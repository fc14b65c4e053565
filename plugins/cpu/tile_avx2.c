/* Tiles of 6 x 2 vectors of 8: 16 registers hold 12 sums. */
#define TENON_VECTOR_BYTES 32
#define TENON_ISA avx2
#include "tile_small.inc"
