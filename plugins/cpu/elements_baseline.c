/* Block functions with vectors of 16 bytes. */
#define TENON_VECTOR_BYTES 16
#define TENON_ISA baseline
#include "elements_table.inc"
