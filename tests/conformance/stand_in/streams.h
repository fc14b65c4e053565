/* Pieces of work of the stand-in for CUDA's driver: done when they are asked for, or kept where
 * their stream is being captured. */
#ifndef TESTS_CONFORMANCE_STAND_IN_STREAMS_H_
#define TESTS_CONFORMANCE_STAND_IN_STREAMS_H_

#include "stand_in.h"

typedef struct stand_in_work_t {
  struct stand_in_work_t* next;
  const stand_in_kernel_t* kernel; /* NULL: a library's call, a copy or a fill */
  CUlaunchConfig config;
  stand_in_call_t call; /* a library's */
  void* parameters;     /* of either */
  size_t parameter_bytes;
  void* target;
  const void* source; /* NULL: a fill */
  unsigned char byte;
  size_t size;
  unsigned lane;
  struct stand_in_work_t* after; /* on another lane; NULL: none */
  bool is_reached;
  bool is_done;
} stand_in_work_t;

/* What it points to is the caller's, parameters are copied. */
CUresult stand_in_work(CUstream stream, const stand_in_work_t* work);

#endif
