/* Texts that are compiled ahead: by NVRTC where there is one, for which no GPU is needed. Under the
 * thread sanitizer too, for what the device begins by pthread_create. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compiler.h"

#include "core/base/allocator.h"
#include "core/base/test.h"

enum { TEXTS = 100 };

static void open_world(tenon__cuda_state_t* state, tenon_device_t* device) {
  memset(state, 0, sizeof(*state));
  memset(device, 0, sizeof(*device));
  state->allocator = tenon__allocator_default();
  device->state = state;
  device->architecture = 90;
  (void)pthread_mutex_init(&state->compiler_lock, NULL);
  (void)pthread_mutex_init(&device->lock, NULL);
}
static void close_world(tenon__cuda_state_t* state, tenon_device_t* device) {
  tenon__cuda_ahead_close(device);
  tenon__cuda_compiler_close(state);
  (void)pthread_mutex_destroy(&device->lock);
  (void)pthread_mutex_destroy(&state->compiler_lock);
}

static void key_of(int number, char out_key[TENON_CUDA_KEY]) {
  (void)snprintf(out_key, TENON_CUDA_KEY, "text.%d", number);
}
static void begin(tenon_device_t* device, int number, const char* format) {
  tenon__cuda_text_t text = {.allocator = device->state->allocator};
  char key[TENON_CUDA_KEY];
  key_of(number, key);
  tenon__cuda_text_add(&text, "// %d\n", number);
  tenon__cuda_text_copy(&text, format);
  tenon__cuda_ahead_begin(device, key, &text);
}
static bool take(tenon_device_t* device, int number) {
  char key[TENON_CUDA_KEY];
  void* code = NULL;
  size_t size = 0;
  key_of(number, key);
  const bool is_there = tenon__cuda_ahead_take(device, key, &code, &size);
  if (is_there) {
    EXPECT(size > 4 && memcmp(code, "\177ELF", 4) == 0);
    (void)device->state->allocator.resize(device->state->allocator.user, code, size, 0);
  }
  return is_there;
}

static const char kernel[] = "extern \"C\" __global__ void f(float* x) { x[threadIdx.x] = 1; }\n";

/* Who asks for what no thread has taken yet compiles it himself: so they are given time. */
TENON_TEST(what_was_begun_is_taken_once) {
  const struct timespec moment = {.tv_nsec = 50000000};
  tenon__cuda_state_t state;
  tenon_device_t device;
  bool is_taken = false;
  open_world(&state, &device);
  EXPECT(!take(&device, 0)); /* nothing was ever begun */
  const bool is_possible = tenon__cuda_compiler_exists(&state) && sysconf(_SC_NPROCESSORS_ONLN) > 1;
  for (int k = 0; k < (is_possible ? TEXTS : 4) && !is_taken; k++) {
    begin(&device, k, kernel);
    begin(&device, k, kernel); /* it is under way */
    (void)nanosleep(&moment, NULL);
    is_taken = take(&device, k);
    EXPECT(!take(&device, k));
  }
  EXPECT(is_taken == is_possible);
  close_world(&state, &device);
}

TENON_TEST(what_cannot_be_compiled_is_not_there) {
  tenon__cuda_state_t state;
  tenon_device_t device;
  open_world(&state, &device);
  begin(&device, 1, "this is no kernel");
  begin(&device, 2, kernel);
  EXPECT(!take(&device, 1));
  close_world(&state, &device);
}

TENON_TEST(it_is_closed_with_much_to_do) {
  tenon__cuda_state_t state;
  tenon_device_t device;
  open_world(&state, &device);
  for (int k = 0; k < TEXTS; k++) {
    begin(&device, k, k % 2 == 0 ? "" : "this is no kernel");
  }
  close_world(&state, &device);
}
