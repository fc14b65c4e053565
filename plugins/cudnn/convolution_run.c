/* Binding a convolution: its graph, its plan; and running it. */
#include <string.h>

#include "convolution.h"

typedef struct bound_t {
  const tenon__cudnn_convolution_t* convolution;
  tenon__cudnn_plan_t plan; /* plan NULL: nothing is to be computed */
  tenon__cudnn_tensors_t tensors;
  tenon__cudnn_pack_t pack;
  /* Of a bias that is added to the result. */
  cudnnTensorDescriptor_t vector;
  cudnnTensorDescriptor_t sum;
  /* Of weights that are turned. */
  cudnnTensorDescriptor_t rows;
  cudnnTensorDescriptor_t channels;
  const void* packed[TENON_CUDNN_INPUTS]; /* by input; NULL: what the call gives */
} bound_t;

typedef struct binding_t {
  tenon_binding_t* handle;
  const tenon_bind_table_t* host;
  const tenon_sink_t* sink;
  tenon__cudnn_shape_t x;
  tenon__cudnn_shape_t w;
  tenon__cudnn_shape_t y;
  tenon__cudnn_shape_t vector;
  tenon__cudnn_window_t window;
} binding_t;

/* ---- Shapes ---- */

/* Strides by the layout, on axes that have several elements. */
static bool lies_as(const tenon_tensor_view_t* view, const tenon__cudnn_shape_t* shape,
                    uint32_t missing) {
  bool same = true;
  for (uint32_t k = 0; k < view->rank; k++) {
    const uint32_t axis = k < 2 ? k : k + missing;
    same = same && (view->dims[k] <= 1 || view->strides[k] == shape->strides[axis]);
  }
  return same;
}

/* One number, or one a channel: a tensor of its own extents, or spread over the result's. */
static bool lies_beside(const tenon_tensor_view_t* view, bool is_vector) {
  bool lies = true;
  for (uint32_t k = 0; k < view->rank; k++) {
    const int64_t step = is_vector && k == 1 ? 1 : 0;
    lies = lies && (view->dims[k] <= 1 || view->strides[k] == step);
  }
  return lies;
}

static tenon_status_t read_shapes(const tenon__cudnn_convolution_t* c, binding_t* b) {
  const tenon_tensor_view_t* x = &b->host->input(b->handle, c->x)->tensor;
  const tenon_tensor_view_t* w = &b->host->input(b->handle, c->w)->tensor;
  const tenon_tensor_view_t* y = &b->host->output(b->handle, 0)->tensor;
  const bool last = c->choice.channels_last != 0;
  tenon__cudnn_shape_of(x->dims, x->rank, last, &b->x);
  tenon__cudnn_shape_of(y->dims, y->rank, last, &b->y);
  tenon__cudnn_shape_of(w->dims, w->rank, last, &b->w);
  const int64_t channels = y->dims[1];
  b->vector = (tenon__cudnn_shape_t){.rank = b->y.rank,
                                     .dims = {1, channels, 1, 1, 1},
                                     .strides = {channels, 1, channels, channels, channels}};
  bool lies = lies_as(x, &b->x, c->window.missing) && lies_as(y, &b->y, c->window.missing);
  const uint32_t operands = c->program == NULL ? 0 : c->program->operand_count;
  for (uint32_t k = 0; k < operands; k++) {
    const tenon_operand_t* operand = &c->program->operands[k];
    if (operand->kind == TENON_OPERAND_ARGUMENT && c->packs[operand->index] == TENON_NONE) {
      const tenon_tensor_view_t* view = &b->host->input(b->handle, operand->index)->tensor;
      const tenon__cudnn_lie_t lie = tenon__cudnn_lie_of(c->region, operand);
      lies =
          lies && (lie == TENON_CUDNN_LIE_FULL ? lies_as(view, &b->y, c->window.missing)
                                               : lies_beside(view, lie == TENON_CUDNN_LIE_VECTOR));
    }
  }
  return lies ? TENON_OK
              : tenon__cudnn_say(b->sink, TENON_ERROR_INTERNAL,
                                 "a tensor does not lie in the order that the tactic asks for");
}

/* ---- The graph ---- */

static void write_graph(const tenon__cudnn_convolution_t* c, const binding_t* b,
                        tenon__cudnn_graph_t* graph) {
  const tenon__cudnn_steps_t steps = {b->window.axes, b->window.stride, b->window.dilation,
                                      b->window.begin, b->window.end};
  const tenon__cudnn_writer_t writer = {graph, c->type, &b->y, &b->vector};
  const bool whole =
      c->choice.form == TENON_CUDNN_FORM_ALONE || c->choice.form == TENON_CUDNN_FORM_ADDED;
  cudnnBackendDescriptor_t xwy[3];
  xwy[0] = tenon__cudnn_tensor(graph, c->type, &b->x, TENON_CUDNN_INPUT, c->x);
  xwy[1] = tenon__cudnn_tensor(graph, c->type, &b->w,
                               c->turns ? TENON_CUDNN_TURNED : TENON_CUDNN_INPUT, c->w);
  cudnnBackendDescriptor_t y = tenon__cudnn_tensor(graph, c->type, &b->y, TENON_CUDNN_OUTPUT, 0);
  xwy[2] = whole ? y : tenon__cudnn_between(graph, &b->y);
  tenon__cudnn_convolve(graph, &steps, c->transposed, xwy);
  if (c->choice.form == TENON_CUDNN_FORM_KNOWN) {
    tenon__cudnn_known_write(&writer, &c->known, xwy[2], y);
  } else if (c->choice.form == TENON_CUDNN_FORM_CHAIN) {
    cudnnBackendDescriptor_t value = xwy[2];
    if (c->bias != TENON_NONE) {
      static const tenon__cudnn_pointwise_t add = {.mode = CUDNN_POINTWISE_ADD};
      cudnnBackendDescriptor_t bias =
          tenon__cudnn_tensor(graph, c->type, &b->vector, TENON_CUDNN_INPUT, c->bias);
      value = tenon__cudnn_between(graph, &b->y);
      tenon__cudnn_apply(graph, &add, xwy[2], bias, value);
    }
    tenon__cudnn_chain_write(&writer, c->region, c->program, value, y);
  }
}

static tenon_status_t make_plan(const tenon__cudnn_convolution_t* c, const binding_t* b,
                                bound_t* bound) {
  /* Of what is known nothing is compiled: it is as fast, and compiling takes up to a second. */
  const tenon__cudnn_wish_t wish = {.exact = c->choice.exact != 0,
                                    .compiled = c->choice.form == TENON_CUDNN_FORM_CHAIN,
                                    .any_number = !c->fixed,
                                    .index = c->choice.index,
                                    .workspace_bytes = TENON_CUDNN_WORKSPACE};
  tenon__cudnn_handle_t* handle = tenon__cudnn_take(c->device);
  tenon__cudnn_graph_t graph = {.library = c->device->library,
                                .handle = handle->handle,
                                .tensors = &bound->tensors,
                                .alignment = tenon__cudnn_alignment_of(c->choice)};
  write_graph(c, b, &graph);
  const tenon_status_t status = tenon__cudnn_plan_make(&graph, &wish, b->sink, &bound->plan);
  tenon__cudnn_graph_end(&graph);
  tenon__cudnn_give(handle);
  return status;
}

/* ---- What the older interface does ---- */

static tenon_status_t describe_all(const tenon__cudnn_convolution_t* c, const binding_t* b,
                                   bound_t* bound) {
  const tenon__cudnn_library_t* library = c->device->library;
  const bool adds = c->choice.form == TENON_CUDNN_FORM_ADDED;
  tenon__cudnn_shape_t rows;
  tenon__cudnn_shape_of(b->host->input(b->handle, c->w)->tensor.dims,
                        b->host->input(b->handle, c->w)->tensor.rank, false, &rows);
  const struct {
    bool is_needed;
    const tenon__cudnn_shape_t* shape;
    cudnnTensorDescriptor_t* out;
  } wanted[] = {{adds, &b->vector, &bound->vector},
                {adds, &b->y, &bound->sum},
                {c->turns, &rows, &bound->rows},
                {c->turns, &b->w, &bound->channels}};
  cudnnStatus_t result = CUDNN_STATUS_SUCCESS;
  for (size_t k = 0; result == CUDNN_STATUS_SUCCESS && k < sizeof(wanted) / sizeof(*wanted); k++) {
    if (wanted[k].is_needed) {
      result = tenon__cudnn_describe(library, c->type, wanted[k].shape, wanted[k].out);
    }
  }
  return result == CUDNN_STATUS_SUCCESS
             ? TENON_OK
             : tenon__cudnn_say(b->sink, tenon__cudnn_status(result), "cuDNN refuses a tensor: %s",
                                library->cudnnGetErrorString(result));
}

/* ---- Binding ---- */

static void end_bound(bound_t* bound) {
  const tenon__cudnn_library_t* library = bound->convolution->device->library;
  cudnnTensorDescriptor_t* const tensors[] = {&bound->vector, &bound->sum, &bound->rows,
                                              &bound->channels};
  tenon__cudnn_pack_end(library, &bound->pack);
  if (bound->plan.plan != NULL) {
    (void)library->cudnnBackendDestroyDescriptor(bound->plan.plan);
  }
  for (size_t k = 0; k < 4; k++) {
    if (*tensors[k] != NULL) {
      (void)library->cudnnDestroyTensorDescriptor(*tensors[k]);
    }
  }
}

static tenon_status_t find_packed(const tenon__cudnn_convolution_t* c, const binding_t* b,
                                  bound_t* bound) {
  for (uint32_t k = 0; k < TENON_CUDNN_INPUTS; k++) {
    if (c->packs[k] != TENON_NONE) {
      bound->packed[k] = b->host->packed(b->handle, c->packs[k]);
      if (bound->packed[k] == NULL) {
        return TENON_ERROR_OUT_OF_MEMORY;
      }
    }
  }
  return TENON_OK;
}

static tenon_status_t bind_elements(const tenon__cudnn_convolution_t* c, binding_t* b,
                                    bound_t* bound) {
  const tenon_cuda_native_t* native = c->device->native;
  const tenon_tensor_view_t* x = &b->host->input(b->handle, c->x)->tensor;
  if (tenon__cudnn_count(x->dims, x->rank) == 0) {
    return tenon__cudnn_say(b->sink, TENON_ERROR_UNSUPPORTED,
                            "an image without pixels, which cuDNN does not take");
  }
  tenon_status_t status = read_shapes(c, b);
  b->window = c->window;
  if (status == TENON_OK && !tenon__cudnn_window_fit(&b->window, c->transposed ? &b->y : &b->x,
                                                     c->transposed ? &b->x : &b->y)) {
    status = tenon__cudnn_say(b->sink, TENON_ERROR_UNSUPPORTED,
                              "padding and extents that cuDNN does not understand");
  }
  if (status == TENON_OK) {
    status = native->enter(native->device);
  }
  if (status == TENON_OK) {
    status = tenon__cudnn_device_grow(c->state, c->device, b->sink);
  }
  if (status == TENON_OK) {
    status = find_packed(c, b, bound);
  }
  if (status == TENON_OK) {
    status = make_plan(c, b, bound);
  }
  if (status == TENON_OK) {
    status = describe_all(c, b, bound);
  }
  return status;
}

tenon_status_t tenon__cudnn_convolution_bind(void* instance, tenon_binding_t* binding,
                                             const tenon_bind_table_t* host, void** out_bound) {
  const tenon__cudnn_convolution_t* c = instance;
  binding_t b = {.handle = binding, .host = host};
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon_tensor_view_t* y = &host->output(binding, 0)->tensor;
  b.sink = host->sink == NULL ? NULL : host->sink(binding);
  bound->convolution = c;
  if (tenon__cudnn_count(y->dims, y->rank) > 0) {
    const tenon_status_t status = bind_elements(c, &b, bound);
    if (status != TENON_OK) {
      end_bound(bound);
      return status;
    }
  }
  *out_bound = bound;
  return TENON_OK;
}

void tenon__cudnn_convolution_unbind(void* instance, void* bound) {
  const tenon__cudnn_convolution_t* c = instance;
  (void)c->device->native->enter(c->device->native->device);
  end_bound(bound);
}

/* ---- Running ---- */

/* cuDNN takes no pointers to what it only reads. */
static void* input_of(const tenon_enqueue_t* call, const bound_t* bound, uint32_t index) {
  const void* packed = bound->packed[index];
  void* data = call->inputs[index].tensor.data;
  if (packed != NULL) {
    memcpy((void*)&data, (const void*)&packed, sizeof(data));
  }
  return data;
}

static void* pointer_of(const tenon_enqueue_t* call, bound_t* bound, uint32_t k) {
  const uint32_t index = bound->tensors.indices[k];
  switch (bound->tensors.sources[k]) {
    case TENON_CUDNN_INPUT:
      return input_of(call, bound, index);
    case TENON_CUDNN_OUTPUT:
      return call->outputs[index].tensor.data;
    case TENON_CUDNN_TURNED:
      return call->host->persistent(call->run);
    case TENON_CUDNN_ZEROS:
      return call->host->zeroed(call->run);
    default:
      return &bound->tensors.numbers[index];
  }
}

static cudnnStatus_t renew_pack(const tenon_enqueue_t* call, bound_t* bound,
                                const tenon__cudnn_library_t* library) {
  void* workspace = bound->plan.workspace_bytes > 0 ? call->host->scratch(call->run) : NULL;
  void* pointers[TENON_CUDNN_TENSORS];
  for (uint32_t k = 0; k < bound->tensors.count; k++) {
    pointers[k] = pointer_of(call, bound, k);
  }
  return tenon__cudnn_pack_renew(library, &bound->tensors, pointers, workspace, &bound->pack);
}

static cudnnStatus_t turn_weights(const tenon_enqueue_t* call, const bound_t* bound,
                                  const tenon__cudnn_handle_t* handle) {
  const tenon__cudnn_convolution_t* c = bound->convolution;
  const float one = 1.0F;
  const float zero = 0.0F;
  return !c->turns ? CUDNN_STATUS_SUCCESS
                   : c->device->library->cudnnTransformTensor(
                         handle->handle, &one, bound->rows, call->inputs[c->w].tensor.data, &zero,
                         bound->channels, call->host->persistent(call->run));
}

static cudnnStatus_t execute(const tenon_enqueue_t* call, bound_t* bound) {
  const tenon__cudnn_convolution_t* c = bound->convolution;
  const tenon__cudnn_library_t* library = c->device->library;
  const float one = 1.0F;
  tenon__cudnn_handle_t* handle = NULL;
  cudnnStatus_t result = tenon__cudnn_begin(c->device, call, &handle);
  if (result == CUDNN_STATUS_SUCCESS) {
    result = turn_weights(call, bound, handle);
  }
  if (result == CUDNN_STATUS_SUCCESS) {
    result = library->cudnnBackendExecute(handle->handle, bound->plan.plan, bound->pack.descriptor);
  }
  if (result == CUDNN_STATUS_SUCCESS && bound->sum != NULL) {
    result =
        library->cudnnAddTensor(handle->handle, &one, bound->vector, input_of(call, bound, c->bias),
                                &one, bound->sum, call->outputs[0].tensor.data);
  }
  tenon__cudnn_give(handle);
  return result;
}

tenon_status_t tenon__cudnn_convolution_enqueue(const tenon_enqueue_t* call) {
  bound_t* bound = call->bound;
  tenon__cudnn_device_t* device = bound->convolution->device;
  const tenon_cuda_native_t* native = device->native;
  if (bound->plan.plan == NULL) {
    return TENON_OK;
  }
  tenon_status_t status = native->enter(native->device);
  if (status != TENON_OK) {
    return call->host->fail(call->run, status, "the device cannot be entered");
  }
  cudnnStatus_t result = renew_pack(call, bound, device->library);
  if (result == CUDNN_STATUS_SUCCESS) {
    result = execute(call, bound);
  }
  return result == CUDNN_STATUS_SUCCESS
             ? TENON_OK
             : call->host->fail(call->run, tenon__cudnn_status(result),
                                device->library->cudnnGetErrorString(result));
}
