/* Moves. */
#include "kernel_case.h"
#include "kernels.h"

void kernels_check_moves(void) {}
