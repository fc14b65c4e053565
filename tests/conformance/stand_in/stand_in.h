/* What the files of the stand-in for CUDA's driver share. */
#ifndef TESTS_CONFORMANCE_STAND_IN_STAND_IN_H_
#define TESTS_CONFORMANCE_STAND_IN_STAND_IN_H_

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct stand_in_kernel_t {
  struct stand_in_kernel_t* next;
  void* library;
  void (*call)(const void* parameters);
  unsigned long parameter_bytes;
} stand_in_kernel_t;

/* For stand-ins of libraries above the driver, which find it by dlsym: work of theirs on a stream,
 * done at once, or kept with a copy of its parameters where the stream is being captured. */
CUresult stand_in_submit(CUstream stream, void (*call)(void* parameters), void* parameters,
                         size_t parameter_bytes);

/* All blocks of a launch, at once. One thread of the process at a time. */
void stand_in_run(const stand_in_kernel_t* kernel, const CUlaunchConfig* config,
                  const void* parameters);

#endif
