/* Loading kernels that were compiled for the host, and running their blocks: threads are contexts
 * of their own where they meet, one after the other. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifndef __x86_64__
#include <ucontext.h>
#endif
#include <unistd.h>

#include "stand_in.h"

enum { THREADS = STAND_IN_CLUSTER_THREADS, STACK_BYTES = 256 << 10 };

typedef struct place_t {
  unsigned x;
  unsigned y;
  unsigned z;
} place_t;

/* Stands for what is in the driver's assembly. */
static char assembly;
/* All that were ever found, for recordings may have them longer than their module lives. */
static stand_in_kernel_t* known;

/* NOLINTNEXTLINE(readability-function-size): CUDA's own */
CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jit_options,
                           void** jit_values, unsigned int jit_count,
                           CUlibraryOption* library_options, void** library_values,
                           unsigned int library_count) {
  stand_in_called(__func__);
  char path[64];
  (void)jit_options, (void)jit_values, (void)jit_count;
  (void)library_options, (void)library_values, (void)library_count;
  if (memcmp(code, ".version", 8) == 0) {
    *library = (CUlibrary)&assembly;
    return CUDA_SUCCESS;
  }
  if (memcmp(code, "\177ELF", 4) != 0) {
    return CUDA_ERROR_INVALID_IMAGE;
  }
  /* As long as its section headers say. */
  uint64_t sections = 0;
  uint16_t section_bytes = 0;
  uint16_t section_count = 0;
  memcpy(&sections, (const char*)code + 40, sizeof(sections));
  memcpy(&section_bytes, (const char*)code + 58, sizeof(section_bytes));
  memcpy(&section_count, (const char*)code + 60, sizeof(section_count));
  const size_t size = sections + (size_t)section_bytes * section_count;
  const int file = memfd_create("kernels", 0);
  if (file < 0 || write(file, code, size) != (ssize_t)size) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    (void)fprintf(stderr, "stand-in: %s\n", dlerror());
    (void)close(file);
    return CUDA_ERROR_INVALID_IMAGE;
  }
  *library = (CUlibrary)handle; /* the file stays open: the loader knows images by their number */
  return CUDA_SUCCESS;
}

CUresult cuLibraryUnload(CUlibrary library) {
  stand_in_called(__func__);
  (void)library; /* addresses of kernels in recordings may outlive it */
  return CUDA_SUCCESS;
}

static bool find_kernel(const char* symbol, stand_in_kernel_t* out_kernel) {
  void* call = dlsym(out_kernel->library, symbol);
  const unsigned long* bytes = dlsym(out_kernel->library, "stand_in_parameter_bytes");
  if (call == NULL || bytes == NULL) {
    return false;
  }
  memcpy(&out_kernel->call, &call, sizeof(call));
  out_kernel->parameter_bytes = *bytes;
  return true;
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  stand_in_called(__func__);
  char symbol[80];
  (void)snprintf(symbol, sizeof(symbol), "stand_in_call_%s", name);
  stand_in_kernel_t* made = calloc(1, sizeof(*made));
  made->library = library;
  (void)snprintf(made->name, sizeof(made->name), "%s", name);
  if (!((void*)library == &assembly ? stand_in_memory_kernel(name, made)
                                    : find_kernel(symbol, made))) {
    free(made);
    return CUDA_ERROR_NOT_FOUND;
  }
  made->next = known;
  known = made;
  *kernel = (CUkernel)made;
  return CUDA_SUCCESS;
}

int stand_in_was_launched(const char* name) {
  for (const stand_in_kernel_t* kernel = known; kernel != NULL; kernel = kernel->next) {
    if (kernel->was_launched && strcmp(kernel->name, name) == 0) {
      return 1;
    }
  }
  return 0;
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  stand_in_called(__func__);
  *function = (CUfunction)kernel;
  return CUDA_SUCCESS;
}

/* ---- Contexts ---- */

/* Where threads meet they are switched thousands of times. That of the C library asks the system
 * for its signals each time, and under the address sanitizer what a stack's memory is known to be
 * is forgotten each time. */
#ifdef __x86_64__
typedef void* context_t; /* where its stack ends; the registers that a call keeps lie there */

void stand_in_switch(context_t* from, context_t to);
__asm__(
    ".text\n"
    ".type stand_in_switch, @function\n"
    "stand_in_switch:\n"
    "  pushq %rbp\n"
    "  pushq %rbx\n"
    "  pushq %r12\n"
    "  pushq %r13\n"
    "  pushq %r14\n"
    "  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n"
    "  popq %r14\n"
    "  popq %r13\n"
    "  popq %r12\n"
    "  popq %rbx\n"
    "  popq %rbp\n"
    "  ret\n"
    ".size stand_in_switch, .-stand_in_switch\n");

static void switch_context(context_t* from, const context_t* to) {
  stand_in_switch(from, *to);
}

/* As if it had been switched away from just before its first instruction. */
static void begin_context(context_t* context, char* stack, void (*function)(void)) {
  enum { REGISTERS = 6 };
  void** top = (void**)(void*)(stack + STACK_BYTES);
  *--top = NULL; /* where it would return to: a call leaves the stack so, 8 beside 16 */
  memcpy(--top, &function, sizeof(function));
  top -= REGISTERS;
  memset(top, 0, REGISTERS * sizeof(*top));
  *context = (void*)top;
}
#else
typedef ucontext_t context_t;

static void switch_context(context_t* from, const context_t* to) {
  (void)swapcontext(from, to);
}

static void begin_context(context_t* context, char* stack, void (*function)(void)) {
  (void)getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = STACK_BYTES;
  context->uc_link = NULL;
  makecontext(context, function, 0);
}
#endif

/* ---- A block ---- */

enum { WARP = 32 };
/* Why a thread gave way. */
typedef enum state_t {
  STATE_RUNS,
  STATE_MEETS_WARP,
  STATE_MEETS_BLOCK,
  STATE_MEETS_CLUSTER,
  STATE_ENDED
} state_t;

static context_t scheduler;
static context_t contexts[THREADS];
static char* stacks;
static state_t states[THREADS];
static unsigned current;
static const stand_in_kernel_t* running;
static const void* arguments;
static uint64_t slots[THREADS];

static void give_way(state_t state) {
  states[current] = state;
  switch_context(&contexts[current], &scheduler);
}
static void meet(void) {
  give_way(STATE_MEETS_BLOCK);
}
static void meet_warp(void) {
  give_way(STATE_MEETS_WARP);
}
static void meet_cluster(void) {
  give_way(STATE_MEETS_CLUSTER);
}
static void enter(void) {
  running->call(arguments);
  give_way(STATE_ENDED);
}

static void begin_thread(unsigned k) {
  begin_context(&contexts[k], stacks + (size_t)k * STACK_BYTES, enter);
  states[k] = STATE_RUNS;
}

static void fail(const char* what, unsigned first, unsigned count) {
  (void)fprintf(stderr, "stand-in: of threads %u to %u %s\n", first, first + count - 1, what);
  abort();
}

/* Runs threads until they yield. All must yield for the same reason, which is returned. `block` is
 * the first thread of their block. */
static state_t run_threads(place_t* thread, unsigned block, unsigned first, unsigned count) {
  for (unsigned k = first; k < first + count; k++) {
    current = k;
    thread->x = k - block;
    switch_context(&scheduler, &contexts[k]);
  }
  for (unsigned k = first; k < first + count; k++) {
    if (states[k] != states[first]) {
      fail("some ended or met elsewhere, the others wait for them", first, count);
    }
  }
  return states[first];
}

/* Runs a block until its threads wait for the cluster or end. Warps run sequentially, each until it
 * waits for the others. No warp may end while others wait. */
static state_t run_block(place_t* thread, unsigned block, unsigned count) {
  state_t state = STATE_RUNS;
  while (state != STATE_ENDED && state != STATE_MEETS_CLUSTER) {
    for (unsigned first = block; first < block + count; first += WARP) {
      const unsigned width = block + count - first < WARP ? block + count - first : WARP;
      state_t own = STATE_MEETS_WARP;
      while (own == STATE_MEETS_WARP) {
        own = run_threads(thread, block, first, width);
      }
      if (first > block && own != state) {
        fail("all ended, or wait for those in front", first, width);
      }
      state = own;
    }
  }
  return state;
}

/* Variables of a kernel that identify the current thread. */
typedef struct places_t {
  place_t* thread;
  place_t* block;
  unsigned* rank;
} places_t;

/* Runs the blocks of a cluster alternately, from block `first` on. */
static void run_cluster(const places_t* places, unsigned first, unsigned blocks, unsigned threads) {
  state_t state = STATE_RUNS;
  for (unsigned k = 0; k < blocks * threads; k++) {
    begin_thread(k);
  }
  while (state != STATE_ENDED) {
    for (unsigned k = 0; k < blocks; k++) {
      *places->block = (place_t){first + k, 0, 0};
      *places->rank = k;
      const state_t own = run_block(places->thread, k * threads, threads);
      if (k > 0 && own != state) {
        fail("all ended, or wait for blocks in front", k * threads, threads);
      }
      state = own;
    }
  }
}

void stand_in_run(const stand_in_kernel_t* kernel, const CUlaunchConfig* config, unsigned cluster,
                  const void* parameters) {
  if (kernel->unit_bytes > 0) {
    stand_in_run_memory_kernel(kernel, config, parameters);
    return;
  }
  const places_t places = {dlsym(kernel->library, "threadIdx"), dlsym(kernel->library, "blockIdx"),
                           dlsym(kernel->library, "stand_in_cluster_rank")};
  place_t* block_size = dlsym(kernel->library, "blockDim");
  place_t* block_count = dlsym(kernel->library, "gridDim");
  uint64_t** exchanged = dlsym(kernel->library, "stand_in_slots");
  void* meeting = dlsym(kernel->library, "stand_in_meet");
  void* meeting_warp = dlsym(kernel->library, "stand_in_meet_warp");
  void* meeting_cluster = dlsym(kernel->library, "stand_in_meet_cluster");
  void (*function)(void) = meet;
  memcpy(meeting, &function, sizeof(function));
  function = meet_warp;
  memcpy(meeting_warp, &function, sizeof(function));
  function = meet_cluster;
  memcpy(meeting_cluster, &function, sizeof(function));
  *exchanged = slots;
  *block_size = (place_t){config->blockDimX, 1, 1};
  *block_count = (place_t){config->gridDimX, 1, 1};
  running = kernel;
  arguments = parameters;
  stacks = stacks != NULL ? stacks
                          : mmap(NULL, (size_t)THREADS * STACK_BYTES, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  for (unsigned k = 0; k < config->gridDimX; k += cluster) {
    run_cluster(&places, k, cluster, config->blockDimX);
  }
}
