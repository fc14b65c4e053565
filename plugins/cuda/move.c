/*
 * Moves: boxes copied from anywhere to anywhere, in one launch for up to sixteen of them. Elements
 * that are neighbours on both sides are moved as wider ones; where neighbours lie along different
 * axes, tiles are turned in shared memory. What no box covers is filled before.
 */
#include <stdio.h>
#include <string.h>

#include "axes.h"
#include "compiler.h"
#include "kernels.h"
#include "launch.h"
#include "text.h"
#include "texts.h"

enum {
  PIECES = 16, /* as moves.cuh */
  THREADS = 256,
  EACH = 4,          /* elements per thread of a large box */
  MANY_BLOCKS = 528, /* of one element per thread: 4 per multiprocessor of an H100 */
  TILE = 32,
  LEAST_TILED = 16, /* of both extents: below, gathering is as fast */
  SIZES = 5,
  FROM = 0,
  TO = 1
};

/* As in moves.cuh. */
typedef struct piece_t {
  const char* from;
  char* to;
  uint32_t count;
  uint32_t each;
  int32_t rank;
  struct {
    uint32_t extent;
    uint32_t multiplier;
    uint32_t shift;
    int32_t from_stride;
    int32_t to_stride;
  } axes[TENON_CUDA_AXES];
  uint32_t across;
  uint32_t down;
  int32_t across_step;
  int32_t down_step;
  uint32_t across_tiles;
  uint32_t down_tiles;
} piece_t;

typedef struct parameters_t {
  uint32_t count;
  int32_t release;
  uint32_t first_block[PIECES];
  piece_t pieces[PIECES];
} parameters_t;

typedef struct instance_t {
  tenon_device_t* device;
  tenon__cuda_module_t* module;
  uint32_t bytes;          /* of an element */
  CUfunction boxes[SIZES]; /* by the logarithm of an element's bytes */
  CUfunction tiles;
  CUfunction fills;
} instance_t;

/* A box in one way of doing it. */
typedef struct way_t {
  CUfunction kernel;
  uint32_t blocks;
  uint32_t bytes; /* of its elements, which addresses must be multiples of */
  piece_t piece;
} way_t;

typedef struct box_t {
  uint32_t input; /* TENON_NONE: nothing is read, zeros are written */
  int64_t from;   /* bytes from the input's address */
  int64_t to;
  way_t wide;
  way_t narrow; /* where an address is no multiple */
} box_t;

typedef struct bound_t {
  const instance_t* instance;
  uint32_t count;
  box_t* boxes; /* the fill first, if there is one */
  parameters_t parameters;
} bound_t;

/* ---- What is taken ---- */

static uint32_t logarithm(uint32_t bytes) {
  uint32_t power = 0;
  while ((1U << power) < bytes) {
    power++;
  }
  return power;
}

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon_value_info_t* output = table->value(region, table->output(region, 0));
  const int kind = output == NULL ? 'x' : tenon__cuda_class(output->dtype);
  out_refusal->detail = NULL;
  if (kind == 'x' || kind == 's' || tenon__cuda_bytes(output->dtype) == 0) {
    out_refusal->reason = TENON_REFUSAL_DTYPE;
    return 0;
  }
  if (output->rank > TENON_CUDA_AXES) {
    out_refusal->reason = TENON_REFUSAL_RANK;
    return 0;
  }
  out_refusal->reason = TENON_REFUSAL_LIBRARY;
  out_refusal->detail = "CUDA's run-time compiler, NVRTC";
  return tenon__cuda_compiler_exists(state) ? 1 : 0;
}

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  enum { ARGUMENTS = 256 };
  tenon_argument_rule_t rules[ARGUMENTS];
  (void)state;
  if (table->input_count(region) > ARGUMENTS) {
    return TENON_OK;
  }
  for (size_t k = 0; k < ARGUMENTS; k++) {
    rules[k] = (tenon_argument_rule_t){.kind = TENON_LAYOUT_ANY, .flags = TENON_RULE_STRIDED};
  }
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic),
      .name = "boxes",
      .inputs = rules,
      .outputs = rules,
      .flags = TENON_TACTIC_RECORDABLE | TENON_TACTIC_RELEASES_EARLY,
  };
  return add(emit, &tactic);
}

/* ---- Preparing ---- */

static const char* const types[SIZES] = {"unsigned char", "unsigned short", "unsigned", "u64",
                                         "element16_t"};

/* A text, and the names and places of its kernels. */
typedef struct making_t {
  tenon__cuda_text_t text;
  char names[SIZES + 2][24];
  tenon__cuda_wanted_t wanted[SIZES + 2];
  uint32_t count;
} making_t;

static void add_kernel(making_t* making, const char* name, const char* function, uint32_t size,
                       CUfunction* out_kernel) {
  char* whole = making->names[making->count];
  (void)snprintf(whole, sizeof(making->names[0]), "%s_%u", name, 1U << size);
  making->wanted[making->count++] = (tenon__cuda_wanted_t){whole, out_kernel};
  tenon__cuda_text_add(&making->text,
                       "extern \"C\" __global__ void __launch_bounds__(THREADS) %s(const "
                       "__grid_constant__ parameters_t p) {\n  %s<%s>(p);\n}\n",
                       whole, function, types[size]);
}

static tenon_status_t make_module(const tenon_prepare_t* call, instance_t* instance) {
  making_t making = {.text = {.allocator = instance->device->state->allocator}};
  const uint32_t own = logarithm(instance->bytes);
  tenon__cuda_text_copy(&making.text, tenon__cuda_launch_text);
  tenon__cuda_text_copy(&making.text, tenon__cuda_moves_text);
  for (uint32_t size = own; size < SIZES; size++) {
    add_kernel(&making, "boxes", "move_boxes", size, &instance->boxes[size]);
  }
  add_kernel(&making, "tiles", "move_tiles", own, &instance->tiles);
  add_kernel(&making, "fills", "fill_boxes", own, &instance->fills);
  return tenon__cuda_module_get(instance->device, call, &making.text, making.wanted, making.count,
                                &instance->module);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon_region_table_t* table = call->table;
  const tenon_value_info_t* output = table->value(call->region, table->output(call->region, 0));
  tenon_device_t* device = tenon__cuda_prepared_device(call);
  if (device == NULL) {
    return TENON_ERROR_UNSUPPORTED;
  }
  instance_t* instance = call->host->allocate(call->preparation, sizeof(*instance));
  if (instance == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  instance->device = device;
  instance->bytes = tenon__cuda_bytes(output->dtype);
  const tenon_status_t status = make_module(call, instance);
  if (status == TENON_OK) {
    *out_instance = instance;
  }
  return status;
}

static void destroy(void* instance) {
  instance_t* self = instance;
  tenon__cuda_module_release(self->device, self->module);
}

/* ---- Binding ---- */

/* Axes as a piece has them; false where one does not fit. */
static bool write_axes(const tenon__cuda_axes_t* axes, piece_t* piece) {
  piece->rank = (int32_t)axes->rank;
  for (uint32_t k = 0; k < axes->rank; k++) {
    const int64_t extent = axes->extents[k];
    const int64_t from = axes->strides[k][FROM];
    const int64_t to = axes->strides[k][TO];
    if (extent > INT32_MAX || from > INT32_MAX || from < INT32_MIN || to > INT32_MAX ||
        to < INT32_MIN) {
      return false;
    }
    piece->axes[k].extent = (uint32_t)extent;
    piece->axes[k].from_stride = (int32_t)from;
    piece->axes[k].to_stride = (int32_t)to;
    tenon__cuda_find_multiplier((uint32_t)extent, &piece->axes[k].multiplier,
                                &piece->axes[k].shift);
  }
  return true;
}

static bool write_way(CUfunction kernel, uint32_t bytes, const tenon__cuda_axes_t* axes,
                      way_t* out) {
  const int64_t count = tenon__cuda_axes_count(axes);
  if (count > INT32_MAX || !write_axes(axes, &out->piece)) {
    return false;
  }
  out->kernel = kernel;
  out->bytes = bytes;
  out->piece.count = (uint32_t)count;
  out->piece.each = count > (int64_t)MANY_BLOCKS * THREADS ? EACH : 1;
  const int64_t of_a_block = (int64_t)out->piece.each * THREADS;
  out->blocks = (uint32_t)((count + of_a_block - 1) / of_a_block);
  return true;
}

/* Neighbours on both sides, in pairs, as long as everything in front of them is even. */
static uint32_t widen(tenon__cuda_axes_t* axes, int64_t from, int64_t to, uint32_t bytes) {
  const uint32_t last = axes->rank - 1;
  if (axes->strides[last][FROM] != 1 || axes->strides[last][TO] != 1) {
    return bytes;
  }
  while (bytes < 16) {
    bool even = axes->extents[last] % 2 == 0 && from % ((int64_t)bytes * 2) == 0 &&
                to % ((int64_t)bytes * 2) == 0;
    for (uint32_t k = 0; k < last; k++) {
      even = even && axes->strides[k][FROM] % 2 == 0 && axes->strides[k][TO] % 2 == 0;
    }
    if (!even) {
      break;
    }
    axes->extents[last] /= 2;
    for (uint32_t k = 0; k < last; k++) {
      axes->strides[k][FROM] /= 2;
      axes->strides[k][TO] /= 2;
    }
    bytes *= 2;
  }
  return bytes;
}

/* The axis of the source's neighbours, if it is another than the result's and both are long. */
static uint32_t find_across(const tenon__cuda_axes_t* axes) {
  const uint32_t last = axes->rank - 1;
  for (uint32_t k = 0; k < last; k++) {
    if (axes->strides[k][FROM] == 1 && axes->strides[last][TO] == 1 &&
        axes->strides[last][FROM] != 1 && axes->extents[k] >= LEAST_TILED &&
        axes->extents[last] >= LEAST_TILED) {
      return k;
    }
  }
  return TENON_NONE;
}

static bool write_tiles(const instance_t* instance, const tenon__cuda_axes_t* axes, uint32_t across,
                        way_t* out) {
  const uint32_t last = axes->rank - 1;
  tenon__cuda_axes_t front = *axes;
  front.rank = 0;
  for (uint32_t k = 0; k < last; k++) {
    if (k != across) {
      front.extents[front.rank] = axes->extents[k];
      memcpy(front.strides[front.rank++], axes->strides[k], sizeof(axes->strides[k]));
    }
  }
  if (front.rank == 0) {
    front.rank = 1;
    front.extents[0] = 1;
  }
  if (!write_axes(axes, &out->piece) || !write_axes(&front, &out->piece)) {
    return false;
  }
  piece_t* piece = &out->piece;
  piece->count = (uint32_t)tenon__cuda_axes_count(&front);
  piece->across = (uint32_t)axes->extents[across];
  piece->down = (uint32_t)axes->extents[last];
  piece->across_step = (int32_t)axes->strides[across][TO];
  piece->down_step = (int32_t)axes->strides[last][FROM];
  piece->across_tiles = (piece->across + TILE - 1) / TILE;
  piece->down_tiles = (piece->down + TILE - 1) / TILE;
  out->kernel = instance->tiles;
  out->bytes = instance->bytes;
  const uint64_t blocks = (uint64_t)piece->count * piece->across_tiles * piece->down_tiles;
  out->blocks = (uint32_t)blocks;
  return blocks <= INT32_MAX;
}

/* The ways of doing a box; `space` has the strides of both sides. */
static bool write_box(const instance_t* instance, const tenon__cuda_space_t* space, box_t* box) {
  tenon__cuda_axes_t axes;
  tenon__cuda_axes_join(space, UINT64_MAX, &axes);
  const uint32_t across = find_across(&axes);
  if (across != TENON_NONE) {
    const bool fits = write_tiles(instance, &axes, across, &box->wide);
    box->narrow = box->wide;
    return fits;
  }
  const bool fits =
      write_way(instance->boxes[logarithm(instance->bytes)], instance->bytes, &axes, &box->narrow);
  const uint32_t bytes = widen(&axes, box->from, box->to, instance->bytes);
  return write_way(instance->boxes[logarithm(bytes)], bytes, &axes, &box->wide) &&
         (fits || bytes > instance->bytes);
}

static bool bind_piece(const instance_t* instance, const tenon_move_piece_t* from,
                       const tenon_tensor_view_t* to, uint32_t rank, box_t* box) {
  tenon__cuda_space_t space = {.rank = rank, .walk_count = 2, .main = TO};
  int64_t target = 0;
  for (uint32_t axis = 0; axis < rank; axis++) {
    space.extents[axis] = from->extent[axis];
    space.strides[axis][FROM] = from->strides[axis];
    space.strides[axis][TO] = to->strides[axis];
    target += from->begin[axis] * to->strides[axis];
  }
  box->input = from->input;
  box->from = from->offset * (int64_t)instance->bytes;
  box->to = target * (int64_t)instance->bytes;
  return write_box(instance, &space, box);
}

static bool bind_fill(const instance_t* instance, uint32_t input, const tenon_tensor_view_t* to,
                      uint32_t rank, box_t* box) {
  tenon__cuda_space_t space = {.rank = rank, .walk_count = 2, .main = TO};
  tenon__cuda_axes_t axes;
  for (uint32_t axis = 0; axis < rank; axis++) {
    space.extents[axis] = to->dims[axis];
    space.strides[axis][TO] = to->strides[axis];
  }
  tenon__cuda_axes_join(&space, UINT64_MAX, &axes);
  box->input = input;
  const bool fits = write_way(instance->fills, instance->bytes, &axes, &box->wide);
  box->narrow = box->wide;
  return fits;
}

static tenon_status_t bind(void* instance, tenon_binding_t* handle, const tenon_bind_table_t* host,
                           void** out_bound) {
  const instance_t* self = instance;
  const tenon_move_t* move = host->move(handle);
  bound_t* bound = host->allocate(handle, sizeof(*bound));
  if (move == NULL || bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY; /* or what the host knows */
  }
  bound->instance = self;
  bound->boxes = host->allocate(handle, (move->piece_count + 1U) * sizeof(box_t));
  if (bound->boxes == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon_tensor_view_t* to = &host->output(handle, 0)->tensor;
  bool fits = true;
  if (move->covers_output == 0) {
    fits = bind_fill(self, move->fill_argument, to, move->rank, &bound->boxes[bound->count++]);
  }
  for (uint32_t k = 0; fits && k < move->piece_count; k++) {
    fits = bind_piece(self, &move->pieces[k], to, move->rank, &bound->boxes[bound->count++]);
  }
  if (!fits) {
    return tenon__cuda_fail(host->sink == NULL ? NULL : host->sink(handle), TENON_ERROR_UNSUPPORTED,
                            "a box of 2^31 elements or more, or strides beyond 2^31");
  }
  *out_bound = bound;
  return TENON_OK;
}

/* ---- Running ---- */

static tenon_status_t flush(const tenon_enqueue_t* call, bound_t* bound, CUfunction kernel,
                            uint32_t* inout_blocks) {
  tenon_device_t* device = bound->instance->device;
  parameters_t* parameters = &bound->parameters;
  const tenon__cuda_launch_t launch = {
      .kernel = kernel, .blocks = *inout_blocks, .threads = THREADS};
  tenon_status_t status = TENON_OK;
  if (*inout_blocks > 0) {
    parameters->release =
        (int32_t)tenon__cuda_fits_at_once(device, (uint64_t)*inout_blocks * THREADS);
    status = tenon__cuda_launch(device, call, &launch, parameters);
  }
  parameters->count = 0;
  *inout_blocks = 0;
  return status;
}

static const way_t* choose(const box_t* box, const char* from, const char* to) {
  const uintptr_t both = (uintptr_t)from | (uintptr_t)to;
  return both % box->wide.bytes == 0 ? &box->wide : &box->narrow;
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  bound_t* bound = call->bound;
  parameters_t* parameters = &bound->parameters;
  CUfunction kernel = NULL;
  uint32_t blocks = 0;
  tenon_status_t status = TENON_OK;
  parameters->count = 0;
  if (call->outputs[0].kind != TENON_ARGUMENT_TENSOR) {
    return TENON_OK;
  }
  for (uint32_t k = 0; status == TENON_OK && k < bound->count; k++) {
    const box_t* box = &bound->boxes[k];
    const char* from = box->input == TENON_NONE
                           ? NULL
                           : (const char*)call->inputs[box->input].tensor.data + box->from;
    char* to = (char*)call->outputs[0].tensor.data + box->to;
    const way_t* way = choose(box, from, to);
    if (way->blocks == 0) {
      continue;
    }
    if (way->kernel != kernel || parameters->count == PIECES) {
      status = flush(call, bound, kernel, &blocks);
      kernel = way->kernel;
    }
    piece_t* piece = &parameters->pieces[parameters->count];
    *piece = way->piece;
    piece->from = from;
    piece->to = to;
    parameters->first_block[parameters->count++] = blocks;
    blocks += way->blocks;
  }
  return status == TENON_OK ? flush(call, bound, kernel, &blocks) : status;
}

const tenon_kernel_t tenon__cuda_moves_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "moves",
    .device = "cuda",
    .version = 1,
    .flags = TENON_KERNEL_MOVES,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = bind,
    .enqueue = enqueue,
    .destroy = destroy,
};
