/*
 * The kernels that plugins/cuda/memory_code.c has in the driver's assembly, which nothing here
 * reads: known by their names, and written again. That the assembly is right is seen on a GPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_in.h"

/* As memory_nodes.h has it. */
typedef struct piece_t {
  char* target;
  const char* source;
  uint64_t unit_count;
  uint64_t row_bytes;
  uint64_t word;
} piece_t;

static void run(const stand_in_kernel_t* kernel, const CUlaunchConfig* config,
                const piece_t* piece) {
  const unsigned bytes = kernel->unit_bytes;
  const uint64_t threads = (uint64_t)config->gridDimX * config->blockDimX;
  const uint32_t words[] = {(uint32_t)piece->word, (uint32_t)piece->word, (uint32_t)piece->word,
                            (uint32_t)piece->word};
  for (unsigned row = 0; row < config->gridDimY; row++) {
    for (uint64_t k = 0; k < threads && k < piece->unit_count; k++) {
      const void* source = kernel->copies ? (const void*)(piece->source + k * bytes) : words;
      memcpy(piece->target + row * piece->row_bytes + k * bytes, source, bytes);
    }
  }
}

bool stand_in_memory_kernel(const char* name, stand_in_kernel_t* out_kernel) {
  static const char* const operations[] = {"tenon_set_", "tenon_copy_"};
  for (int copies = 0; copies < 2; copies++) {
    const size_t length = strlen(operations[copies]);
    if (strncmp(name, operations[copies], length) == 0) {
      out_kernel->unit_bytes = (unsigned)strtoul(name + length, NULL, 10);
      out_kernel->copies = copies == 1;
      out_kernel->parameter_bytes = sizeof(piece_t);
    }
  }
  return out_kernel->unit_bytes > 0;
}

void stand_in_run_memory_kernel(const stand_in_kernel_t* kernel, const CUlaunchConfig* config,
                                const void* parameters) {
  piece_t piece;
  memcpy(&piece, parameters, sizeof(piece));
  if ((uintptr_t)piece.target % kernel->unit_bytes != 0 ||
      (kernel->copies && (uintptr_t)piece.source % kernel->unit_bytes != 0)) {
    (void)fprintf(stderr, "stand-in: a unit of %u bytes is misaligned\n", kernel->unit_bytes);
    abort();
  }
  run(kernel, config, &piece);
}
