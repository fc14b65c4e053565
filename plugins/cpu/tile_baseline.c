/* Tiles of 6 x 2 vectors of 4: 16 registers hold 12 sums. */
#define TENON_VECTOR_BYTES 16
#define TENON_ISA baseline
#include "tile_small.inc"
