/* What the files of the stand-in for CUDA's driver share. */
#ifndef TESTS_CONFORMANCE_STAND_IN_STAND_IN_H_
#define TESTS_CONFORMANCE_STAND_IN_STAND_IN_H_

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct stand_in_kernel_t {
  struct stand_in_kernel_t* next;
  void* library;
  void (*call)(const void* parameters);
  unsigned long parameter_bytes;
} stand_in_kernel_t;

/* All blocks of a launch, at once. One thread of the process at a time. */
void stand_in_run(const stand_in_kernel_t* kernel, const CUlaunchConfig* config,
                  const void* parameters);

#endif
