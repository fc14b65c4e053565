/* Integer products with vectors of 16 bytes. */
#define TENON_VECTOR_BYTES 16
#define TENON_ISA baseline
#include "integer_pairs.inc"
