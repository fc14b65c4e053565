/*
 * cuDNN, opened when it is first asked for: the plugin is linked to nothing of it, so it loads
 * where there is none. Each function is a member of tenon__cudnn_library_t, under its own name:
 *
 *   cudnnStatus_t result = library->cudnnBackendFinalize(descriptor);
 *
 * Handles. One is not thread safe and costs 8 to 10 MB of the device, so the steps of all contexts
 * share a few: enqueue takes one for the time of its call, which is some microseconds, and gives it
 * back. They are made in bind, and stay until their device closes: a build prepares a thousand
 * instances one after the other.
 */
#ifndef PLUGINS_CUDNN_LIBRARY_H_
#define PLUGINS_CUDNN_LIBRARY_H_

#include <cudnn_adv.h>
#include <cudnn_graph.h>
#include <cudnn_ops.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "tenon/cuda.h"

#include "tenon/plugin.h"

/* The oldest that this plugin was tried with. */
enum { TENON_CUDNN_OLDEST = 91400 };

#define TENON_CUDNN_FUNCTIONS(X)   \
  X(cudnnGetVersion)               \
  X(cudnnGetErrorString)           \
  X(cudnnGetLastErrorString)       \
  X(cudnnCreate)                   \
  X(cudnnDestroy)                  \
  X(cudnnSetStream)                \
  X(cudnnBackendCreateDescriptor)  \
  X(cudnnBackendDestroyDescriptor) \
  X(cudnnBackendSetAttribute)      \
  X(cudnnBackendGetAttribute)      \
  X(cudnnBackendFinalize)          \
  X(cudnnBackendExecute)           \
  X(cudnnCreateTensorDescriptor)   \
  X(cudnnDestroyTensorDescriptor)  \
  X(cudnnSetTensorNdDescriptor)    \
  X(cudnnAddTensor)                \
  X(cudnnTransformTensor)          \
  X(cudnnCreatePoolingDescriptor)  \
  X(cudnnDestroyPoolingDescriptor) \
  X(cudnnSetPoolingNdDescriptor)   \
  X(cudnnPoolingForward)           \
  X(cudnnCreateDropoutDescriptor)  \
  X(cudnnDestroyDropoutDescriptor) \
  X(cudnnSetDropoutDescriptor)     \
  X(cudnnCreateRNNDescriptor)      \
  X(cudnnDestroyRNNDescriptor)     \
  X(cudnnSetRNNDescriptor_v8)      \
  X(cudnnCreateRNNDataDescriptor)  \
  X(cudnnDestroyRNNDataDescriptor) \
  X(cudnnSetRNNDataDescriptor)     \
  X(cudnnGetRNNWeightSpaceSize)    \
  X(cudnnGetRNNWeightParams)       \
  X(cudnnGetRNNTempSpaceSizes)     \
  X(cudnnRNNForward)

#define TENON_CUDNN_MEMBER(name) __typeof__(name)* name; /* NOLINT(bugprone-macro-parentheses) */
typedef struct tenon__cudnn_library_t {
  TENON_CUDNN_FUNCTIONS(TENON_CUDNN_MEMBER)
} tenon__cudnn_library_t;

enum { TENON_CUDNN_HANDLES = 16, TENON_CUDNN_DEVICES = 16 };

typedef struct tenon__cudnn_handle_t {
  cudnnHandle_t handle;
  void* stream; /* that it was last given; of who holds the handle */
  _Atomic(int) taken;
} tenon__cudnn_handle_t;

/* A device that has or had instances on it. */
typedef struct tenon__cudnn_device_t {
  const tenon_cuda_native_t* native; /* NULL: free */
  const tenon__cudnn_library_t* library;
  pthread_mutex_t* lock;  /* the state's */
  _Atomic(uint32_t) made; /* handles; they are made behind the lock, and found without it */
  _Atomic(uint32_t) wanted;
  tenon__cudnn_handle_t handles[TENON_CUDNN_HANDLES];
} tenon__cudnn_device_t;

/* What `start` makes. */
typedef struct tenon__cudnn_state_t {
  tenon_allocator_t allocator;
  pthread_mutex_t lock; /* of what follows */
  bool tried;
  tenon_status_t opened; /* once tried: OK, or why not */
  char why[192];
  char version[64]; /* once opened */
  tenon__cudnn_library_t library;
  tenon__cudnn_device_t devices[TENON_CUDNN_DEVICES];
} tenon__cudnn_state_t;

/* Writes a message; `sink` may be NULL. Returns the status. */
tenon_status_t tenon__cudnn_say(const tenon_sink_t* sink, tenon_status_t status, const char* format,
                                ...) __attribute__((format(printf, 3, 4)));
/* Opens libcudnn.so.9, once; on failure says why on the sink, which may be NULL. */
tenon_status_t tenon__cudnn_open(tenon__cudnn_state_t* state, const tenon_sink_t* sink);
/* The library's version: the same proposal may be another engine with another one. */
const char* tenon__cudnn_validity(void* state, tenon_device_t* device);
/* What a result of cuDNN is in this contract: the one place that decides. */
tenon_status_t tenon__cudnn_status(cudnnStatus_t result);

/* The device behind a preparation, until it closes; makes its first handle. */
tenon_status_t tenon__cudnn_device_find(tenon__cudnn_state_t* state, const tenon_prepare_t* call,
                                        tenon__cudnn_device_t** out_device);
/* More handles where calls have waited for one. */
tenon_status_t tenon__cudnn_device_grow(tenon__cudnn_state_t* state, tenon__cudnn_device_t* device,
                                        const tenon_sink_t* sink);
/* Of as many threads at once as there are handles none waits. The device is entered before. */
tenon__cudnn_handle_t* tenon__cudnn_take(tenon__cudnn_device_t* device);
void tenon__cudnn_give(tenon__cudnn_handle_t* handle);
/* One for a call, on the run's stream; also to be given back where that fails. */
cudnnStatus_t tenon__cudnn_begin(tenon__cudnn_device_t* device, const tenon_enqueue_t* call,
                                 tenon__cudnn_handle_t** out_handle);

#endif
