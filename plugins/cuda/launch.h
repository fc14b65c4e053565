/* A launch on a run's stream: dependent on what stands in front, where the device knows that. */
#ifndef PLUGINS_CUDA_LAUNCH_H_
#define PLUGINS_CUDA_LAUNCH_H_

#include "device.h"

typedef struct tenon__cuda_launch_t {
  CUfunction kernel;
  uint32_t blocks;
  uint32_t threads;
  uint32_t shared_bytes; /* beside what the kernel declares; see tenon__cuda_prefer_shared */
} tenon__cuda_launch_t;

/* UNSUPPORTED, with a message, if the device's architecture is below `oldest`, or with `is_only` if
 * it is another one. */
tenon_status_t tenon__cuda_check_architecture(const tenon_prepare_t* call,
                                              const tenon_device_t* device, int oldest,
                                              bool is_only);
/* `parameters`: what the kernel's one parameter is, by value. The kernel begins with the wait of
 * frame.cuh. Its failure is told by run->fail. */
tenon_status_t tenon__cuda_launch(tenon_device_t* device, const tenon_enqueue_t* call,
                                  const tenon__cuda_launch_t* launch, void* parameters);
/* The same in clusters of `cluster` blocks. `launch->blocks` is a multiple of it. */
tenon_status_t tenon__cuda_launch_clusters(tenon_device_t* device, const tenon_enqueue_t* call,
                                           const tenon__cuda_launch_t* launch, uint32_t cluster,
                                           void* parameters);
/* 1 where so many threads fit on the device at once: what follows may then begin with them. */
uint32_t tenon__cuda_fits_at_once(const tenon_device_t* device, uint64_t threads);

/* Lets a function be launched with as much shared memory as a block may have, and asks for the
 * division of a multiprocessor's memory that gives the most: of kernels in one chain that differ in
 * it each would wait for the change. */
tenon_status_t tenon__cuda_prefer_shared(tenon_device_t* device, CUfunction function);

/* The device behind a preparation; NULL: the host has no such device. */
tenon_device_t* tenon__cuda_prepared_device(const tenon_prepare_t* call);

#endif
