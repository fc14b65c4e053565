/* Where CUDA's assembler is: it takes the text for what the oldest and newer GPUs are. */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/test.h"
#include "memory_nodes.h"

extern char** environ;

static void write_text(char* path) {
  const size_t length = strlen(tenon__cuda_memory_assembly);
  const int file = mkstemp(path);
  EXPECT(file >= 0 && write(file, tenon__cuda_memory_assembly, length) == (ssize_t)length);
  (void)close(file);
}

/* Of the assembler; -1: there is none. */
static int status_for(const char* architecture, const char* path) {
  char* arguments[] = {"ptxas", (char*)architecture, "-o", "/dev/null", (char*)path, NULL};
  pid_t child = 0;
  int status = 0;
  if (posix_spawnp(&child, arguments[0], NULL, NULL, arguments, environ) != 0) {
    return -1;
  }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

TENON_TEST(the_assembler_takes_it) {
  static const char* const architectures[] = {"-arch=sm_75", "-arch=sm_80", "-arch=sm_90"};
  char path[] = "/tmp/tenon_assembly_XXXXXX";
  int status = 0;
  write_text(path);
  for (size_t k = 0; k < sizeof(architectures) / sizeof(*architectures) && status == 0; k++) {
    status = status_for(architectures[k], path);
  }
  EXPECT(status <= 0);
  if (status < 0) {
    (void)printf("there is no ptxas: not tried\n");
  }
  (void)unlink(path);
}
