/* The functions of nbits.h in vectors of 64 bytes. */
#define NBITS_BYTES 64
#define NBITS_FUNCTIONS nbits_functions_avx512
#include "nbits_functions.inc"
