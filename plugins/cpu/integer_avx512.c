/* Integer products with vectors of 64 bytes. */
#define TENON_VECTOR_BYTES 64
#define TENON_ISA avx512
#include "integer_pairs.inc"
