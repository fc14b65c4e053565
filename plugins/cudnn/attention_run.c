/* Binding attention: its graph, its plan; and running it. What does not lie as cuDNN reads it is
 * put in rows first, in the step's scratch memory. */
#include <string.h>

#include "attention.h"

enum { Q, K, V, Y, MATRICES };

typedef struct matrix_t {
  tenon__cudnn_shape_t shape;
  /* Of what is put in rows: how it lies, and its rows; NULL: it is read where it is. */
  cudnnTensorDescriptor_t given;
  cudnnTensorDescriptor_t rows;
} matrix_t;

typedef struct bound_t {
  const tenon__cudnn_attending_t* attending;
  tenon__cudnn_plan_t plan; /* plan NULL: nothing is to be computed */
  tenon__cudnn_tensors_t tensors;
  matrix_t matrices[MATRICES];
  tenon__cudnn_pack_t pack;
} bound_t;

/* ---- Shapes ---- */

/* [batch, heads, tokens, features]; `turned`: of features, then tokens. Along axes of one element
 * nobody walks: they are said to go beyond all others. */
static void read_shape(const tenon_tensor_view_t* view, bool turned,
                       tenon__cudnn_shape_t* out_shape) {
  const uint32_t missing = TENON_CUDNN_ATTENTION_AXES - view->rank;
  int64_t beyond = 1;
  *out_shape = (tenon__cudnn_shape_t){.rank = TENON_CUDNN_ATTENTION_AXES, .dims = {1, 1, 1, 1}};
  for (uint32_t k = 0; k < view->rank; k++) {
    const bool is_inner = k + 2 >= view->rank;
    const uint32_t axis = turned && is_inner ? 2 * view->rank - 3 - k : k;
    const int64_t extent = view->dims[axis];
    const int64_t stride = view->strides[axis];
    out_shape->dims[missing + k] = extent;
    out_shape->strides[missing + k] = stride;
    beyond = extent > 1 && extent * stride > beyond ? extent * stride : beyond;
  }
  for (uint32_t k = 0; k < TENON_CUDNN_ATTENTION_AXES; k++) {
    out_shape->strides[k] = out_shape->dims[k] == 1 ? beyond : out_shape->strides[k];
  }
}

/* Features one behind the other, and all else in words of 16 bytes. */
static bool is_readable(const tenon__cudnn_shape_t* shape) {
  bool is = shape->strides[3] == 1;
  for (uint32_t k = 0; k < 3; k++) {
    is = is && shape->strides[k] > 0 && shape->strides[k] % TENON_CUDNN_ATTENTION_STEP == 0;
  }
  return is;
}

/* ---- Binding ---- */

typedef struct binding_t {
  tenon_binding_t* handle;
  const tenon_bind_table_t* host;
  const tenon_sink_t* sink;
} binding_t;

static tenon_status_t put_in_rows(const tenon__cudnn_attending_t* a, const binding_t* b,
                                  matrix_t* matrix) {
  const tenon__cudnn_library_t* library = a->device->library;
  const tenon__cudnn_shape_t given = matrix->shape;
  int64_t step = 1;
  for (uint32_t k = TENON_CUDNN_ATTENTION_AXES; k-- > 0;) {
    matrix->shape.strides[k] = step;
    step *= given.dims[k];
  }
  cudnnStatus_t result = tenon__cudnn_describe(library, a->type, &given, &matrix->given);
  if (result == CUDNN_STATUS_SUCCESS) {
    result = tenon__cudnn_describe(library, a->type, &matrix->shape, &matrix->rows);
  }
  return result == CUDNN_STATUS_SUCCESS
             ? TENON_OK
             : tenon__cudnn_say(b->sink, tenon__cudnn_status(result), "cuDNN refuses a tensor: %s",
                                library->cudnnGetErrorString(result));
}

static tenon_status_t read_shapes(const tenon__cudnn_attending_t* a, const binding_t* b,
                                  bound_t* bound) {
  const tenon__cudnn_attention_t* region = &a->attention;
  const uint32_t inputs[] = {region->q->input, region->kt->input, region->v->input};
  tenon_status_t status = TENON_OK;
  for (uint32_t which = Q; which <= V; which++) {
    matrix_t* matrix = &bound->matrices[which];
    read_shape(&b->host->input(b->handle, inputs[which])->tensor, which == K, &matrix->shape);
    if (status == TENON_OK && !is_readable(&matrix->shape)) {
      status = put_in_rows(a, b, matrix);
    }
  }
  read_shape(&b->host->output(b->handle, 0)->tensor, false, &bound->matrices[Y].shape);
  return status;
}

static tenon_status_t make_plan(const tenon__cudnn_attending_t* a, const binding_t* b,
                                bound_t* bound) {
  const tenon__cudnn_wish_t wish = {.compiled = true,
                                    .workspace_bytes = TENON_CUDNN_ATTENTION_WORKSPACE};
  const uint32_t inputs[] = {a->attention.q->input, a->attention.kt->input, a->attention.v->input};
  cudnnBackendDescriptor_t qkvy[MATRICES];
  tenon__cudnn_handle_t* handle = tenon__cudnn_take(a->device);
  tenon__cudnn_graph_t graph = {.library = a->device->library,
                                .handle = handle->handle,
                                .tensors = &bound->tensors,
                                .alignment = 16};
  for (uint32_t which = Q; which <= V; which++) {
    const matrix_t* matrix = &bound->matrices[which];
    const bool is_moved = matrix->rows != NULL;
    qkvy[which] = tenon__cudnn_tensor(&graph, a->type, &matrix->shape,
                                      is_moved ? TENON_CUDNN_TURNED : TENON_CUDNN_INPUT,
                                      is_moved ? which : inputs[which]);
  }
  qkvy[Y] = tenon__cudnn_tensor(&graph, a->type, &bound->matrices[Y].shape, TENON_CUDNN_OUTPUT, 0);
  tenon__cudnn_attend(&graph, qkvy, (float)a->attention.scale);
  const tenon_status_t status = tenon__cudnn_plan_make(&graph, &wish, b->sink, &bound->plan);
  tenon__cudnn_graph_end(&graph);
  tenon__cudnn_give(handle);
  return status;
}

static void end_bound(bound_t* bound) {
  const tenon__cudnn_library_t* library = bound->attending->device->library;
  tenon__cudnn_pack_end(library, &bound->pack);
  if (bound->plan.plan != NULL) {
    (void)library->cudnnBackendDestroyDescriptor(bound->plan.plan);
  }
  for (uint32_t k = 0; k < MATRICES; k++) {
    if (bound->matrices[k].given != NULL) {
      (void)library->cudnnDestroyTensorDescriptor(bound->matrices[k].given);
    }
    if (bound->matrices[k].rows != NULL) {
      (void)library->cudnnDestroyTensorDescriptor(bound->matrices[k].rows);
    }
  }
}

static tenon_status_t bind_elements(const tenon__cudnn_attending_t* a, const binding_t* b,
                                    bound_t* bound) {
  const tenon_cuda_native_t* native = a->device->native;
  tenon_status_t status = native->enter(native->device);
  if (status == TENON_OK) {
    status = tenon__cudnn_device_grow(a->state, a->device, b->sink);
  }
  if (status == TENON_OK) {
    status = read_shapes(a, b, bound);
  }
  return status == TENON_OK ? make_plan(a, b, bound) : status;
}

tenon_status_t tenon__cudnn_attention_bind(void* instance, tenon_binding_t* binding,
                                           const tenon_bind_table_t* host, void** out_bound) {
  const tenon__cudnn_attending_t* a = instance;
  const binding_t b = {
      .handle = binding, .host = host, .sink = host->sink == NULL ? NULL : host->sink(binding)};
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon_tensor_view_t* y = &host->output(binding, 0)->tensor;
  bound->attending = a;
  if (tenon__cudnn_count(y->dims, y->rank) > 0) {
    const tenon_status_t status = bind_elements(a, &b, bound);
    if (status != TENON_OK) {
      end_bound(bound);
      return status;
    }
  }
  *out_bound = bound;
  return TENON_OK;
}

void tenon__cudnn_attention_unbind(void* instance, void* bound) {
  const tenon__cudnn_attending_t* a = instance;
  (void)a->device->native->enter(a->device->native->device);
  end_bound(bound);
}

/* ---- Running ---- */

static void* rows_in(const tenon_enqueue_t* call, const tenon__cudnn_attending_t* a,
                     uint32_t which) {
  return (char*)call->host->scratch(call->run) + tenon__cudnn_attention_rows(&a->attention, which);
}

static void* pointer_of(const tenon_enqueue_t* call, bound_t* bound, uint32_t k) {
  const uint32_t index = bound->tensors.indices[k];
  switch (bound->tensors.sources[k]) {
    case TENON_CUDNN_INPUT:
      return call->inputs[index].tensor.data;
    case TENON_CUDNN_OUTPUT:
      return call->outputs[index].tensor.data;
    case TENON_CUDNN_TURNED:
      return rows_in(call, bound->attending, index);
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

static cudnnStatus_t move_rows(const tenon_enqueue_t* call, const bound_t* bound,
                               const tenon__cudnn_handle_t* handle) {
  const tenon__cudnn_attending_t* a = bound->attending;
  const uint32_t inputs[] = {a->attention.q->input, a->attention.kt->input, a->attention.v->input};
  const float one = 1.0F;
  const float zero = 0.0F;
  cudnnStatus_t result = CUDNN_STATUS_SUCCESS;
  for (uint32_t which = Q; which <= V && result == CUDNN_STATUS_SUCCESS; which++) {
    const matrix_t* matrix = &bound->matrices[which];
    if (matrix->rows != NULL) {
      result = a->device->library->cudnnTransformTensor(
          handle->handle, &one, matrix->given, call->inputs[inputs[which]].tensor.data, &zero,
          matrix->rows, rows_in(call, a, which));
    }
  }
  return result;
}

static cudnnStatus_t execute(const tenon_enqueue_t* call, bound_t* bound) {
  tenon__cudnn_device_t* device = bound->attending->device;
  tenon__cudnn_handle_t* handle = NULL;
  cudnnStatus_t result = tenon__cudnn_begin(device, call, &handle);
  if (result == CUDNN_STATUS_SUCCESS) {
    result = move_rows(call, bound, handle);
  }
  if (result == CUDNN_STATUS_SUCCESS) {
    result = device->library->cudnnBackendExecute(handle->handle, bound->plan.plan,
                                                  bound->pack.descriptor);
  }
  tenon__cudnn_give(handle);
  return result;
}

tenon_status_t tenon__cudnn_attention_enqueue(const tenon_enqueue_t* call) {
  bound_t* bound = call->bound;
  const tenon__cudnn_device_t* device = bound->attending->device;
  const tenon_cuda_native_t* native = device->native;
  if (bound->plan.plan == NULL) {
    return TENON_OK;
  }
  const tenon_status_t status = native->enter(native->device);
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
