/*
 * Weights and biases in cuDNN's order. Of each direction first all matrices that x is multiplied
 * by, gate by gate, then those of the state; behind the matrices of all directions the biases in
 * the same order; everything in rows, without gaps. Gates are counted as cudnnGetRNNWeightParams
 * counts them: lstm i f c o, gru r z h.
 *
 * The order is written down here, so that the weights are packed, and rounded, once and on the
 * host, when there is perhaps no device yet; the plan then holds them and a load copies them as
 * they are. To place them by cuDNN's own addresses would take a device at build, or a copy of each
 * context's own. What cuDNN says of the order is asked in bind: where it were another, the step
 * fails with those words, and computes nothing wrong.
 */
#include <stdio.h>
#include <string.h>

#include "recurrent.h"
#include "tenon/narrow.h"

/* Which of the operator's gates is the k-th of cuDNN's. */
static int64_t gate_of(const tenon__cudnn_layer_t* layer, int64_t k) {
  static const uint8_t lstm[] = {0, 2, 3, 1};
  static const uint8_t gru[] = {1, 0, 2};
  return layer->gates == 4 ? lstm[k] : layer->gates == 3 ? gru[k] : 0;
}

/* Elements of one direction's matrices. */
static int64_t matrices_of(const tenon__cudnn_layer_t* layer) {
  return layer->gates * layer->hidden * (layer->features + layer->hidden);
}

/* Where the matrix `id` of a direction begins, and its bias: those of x first, then the state's. */
static void find_place(const tenon__cudnn_layer_t* layer, int64_t direction, int64_t id,
                       int64_t* out_matrix, int64_t* out_bias) {
  const int64_t from_x = id < layer->gates ? id : layer->gates;
  *out_matrix = direction * matrices_of(layer) + from_x * layer->hidden * layer->features +
                (id - from_x) * layer->hidden * layer->hidden;
  *out_bias =
      layer->directions * matrices_of(layer) + (direction * 2 * layer->gates + id) * layer->hidden;
}

size_t tenon__cudnn_weights_size(const tenon__cudnn_layer_t* layer, size_t element_bytes) {
  const int64_t biases = 2 * layer->gates * layer->hidden;
  return (size_t)(layer->directions * (matrices_of(layer) + biases)) * element_bytes;
}

/* ---- Packing ---- */

typedef struct writer_t {
  tenon_dtype_t narrow;
  size_t from_bytes; /* of an element */
  size_t to_bytes;
  char* to;
} writer_t;

/* `count` elements of a constant, from its element `first` on. */
static void write_some(const writer_t* writer, const tenon_value_info_t* value, int64_t first,
                       int64_t place, int64_t count) {
  const char* from = (const char*)value->constant_data + (size_t)first * writer->from_bytes;
  char* to = writer->to + (size_t)place * writer->to_bytes;
  if (writer->narrow == TENON_DTYPE_UNDEFINED) {
    memcpy(to, from, (size_t)count * writer->to_bytes);
    return;
  }
  for (int64_t k = 0; k < count; k++) {
    ((uint16_t*)(void*)to)[k] =
        tenon_narrow_of(writer->narrow, ((const float*)(const void*)from)[k]);
  }
}

/* The memory is all zeros where there is no bias. */
static void write_all(tenon__cudnn_region_t region, const tenon__cudnn_layer_t* layer,
                      const writer_t* writer) {
  const tenon_value_info_t* bias = tenon__cudnn_operand(region, TENON_CUDNN_LAYER_BIAS);
  for (int64_t direction = 0; direction < layer->directions; direction++) {
    for (int64_t id = 0; id < 2 * layer->gates; id++) {
      const bool from_x = id < layer->gates;
      const int64_t gate = gate_of(layer, id % layer->gates);
      const int64_t rows = (direction * layer->gates + gate) * layer->hidden;
      const int64_t columns = from_x ? layer->features : layer->hidden;
      int64_t matrix = 0;
      int64_t place = 0;
      find_place(layer, direction, id, &matrix, &place);
      write_some(writer,
                 tenon__cudnn_operand(region, from_x ? TENON_CUDNN_LAYER_W : TENON_CUDNN_LAYER_R),
                 rows * columns, matrix, layer->hidden * columns);
      if (bias != NULL) {
        const int64_t half = direction * 2 + (from_x ? 0 : 1);
        write_some(writer, bias, (half * layer->gates + gate) * layer->hidden, place,
                   layer->hidden);
      }
    }
  }
}

tenon_status_t tenon__cudnn_weights_pack(const tenon_prepare_t* call,
                                         const tenon__cudnn_recurrent_t* recurrent) {
  const tenon__cudnn_region_t region = {call->region, call->table};
  const tenon__cudnn_layer_t* layer = &recurrent->layer;
  uint32_t sources[3];
  size_t count = 0;
  bool has_all = true;
  for (uint32_t k = TENON_CUDNN_LAYER_W; k <= TENON_CUDNN_LAYER_BIAS; k++) {
    const tenon_value_info_t* value = tenon__cudnn_operand(region, k);
    if (value != NULL) {
      sources[count++] = call->table->node_input(call->region, 0, k);
      has_all = has_all && value->constant_data != NULL;
    }
  }
  const size_t element = recurrent->type == CUDNN_DATA_FLOAT ? 4 : 2;
  char parameters[48];
  (void)snprintf(parameters, sizeof(parameters), "%d gates, cuDNN's type %d", (int)layer->gates,
                 (int)recurrent->type);
  const tenon_packing_t packing = {.size = sizeof(packing),
                                   .format = "cudnn.recurrent/1",
                                   .parameters = parameters,
                                   .sources = sources,
                                   .source_count = count,
                                   .size_bytes = tenon__cudnn_weights_size(layer, element)};
  void* data = NULL;
  int32_t ready = 0;
  const tenon_status_t status = call->host->pack(call->preparation, &packing, &data, &ready);
  if (status != TENON_OK || ready != 0) {
    return status;
  }
  if (!has_all) { /* a plan without what it should have packed */
    return TENON_ERROR_INVALID_DATA;
  }
  memset(data, 0, packing.size_bytes);
  const bool narrows = recurrent->choice.narrow != TENON_DTYPE_UNDEFINED;
  const writer_t writer = {recurrent->choice.narrow, narrows ? sizeof(float) : element, element,
                           data};
  write_all(region, layer, &writer);
  return TENON_OK;
}

/* ---- Comparing ---- */

/* In elements from the beginning; -1: not there. */
static int64_t place_of(const void* address, const void* weights, size_t element) {
  return address == NULL ? -1 : ((const char*)address - (const char*)weights) / (int64_t)element;
}

static cudnnStatus_t compare_all(const tenon__cudnn_recurrent_t* recurrent, cudnnHandle_t handle,
                                 cudnnRNNDescriptor_t descriptor, const void* weights,
                                 cudnnTensorDescriptor_t tensor, bool* out_same) {
  const tenon__cudnn_layer_t* layer = &recurrent->layer;
  const size_t element = recurrent->type == CUDNN_DATA_FLOAT ? 4 : 2;
  const size_t wanted = tenon__cudnn_weights_size(layer, element);
  const tenon__cudnn_library_t* library = recurrent->device->library;
  size_t size = 0;
  cudnnStatus_t result = library->cudnnGetRNNWeightSpaceSize(handle, descriptor, &size);
  bool same = size == wanted;
  for (int64_t k = 0;
       result == CUDNN_STATUS_SUCCESS && same && k < layer->directions * 2 * layer->gates; k++) {
    const int64_t direction = k / (2 * layer->gates);
    const int64_t id = k % (2 * layer->gates);
    int64_t matrix = 0;
    int64_t bias = 0;
    void* addresses[2] = {NULL, NULL};
    find_place(layer, direction, id, &matrix, &bias);
    result =
        library->cudnnGetRNNWeightParams(handle, descriptor, (int32_t)direction, size, weights,
                                         (int32_t)id, tensor, &addresses[0], tensor, &addresses[1]);
    same = place_of(addresses[0], weights, element) == matrix &&
           place_of(addresses[1], weights, element) == bias;
  }
  *out_same = same;
  return result;
}

tenon_status_t tenon__cudnn_weights_check(const tenon__cudnn_recurrent_t* recurrent,
                                          cudnnHandle_t handle, cudnnRNNDescriptor_t descriptor,
                                          const void* weights, const tenon_sink_t* sink) {
  const tenon__cudnn_library_t* library = recurrent->device->library;
  cudnnTensorDescriptor_t tensor = NULL; /* what it says of the shapes is not read */
  bool same = false;
  cudnnStatus_t result = library->cudnnCreateTensorDescriptor(&tensor);
  if (result == CUDNN_STATUS_SUCCESS) {
    result = compare_all(recurrent, handle, descriptor, weights, tensor, &same);
    (void)library->cudnnDestroyTensorDescriptor(tensor);
  }
  if (result != CUDNN_STATUS_SUCCESS) {
    return tenon__cudnn_say(sink, tenon__cudnn_status(result),
                            "cuDNN tells no place of weights: %s",
                            library->cudnnGetErrorString(result));
  }
  return same
             ? TENON_OK
             : tenon__cudnn_say(sink, TENON_ERROR_UNSUPPORTED,
                                "this cuDNN has the weights of a recurrent layer in another order");
}

uint64_t tenon__cudnn_unread_bytes(const tenon__cudnn_layer_t* layer, int64_t rows,
                                   size_t element_bytes) {
  const uint64_t bytes = (uint64_t)(rows * layer->directions * layer->hidden) * element_bytes;
  return (bytes + 255) / 256 * 256;
}
