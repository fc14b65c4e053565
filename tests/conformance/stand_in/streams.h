/* Pieces of work of the stand-in for CUDA's driver: done when they are asked for, or kept where
 * their stream is being captured: in a graph, of which they are the nodes. */
#ifndef TESTS_CONFORMANCE_STAND_IN_STREAMS_H_
#define TESTS_CONFORMANCE_STAND_IN_STREAMS_H_

#include "stand_in.h"

typedef struct stand_in_work_t {
  struct stand_in_work_t* next;
  const stand_in_kernel_t* kernel; /* NULL: a library's call, a copy or a fill */
  CUlaunchConfig config;
  unsigned cluster;     /* blocks of a cluster */
  stand_in_call_t call; /* a library's */
  void* parameters;     /* of either */
  size_t parameter_bytes;
  void* target;
  const void* source; /* NULL: a fill */
  unsigned value;     /* of a fill: its lower `element` bytes */
  unsigned element;
  size_t size;   /* bytes of a row */
  size_t height; /* rows of a fill; 0: one */
  size_t pitch;
  unsigned lane;
  struct stand_in_work_t* after; /* on another lane; NULL: none */
  struct stand_in_list_t* graph; /* once it was asked for nodes */
  bool is_reached;
  bool is_done;
} stand_in_work_t;

enum { STAND_IN_LANES = 16 };

/* Work in the order in which it was asked for: a graph, and what it was instantiated into. */
typedef struct stand_in_list_t {
  stand_in_work_t* first;
  stand_in_work_t** end;
  uint64_t serial;
  struct stand_in_list_t* next; /* that is being captured too */
  unsigned lane_count;
  unsigned replays;
  stand_in_work_t* last[STAND_IN_LANES]; /* on each lane */
} stand_in_list_t;

/* An entry of a list that only waits for another one is no node. */
bool stand_in_waits(const stand_in_work_t* work);

/* What it points to is the caller's, parameters are copied. */
CUresult stand_in_work(CUstream stream, const stand_in_work_t* work);

#endif
