/* Checked calls of the driver. */
#pragma once

#include <cuda.h>

#include "measure.cuh"

#define CHECK_DRIVER(call)                                               \
  do {                                                                   \
    CUresult check_status = (call);                                      \
    if (check_status != CUDA_SUCCESS) {                                  \
      printf("%s:%d %s: %d\n", __FILE__, __LINE__, #call, check_status); \
      fflush(stdout);                                                    \
      _exit(2);                                                          \
    }                                                                    \
  } while (0)
