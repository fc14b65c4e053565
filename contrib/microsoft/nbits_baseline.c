/* The functions of nbits.h in vectors of 16 bytes. */
#define NBITS_BYTES 16
#define NBITS_FUNCTIONS nbits_functions_baseline
#include "nbits_functions.inc"
