/*
 * What sets or copies memory within a recording, as kernels.
 *
 * The driver launches a graph that is one row of kernels as a whole: two microseconds of the host,
 * whatever the number of kernels. Each piece of few bytes ends such a row and begins another, 1 to
 * 2 microseconds more; where there are many bytes it takes a kernel itself. Libraries leave such
 * pieces where they clear counters in front of a product: U-Net at batch 32 had 14, and took 20.
 */
#ifndef PLUGINS_CUDA_MEMORY_NODES_H_
#define PLUGINS_CUDA_MEMORY_NODES_H_

#include "device.h"

/* The one parameter of these kernels. The place of a thread in x is a unit's, in y a row's. */
typedef struct tenon__cuda_piece_t {
  CUdeviceptr target;
  CUdeviceptr source;  /* of a copy */
  uint64_t unit_count; /* of a row */
  uint64_t row_bytes;  /* from a row of the target to the next */
  uint64_t word;       /* what is set: its lower 4 bytes, again and again */
} tenon__cuda_piece_t;

/* Makes kernels of the nodes that set memory or copy it within the device, up to 64 KB, with the
 * dependencies that they had. Those for which that cannot be stay: copies from and to the host,
 * what is no whole number of units. When this fails the graph is good for nothing. */
tenon_status_t tenon__cuda_memory_nodes(tenon_device_t* device, CUgraph graph);

/* The text of these kernels, as the driver takes it. */
extern const char tenon__cuda_memory_assembly[];
/* NULL where the device cannot have it, which is no error. */
const tenon__cuda_memory_code_t* tenon__cuda_memory_code(tenon_device_t* device);
void tenon__cuda_memory_code_close(tenon_device_t* device);

#endif
