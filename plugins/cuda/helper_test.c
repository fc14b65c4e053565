/* A helper compiles what we compile, is nobody's child, and may be missing or go. NVRTC needs no
 * GPU; where there is none, only that is tested. */
#include "helper.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/allocator.h"
#include "core/base/test.h"

static const char kernel[] = "extern \"C\" __global__ void f(float* x) { x[threadIdx.x] = 1; }\n";

static void open_state(tenon__cuda_state_t* state) {
  memset(state, 0, sizeof(*state));
  state->allocator = tenon__allocator_default();
  (void)pthread_mutex_init(&state->compiler_lock, NULL);
}
static void close_state(tenon__cuda_state_t* state) {
  tenon__cuda_compiler_close(state);
  (void)pthread_mutex_destroy(&state->compiler_lock);
}
static void give_back(const tenon__cuda_state_t* state, void* code, size_t size) {
  if (code != NULL) {
    (void)state->allocator.resize(state->allocator.user, code, size, 0);
  }
}

/* Both may have no code. */
static void compare(tenon__cuda_state_t* state, int socket, const char* text) {
  void* own = NULL;
  void* helped = NULL;
  size_t own_size = 0;
  size_t helped_size = 0;
  const bool is_made = tenon__cuda_compile(state, text, 90, NULL, &own, &own_size) == TENON_OK;
  EXPECT(tenon__cuda_helper_compile(state, socket, text, 90, &helped, &helped_size));
  EXPECT((helped != NULL) == is_made);
  if (helped != NULL && is_made) {
    EXPECT_INT((int64_t)helped_size, (int64_t)own_size);
    EXPECT(helped_size == own_size && memcmp(helped, own, own_size) == 0);
  }
  give_back(state, is_made ? own : NULL, own_size);
  give_back(state, helped, helped_size);
}

TENON_TEST(it_compiles_as_we_do) {
  int sockets[TENON_CUDA_HELPER_SOCKETS];
  tenon__cuda_state_t state;
  open_state(&state);
  const char* library = tenon__cuda_compiler_library(&state);
  EXPECT((library != NULL) == tenon__cuda_compiler_exists(&state));
  if (library != NULL) {
    EXPECT(tenon__cuda_helper_start(library, sockets));
    for (int k = 0; k < TENON_CUDA_HELPER_SOCKETS; k++) {
      compare(&state, sockets[k], kernel);
      compare(&state, sockets[k], "this is no kernel");
      compare(&state, sockets[k], "");
      (void)close(sockets[k]);
    }
    EXPECT(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
  }
  close_state(&state);
}

TENON_TEST(one_that_is_gone_is_noticed) {
  int sockets[TENON_CUDA_HELPER_SOCKETS];
  tenon__cuda_state_t state;
  void* code = NULL;
  size_t size = 0;
  open_state(&state);
  EXPECT(tenon__cuda_helper_start("/there/is/no/library.so", sockets));
  for (int k = 0; k < TENON_CUDA_HELPER_SOCKETS; k++) {
    EXPECT(!tenon__cuda_helper_compile(&state, sockets[k], kernel, 90, &code, &size));
    EXPECT(code == NULL);
    (void)close(sockets[k]);
  }
  close_state(&state);
}
