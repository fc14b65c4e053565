/* The functions of nbits.h in vectors of 32 bytes. */
#define NBITS_BYTES 32
#define NBITS_FUNCTIONS nbits_functions_avx2
#include "nbits_functions.inc"
