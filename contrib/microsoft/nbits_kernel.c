/*
 * The kernels of microsoft.mat_mul_nbits/1 on the CPU, one for each instruction set. Weights are
 * packed when the plan is built and keep their bits (nbits.h). Rows of a are copied as f32, up to
 * NBITS_MAX_ROWS at a time. Threads then take ranges of columns.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "nbits.h"
#include "tenon/narrow.h"

enum { IN_A, IN_B, IN_SCALES, IN_ZERO_POINTS, IN_BIAS, IN_COUNT };

/* Up to so many rows, unpacking in registers is faster. */
enum { FEW_ROWS = 8 };

typedef struct instance_t {
  nbits_weights_t weights;
  size_t depth; /* of a, without the padding */
  const nbits_functions_t* functions;
} instance_t;

/* ---- The region ---- */

typedef struct node_t {
  const tenon_value_info_t* inputs[IN_COUNT];
  int64_t bits;
  int64_t block;
  int64_t depth;
  int64_t columns;
} node_t;

static node_t read_node(const tenon_region_t* region, const tenon_region_table_t* table) {
  node_t node = {0};
  for (uint32_t k = 0; k < IN_COUNT; k++) {
    const uint32_t value = table->node_input(region, 0, k);
    node.inputs[k] = value == TENON_NONE ? NULL : table->value(region, value);
  }
  (void)table->attribute_int(region, 0, "bits", &node.bits);
  (void)table->attribute_int(region, 0, "block_size", &node.block);
  (void)table->attribute_int(region, 0, "K", &node.depth);
  (void)table->attribute_int(region, 0, "N", &node.columns);
  return node;
}

static size_t blocks_of(const node_t* node) {
  return ((size_t)node->depth + (size_t)node->block - 1) / (size_t)node->block;
}

static size_t panels_of(size_t columns) {
  return (columns + NBITS_PANEL - 1) / NBITS_PANEL;
}

/* Floats from one row of a to the next. Rows at multiples of a page would meet in the cache. */
static size_t row_stride(const node_t* node) {
  return blocks_of(node) * (size_t)node->block + NBITS_PANEL;
}

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  static const char* const names[IN_COUNT] = {NULL, "the weights", "the scales", "the zero points",
                                              "the bias"};
  const node_t node = read_node(region, table);
  (void)state;
  for (uint32_t k = IN_B; k < IN_COUNT; k++) {
    if (node.inputs[k] != NULL && node.inputs[k]->constant_data == NULL) {
      *out_refusal =
          (tenon_refusal_t){.reason = TENON_REFUSAL_CONSTANT_REQUIRED, .detail = names[k]};
      return 0;
    }
  }
  return 1;
}

static double rows_of(const tenon_value_info_t* a) {
  double rows = 1;
  for (uint32_t k = 0; k + 1 < a->rank; k++) {
    rows *= (double)a->dims_opt[k];
  }
  return rows;
}

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  static const tenon_numerics_t numerics = {.size = sizeof(numerics), .reassociates = 1};
  const node_t node = read_node(region, table);
  const size_t row_bytes = (row_stride(&node) + blocks_of(&node)) * sizeof(float);
  (void)state;
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic),
      .name = "panels",
      .numerics = &numerics,
      .scratch_bytes = (NBITS_MAX_ROWS * row_bytes + 63) / 64 * 64,
      .scratch_bytes_per_thread = NBITS_SCRATCH_BYTES,
      .estimate_seconds =
          1e-6 + (3e-11 + rows_of(node.inputs[IN_A]) * 2e-11) * (double)(node.columns * node.depth),
      .launches = 1};
  return add(emit, &tactic);
}

/* ---- Packing ---- */

static float float_of(const tenon_value_info_t* value, size_t k) {
  float x = 0;
  if (value->dtype == TENON_DTYPE_FLOAT32) {
    memcpy(&x, (const char*)value->constant_data + k * sizeof(x), sizeof(x));
    return x;
  }
  uint16_t narrow = 0;
  memcpy(&narrow, (const char*)value->constant_data + k * sizeof(narrow), sizeof(narrow));
  return tenon_wide_of(value->dtype, narrow);
}

/* Copies words of 4 bytes, one of each column. Numbers become signed: the highest bit is inverted. */
static void pack_words(const node_t* node, uint32_t* out_words) {
  const uint32_t invert = node->bits == 2   ? 0xAAAAAAAAU
                          : node->bits == 4 ? 0x88888888U
                                            : 0x80808080U;
  const size_t count = blocks_of(node) * (size_t)(node->block * node->bits) / 32;
  const char* bytes = node->inputs[IN_B]->constant_data;
  for (size_t column = 0; column < (size_t)node->columns; column++) {
    uint32_t* out = out_words + column / NBITS_PANEL * count * NBITS_PANEL + column % NBITS_PANEL;
    for (size_t k = 0; k < count; k++) {
      const uint8_t* from = (const uint8_t*)bytes + (column * count + k) * 4;
      const uint32_t word = (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
                            (uint32_t)from[3] << 24;
      out[k * NBITS_PANEL] = word ^ invert;
    }
  }
}

/* Returns a zero point less the middle of the range. */
static float zero_of(const node_t* node, size_t column, size_t block) {
  const tenon_value_info_t* zeros = node->inputs[IN_ZERO_POINTS];
  const float middle = (float)(1 << (node->bits - 1));
  if (zeros->dtype != TENON_DTYPE_UINT8) {
    return float_of(zeros, column * blocks_of(node) + block) - middle;
  }
  const size_t bits = (size_t)node->bits;
  const size_t row = (blocks_of(node) * bits + 7) / 8;
  const uint8_t byte = ((const uint8_t*)zeros->constant_data)[column * row + block * bits / 8];
  return (float)(byte >> (block * bits % 8) & ((1 << bits) - 1)) - middle;
}

static void pack_scales(const node_t* node, float* out_scales, float* out_offsets) {
  const size_t blocks = blocks_of(node);
  for (size_t column = 0; column < (size_t)node->columns; column++) {
    for (size_t b = 0; b < blocks; b++) {
      const float scale = float_of(node->inputs[IN_SCALES], column * blocks + b);
      const size_t place = (column / NBITS_PANEL * blocks + b) * NBITS_PANEL + column % NBITS_PANEL;
      out_scales[place] = scale;
      if (out_offsets != NULL) {
        out_offsets[place] = zero_of(node, column, b) * scale;
      }
    }
  }
}

static void pack_bias(const node_t* node, float* out_bias) {
  for (size_t k = 0; k < (size_t)node->columns; k++) {
    out_bias[k] = float_of(node->inputs[IN_BIAS], k);
  }
}

/* Packs all constants into one block of memory. */
static tenon_status_t pack(const tenon_prepare_t* call, const node_t* node,
                           nbits_weights_t* weights) {
  const size_t panels = panels_of((size_t)node->columns);
  const size_t words = panels * NBITS_PANEL * weights->depth * weights->bits / 32;
  const size_t scales = panels * NBITS_PANEL * blocks_of(node);
  const size_t offsets = node->inputs[IN_ZERO_POINTS] == NULL ? 0 : scales;
  const size_t biases = node->inputs[IN_BIAS] == NULL ? 0 : panels * NBITS_PANEL;
  uint32_t sources[IN_COUNT];
  char parameters[64];
  (void)snprintf(parameters, sizeof(parameters), "%d bits, blocks of %lld", (int)node->bits,
                 (long long)node->block);
  tenon_packing_t packing = {.size = sizeof(packing),
                             .format = "microsoft.nbits.panel16/1",
                             .parameters = parameters,
                             .sources = sources,
                             .size_bytes = (words + scales + offsets + biases) * sizeof(float)};
  for (uint32_t k = IN_B; k < IN_COUNT; k++) {
    if (node->inputs[k] != NULL) {
      sources[packing.source_count++] = call->table->node_input(call->region, 0, k);
    }
  }
  void* data = NULL;
  int32_t is_ready = 0;
  const tenon_status_t status = call->host->pack(call->preparation, &packing, &data, &is_ready);
  if (status != TENON_OK) {
    return status;
  }
  float* numbers = (float*)data + words;
  weights->words = data;
  weights->scales = numbers;
  weights->offsets = offsets == 0 ? NULL : numbers + scales;
  weights->bias = biases == 0 ? NULL : numbers + scales + offsets;
  if (is_ready == 0) {
    memset(data, 0, packing.size_bytes);
    pack_words(node, data);
    pack_scales(node, numbers, offsets == 0 ? NULL : numbers + scales);
    if (biases != 0) {
      pack_bias(node, numbers + scales + offsets);
    }
  }
  return TENON_OK;
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance,
                              const nbits_functions_t* functions) {
  const node_t node = read_node(call->region, call->table);
  instance_t* self = call->host->allocate(call->preparation, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  self->functions = functions;
  self->depth = (size_t)node.depth;
  self->weights = (nbits_weights_t){.depth = blocks_of(&node) * (size_t)node.block,
                                    .columns = (size_t)node.columns,
                                    .block = (size_t)node.block,
                                    .bits = (size_t)node.bits};
  *out_instance = self;
  return pack(call, &node, &self->weights);
}

/* ---- Running ---- */

typedef struct job_t {
  const tenon_enqueue_t* call;
  const instance_t* self;
  nbits_rows_t rows;
  const char* from; /* row 0 of these rows */
  size_t row_bytes;
  float* copies;
  float* sums;
  char* scratch;
  size_t panels;
  size_t tasks;
} job_t;

static void load_row(void* user, uint32_t index, uint32_t thread) {
  const job_t* job = user;
  const size_t blocks = job->self->weights.depth / job->self->weights.block;
  (void)thread;
  job->self->functions->load(
      job->from + index * job->row_bytes, job->rows.dtype, job->self->depth, &job->self->weights,
      job->copies + index * job->rows.stride,
      job->self->weights.offsets == NULL ? NULL : job->sums + index * blocks);
}

static void multiply(void* user, uint32_t index, uint32_t thread) {
  const job_t* job = user;
  const size_t begin = job->panels * index / job->tasks;
  const size_t end = job->panels * (index + 1) / job->tasks;
  if (job->call->host->cancelled(job->call->run)) {
    return;
  }
  if (job->rows.count <= FEW_ROWS) {
    job->self->functions->few(&job->self->weights, &job->rows, begin, end);
  } else {
    job->self->functions->many(&job->self->weights, &job->rows, begin, end,
                               (float*)(job->scratch + (size_t)thread * NBITS_SCRATCH_BYTES));
  }
}

static void run(const tenon_enqueue_t* call, uint32_t count,
                void (*body)(void* user, uint32_t index, uint32_t thread), job_t* job) {
  if (count == 1) {
    body(job, 0, 0);
  } else {
    call->host->parallel(call->run, count, body, job);
  }
}

/* Returns the number of parts for `panels` panels: at least some ten microseconds of work each, and
 * several for each thread. Parts of `many` have whole tiles. */
static size_t tasks_for(const job_t* job, size_t threads) {
  const double work = (double)job->self->weights.depth * NBITS_PANEL * (double)job->rows.count;
  const size_t least = (size_t)(400000 / work) + 1;
  const size_t unit = job->rows.count <= FEW_ROWS ? least : least + least % 2;
  const size_t most = (job->panels + unit - 1) / unit;
  return threads == 1 ? 1 : most < 8 * threads ? most : 8 * threads;
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const instance_t* self = call->instance;
  const tenon_tensor_view_t* a = &call->inputs[IN_A].tensor;
  const size_t blocks = self->weights.depth / self->weights.block;
  const size_t element = a->dtype == TENON_DTYPE_FLOAT32 ? sizeof(float) : sizeof(uint16_t);
  size_t rows = 1;
  for (uint32_t k = 0; k + 1 < a->rank; k++) {
    rows *= (size_t)a->dims[k];
  }
  job_t job = {.call = call,
               .self = self,
               .rows = {.stride = self->weights.depth + NBITS_PANEL, .dtype = a->dtype},
               .row_bytes = self->depth * element,
               .copies = call->host->scratch(call->run),
               .panels = panels_of(self->weights.columns)};
  job.sums = job.copies + NBITS_MAX_ROWS * job.rows.stride;
  job.scratch = (char*)job.copies +
                (NBITS_MAX_ROWS * (job.rows.stride + blocks) * sizeof(float) + 63) / 64 * 64;
  job.rows.a = job.copies;
  job.rows.sums = job.sums;
  for (size_t row = 0; row < rows; row += NBITS_MAX_ROWS) {
    job.rows.count = rows - row < NBITS_MAX_ROWS ? rows - row : NBITS_MAX_ROWS;
    job.rows.y = (char*)call->outputs[0].tensor.data + row * self->weights.columns * element;
    job.from = (const char*)a->data + row * job.row_bytes;
    job.tasks = tasks_for(&job, call->host->thread_count(call->run));
    run(call, (uint32_t)job.rows.count, load_row, &job);
    run(call, (uint32_t)job.tasks, multiply, &job);
  }
  return TENON_OK;
}

/* ---- Kernels ---- */

#define PREPARE(set)                                                                      \
  static tenon_status_t prepare_##set(const tenon_prepare_t* call, void** out_instance) { \
    return prepare(call, out_instance, &nbits_functions_##set);                           \
  }
#define KERNEL(set, isa_name)                                                                      \
  {                                                                                                \
    .size = sizeof(tenon_kernel_t), .name = "mat_mul_nbits_" #set, .device = "cpu",                \
    .operators = names, .attributes = attributes, .isa = (isa_name), .version = 1, .match = match, \
    .tactics = tactics, .prepare = prepare_##set, .enqueue = enqueue                               \
  }

PREPARE(baseline)
#if defined(TENON_WITH_AVX2)
PREPARE(avx2)
#endif
#if defined(TENON_WITH_AVX512)
PREPARE(avx512)
#endif

static const char* const names[] = {"microsoft.mat_mul_nbits/1", NULL};
static const char* const attributes[] = {"bits", "block_size", "K", "N", NULL};
static const tenon_kernel_t kernels[] = {
#if defined(TENON_WITH_AVX512)
    KERNEL(avx512, "avx512"),
#endif
#if defined(TENON_WITH_AVX2)
    KERNEL(avx2, "avx2"),
#endif
    KERNEL(baseline, NULL),
};

const tenon_offering_t microsoft_nbits_kernels = TENON_OFFERING_OF("kernel/1", kernels);
