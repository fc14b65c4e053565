/*
 * A program that is not linked to libtenon and loads it by name, as hosts of extensions do.
 *   loaded run LIBRARY MODEL       y = |x| over 4 floats, twice, unloaded in between
 *   loaded worker LIBRARY MODEL    a worker crashes within malloc; the words come from the handler
 *   loaded stranger LIBRARY MODEL  the same in a thread that has never called the library
 * Its malloc crashes for the size that the fixture `crasher` wants. An allocation in the handler
 * ends the program with status 3: malloc's lock may be held there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tenon/tenon.h"

enum { EXTENT = 4, CRASHER_SIZE = 24157, THREAD_COUNT = 8 };

/* ---- Memory ---- */

/* The C library's own, under its names for programs that bring theirs. */
extern void* own_malloc(size_t size) __asm__("__libc_malloc");
extern void* own_calloc(size_t count, size_t size) __asm__("__libc_calloc");
extern void* own_realloc(void* block, size_t size) __asm__("__libc_realloc");
extern void* own_memalign(size_t alignment, size_t size) __asm__("__libc_memalign");
extern void own_free(void* block) __asm__("__libc_free");

static volatile sig_atomic_t in_handler;
static atomic_long live; /* blocks */

static void* taken(void* block) {
  if (in_handler) {
    static const char words[] = "the handler allocates\n";
    (void)!write(STDERR_FILENO, words, sizeof words - 1);
    _exit(3);
  }
  live += block != NULL;
  return block;
}

void* malloc(size_t size) {
  if (size == CRASHER_SIZE) {
    (void)raise(SIGSEGV);
  }
  return taken(own_malloc(size));
}

void* calloc(size_t count, size_t size) {
  return taken(own_calloc(count, size));
}

void* realloc(void* block, size_t size) {
  return block == NULL ? malloc(size) : own_realloc(block, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  return taken(own_memalign(alignment, size));
}

void free(void* block) {
  live -= block != NULL;
  own_free(block);
}

/* ---- The library ---- */

#define FUNCTIONS(F)               \
  F(tenon_build)                   \
  F(tenon_context_create)          \
  F(tenon_context_destroy)         \
  F(tenon_context_get_output)      \
  F(tenon_context_run)             \
  F(tenon_context_set_input)       \
  F(tenon_current_call)            \
  F(tenon_engine_create_from_plan) \
  F(tenon_engine_release)          \
  F(tenon_last_message)            \
  F(tenon_network_create)          \
  F(tenon_network_destroy)         \
  F(tenon_network_parse_file)      \
  F(tenon_plan_destroy)            \
  F(tenon_registry_create)         \
  F(tenon_registry_release)

#define MEMBER(name) __typeof__(name)*(name);
static struct { FUNCTIONS(MEMBER) } api;
#undef MEMBER

static void* load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    (void)fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
#define FIND(name)                                               \
  {                                                              \
    void* symbol = dlsym(library, #name);                        \
    memcpy(&api.name, &symbol, sizeof symbol);                   \
    if (symbol == NULL) {                                        \
      (void)fprintf(stderr, "there is no function " #name "\n"); \
      exit(1);                                                   \
    }                                                            \
  }
  FUNCTIONS(FIND)
#undef FIND
  return library;
}

static void need(tenon_status_t status, const char* call) {
  if (status != TENON_OK) {
    (void)fprintf(stderr, "%s: %s\n", call, api.tenon_last_message());
    exit(1);
  }
}
#define NEED(call) need(call, #call)

static int run(const char* model) {
  const int64_t dims[] = {EXTENT};
  float given[EXTENT] = {-1, 2, -3, 0.5F};
  const tenon_tensor_view_t x = {
      .data = given, .dims = dims, .rank = 1, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
  tenon_tensor_view_t y;
  tenon_registry_t* registry;
  tenon_network_t* network;
  tenon_plan_t* plan;
  tenon_engine_t* engine;
  tenon_context_t* context;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_context_options_t threads = TENON_OPTIONS(tenon_context_options_t);
  options.thread_count = 2;
  threads.thread_count = 2;
  NEED(api.tenon_registry_create(NULL, &registry));
  NEED(api.tenon_network_create(registry, &network));
  NEED(api.tenon_network_parse_file(network, model, NULL));
  NEED(api.tenon_build(network, &options, &plan));
  NEED(api.tenon_engine_create_from_plan(registry, plan, NULL, &engine));
  NEED(api.tenon_context_create(engine, &threads, &context));
  NEED(api.tenon_context_set_input(context, 0, &x));
  NEED(api.tenon_context_run(context));
  NEED(api.tenon_context_get_output(context, 0, &y));
  int wrong = 0;
  for (int i = 0; i < EXTENT; ++i) {
    const float wanted = given[i] < 0 ? -given[i] : given[i];
    wrong |= ((const float*)y.data)[i] != wanted;
  }
  api.tenon_context_destroy(context);
  api.tenon_engine_release(engine);
  api.tenon_plan_destroy(plan);
  api.tenon_network_destroy(network);
  api.tenon_registry_release(registry);
  return wrong;
}

static void* fail(void* user) {
  tenon_network_t* network = NULL;
  (void)user;
  return api.tenon_network_create(NULL, &network) == TENON_ERROR_INVALID_ARGUMENT &&
                 strstr(api.tenon_last_message(), "argument 'registry' is NULL") != NULL
             ? &api
             : NULL;
}

/* The text of a failure goes with its thread. */
static int fail_in_threads(int count) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    void* result = NULL;
    wrong |= pthread_create(&thread, NULL, fail, NULL) != 0 || pthread_join(thread, &result) != 0 ||
             result == NULL;
  }
  return wrong;
}

static int run_twice(const char* path, const char* model) {
  int wrong = 0;
  for (int time = 0; time < 2; ++time) {
    void* library = load(path);
    wrong |= run(model) | fail_in_threads(1);
    const long before = live;
    wrong |= fail_in_threads(THREAD_COUNT);
    if (live != before) {
      (void)fprintf(stderr, "%d threads left %ld blocks\n", THREAD_COUNT, live - before);
      wrong = 1;
    }
    wrong |= dlclose(library);
  }
  return wrong;
}

/* ---- Crashes ---- */

static void on_crash(int number) {
  tenon_call_info_t call = {sizeof(call), "no plugin", "", "", ""};
  (void)number;
  in_handler = 1;
  (void)api.tenon_current_call(&call);
  const char* const words[] = {"in ", call.plugin, " ", call.function, " ", call.item, "\n"};
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
    (void)!write(STDOUT_FILENO, words[i], strlen(words[i]));
  }
  _exit(0);
}

static void* crash(void* user) {
  void* volatile memory = malloc(CRASHER_SIZE);
  free(memory);
  return user;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    return 2;
  }
  if (strcmp(argv[1], "run") == 0) {
    return run_twice(argv[2], argv[3]);
  }
  const struct sigaction action = {.sa_handler = on_crash};
  (void)load(argv[2]);
  if (sigaction(SIGSEGV, &action, NULL) != 0) {
    return 2;
  }
  pthread_t thread;
  if (strcmp(argv[1], "stranger") == 0) {
    (void)run(argv[3]); /* this thread has called plugins */
    (void)(pthread_create(&thread, NULL, crash, NULL) == 0 && pthread_join(thread, NULL) == 0);
  } else {
    (void)run(argv[3]);
  }
  return 1; /* it has not crashed */
}
