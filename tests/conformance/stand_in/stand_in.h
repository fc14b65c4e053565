/* What the files of the stand-in for CUDA's driver share. */
#ifndef TESTS_CONFORMANCE_STAND_IN_STAND_IN_H_
#define TESTS_CONFORMANCE_STAND_IN_STAND_IN_H_

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum shared memory of a block, maximum blocks and threads of a cluster. */
enum {
  STAND_IN_SHARED_BYTES = 232448,
  STAND_IN_CLUSTER_BLOCKS = 8,
  STAND_IN_CLUSTER_THREADS = 2048
};
/* Of the one GPU that there is. */
#define STAND_IN_BUS_ID "0000:17:00.0"

typedef struct stand_in_kernel_t {
  struct stand_in_kernel_t* next;
  char name[80];
  bool was_launched;
  void* library;
  void (*call)(const void* parameters);
  unsigned long parameter_bytes;
  unsigned unit_bytes; /* of one that sets or copies memory, see memory_kernels.c; 0: of none */
  bool copies;
} stand_in_kernel_t;

/* Returns 1 if a kernel of this name has been launched. Tests find this function by dlsym. */
int stand_in_was_launched(const char* name);

/* Runs all blocks of a launch. The blocks of a cluster run alternately. Only one thread of the
 * process may call this at a time. */
void stand_in_run(const stand_in_kernel_t* kernel, const CUlaunchConfig* config, unsigned cluster,
                  const void* parameters);

/* Of those that the plugin has in the driver's assembly. False: there is none of that name. */
bool stand_in_memory_kernel(const char* name, stand_in_kernel_t* out_kernel);
void stand_in_run_memory_kernel(const stand_in_kernel_t* kernel, const CUlaunchConfig* config,
                                const void* parameters);

/* Each function of the driver says its name. A test that finds the other one by name gets all of
 * them from then on, in order, with a space behind each; until NULL is given. */
void stand_in_called(const char* name);
void stand_in_listen(char* text, size_t capacity);

/* What a library puts on a stream, with a copy of its parameters: done when the stream comes to it,
 * so kept where the stream is being captured. Other stand-ins find it by name in the driver. */
typedef void (*stand_in_call_t)(const void* parameters);
void stand_in_submit(CUstream stream, stand_in_call_t call, const void* parameters, size_t bytes);

#endif
