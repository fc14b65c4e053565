/*
 * cuBLASLt, opened when it is first asked for: the plugin is linked to nothing of CUDA, so it loads
 * where there is none. Each function is a member of tenon__cublas_calls_t, under the name by which
 * cublasLt.h calls it. Handles are dear (milliseconds) and safe for all threads: one for a device,
 * until that closes.
 */
#ifndef PLUGINS_CUBLAS_LIBRARY_H_
#define PLUGINS_CUBLAS_LIBRARY_H_

#include <cublasLt.h>
#include <pthread.h>
#include <stdbool.h>
#include "tenon/cuda.h"

#include "tenon/plugin.h"

#define TENON_CUBLAS_FUNCTIONS(X)         \
  X(cublasLtGetVersion)                   \
  X(cublasLtGetStatusName)                \
  X(cublasLtCreate)                       \
  X(cublasLtDestroy)                      \
  X(cublasLtMatmulDescCreate)             \
  X(cublasLtMatmulDescDestroy)            \
  X(cublasLtMatmulDescSetAttribute)       \
  X(cublasLtMatrixLayoutCreate)           \
  X(cublasLtMatrixLayoutDestroy)          \
  X(cublasLtMatrixLayoutSetAttribute)     \
  X(cublasLtMatmulPreferenceCreate)       \
  X(cublasLtMatmulPreferenceDestroy)      \
  X(cublasLtMatmulPreferenceSetAttribute) \
  X(cublasLtMatmulAlgoGetHeuristic)       \
  X(cublasLtMatmul)

#define TENON_CUBLAS_MEMBER(name) __typeof__(name)* name; /* NOLINT(bugprone-macro-parentheses) */
typedef struct tenon__cublas_calls_t {
  TENON_CUBLAS_FUNCTIONS(TENON_CUBLAS_MEMBER)
} tenon__cublas_calls_t;

typedef struct tenon__cublas_state_t tenon__cublas_state_t;

/* A device's handle. */
typedef struct tenon__cublas_handle_t {
  struct tenon__cublas_handle_t* next;
  const tenon_cuda_native_t* native;
  cublasLtHandle_t handle;
  tenon__cublas_state_t* state;
} tenon__cublas_handle_t;

/* The plugin's state. Everything below `lock` changes under it; `calls` and `version` no more once
 * it is open. */
struct tenon__cublas_state_t {
  tenon_allocator_t allocator;
  pthread_mutex_t lock;
  bool was_tried;
  bool is_open;
  tenon__cublas_calls_t calls;
  char version[40]; /* "cublasLt 13.1.0" */
  tenon__cublas_handle_t* handles;
};

/* Opens the library the first time, and remembers whether that went well. */
bool tenon__cublas_is_there(tenon__cublas_state_t* state);
/* The library's version: the same proposal may be another algorithm with another one. */
const char* tenon__cublas_validity(void* state, tenon_device_t* device);

/* The handle of a device's context; the library must be there. Failures are told to the sink. */
tenon_status_t tenon__cublas_handle_of(tenon__cublas_state_t* state,
                                       const tenon_cuda_native_t* native, const tenon_sink_t* sink,
                                       tenon__cublas_handle_t** out_handle);

/* What a result of cuBLASLt is in this contract: the one place that decides. */
tenon_status_t tenon__cublas_status(cublasStatus_t result);
/* The same; a failure is told with the call's name. `sink` may be NULL or say nothing. */
tenon_status_t tenon__cublas_check(const tenon__cublas_calls_t* calls, const tenon_sink_t* sink,
                                   cublasStatus_t result, const char* call);
/* Writes a message; returns the status. */
tenon_status_t tenon__cublas_fail(const tenon_sink_t* sink, tenon_status_t status,
                                  const char* format, ...) __attribute__((format(printf, 3, 4)));

#endif
