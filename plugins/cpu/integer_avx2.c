/* Integer products with vectors of 32 bytes. */
#define TENON_VECTOR_BYTES 32
#define TENON_ISA avx2
#include "integer_pairs.inc"
