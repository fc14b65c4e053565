/* The helper: threads that compile what comes through their sockets. See protocol.h. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol.h"

#define FUNCTIONS(X)     \
  X(nvrtcCreateProgram)  \
  X(nvrtcCompileProgram) \
  X(nvrtcDestroyProgram) \
  X(nvrtcGetCUBIN)       \
  X(nvrtcGetCUBINSize)

#define MEMBER(name) __typeof__(name)* name; /* NOLINT(bugprone-macro-parentheses) */
static struct { FUNCTIONS(MEMBER) } nvrtc;

static bool open_library(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  bool found = library != NULL;
  void* symbol = NULL;
#define FIND(name)                               \
  symbol = found ? dlsym(library, #name) : NULL; \
  found = symbol != NULL;                        \
  memcpy((void*)&nvrtc.name, &symbol, sizeof(symbol));
  FUNCTIONS(FIND)
#undef FIND
  return found;
}

/* NULL: it cannot be compiled. */
static char* compile(const char* text, int architecture, size_t* out_size) {
  tenon__cuda_compile_options_t options;
  nvrtcProgram program = NULL;
  char* code = NULL;
  tenon__cuda_compile_options(architecture, &options);
  nvrtcResult result = nvrtc.nvrtcCreateProgram(&program, text, "tenon.cu", 0, NULL, NULL);
  if (result == NVRTC_SUCCESS) {
    result = nvrtc.nvrtcCompileProgram(program, options.count, options.items);
  }
  if (result == NVRTC_SUCCESS) {
    result = nvrtc.nvrtcGetCUBINSize(program, out_size);
  }
  if (result == NVRTC_SUCCESS) {
    code = malloc(*out_size);
    result = code == NULL ? NVRTC_ERROR_OUT_OF_MEMORY : nvrtc.nvrtcGetCUBIN(program, code);
  }
  if (program != NULL) {
    (void)nvrtc.nvrtcDestroyProgram(&program);
  }
  if (result != NVRTC_SUCCESS) {
    free(code);
    code = NULL;
  }
  return code;
}

static bool answer(int socket, char** text) {
  tenon__cuda_helper_request_t request;
  if (!tenon__cuda_helper_receive(socket, &request, sizeof(request))) {
    return false;
  }
  char* larger = realloc(*text, (size_t)request.text_size + 1);
  if (larger == NULL) {
    return false;
  }
  *text = larger;
  if (!tenon__cuda_helper_receive(socket, larger, request.text_size)) {
    return false;
  }
  larger[request.text_size] = 0;
  size_t size = 0;
  char* code = compile(larger, request.architecture, &size);
  const tenon__cuda_helper_reply_t reply = {.code_size = code == NULL ? 0 : size};
  const bool done = tenon__cuda_helper_send(socket, &reply, sizeof(reply)) &&
                    tenon__cuda_helper_send(socket, code, reply.code_size);
  free(code);
  return done;
}

static void* serve(void* user) {
  const int socket = *(const int*)user;
  char* text = NULL;
  while (answer(socket, &text)) {
  }
  free(text);
  (void)close(socket);
  return NULL;
}

/* Nobody's child: whoever waits for children of its own never meets it. */
int main(int argument_count, char** arguments) {
  pthread_t threads[TENON_CUDA_HELPER_SOCKETS];
  int sockets[TENON_CUDA_HELPER_SOCKETS];
  int begun = 0;
  const pid_t child = fork();
  if (child != 0) {
    return child > 0 ? 0 : 1;
  }
  (void)close_range(TENON_CUDA_HELPER_FIRST + TENON_CUDA_HELPER_SOCKETS, ~0U, 0);
  if (argument_count != 2 || !open_library(arguments[1])) {
    return 1;
  }
  for (int k = 0; k < TENON_CUDA_HELPER_SOCKETS; k++) {
    sockets[k] = TENON_CUDA_HELPER_FIRST + k;
    begun += pthread_create(&threads[begun], NULL, serve, &sockets[k]) == 0 ? 1 : 0;
  }
  for (int k = 0; k < begun; k++) {
    (void)pthread_join(threads[k], NULL);
  }
  return 0;
}
