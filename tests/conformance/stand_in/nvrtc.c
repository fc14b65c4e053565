/*
 * A stand-in for NVRTC on machines without a GPU: "compiles" a kernel's text with the host's C++
 * compiler into a shared object, which the stand-in for the driver loads and runs. So what the
 * plugin generates is executed, and the address sanitizer sees it too. Where STAND_IN_CACHE names a
 * folder, what was compiled once is kept there, and found by the digest of its text, which lies
 * beside it (.cu), for whoever wants to see what CUDA's own compiler makes of it.
 */
#include <nvrtc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lines are enough for what sanitizers say: all that debuggers want takes as long as the rest. */
#if defined(__SANITIZE_ADDRESS__)
#define CHECKS "-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all -g1"
#else
#define CHECKS ""
#endif

struct _nvrtcProgram {
  char* text;
  char* code;
  size_t size;
  char log[4096];
};

nvrtcResult nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return NVRTC_SUCCESS;
}

const char* nvrtcGetErrorString(nvrtcResult result) {
  return result == NVRTC_SUCCESS ? "success" : "failure";
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* out, const char* text, const char* name, int count,
                               const char* const* headers, const char* const* include_names) {
  (void)name, (void)count, (void)headers, (void)include_names;
  *out = calloc(1, sizeof(**out));
  (*out)->text = strdup(text);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  free((*program)->text);
  free((*program)->code);
  free(*program);
  *program = NULL;
  return NVRTC_SUCCESS;
}

/* A kernel is what stands before this. */
static const char parameter[] = "(const __grid_constant__";

/* A name that was there before: kernels of which the preprocessor leaves one. */
static bool is_again(const char* text, const char* begin, size_t length) {
  for (const char* at = strstr(text, parameter); at != NULL && at < begin;
       at = strstr(at + 1, parameter)) {
    if ((size_t)(at - text) > length && at[-(long)length - 1] == ' ' &&
        strncmp(at - length, begin, length) == 0) {
      return true;
    }
  }
  return false;
}

/* For each kernel `format`, in which its name stands twice. */
static void write_kernels(FILE* file, const char* text, const char* format) {
  for (const char* at = strstr(text, parameter); at != NULL; at = strstr(at + 1, parameter)) {
    const char* begin = at;
    while (begin[-1] != ' ') {
      begin--;
    }
    const int length = (int)(at - begin);
    if (!is_again(text, begin, (size_t)length)) {
      (void)fprintf(file, format, length, begin, length, begin); /* NOLINT: two texts below */
    }
  }
}

/* In front of the text kernels are declared, and may be lacking; behind it stands a function for
 * each that calls it with what a pointer points to. */
static void write_text(FILE* file, const char* text) {
  (void)fprintf(file, "#include \"" STAND_IN_FOLDER "/prologue.hpp\"\nstruct parameters_t;\n");
  write_kernels(file, text,
                "extern \"C\" __attribute__((weak)) void %.*s(const parameters_t); /* %.*s */\n");
  (void)fprintf(file, "#line 1 \"kernel\"\n%s\n", text);
  write_kernels(file, text,
                "extern \"C\" void stand_in_call_%.*s(const void* p) {\n  %.*s(*(const "
                "parameters_t*)p);\n}\n");
  (void)fprintf(
      file, "extern \"C\" const unsigned long stand_in_parameter_bytes = sizeof(parameters_t);\n");
}

static void read_file(const char* path, char** out_bytes, size_t* out_size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    return;
  }
  (void)fseek(file, 0, SEEK_END);
  *out_size = (size_t)ftell(file);
  rewind(file);
  *out_bytes = malloc(*out_size + 1);
  (*out_bytes)[fread(*out_bytes, 1, *out_size, file)] = 0;
  (void)fclose(file);
}

/* ---- Compiling ---- */

static nvrtcResult compile_text(nvrtcProgram program) {
  char folder[] = "/tmp/stand_in_XXXXXX";
  char path[64];
  char command[1024];
  char* log = NULL;
  size_t log_size = 0;
  if (mkdtemp(folder) == NULL) {
    return NVRTC_ERROR_INTERNAL_ERROR;
  }
  (void)snprintf(path, sizeof(path), "%s/k.cpp", folder);
  FILE* file = fopen(path, "w");
  write_text(file, program->text);
  (void)fclose(file);
  /* The folder's name is kept out of what sanitizers and debuggers are told, so that one text is
   * one code, which ccache knows again. C++17's mathematics take twice as long to read, and what
   * kernels use of that language compilers take in C++14 as well. */
  (void)snprintf(command, sizeof(command),
                 "cd %s && { " STAND_IN_LAUNCHER STAND_IN_COMPILER
                 " -x c++ -std=c++14 -O1 -w -ffp-contract=off -fno-strict-aliasing " CHECKS
                 " -ffile-prefix-map=%s=. -fPIC -c -o k.o k.cpp && " STAND_IN_COMPILER " " CHECKS
                 " -shared -Wl,-Bsymbolic -o k.so k.o -lm; } >log 2>&1",
                 folder, folder);
  const int status = system(command); /* NOLINT(cert-env33-c): a test's own compiler */
  (void)snprintf(path, sizeof(path), "%s/log", folder);
  read_file(path, &log, &log_size);
  (void)snprintf(program->log, sizeof(program->log), "%s", log == NULL ? "" : log);
  free(log);
  if (status == 0) {
    (void)snprintf(path, sizeof(path), "%s/k.so", folder);
    read_file(path, &program->code, &program->size);
  }
  (void)snprintf(command, sizeof(command), "rm -r %s", folder);
  (void)!system(command); /* NOLINT(cert-env33-c) */
  return status == 0 && program->code != NULL ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

/* ---- What was compiled before ---- */

static uint64_t digest(const char* text, uint64_t state) {
  for (; *text != '\0'; text++) {
    state = (state ^ (unsigned char)*text) * 1099511628211U;
  }
  return state;
}

/* False: nothing is kept. */
static bool find_kept(const char* text, char* out_path, size_t size) {
  const char* folder = getenv("STAND_IN_CACHE");
  if (folder == NULL) {
    return false;
  }
  (void)snprintf(out_path, size, "%s/%016llx%016llx", folder,
                 (unsigned long long)digest(text, 14695981039346656037U),
                 (unsigned long long)digest(CHECKS "\n" STAND_IN_PROLOGUE, digest(text, 1)));
  return true;
}

static void keep(nvrtcProgram program, const char* path) {
  char part[600];
  (void)snprintf(part, sizeof(part), "%s.cu", path);
  FILE* text = fopen(part, "w");
  if (text != NULL) {
    (void)fputs(program->text, text);
    (void)fclose(text);
  }
  (void)snprintf(part, sizeof(part), "%s.%d", path, (int)getpid());
  FILE* file = fopen(part, "wb");
  if (file != NULL) {
    const bool written = fwrite(program->code, 1, program->size, file) == program->size;
    (void)(fclose(file) == 0 && written ? rename(part, path) : remove(part));
  }
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  char kept[512];
  const bool keeps = find_kept(program->text, kept, sizeof(kept));
  if (keeps) {
    read_file(kept, &program->code, &program->size);
  }
  if (program->code != NULL) {
    return NVRTC_SUCCESS;
  }
  if (getenv("STAND_IN_NO_COMPILER") != NULL) {
    return NVRTC_ERROR_COMPILATION;
  }
  const nvrtcResult result = compile_text(program);
  if (keeps && result == NVRTC_SUCCESS) {
    keep(program, kept);
  }
  (void)count, (void)options;
  return result;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* out_size) {
  *out_size = strlen(program->log) + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* out_log) {
  memcpy(out_log, program->log, strlen(program->log) + 1);
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* out_size) {
  *out_size = program->size;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* out_code) {
  memcpy(out_code, program->code, program->size);
  return NVRTC_SUCCESS;
}
