/*
 * Maximum and average pooling by cuDNN's older interface, which pads alike on both sides and counts
 * windows by rounding down: what is padded or rounded otherwise is refused, by the attributes or,
 * where they leave it open, by the extents.
 */
#include <string.h>

#include "kernels.h"
#include "region.h"

/* A tactic's configuration. */
typedef struct pool_choice_t {
  tenon_dtype_t narrow; /* what x and y of f32 are read and written as; UNDEFINED: as they are */
  uint32_t channels_last;
} pool_choice_t;

typedef struct pool_t {
  tenon__cudnn_state_t* state;
  tenon__cudnn_device_t* device;
  cudnnPoolingMode_t mode;
  cudnnDataType_t type;
  bool channels_last;
  tenon__cudnn_window_t window;
} pool_t;

typedef struct bound_t {
  const pool_t* pool;
  cudnnPoolingDescriptor_t window; /* NULL: nothing is to be computed */
  cudnnTensorDescriptor_t x;
  cudnnTensorDescriptor_t y;
} bound_t;

static void read_window(tenon__cudnn_region_t region, uint32_t spatial,
                        tenon__cudnn_window_t* out_window) {
  int64_t kernel[TENON_CUDNN_AXES] = {1, 1, 1};
  for (uint32_t k = 0; k < spatial; k++) {
    kernel[k] = tenon__cudnn_number_of(region, "kernel_shape", k, 1);
  }
  tenon__cudnn_window_read(region, spatial, kernel, out_window);
}

/* Padding alike on both sides, less than the window; no steps between taps. */
static bool is_even(const tenon__cudnn_window_t* window) {
  bool even = true;
  for (uint32_t a = 0; a < window->axes; a++) {
    even = even && window->dilation[a] == 1 && window->begin[a] == window->end[a] &&
           window->begin[a] >= 0 && window->begin[a] < window->kernel[a];
  }
  return even;
}

/* For extents that are known: do they leave as many windows as cuDNN counts? */
static bool fits(tenon__cudnn_window_t* window, const int64_t* x, const int64_t* y, uint32_t rank) {
  tenon__cudnn_shape_t over;
  tenon__cudnn_shape_t windows;
  tenon__cudnn_shape_of(x, rank, false, &over);
  tenon__cudnn_shape_of(y, rank, false, &windows);
  return tenon__cudnn_window_fit(window, &over, &windows) && is_even(window);
}

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon__cudnn_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cudnn_operand(region, 0);
  const tenon_value_info_t* y = tenon__cudnn_result(region, 0);
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  tenon__cudnn_window_t window;
  if (!tenon__cudnn_type_of(x->dtype, &type)) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  if (x->rank < 3 || x->rank > 5) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
  }
  if (tenon__cudnn_may_lack_pixels(x)) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_SHAPE, "perhaps no pixels");
  }
  if (y == NULL ||
      (table->node_output_count(handle, 0) > 1 && table->node_output(handle, 0, 1) != TENON_NONE)) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_OTHER, "gives no indices");
  }
  read_window(region, x->rank - 2, &window);
  const bool open = window.padding != TENON_CUDNN_PADDING_GIVEN ||
                    tenon__cudnn_number_of(region, "ceil_mode", 0, 0) != 0;
  if (open && !tenon__cudnn_is_fixed(x)) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "padding by extents");
  }
  if (open ? !fits(&window, x->dims_max, y->dims_max, x->rank) : !is_even(&window)) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_ATTRIBUTE,
                               "padding on one side, rounding up, or dilation");
  }
  tenon__cudnn_state_t* cudnn = state;
  return tenon__cudnn_open(cudnn, NULL) == TENON_OK
             ? 1
             : tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_LIBRARY, cudnn->why);
}

static tenon_status_t emit_orders(tenon__cudnn_region_t region, tenon_dtype_t narrow,
                                  tenon_emit_t* emit,
                                  tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  static const char* const names[][2] = {{"planes", "channels last"},
                                         {"planes, f16", "channels last, f16"},
                                         {"planes, bf16", "channels last, bf16"}};
  const tenon_numerics_t numerics = {.size = sizeof(numerics),
                                     .reassociates = 1,
                                     .product_mantissa_bits = narrow == TENON_DTYPE_FLOAT16    ? 10
                                                              : narrow == TENON_DTYPE_BFLOAT16 ? 7
                                                                                               : 0,
                                     .product_exponent_bits = narrow == TENON_DTYPE_FLOAT16    ? 5
                                                              : narrow == TENON_DTYPE_BFLOAT16 ? 8
                                                                                               : 0};
  const uint32_t type = narrow == TENON_DTYPE_FLOAT16 ? 1 : narrow == TENON_DTYPE_BFLOAT16 ? 2 : 0;
  tenon_status_t status = TENON_OK;
  for (uint32_t last = 0; status == TENON_OK && last < 2; last++) {
    /* y, and the indices that are absent. cuDNN does not say what addresses it takes. */
    tenon_argument_rule_t rules[2] = {{.alignment = 16, .dtype = narrow}, {0}};
    if (last != 0) {
      rules[0].kind = TENON_LAYOUT_EXACT;
      rules[0].layout = tenon__cudnn_channels_last(tenon__cudnn_operand(region, 0)->rank);
    }
    const pool_choice_t choice = {narrow, last};
    const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                   .name = names[type][last],
                                   .configuration = &choice,
                                   .configuration_size = sizeof(choice),
                                   .inputs = rules,
                                   .outputs = rules,
                                   .numerics = &numerics,
                                   .flags = TENON_TACTIC_RECORDABLE,
                                   .launches = 1};
    status = add(emit, &tactic);
  }
  return status;
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon__cudnn_region_t region = {handle, table};
  tenon_status_t status = emit_orders(region, TENON_DTYPE_UNDEFINED, emit, add);
  (void)state;
  if (status == TENON_OK && tenon__cudnn_operand(region, 0)->dtype == TENON_DTYPE_FLOAT32) {
    status = emit_orders(region, TENON_DTYPE_FLOAT16, emit, add);
    status = status == TENON_OK ? emit_orders(region, TENON_DTYPE_BFLOAT16, emit, add) : status;
  }
  return status;
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cudnn_region_t region = {call->region, call->table};
  const tenon_value_info_t* x = tenon__cudnn_operand(region, 0);
  const char* op = call->table->node_operator(call->region, 0);
  pool_t* pool = call->host->allocate(call->preparation, sizeof(*pool));
  pool_choice_t choice;
  if (pool == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  pool->state = call->state;
  pool->mode = strcmp(op, "standard.max_pool/1") == 0 ? CUDNN_POOLING_MAX
               : tenon__cudnn_number_of(region, "count_include_pad", 0, 0) != 0
                   ? CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
                   : CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING;
  if (call->tactic->configuration_size != sizeof(choice)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  memcpy(&choice, call->tactic->configuration, sizeof(choice));
  if (!tenon__cudnn_may_narrow(x->dtype, choice.narrow)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  pool->channels_last = choice.channels_last != 0;
  (void)tenon__cudnn_type_of(choice.narrow != TENON_DTYPE_UNDEFINED ? choice.narrow : x->dtype,
                             &pool->type);
  read_window(region, x->rank - 2, &pool->window);
  const tenon_status_t status = tenon__cudnn_device_find(pool->state, call, &pool->device);
  if (status == TENON_OK) {
    *out_instance = pool;
  }
  return status;
}

/* ---- Binding ---- */

static cudnnStatus_t describe_window(const pool_t* pool, const tenon__cudnn_window_t* window,
                                     cudnnPoolingDescriptor_t* out_descriptor) {
  const tenon__cudnn_library_t* library = pool->device->library;
  int kernel[TENON_CUDNN_AXES];
  int padding[TENON_CUDNN_AXES];
  int stride[TENON_CUDNN_AXES];
  for (uint32_t a = 0; a < window->axes; a++) {
    kernel[a] = (int)window->kernel[a];
    padding[a] = (int)window->begin[a];
    stride[a] = (int)window->stride[a];
  }
  const cudnnStatus_t result = library->cudnnCreatePoolingDescriptor(out_descriptor);
  return result != CUDNN_STATUS_SUCCESS ? result
                                        : library->cudnnSetPoolingNdDescriptor(
                                              *out_descriptor, pool->mode, CUDNN_PROPAGATE_NAN,
                                              (int)window->axes, kernel, padding, stride);
}

static void end_bound(const bound_t* bound) {
  const tenon__cudnn_library_t* library = bound->pool->device->library;
  if (bound->window != NULL) {
    (void)library->cudnnDestroyPoolingDescriptor(bound->window);
  }
  if (bound->x != NULL) {
    (void)library->cudnnDestroyTensorDescriptor(bound->x);
  }
  if (bound->y != NULL) {
    (void)library->cudnnDestroyTensorDescriptor(bound->y);
  }
}

static cudnnStatus_t describe_all(bound_t* bound, const tenon__cudnn_window_t* window,
                                  const tenon_tensor_view_t* x, const tenon_tensor_view_t* y) {
  const pool_t* pool = bound->pool;
  const tenon__cudnn_library_t* library = pool->device->library;
  tenon__cudnn_shape_t shape;
  cudnnStatus_t result = describe_window(pool, window, &bound->window);
  if (result == CUDNN_STATUS_SUCCESS) {
    tenon__cudnn_shape_of(x->dims, x->rank, pool->channels_last, &shape);
    result = tenon__cudnn_describe(library, pool->type, &shape, &bound->x);
  }
  if (result == CUDNN_STATUS_SUCCESS) {
    tenon__cudnn_shape_of(y->dims, y->rank, pool->channels_last, &shape);
    result = tenon__cudnn_describe(library, pool->type, &shape, &bound->y);
  }
  return result;
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  const pool_t* pool = instance;
  const tenon_sink_t* sink = host->sink == NULL ? NULL : host->sink(binding);
  const tenon_tensor_view_t* x = &host->input(binding, 0)->tensor;
  const tenon_tensor_view_t* y = &host->output(binding, 0)->tensor;
  tenon__cudnn_window_t window = pool->window;
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->pool = pool;
  if (tenon__cudnn_count(y->dims, y->rank) == 0) {
    *out_bound = bound;
    return TENON_OK;
  }
  if (!fits(&window, x->dims, y->dims, x->rank)) {
    return tenon__cudnn_say(sink, TENON_ERROR_UNSUPPORTED,
                            "padding and extents that cuDNN's pooling does not understand");
  }
  tenon_status_t status = pool->device->native->enter(pool->device->native->device);
  if (status == TENON_OK) {
    status = tenon__cudnn_device_grow(pool->state, pool->device, sink);
  }
  if (status != TENON_OK) {
    return status;
  }
  const cudnnStatus_t result = describe_all(bound, &window, x, y);
  if (result == CUDNN_STATUS_SUCCESS) {
    *out_bound = bound;
    return TENON_OK;
  }
  end_bound(bound);
  return tenon__cudnn_say(sink, tenon__cudnn_status(result), "cuDNN refuses a pooling: %s",
                          pool->device->library->cudnnGetErrorString(result));
}

static void unbind(void* instance, void* bound) {
  (void)instance;
  end_bound(bound);
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const bound_t* bound = call->bound;
  tenon__cudnn_device_t* device = bound->pool->device;
  const float one = 1.0F;
  const float zero = 0.0F;
  tenon__cudnn_handle_t* handle = NULL;
  if (bound->window == NULL) {
    return TENON_OK;
  }
  const tenon_status_t status = device->native->enter(device->native->device);
  if (status != TENON_OK) {
    return call->host->fail(call->run, status, "the device cannot be entered");
  }
  cudnnStatus_t result = tenon__cudnn_begin(device, call, &handle);
  if (result == CUDNN_STATUS_SUCCESS) {
    result = device->library->cudnnPoolingForward(handle->handle, bound->window, &one, bound->x,
                                                  call->inputs[0].tensor.data, &zero, bound->y,
                                                  call->outputs[0].tensor.data);
  }
  tenon__cudnn_give(handle);
  return result == CUDNN_STATUS_SUCCESS
             ? TENON_OK
             : call->host->fail(call->run, tenon__cudnn_status(result),
                                device->library->cudnnGetErrorString(result));
}

static const char* const maximum[] = {"standard.max_pool/1", NULL};
static const char* const average[] = {"standard.average_pool/1", NULL};
static const char* const maximum_attributes[] = {
    "kernel_shape", "strides", "dilations", "pads", "auto_pad", "ceil_mode", "storage_order", NULL};
static const char* const average_attributes[] = {
    "kernel_shape", "strides",   "dilations",         "pads",
    "auto_pad",     "ceil_mode", "count_include_pad", NULL};

#define POOL(kernel_name, identities, known_attributes)                                 \
  {                                                                                     \
    .size = sizeof(tenon_kernel_t), .name = (kernel_name), .device = "cuda",            \
    .validity = tenon__cudnn_validity, .operators = (identities),                       \
    .attributes = (known_attributes), .version = 2, .match = match, .tactics = tactics, \
    .prepare = prepare, .bind = bind, .enqueue = enqueue, .unbind = unbind              \
  }
static const tenon_kernel_t kernels[] = {POOL("max_pool", maximum, maximum_attributes),
                                         POOL("average_pool", average, average_attributes)};
const tenon_offering_t tenon__cudnn_pools = TENON_OFFERING_OF("kernel/1", kernels);
