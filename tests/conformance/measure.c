/*
 * What a device's kernels for expressions and moves take: for the page of figures, no test.
 *
 *   device_measure PLUGIN.so DEVICE
 *
 * A step is the difference of a long and a short recorded chain of launches, divided by the
 * launches that it has more; medians of several replays, timed by the device's events. The share is
 * of the rate at which the device copies within itself.
 */
#include <time.h>

#include "kernel_tables.h"
#include "measure_chain.h"

enum { F32 = TENON_DTYPE_FLOAT32, F16 = TENON_DTYPE_FLOAT16, LARGE_BYTES = 1 << 28 };

static double copy_rate; /* bytes a second, those read and those written */

static double host_seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- Cases ---- */

/* Prints the best of all tactics. Ends the case. */
static void measure(kernel_case_t* c, const char* name, uint32_t tactics) {
  double best = 1e9;
  uint32_t winner = 0;
  double bytes = 0.0;
  for (uint32_t tactic = 0; tactic < tactics; tactic++) {
    kernel_life_t life;
    if (kernel_case_live(c, tactic, &life) == TENON_OK && kernel_life_enqueue(&life) == TENON_OK) {
      bytes = 0.0;
      for (uint32_t k = 0; k < c->fake.value_count; k++) {
        bytes += (double)c->tensors[k].size_bytes;
      }
      const bool large = bytes > (double)LARGE_BYTES;
      const int few = large ? 1 : 10;
      const int many = large ? 5 : 60;
      const double step = measure_step(&life, few, many);
      winner = step < best ? tactic : winner;
      best = step < best ? step : best;
    }
    kernel_life_end(&life);
  }
  (void)printf("%-34s %10.2f us %6.1f %%  tactic %u\n", name, best * 1e6,
               100.0 * bytes / copy_rate / best, winner);
  kernel_case_end(c);
}

/* ---- What is measured ---- */

static void measure_copy(void) {
  enum { ROUNDS = 5 };
  const tenon_device_descriptor_t* t = kernel_device.table;
  tenon_device_t* device = kernel_device.device;
  const size_t size = (size_t)1 << 30;
  void* blocks[2] = {NULL, NULL};
  void* recording = NULL;
  tenon_stream_t* stream = NULL;
  (void)t->create_stream(device, NULL, &stream);
  (void)t->allocate(device, stream, size, &blocks[0]);
  (void)t->allocate(device, stream, size, &blocks[1]);
  (void)t->begin_record(device, stream);
  for (int k = 0; k < ROUNDS; k++) {
    (void)t->copy(device, stream, TENON_COPY_WITHIN, blocks[k % 2], blocks[1 - k % 2], size);
  }
  (void)t->end_record(device, stream, &recording);
  copy_rate = 2.0 * (double)size * ROUNDS / measure_replay(stream, recording);
  t->destroy_recording(device, recording);
  t->free(device, stream, blocks[0], size);
  t->free(device, stream, blocks[1], size);
  (void)t->synchronize(device, stream);
  t->destroy_stream(device, stream);
  (void)printf("a copy within the device: %.3f TB/s\n", copy_rate * 1e-12);
}

static void begin_bare(kernel_case_t* c, uint32_t rank, const int64_t* dims) {
  kernel_case_begin(c, rank, dims);
  c->bare = true;
}

/* relu(x * 0.75 + b) */
static void make_relu(kernel_case_t* c, tenon_dtype_t dtype, double scale) {
  const uint32_t x = kernel_operand(c, dtype, NULL);
  const uint32_t b = kernel_operand(c, dtype, NULL);
  const uint32_t s = kernel_constant(c, F32, scale);
  const uint32_t wide = kernel_add(c, TENON_OPCODE_CAST, F32, x, 0, 0);
  const uint32_t other = kernel_add(c, TENON_OPCODE_CAST, F32, b, 0, 0);
  const uint32_t scaled = kernel_add(c, TENON_OPCODE_MUL, F32, wide, s, 0);
  const uint32_t sum = kernel_add(c, TENON_OPCODE_ADD, F32, scaled, other, 0);
  const uint32_t zero = kernel_constant(c, F32, 0.0);
  kernel_output(c, dtype, kernel_add(c, TENON_OPCODE_MAX, F32, sum, zero, 0), 0, NULL);
}

static void measure_expressions(void) {
  for (int half = 0; half < 2; half++) {
    for (int64_t count = 1 << 10; count <= (int64_t)1 << 28; count *= 4) {
      kernel_case_t c;
      char name[64];
      begin_bare(&c, 1, &count);
      make_relu(&c, half ? F16 : F32, 0.75);
      (void)snprintf(name, sizeof(name), "expression %s, %lld K", half ? "f16" : "f32",
                     (long long)(count >> 10));
      measure(&c, name, 1);
    }
  }
}

static void make_softmax(kernel_case_t* c, tenon_dtype_t dtype) {
  const uint32_t x = kernel_operand(c, dtype, NULL);
  const uint32_t wide = kernel_add(c, TENON_OPCODE_CAST, F32, x, 0, 0);
  const uint32_t most = kernel_reduce(c, TENON_OPCODE_REDUCE_MAX, F32, wide, 2);
  const uint32_t below = kernel_add(c, TENON_OPCODE_SUB, F32, wide, most, 0);
  const uint32_t power = kernel_add(c, TENON_OPCODE_EXP, F32, below, 0, 0);
  const uint32_t sum = kernel_reduce(c, TENON_OPCODE_SUM, F32, power, 2);
  kernel_output(c, dtype, kernel_add(c, TENON_OPCODE_DIV, F32, power, sum, 0), 0, NULL);
}

static void make_norm(kernel_case_t* c, tenon_dtype_t dtype, uint64_t axes) {
  const uint32_t x = kernel_operand(c, dtype, NULL);
  const uint32_t wide = kernel_add(c, TENON_OPCODE_CAST, F32, x, 0, 0);
  const uint32_t mean = kernel_reduce(c, TENON_OPCODE_MEAN, F32, wide, axes);
  const uint32_t rest = kernel_add(c, TENON_OPCODE_SUB, F32, wide, mean, 0);
  const uint32_t square = kernel_add(c, TENON_OPCODE_MUL, F32, rest, rest, 0);
  const uint32_t variance = kernel_reduce(c, TENON_OPCODE_MEAN, F32, square, axes);
  const uint32_t epsilon = kernel_constant(c, F32, 1e-5);
  const uint32_t sum = kernel_add(c, TENON_OPCODE_ADD, F32, variance, epsilon, 0);
  const uint32_t root = kernel_add(c, TENON_OPCODE_RSQRT, F32, sum, 0, 0);
  kernel_output(c, dtype, kernel_add(c, TENON_OPCODE_MUL, F32, rest, root, 0), 0, NULL);
}

static void measure_rows(void) {
  static const int64_t dims[][2] = {{65536, 64}, {1536, 128}, {75648, 197}, {128, 768}, {6304, 768},
                                    {512, 1024}, {1, 4096},   {4096, 4096}, {64, 16384}};
  for (size_t k = 0; k < sizeof(dims) / sizeof(*dims); k++) {
    for (int what = 0; what < 4; what++) {
      kernel_case_t c;
      char name[64];
      begin_bare(&c, 2, dims[k]);
      if (what < 2) {
        make_softmax(&c, what == 0 ? F16 : F32);
      } else {
        make_norm(&c, what == 2 ? F16 : F32, 2);
      }
      (void)snprintf(name, sizeof(name), "%s %s, %lldx%lld", what < 2 ? "softmax" : "norm",
                     what % 2 == 0 ? "f16" : "f32", (long long)dims[k][0], (long long)dims[k][1]);
      measure(&c, name, 3);
    }
  }
  kernel_case_t c;
  begin_bare(&c, DIMS(32, 256, 196));
  make_norm(&c, F16, 2);
  measure(&c, "norm over channels f16, 32x256x196", 3);
}

static void measure_permutation(const char* name, tenon_dtype_t dtype, const int64_t source[4],
                                const uint32_t order[4]) {
  static const int64_t nowhere[4] = {0, 0, 0, 0};
  kernel_case_t c;
  int64_t dims[4];
  int64_t strides[4];
  begin_bare(&c, 0, NULL);
  const kernel_tensor_t* from = kernel_move_tensor(&c, false, dtype, 4, source, NULL);
  for (uint32_t k = 0; k < 4; k++) {
    dims[k] = source[order[k]];
    strides[k] = from->strides[order[k]];
  }
  (void)kernel_move_tensor(&c, true, dtype, 4, dims, NULL);
  const tenon_move_piece_t piece = {.begin = nowhere, .extent = dims, .strides = strides};
  const tenon_move_t move = {.rank = 4,
                             .piece_count = 1,
                             .fill_argument = TENON_NONE,
                             .covers_output = 1,
                             .pieces = &piece};
  c.move = &move;
  measure(&c, name, 1);
}

static void measure_moves(void) {
  static const uint32_t same[] = {0, 1, 2, 3};
  static const uint32_t to_last[] = {0, 2, 3, 1};
  static const uint32_t to_first[] = {0, 3, 1, 2};
  static const uint32_t heads[] = {0, 2, 1, 3};
  for (int half = 0; half < 2; half++) {
    const tenon_dtype_t dtype = half ? F16 : F32;
    const char* suffix = half ? "f16" : "f32";
    char name[64];
    (void)snprintf(name, sizeof(name), "move as it is %s, 32x64x112x112", suffix);
    measure_permutation(name, dtype, (const int64_t[]){32, 64, 112, 112}, same);
    (void)snprintf(name, sizeof(name), "to NHWC %s, 32x64x112x112", suffix);
    measure_permutation(name, dtype, (const int64_t[]){32, 64, 112, 112}, to_last);
    (void)snprintf(name, sizeof(name), "to NCHW %s, 32x56x56x64", suffix);
    measure_permutation(name, dtype, (const int64_t[]){32, 56, 56, 64}, to_first);
    (void)snprintf(name, sizeof(name), "to NHWC %s, 1x3x224x224", suffix);
    measure_permutation(name, dtype, (const int64_t[]){1, 3, 224, 224}, to_last);
    (void)snprintf(name, sizeof(name), "heads %s, 32x12x128x64", suffix);
    measure_permutation(name, dtype, (const int64_t[]){32, 12, 128, 64}, heads);
  }
}

/* Each text is new to the compiler, though its driver may keep others. */
static void measure_making(const char* plugin, const char* device) {
  enum { TEXTS = 6, LAUNCHES = 2000 };
  for (int round = 0; round < 2; round++) {
    double seconds[TEXTS];
    for (int k = 0; k < TEXTS; k++) {
      kernel_case_t c;
      kernel_life_t life;
      begin_bare(&c, DIMS(1 << 20));
      make_relu(&c, F16, 0.5 + (double)k * 0.0625);
      const double begun = host_seconds();
      (void)kernel_case_live(&c, 0, &life);
      seconds[k] = host_seconds() - begun;
      kernel_life_end(&life);
      kernel_case_end(&c);
    }
    const double median = measure_median(seconds, TEXTS);
    (void)printf("made %s: %.2f ms (%.2f to %.2f)\n", round == 0 ? "by NVRTC" : "from blobs",
                 median * 1e3, seconds[0] * 1e3, seconds[TEXTS - 1] * 1e3);
    opened_stop(&kernel_device); /* modules go with the device, blobs stay */
    (void)opened_start(&kernel_device, plugin, device, 0);
  }
  kernel_case_t c;
  kernel_life_t life;
  begin_bare(&c, DIMS(1 << 10));
  make_relu(&c, F16, 0.75);
  (void)kernel_case_live(&c, 0, &life);
  (void)kernel_life_enqueue(&life);
  (void)kernel_device.table->synchronize(kernel_device.device, life.stream);
  const double begun = host_seconds();
  for (int k = 0; k < LAUNCHES; k++) {
    (void)kernel_life_enqueue(&life);
  }
  const double singly = (host_seconds() - begun) / LAUNCHES;
  (void)printf("a launch by itself takes the host %.2f us\n", singly * 1e6);
  kernel_life_end(&life);
  kernel_case_end(&c);
}

int main(int argument_count, char** arguments) {
  const int status = argument_count < 3
                         ? OPENED_FAILED
                         : opened_start(&kernel_device, arguments[1], arguments[2], 0);
  if (status != 0) {
    (void)fprintf(stderr, "device_measure PLUGIN.so DEVICE\n");
    return status;
  }
  (void)printf("%s\n", kernel_device.table->fingerprint(kernel_device.device));
  measure_making(arguments[1], arguments[2]);
  measure_copy();
  measure_expressions();
  measure_rows();
  measure_moves();
  kernel_forget_blobs();
  opened_stop(&kernel_device);
  return 0;
}
