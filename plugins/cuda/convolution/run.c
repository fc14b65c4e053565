/* A convolution at the extents of a binding, and launched. */
#include <string.h>

#include "convolution.h"
#include "stream.h"
#include "warpgroup.h"

typedef struct bound_t {
  const tenon__cuda_convolution_t* instance;
  tenon__cuda_epilogue_bound_t epilogue;
  tenon__cuda_launch_t launch;
} bound_t;

static tenon__cuda_divisor_t divisor(int64_t extent) {
  tenon__cuda_divisor_t d = {.extent = (uint32_t)(extent < 1 ? 1 : extent)};
  tenon__cuda_find_multiplier(d.extent, &d.multiplier, &d.shift);
  return d;
}

static tenon_status_t refuse(tenon_binding_t* handle, const tenon_bind_table_t* host,
                             const char* what) {
  return tenon__cuda_fail(host->sink == NULL ? NULL : host->sink(handle), TENON_ERROR_UNSUPPORTED,
                          "%s", what);
}

static tenon__cuda_extents_t extents_of(const tenon__cuda_problem_t* p,
                                        const tenon_tensor_view_t* x,
                                        const tenon_tensor_view_t* y) {
  tenon__cuda_extents_t e = {.images = tenon__cuda_extent_of(p, y->dims, TENON_CUDA_AXIS_IMAGE)};
  for (uint32_t axis = 0; axis < 2; axis++) {
    e.x[axis] = tenon__cuda_extent_of(p, x->dims, TENON_CUDA_AXIS_ROW + axis);
    e.y[axis] =
        p->is_spread ? e.x[axis] : tenon__cuda_extent_of(p, y->dims, TENON_CUDA_AXIS_ROW + axis);
  }
  return e;
}

/* Elements of x from one image, channel, row and column to the next. */
static void read_strides(const tenon__cuda_problem_t* p, const tenon_tensor_view_t* x,
                         tenon__cuda_shape_t* s) {
  s->x_image = (int32_t)tenon__cuda_stride_of(p, x->strides, TENON_CUDA_AXIS_IMAGE);
  s->x_channel = (int32_t)tenon__cuda_stride_of(p, x->strides, TENON_CUDA_AXIS_CHANNEL);
  s->x_row = (int32_t)tenon__cuda_stride_of(p, x->strides, TENON_CUDA_AXIS_ROW);
  s->x_column = (int32_t)tenon__cuda_stride_of(p, x->strides, TENON_CUDA_AXIS_COLUMN);
}

static bool reaches_far(const tenon_tensor_view_t* x) {
  int64_t reach = 0;
  for (uint32_t axis = 0; axis < x->rank; axis++) {
    const int64_t stride = x->strides[axis];
    reach += (x->dims[axis] - 1) * (stride < 0 ? -stride : stride);
  }
  return reach > INT32_MAX;
}

/* What does not depend on the tile. */
static void describe(const tenon__cuda_convolution_t* c, const tenon__cuda_extents_t* e,
                     tenon__cuda_shape_t* s) {
  const tenon__cuda_problem_t* p = &c->problem;
  const tenon__cuda_window_t* w = &p->window;
  const int64_t taps = p->is_spread ? 1 : w->kernel[0] * w->kernel[1];
  s->channels = (int32_t)p->channels;
  s->outputs = (int32_t)p->outputs;
  s->rows = (int32_t)e->y[0];
  s->columns = (int32_t)e->y[1];
  s->height = (int32_t)e->x[0];
  s->width = (int32_t)e->x[1];
  for (uint32_t axis = 0; axis < 2; axis++) {
    s->kernel[axis] = (int32_t)w->kernel[axis];
    s->stride[axis] = p->is_spread ? 1 : (int32_t)w->stride[axis];
    s->dilation[axis] = (int32_t)w->dilation[axis];
    s->begin[axis] =
        p->is_spread ? 0 : (int32_t)tenon__cuda_window_begin(w, axis, e->x[axis], e->y[axis]);
  }
  s->pixels = (int32_t)(e->images * e->y[0] * e->y[1]);
  const int64_t steps = tenon__cuda_steps_of(p, c->choice);
  s->steps = (int32_t)steps;
  s->by_columns = divisor(e->y[1]);
  s->by_rows = divisor(e->y[0]);
  s->by_kernel_x = divisor(w->kernel[1]);
  s->by_outputs = divisor(p->outputs);
  s->by_taps = divisor(c->choice.kind == TENON_CUDA_NARROW ? steps / w->kernel[0] : taps);
  s->by_pieces = divisor(c->choice.kind == TENON_CUDA_DEPTHWISE ? p->channels / c->choice.along
                                                                : steps / taps * 2);
}

/* Blocks that share a sum. */
static uint32_t cluster_of(const tenon__cuda_convolution_t* c) {
  return c->choice.kind == TENON_CUDA_WARPGROUP ? c->choice.parts : 1;
}

/* The tiles, and how many blocks they are; 0: none fits, or too many. */
static int64_t divide(const tenon__cuda_convolution_t* c, const tenon__cuda_extents_t* e,
                      int64_t shared, tenon__cuda_shape_t* s) {
  const int64_t outputs = tenon__cuda_choice_outputs(c->choice);
  const int64_t column_tiles = (c->problem.columns + outputs - 1) / outputs;
  const int64_t pixels = tenon__cuda_choice_pixels(c->choice);
  int64_t tiles = (s->pixels + pixels - 1) / pixels;
  s->column_tiles = divisor(column_tiles);
  if (c->choice.kind == TENON_CUDA_STREAMING) { /* as many as are there at once, or fewer */
    const int64_t warps =
        tenon__cuda_stream_warps(&c->problem, c->choice, s->pixels, c->device->multiprocessors);
    s->warps = (int32_t)warps;
    return (warps * column_tiles + c->choice.along - 1) / c->choice.along;
  }
  if (c->choice.kind == TENON_CUDA_WARPGROUP && tenon__cuda_is_window(&c->problem)) {
    const int64_t strips = (e->y[1] + s->tile[1] - 1) / s->tile[1];
    const int64_t tiles_y = (e->y[0] * s->patch_x + pixels - 1) / pixels;
    s->tiles_x = divisor(strips);
    s->tiles_y = divisor(tiles_y);
    s->by_patch_x = divisor(s->patch_x);
    tiles = e->images * strips * tiles_y;
    s->tiles = (int32_t)(tiles < INT32_MAX ? tiles : INT32_MAX);
    tiles = tenon__cuda_warpgroup_blocks(c->choice, tiles, column_tiles, shared,
                                         c->device->multiprocessors);
  } else if (c->choice.kind != TENON_CUDA_DIRECT && c->choice.kind != TENON_CUDA_WARPGROUP) {
    const int64_t tiles_y = (e->y[0] + s->tile[0] - 1) / s->tile[0];
    const int64_t tiles_x = (e->y[1] + s->tile[1] - 1) / s->tile[1];
    s->tiles_y = divisor(tiles_y);
    s->tiles_x = divisor(tiles_x);
    s->by_tile_x = divisor(s->tile[1]);
    s->by_patch_x = divisor(s->patch_x);
    tiles = e->images * tiles_y * tiles_x;
  }
  if (c->choice.kind == TENON_CUDA_DEPTHWISE) { /* a thread a tile */
    const int64_t threads = tiles * (c->problem.channels / c->choice.along);
    s->pixels = (int32_t)(threads < INT32_MAX ? threads : INT32_MAX);
    return (threads + tenon__cuda_choice_threads(c->choice) - 1) /
           tenon__cuda_choice_threads(c->choice);
  }
  return tiles * column_tiles * cluster_of(c);
}

/* Of a stream: x, the result and what has its extents. */
static bool are_dense(const tenon__cuda_convolution_t* c, tenon_binding_t* handle,
                      const tenon_bind_table_t* host, const tenon_tensor_view_t* y) {
  const tenon__cuda_problem_t* p = &c->problem;
  const tenon_tensor_view_t* x = &host->input(handle, c->x)->tensor;
  bool good = tenon__cuda_is_dense(p, x, p->channels) && tenon__cuda_is_dense(p, y, p->outputs);
  for (uint32_t k = 0; k < c->epilogue.program.operand_count; k++) {
    if (c->epilogue.is_dense[k]) {
      const tenon_tensor_view_t* view = &host->input(handle, c->epilogue.operands[k].index)->tensor;
      good = good && tenon__cuda_is_dense(p, view, p->outputs) &&
             memcmp(view->dims, y->dims, y->rank * sizeof(*y->dims)) == 0;
    }
  }
  return good && memcmp(x->dims + 2, y->dims + 2, (y->rank - 2) * sizeof(*y->dims)) == 0;
}

static void put(const bound_t* bound, size_t offset, const void* value, size_t size_bytes) {
  memcpy(bound->epilogue.parameters + bound->instance->epilogue.layout.total + offset, value,
         size_bytes);
}

/* False: a block would need more shared memory than it may have. */
static bool lay(const tenon__cuda_convolution_t* c, const tenon__cuda_extents_t* e,
                tenon__cuda_shape_t* out_shape, int64_t* out_shared) {
  const int64_t limit = c->device->shared_bytes;
  if (c->choice.kind != TENON_CUDA_WARPGROUP) {
    return tenon__cuda_tiles_lay(&c->problem, c->choice, e, limit, out_shape, out_shared);
  }
  *out_shared = tenon__cuda_warpgroup_lay(&c->problem, c->choice, e, limit, out_shape);
  return *out_shared > 0 && *out_shared <= limit;
}

static tenon_status_t bind_shape(bound_t* bound, tenon_binding_t* handle,
                                 const tenon_bind_table_t* host) {
  const tenon__cuda_convolution_t* c = bound->instance;
  const tenon_tensor_view_t* x = &host->input(handle, c->x)->tensor;
  const tenon_tensor_view_t* y =
      &host->output(handle, c->epilogue.program.outputs[0].index)->tensor;
  const tenon__cuda_extents_t e = extents_of(&c->problem, x, y);
  tenon__cuda_shape_t shape = {0};
  int64_t shared = 0;
  const bool fits = lay(c, &e, &shape, &shared);
  if (reaches_far(x) || e.images * e.y[0] * e.y[1] > INT32_MAX) {
    return refuse(handle, host, "an image that reaches over more than 2^31 elements");
  }
  if (c->choice.kind == TENON_CUDA_STREAMING && !are_dense(c, handle, host, y)) {
    return refuse(handle, host, "pixels that do not lie one behind the other, channels innermost");
  }
  if (!fits) {
    return refuse(handle, host, "more shared memory than a block of this GPU may have");
  }
  read_strides(&c->problem, x, &shape);
  describe(c, &e, &shape);
  const int64_t blocks = divide(c, &e, shared, &shape);
  if (blocks > INT32_MAX || shape.pixels == INT32_MAX) {
    return refuse(handle, host, "more than 2^31 tiles");
  }
  const uint8_t* packed = host->packed(handle, 0);
  if (packed == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  shape.weights = packed;
  shape.bias = packed + c->bias_at;
  put(bound, 0, &shape, sizeof(shape));
  bound->launch = (tenon__cuda_launch_t){.kernel = c->function,
                                         .blocks = (uint32_t)blocks,
                                         .threads = tenon__cuda_choice_threads(c->choice),
                                         .shared_bytes = (uint32_t)shared};
  return TENON_OK;
}

tenon_status_t tenon__cuda_convolution_bind(void* instance, tenon_binding_t* handle,
                                            const tenon_bind_table_t* host, void** out_bound) {
  const tenon__cuda_convolution_t* c = instance;
  bound_t* bound = host->allocate(handle, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->instance = c;
  bound->epilogue.epilogue = &c->epilogue;
  bound->epilogue.elements = tenon__cuda_choice_elements(c->choice);
  bound->epilogue.parameters =
      host->allocate(handle, c->epilogue.layout.total + sizeof(tenon__cuda_shape_t));
  if (bound->epilogue.parameters == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon_status_t status = bind_shape(bound, handle, host);
  if (status != TENON_OK) {
    return status;
  }
  if (c->epilogue.analysis.loads) {
    bound->epilogue.fault = tenon__cuda_fault_take(c->device);
  }
  if (!tenon__cuda_epilogue_bind(&bound->epilogue, handle, host)) {
    tenon__cuda_fault_give(c->device, bound->epilogue.fault);
    return refuse(handle, host, "a tensor that reaches over more than 2^31 elements");
  }
  *out_bound = bound;
  return TENON_OK;
}

void tenon__cuda_convolution_unbind(void* instance, void* bound) {
  const tenon__cuda_convolution_t* c = instance;
  tenon__cuda_fault_give(c->device, ((const bound_t*)bound)->epilogue.fault);
}

tenon_status_t tenon__cuda_convolution_enqueue(const tenon_enqueue_t* call) {
  const bound_t* bound = call->bound;
  const tenon__cuda_convolution_t* c = bound->instance;
  const void* x = call->inputs[c->x].tensor.data;
  if (bound->launch.blocks == 0) {
    return TENON_OK;
  }
  put(bound, offsetof(tenon__cuda_shape_t, x), &x, sizeof(x));
  tenon__cuda_epilogue_enqueue(&bound->epilogue, call);
  return tenon__cuda_launch_clusters(c->device, call, &bound->launch, cluster_of(c),
                                     bound->epilogue.parameters);
}
