/*
 * Recurrent layers bound and run. Sequences are all of one length, so steps of the whole batch one
 * behind the other are what cuDNN calls packed: it then copies nothing. With the batch first it
 * turns x and y itself.
 */
#include "recurrent.h"

typedef struct bound_t {
  const tenon__cudnn_recurrent_t* recurrent;
  cudnnRNNDescriptor_t layer; /* NULL: nothing is to be computed */
  cudnnDropoutDescriptor_t dropout;
  cudnnRNNDataDescriptor_t x;
  cudnnRNNDataDescriptor_t y;
  cudnnTensorDescriptor_t state;
  const void* weights;
  size_t weights_bytes;
  size_t workspace_bytes;
  size_t unread_bytes;
} bound_t;

/* ---- Descriptors ---- */

static cudnnStatus_t describe_layer(bound_t* bound, cudnnHandle_t handle) {
  const tenon__cudnn_recurrent_t* recurrent = bound->recurrent;
  const tenon__cudnn_layer_t* layer = &recurrent->layer;
  const tenon__cudnn_library_t* library = recurrent->device->library;
  /* With f32 the default permits tf32, and the third nothing but f32. */
  const cudnnMathType_t math = recurrent->type != CUDNN_DATA_FLOAT ? CUDNN_TENSOR_OP_MATH
                               : recurrent->choice.exact == 0      ? CUDNN_DEFAULT_MATH
                                                                   : CUDNN_FMA_MATH;
  cudnnStatus_t result = library->cudnnCreateDropoutDescriptor(&bound->dropout);
  if (result == CUDNN_STATUS_SUCCESS) {
    result = library->cudnnSetDropoutDescriptor(bound->dropout, handle, 0, NULL, 0, 0);
  }
  if (result == CUDNN_STATUS_SUCCESS) {
    result = library->cudnnCreateRNNDescriptor(&bound->layer);
  }
  if (result == CUDNN_STATUS_SUCCESS) {
    result = library->cudnnSetRNNDescriptor_v8(
        bound->layer, CUDNN_RNN_ALGO_STANDARD, layer->mode, CUDNN_RNN_DOUBLE_BIAS,
        layer->directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT,
        recurrent->type, CUDNN_DATA_FLOAT, math, (int32_t)layer->features, (int32_t)layer->hidden,
        (int32_t)layer->hidden, 1, bound->dropout,
        layer->batch_first ? CUDNN_RNN_PADDED_IO_ENABLED : CUDNN_RNN_PADDED_IO_DISABLED);
  }
  return result;
}

/* `lengths`: of each sequence, all alike. */
static cudnnStatus_t describe_data(bound_t* bound, int64_t steps, int64_t batch,
                                   const int* lengths) {
  const tenon__cudnn_recurrent_t* recurrent = bound->recurrent;
  const tenon__cudnn_layer_t* layer = &recurrent->layer;
  const tenon__cudnn_library_t* library = recurrent->device->library;
  const cudnnRNNDataLayout_t order = layer->batch_first ? CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED
                                                        : CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED;
  const tenon__cudnn_shape_t state = {.rank = 3,
                                      .dims = {layer->directions, batch, layer->hidden},
                                      .strides = {batch * layer->hidden, layer->hidden, 1}};
  cudnnStatus_t result = library->cudnnCreateRNNDataDescriptor(&bound->x);
  if (result == CUDNN_STATUS_SUCCESS) {
    result = library->cudnnSetRNNDataDescriptor(bound->x, recurrent->type, order, (int)steps,
                                                (int)batch, (int)layer->features, lengths, NULL);
  }
  if (result == CUDNN_STATUS_SUCCESS) {
    result = library->cudnnCreateRNNDataDescriptor(&bound->y);
  }
  if (result == CUDNN_STATUS_SUCCESS) {
    result =
        library->cudnnSetRNNDataDescriptor(bound->y, recurrent->type, order, (int)steps, (int)batch,
                                           (int)(layer->directions * layer->hidden), lengths, NULL);
  }
  return result == CUDNN_STATUS_SUCCESS
             ? tenon__cudnn_describe(library, recurrent->type, &state, &bound->state)
             : result;
}

static void end_bound(const bound_t* bound) {
  const tenon__cudnn_library_t* library = bound->recurrent->device->library;
  if (bound->layer != NULL) {
    (void)library->cudnnDestroyRNNDescriptor(bound->layer);
  }
  if (bound->dropout != NULL) {
    (void)library->cudnnDestroyDropoutDescriptor(bound->dropout);
  }
  if (bound->x != NULL) {
    (void)library->cudnnDestroyRNNDataDescriptor(bound->x);
  }
  if (bound->y != NULL) {
    (void)library->cudnnDestroyRNNDataDescriptor(bound->y);
  }
  if (bound->state != NULL) {
    (void)library->cudnnDestroyTensorDescriptor(bound->state);
  }
}

/* ---- Binding ---- */

/* With a handle that is held. */
static tenon_status_t bind_with(bound_t* bound, const tenon_argument_t* x, const int* lengths,
                                cudnnHandle_t handle, const tenon_sink_t* sink) {
  const tenon__cudnn_recurrent_t* recurrent = bound->recurrent;
  const tenon__cudnn_layer_t* layer = &recurrent->layer;
  const tenon__cudnn_library_t* library = recurrent->device->library;
  const int64_t first = x->tensor.dims[0];
  const int64_t second = x->tensor.dims[1];
  size_t reserve = 0;
  cudnnStatus_t result = describe_layer(bound, handle);
  if (result == CUDNN_STATUS_SUCCESS) {
    result = layer->batch_first ? describe_data(bound, second, first, lengths)
                                : describe_data(bound, first, second, lengths);
  }
  if (result == CUDNN_STATUS_SUCCESS) {
    result = library->cudnnGetRNNTempSpaceSizes(handle, bound->layer, CUDNN_FWD_MODE_INFERENCE,
                                                bound->x, &bound->workspace_bytes, &reserve);
  }
  if (result != CUDNN_STATUS_SUCCESS) {
    return tenon__cudnn_say(sink, tenon__cudnn_status(result),
                            "cuDNN refuses a recurrent layer: %s",
                            library->cudnnGetErrorString(result));
  }
  const size_t element = recurrent->type == CUDNN_DATA_FLOAT ? 4 : 2;
  bound->weights_bytes = tenon__cudnn_weights_size(layer, element);
  bound->unread_bytes = recurrent->outputs[0] != TENON_NONE
                            ? 0
                            : tenon__cudnn_unread_bytes(layer, first * second, element);
  if (bound->unread_bytes + bound->workspace_bytes > recurrent->scratch_bytes) {
    return tenon__cudnn_say(sink, TENON_ERROR_UNSUPPORTED,
                            "cuDNN wants %zu bytes for a recurrent layer, %llu are there",
                            bound->workspace_bytes, (unsigned long long)recurrent->scratch_bytes);
  }
  return tenon__cudnn_weights_check(recurrent, handle, bound->layer, bound->weights, sink);
}

/* As many as there are sequences, each of all steps. NULL: out of memory. */
static int* make_lengths(const tenon__cudnn_layer_t* layer, const tenon_argument_t* x,
                         tenon_binding_t* binding, const tenon_bind_table_t* host) {
  const int64_t batch = x->tensor.dims[layer->batch_first ? 0 : 1];
  int* lengths = host->allocate(binding, (size_t)batch * sizeof(int));
  if (lengths == NULL) {
    return NULL;
  }
  for (int64_t k = 0; k < batch; k++) {
    lengths[k] = (int)x->tensor.dims[layer->batch_first ? 1 : 0];
  }
  return lengths;
}

tenon_status_t tenon__cudnn_recurrent_bind(void* instance, tenon_binding_t* binding,
                                           const tenon_bind_table_t* host, void** out_bound) {
  const tenon__cudnn_recurrent_t* recurrent = instance;
  tenon__cudnn_device_t* device = recurrent->device;
  const tenon_sink_t* sink = host->sink == NULL ? NULL : host->sink(binding);
  const tenon_argument_t* x = host->input(binding, recurrent->inputs[TENON_CUDNN_LAYER_X]);
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->recurrent = recurrent;
  if (tenon__cudnn_count(x->tensor.dims, x->tensor.rank) == 0) { /* a batch of nothing */
    *out_bound = bound;
    return TENON_OK;
  }
  tenon_status_t status = device->native->enter(device->native->device);
  if (status == TENON_OK) {
    status = tenon__cudnn_device_grow(recurrent->state, device, sink);
  }
  if (status != TENON_OK) {
    return status;
  }
  const int* lengths = make_lengths(&recurrent->layer, x, binding, host);
  bound->weights = host->packed(binding, 0);
  if (lengths == NULL || bound->weights == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  tenon__cudnn_handle_t* handle = tenon__cudnn_take(device);
  status = bind_with(bound, x, lengths, handle->handle, sink);
  tenon__cudnn_give(handle);
  if (status != TENON_OK) {
    end_bound(bound);
    return status;
  }
  *out_bound = bound;
  return TENON_OK;
}

void tenon__cudnn_recurrent_unbind(void* instance, void* bound) {
  const tenon__cudnn_recurrent_t* recurrent = instance;
  (void)recurrent->device->native->enter(recurrent->device->native->device);
  end_bound(bound);
}

/* ---- Running ---- */

static void* input_of(const tenon_enqueue_t* call, uint32_t index) {
  return index == TENON_NONE ? NULL : call->inputs[index].tensor.data;
}
static void* output_of(const tenon_enqueue_t* call, uint32_t index) {
  return index == TENON_NONE ? NULL : call->outputs[index].tensor.data;
}

static cudnnStatus_t run_layer(const tenon_enqueue_t* call, const bound_t* bound,
                               cudnnHandle_t handle) {
  const tenon__cudnn_recurrent_t* r = bound->recurrent;
  const bool has_cell = r->layer.mode == CUDNN_LSTM;
  char* scratch = call->host->scratch(call->run);
  void* y = r->outputs[0] == TENON_NONE ? scratch : output_of(call, r->outputs[0]);
  return r->device->library->cudnnRNNForward(
      handle, bound->layer, CUDNN_FWD_MODE_INFERENCE, NULL, bound->x,
      input_of(call, r->inputs[TENON_CUDNN_LAYER_X]), bound->y, y, bound->state,
      input_of(call, r->inputs[TENON_CUDNN_LAYER_H]), output_of(call, r->outputs[1]),
      has_cell ? bound->state : NULL, input_of(call, r->inputs[TENON_CUDNN_LAYER_C]),
      output_of(call, r->outputs[2]), bound->weights_bytes, bound->weights, bound->workspace_bytes,
      scratch + bound->unread_bytes, 0, NULL);
}

tenon_status_t tenon__cudnn_recurrent_enqueue(const tenon_enqueue_t* call) {
  const bound_t* bound = call->bound;
  tenon__cudnn_device_t* device = bound->recurrent->device;
  tenon__cudnn_handle_t* handle = NULL;
  if (bound->layer == NULL) {
    return TENON_OK;
  }
  const tenon_status_t status = device->native->enter(device->native->device);
  if (status != TENON_OK) {
    return call->host->fail(call->run, status, "the device cannot be entered");
  }
  cudnnStatus_t result = tenon__cudnn_begin(device, call, &handle);
  if (result == CUDNN_STATUS_SUCCESS) {
    result = run_layer(call, bound, handle->handle);
  }
  tenon__cudnn_give(handle);
  return result == CUDNN_STATUS_SUCCESS
             ? TENON_OK
             : call->host->fail(call->run, tenon__cudnn_status(result),
                                device->library->cudnnGetErrorString(result));
}
