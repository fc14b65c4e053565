/* Loading kernels that were compiled for the host, and running their blocks: threads are contexts
 * of their own where they meet, one after the other. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "stand_in.h"

enum { THREADS = 1024, STACK_BYTES = 256 << 10 };

typedef struct place_t {
  unsigned x;
  unsigned y;
  unsigned z;
} place_t;

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

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  stand_in_called(__func__);
  char symbol[80];
  (void)snprintf(symbol, sizeof(symbol), "stand_in_call_%s", name);
  stand_in_kernel_t* made = calloc(1, sizeof(*made));
  made->library = library;
  void* call = dlsym(library, symbol);
  const unsigned long* bytes = dlsym(library, "stand_in_parameter_bytes");
  if (call == NULL || bytes == NULL) {
    free(made);
    return CUDA_ERROR_NOT_FOUND;
  }
  memcpy(&made->call, &call, sizeof(call));
  made->parameter_bytes = *bytes;
  made->next = known;
  known = made;
  *kernel = (CUkernel)made;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  stand_in_called(__func__);
  *function = (CUfunction)kernel;
  return CUDA_SUCCESS;
}

/* ---- A block ---- */

enum { WARP = 32 };
/* Why a thread gave way. */
typedef enum state_t { STATE_RUNS, STATE_MEETS_WARP, STATE_MEETS_BLOCK, STATE_ENDED } state_t;

static ucontext_t scheduler;
static ucontext_t contexts[THREADS];
static char* stacks;
static state_t states[THREADS];
static unsigned current;
static const stand_in_kernel_t* running;
static const void* arguments;
static uint64_t slots[THREADS];

static void give_way(state_t state) {
  states[current] = state;
  (void)swapcontext(&contexts[current], &scheduler);
}
static void meet(void) {
  give_way(STATE_MEETS_BLOCK);
}
static void meet_warp(void) {
  give_way(STATE_MEETS_WARP);
}
static void enter(void) {
  running->call(arguments);
  give_way(STATE_ENDED);
}

static void begin_thread(unsigned k) {
  (void)getcontext(&contexts[k]);
  contexts[k].uc_stack.ss_sp = stacks + (size_t)k * STACK_BYTES;
  contexts[k].uc_stack.ss_size = STACK_BYTES;
  contexts[k].uc_link = NULL;
  states[k] = STATE_RUNS;
  makecontext(&contexts[k], enter, 0);
}

static void fail(const char* what, unsigned first, unsigned count) {
  (void)fprintf(stderr, "stand-in: of threads %u to %u %s\n", first, first + count - 1, what);
  abort();
}

/* Threads up to where they give way; all must for one reason, which is returned. */
static state_t run_threads(place_t* thread, unsigned first, unsigned count) {
  for (unsigned k = first; k < first + count; k++) {
    current = k;
    thread->x = k;
    (void)swapcontext(&scheduler, &contexts[k]);
  }
  for (unsigned k = first; k < first + count; k++) {
    if (states[k] != states[first]) {
      fail("some ended or met elsewhere, the others wait for them", first, count);
    }
  }
  return states[first];
}

/* Warps one after the other, each as far as it comes without the others; none may end while others
 * wait. */
static void run_block(place_t* thread, unsigned count) {
  state_t state = STATE_RUNS;
  for (unsigned k = 0; k < count; k++) {
    begin_thread(k);
  }
  while (state != STATE_ENDED) {
    for (unsigned first = 0; first < count; first += WARP) {
      const unsigned width = count - first < WARP ? count - first : WARP;
      state_t own = STATE_MEETS_WARP;
      while (own == STATE_MEETS_WARP) {
        own = run_threads(thread, first, width);
      }
      if (first > 0 && own != state) {
        fail("all ended, or wait for those in front", first, width);
      }
      state = own;
    }
  }
}

void stand_in_run(const stand_in_kernel_t* kernel, const CUlaunchConfig* config,
                  const void* parameters) {
  place_t* thread = dlsym(kernel->library, "threadIdx");
  place_t* block = dlsym(kernel->library, "blockIdx");
  place_t* block_size = dlsym(kernel->library, "blockDim");
  place_t* block_count = dlsym(kernel->library, "gridDim");
  uint64_t** exchanged = dlsym(kernel->library, "stand_in_slots");
  void* meeting = dlsym(kernel->library, "stand_in_meet");
  void* meeting_warp = dlsym(kernel->library, "stand_in_meet_warp");
  void (*function)(void) = meet;
  memcpy(meeting, &function, sizeof(function));
  function = meet_warp;
  memcpy(meeting_warp, &function, sizeof(function));
  *exchanged = slots;
  *block_size = (place_t){config->blockDimX, 1, 1};
  *block_count = (place_t){config->gridDimX, 1, 1};
  running = kernel;
  arguments = parameters;
  stacks = stacks != NULL ? stacks
                          : mmap(NULL, (size_t)THREADS * STACK_BYTES, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  for (unsigned k = 0; k < config->gridDimX; k++) {
    *block = (place_t){k, 0, 0};
    run_block(thread, config->blockDimX);
  }
}
