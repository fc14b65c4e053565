/*
 * A stand-in for NVRTC on machines without a GPU: "compiles" a kernel's text with the host's C++
 * compiler into a shared object, which the stand-in for the driver loads and runs. So what the
 * plugin generates is executed, and the address sanitizer sees it too. The texts are kept in the
 * folder STAND_IN_TEXTS, where that is set: for CUDA's own compiler; with STAND_IN_TEXTS_ONLY that
 * is all, and the compilation fails.
 */
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define CHECKS "-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all -g"
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

/* A function that calls each kernel with what a pointer points to. */
static void write_callers(FILE* file, const char* text) {
  static const char parameter[] = "(const __grid_constant__";
  for (const char* at = strstr(text, parameter); at != NULL; at = strstr(at + 1, parameter)) {
    const char* begin = at;
    while (begin[-1] != ' ') {
      begin--;
    }
    (void)fprintf(file,
                  "extern \"C\" void stand_in_call_%.*s(const void* p) {\n  %.*s(*(const "
                  "parameters_t*)p);\n}\n",
                  (int)(at - begin), begin, (int)(at - begin), begin);
  }
  (void)fprintf(
      file, "extern \"C\" const unsigned long stand_in_parameter_bytes = sizeof(parameters_t);\n");
}

static void keep_text(const char* text) {
  static unsigned count;
  const char* folder = getenv("STAND_IN_TEXTS");
  char path[256];
  if (folder != NULL) {
    (void)snprintf(path, sizeof(path), "%s/%u.cu", folder, count++);
    FILE* file = fopen(path, "w");
    (void)fputs(text, file);
    (void)fclose(file);
  }
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

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  char folder[] = "/tmp/stand_in_XXXXXX";
  char path[64];
  char command[1024];
  char* log = NULL;
  size_t log_size = 0;
  (void)count, (void)options;
  keep_text(program->text);
  if (getenv("STAND_IN_TEXTS_ONLY") != NULL) {
    return NVRTC_ERROR_COMPILATION;
  }
  if (mkdtemp(folder) == NULL) {
    return NVRTC_ERROR_INTERNAL_ERROR;
  }
  (void)snprintf(path, sizeof(path), "%s/k.cpp", folder);
  FILE* file = fopen(path, "w");
  (void)fprintf(file, "#include \"" STAND_IN_FOLDER "/prologue.hpp\"\n#line 1 \"kernel\"\n%s\n",
                program->text);
  write_callers(file, program->text);
  (void)fclose(file);
  (void)snprintf(command, sizeof(command),
                 STAND_IN_COMPILER
                 " -x c++ -std=c++17 -O1 -w -ffp-contract=off -fno-strict-aliasing " CHECKS
                 " -shared -fPIC -o %s/k.so %s/k.cpp -lm >%s/log 2>&1",
                 folder, folder, folder);
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
