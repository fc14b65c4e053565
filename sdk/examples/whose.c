/* Which plugin is at work: in a handler of crashes, and in the program's own allocator.
 *   whose MODEL */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "example.h"

enum { ALIGNMENT = 64, LINE_BYTES = 256 };

/* Only what POSIX lists as async-signal-safe, and tenon_current_call. */
static void on_crash(int number) {
  char line[LINE_BYTES] = "crashed in plugin ";
  tenon_call_info_t call = {.size = sizeof(call)};
  /* It says that it may. NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c) */
  if (tenon_current_call(&call) != 0) {
    (void)strncat(line, call.plugin, 80);
    (void)strncat(line, ", function ", 16);
    (void)strncat(line, call.function, 80);
    (void)strncat(line, "\n", 2);
    (void)!write(STDERR_FILENO, line, strlen(line));
  }
  (void)signal(number, SIG_DFL);
  (void)raise(number); /* as it would have ended */
}

/* How often a plugin's calls led to the allocator: here, the parser's. */
typedef struct count_t {
  unsigned long parser;
  unsigned long others;
} count_t;

static void* resize(void* user, void* block, size_t old_size_bytes, size_t new_size_bytes) {
  count_t* count = user;
  tenon_call_info_t call = {.size = sizeof(call)};
  const int is_parser = tenon_current_call(&call) != 0 && strcmp(call.plugin, "onnx") == 0;
  *(is_parser ? &count->parser : &count->others) += 1;
  void* made = NULL;
  if (new_size_bytes > 0) {
    const size_t size = (new_size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    made = aligned_alloc(ALIGNMENT, size);
    if (made == NULL) {
      return NULL; /* the old block is as it was */
    }
    if (block != NULL) {
      memcpy(made, block, old_size_bytes < new_size_bytes ? old_size_bytes : new_size_bytes);
    }
  }
  free(block);
  return made;
}

int main(int argc, char** argv) {
  tenon_status_t status = TENON_OK;
  tenon_registry_t* registry = NULL;
  tenon_network_t* network = NULL;
  tenon_call_info_t call = {.size = sizeof(call)};
  count_t count = {0, 0};
  const tenon_allocator_t allocator = {&count, resize};
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  if (argc != 2) {
    (void)fprintf(stderr, "usage: whose MODEL\n");
    return 2;
  }
  (void)signal(SIGSEGV, on_crash);
  options.logger.report = example_log;
  options.allocator = &allocator;
  TRY(tenon_registry_create(&options, &registry));
  TRY(tenon_network_create(registry, &network));
  TRY(tenon_network_parse_file(network, argv[1], NULL));
  (void)printf("the parser's calls %s memory, %s\n", count.parser > 0 ? "asked for" : "needed no",
               tenon_current_call(&call) == 0 ? "and now no plugin is at work" : "and still are");
done:
  tenon_network_destroy(network);
  tenon_registry_release(registry);
  return status == TENON_OK ? 0 : 1;
}
