/* NVRTC, opened when it is first needed, and what it makes of a text. */
#include "compiler.h"
#include "helper/protocol.h"

#include <dlfcn.h>
#include <nvrtc.h>
#include <stdio.h>
#include <string.h>

#define NVRTC_FUNCTIONS(X)  \
  X(nvrtcVersion)           \
  X(nvrtcCreateProgram)     \
  X(nvrtcCompileProgram)    \
  X(nvrtcDestroyProgram)    \
  X(nvrtcGetProgramLog)     \
  X(nvrtcGetProgramLogSize) \
  X(nvrtcGetCUBIN)          \
  X(nvrtcGetCUBINSize)      \
  X(nvrtcGetErrorString)

#define MEMBER(name) __typeof__(name)* name; /* NOLINT(bugprone-macro-parentheses) */
struct tenon__cuda_compiler_t {
  bool exists;
  char version[32];
  char library[4096]; /* its file; empty: nobody knows */
  NVRTC_FUNCTIONS(MEMBER)
};
#undef MEMBER

static bool find(void* library, const char* symbol, void* out_function) {
  void* found = dlsym(library, symbol);
  memcpy(out_function, &found, sizeof(found)); /* POSIX: an object pointer holds a function's */
  return found != NULL;
}

/* Where the library of that function lies. */
static void find_file(const void* function, char* out_path, size_t size) {
  Dl_info found;
  if (dladdr(function, &found) != 0 && found.dli_fname != NULL && strlen(found.dli_fname) < size) {
    (void)snprintf(out_path, size, "%s", found.dli_fname);
  }
}

static void open_compiler(tenon__cuda_compiler_t* compiler) {
  static const char* const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", NULL};
  void* library = NULL;
  int major = 0;
  int minor = 0;
  for (const char* const* name = names; *name != NULL && library == NULL; name++) {
    library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
  }
  bool found = library != NULL;
#define FIND(name) found = found && find(library, #name, (void*)&compiler->name);
  NVRTC_FUNCTIONS(FIND)
#undef FIND
  compiler->exists = found && compiler->nvrtcVersion(&major, &minor) == NVRTC_SUCCESS;
  if (compiler->exists) {
    void* function = NULL;
    memcpy((void*)&function, (const void*)&compiler->nvrtcVersion, sizeof(function));
    find_file(function, compiler->library, sizeof(compiler->library));
  }
  (void)snprintf(compiler->version, sizeof(compiler->version),
                 compiler->exists ? "NVRTC %d.%d" : "no NVRTC", major, minor);
}

/* NULL: no memory. */
static const tenon__cuda_compiler_t* compiler_of(tenon__cuda_state_t* state) {
  (void)pthread_mutex_lock(&state->compiler_lock);
  if (state->compiler == NULL) {
    tenon__cuda_compiler_t* compiler =
        state->allocator.resize(state->allocator.user, NULL, 0, sizeof(*compiler));
    if (compiler != NULL) {
      memset(compiler, 0, sizeof(*compiler));
      open_compiler(compiler);
      state->compiler = compiler;
    }
  }
  const tenon__cuda_compiler_t* compiler = state->compiler;
  (void)pthread_mutex_unlock(&state->compiler_lock);
  return compiler;
}

const char* tenon__cuda_compiler_version(tenon__cuda_state_t* state) {
  const tenon__cuda_compiler_t* compiler = compiler_of(state);
  return compiler == NULL ? "no NVRTC" : compiler->version;
}

bool tenon__cuda_compiler_exists(tenon__cuda_state_t* state) {
  const tenon__cuda_compiler_t* compiler = compiler_of(state);
  return compiler != NULL && compiler->exists;
}

const char* tenon__cuda_compiler_library(tenon__cuda_state_t* state) {
  const tenon__cuda_compiler_t* compiler = compiler_of(state);
  return compiler == NULL || compiler->library[0] == 0 ? NULL : compiler->library;
}

void tenon__cuda_compiler_close(tenon__cuda_state_t* state) {
  if (state->compiler != NULL) {
    (void)state->allocator.resize(state->allocator.user, state->compiler, sizeof(*state->compiler),
                                  0);
  }
}

/* ---- Compiling ---- */

static nvrtcResult compile_program(const tenon__cuda_compiler_t* compiler, nvrtcProgram program,
                                   int architecture) {
  tenon__cuda_compile_options_t options;
  tenon__cuda_compile_options(architecture, &options);
  return compiler->nvrtcCompileProgram(program, options.count, options.items);
}

static void tell_log(tenon__cuda_state_t* state, nvrtcProgram program, const tenon_sink_t* sink,
                     const char* reason) {
  const tenon__cuda_compiler_t* compiler = state->compiler;
  size_t size = 0;
  char* log = NULL;
  if (compiler->nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1) {
    log = state->allocator.resize(state->allocator.user, NULL, 0, size);
  }
  const bool told = log != NULL && compiler->nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS;
  (void)tenon__cuda_fail(sink, TENON_ERROR_INTERNAL, "a kernel cannot be compiled: %s: %.400s",
                         reason, told ? log : "");
  if (log != NULL) {
    (void)state->allocator.resize(state->allocator.user, log, size, 0);
  }
}

tenon_status_t tenon__cuda_compile(tenon__cuda_state_t* state, const char* text, int architecture,
                                   const tenon_sink_t* sink, void** out_code, size_t* out_size) {
  const tenon__cuda_compiler_t* compiler = compiler_of(state);
  nvrtcProgram program = NULL;
  void* code = NULL;
  size_t size = 0;
  if (compiler == NULL || !compiler->exists) {
    return tenon__cuda_fail(sink, TENON_ERROR_NOT_FOUND,
                            "CUDA's compiler cannot be opened: neither libnvrtc.so.13 nor .12");
  }
  nvrtcResult result = compiler->nvrtcCreateProgram(&program, text, "tenon.cu", 0, NULL, NULL);
  if (result == NVRTC_SUCCESS) {
    result = compile_program(compiler, program, architecture);
    if (result == NVRTC_ERROR_COMPILATION) {
      tell_log(state, program, sink, compiler->nvrtcGetErrorString(result));
    }
  }
  if (result == NVRTC_SUCCESS) {
    result = compiler->nvrtcGetCUBINSize(program, &size);
  }
  if (result == NVRTC_SUCCESS) {
    code = state->allocator.resize(state->allocator.user, NULL, 0, size);
    result = code == NULL ? NVRTC_ERROR_OUT_OF_MEMORY : compiler->nvrtcGetCUBIN(program, code);
  }
  if (program != NULL) {
    (void)compiler->nvrtcDestroyProgram(&program);
  }
  if (result == NVRTC_SUCCESS) {
    *out_code = code;
    *out_size = size;
    return TENON_OK;
  }
  if (code != NULL) {
    (void)state->allocator.resize(state->allocator.user, code, size, 0);
  }
  if (result != NVRTC_ERROR_COMPILATION) {
    (void)tenon__cuda_fail(sink, TENON_ERROR_INTERNAL, "a kernel cannot be compiled: %s",
                           compiler->nvrtcGetErrorString(result));
  }
  return result == NVRTC_ERROR_OUT_OF_MEMORY ? TENON_ERROR_OUT_OF_MEMORY : TENON_ERROR_INTERNAL;
}
