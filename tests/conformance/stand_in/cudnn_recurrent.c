/*
 * Recurrent layers of the stand-in for cuDNN: one layer by the standard algorithm, for sequences of
 * one length. Weights are read where cudnnGetRNNWeightParams says that they are, in the order that
 * cuDNN 9.19 was seen to have, and gates go by its numbers: lstm i f c o, gru r z h. What y is
 * rounded to is what the next step reads. The work space is overwritten in each step.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cudnn_program.h"

struct cudnnDropoutStruct {
  float dropout;
};
struct cudnnRNNStruct {
  cudnnRNNMode_t mode;
  cudnnDataType_t type;
  cudnnMathType_t math;
  bool takes_padded;
  int64_t gates;
  int64_t directions;
  int64_t features;
  int64_t hidden;
};
struct cudnnRNNDataStruct {
  cudnnDataType_t type;
  cudnnRNNDataLayout_t layout;
  int64_t steps;
  int64_t batch;
  int64_t width;
};

/* ---- Descriptors ---- */

cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t* out) {
  *out = calloc(1, sizeof(**out));
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t dropout) {
  free(dropout);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t out, cudnnHandle_t handle,
                                        float dropout, void* states, size_t state_bytes,
                                        unsigned long long seed) {
  (void)states, (void)state_bytes, (void)seed;
  out->dropout = dropout;
  return handle == NULL ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* out) {
  *out = calloc(1, sizeof(**out));
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t layer) {
  free(layer);
  return CUDNN_STATUS_SUCCESS;
}
/* NOLINTNEXTLINE(readability-function-size): cuDNN's own */
cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t out, cudnnRNNAlgo_t algorithm,
                                       cudnnRNNMode_t mode, cudnnRNNBiasMode_t biases,
                                       cudnnDirectionMode_t directions, cudnnRNNInputMode_t input,
                                       cudnnDataType_t type, cudnnDataType_t precision,
                                       cudnnMathType_t math, int32_t features, int32_t hidden,
                                       int32_t projected, int32_t layers,
                                       cudnnDropoutDescriptor_t dropout, uint32_t flags) {
  if (features <= 0 || hidden <= 0 || projected != hidden || dropout == NULL) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (algorithm != CUDNN_RNN_ALGO_STANDARD || biases != CUDNN_RNN_DOUBLE_BIAS ||
      input != CUDNN_LINEAR_INPUT || precision != CUDNN_DATA_FLOAT || layers != 1) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  *out = (struct cudnnRNNStruct){.mode = mode,
                                 .type = type,
                                 .math = math,
                                 .takes_padded = (flags & CUDNN_RNN_PADDED_IO_ENABLED) != 0,
                                 .gates = mode == CUDNN_LSTM  ? 4
                                          : mode == CUDNN_GRU ? 3
                                                              : 1,
                                 .directions = directions == CUDNN_BIDIRECTIONAL ? 2 : 1,
                                 .features = features,
                                 .hidden = hidden};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* out) {
  *out = calloc(1, sizeof(**out));
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t data) {
  free(data);
  return CUDNN_STATUS_SUCCESS;
}
/* NOLINTNEXTLINE(readability-function-size): cuDNN's own */
cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t out, cudnnDataType_t type,
                                        cudnnRNNDataLayout_t layout, int steps, int batch,
                                        int width, const int* lengths, void* padding) {
  if (steps <= 0 || batch <= 0 || width <= 0 || padding != NULL) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  for (int k = 0; k < batch; k++) {
    if (lengths[k] != steps) {
      return CUDNN_STATUS_NOT_SUPPORTED;
    }
  }
  *out = (struct cudnnRNNDataStruct){type, layout, steps, batch, width};
  return CUDNN_STATUS_SUCCESS;
}

/* ---- Weights ---- */

static size_t size_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_FLOAT ? sizeof(float) : sizeof(uint16_t);
}

/* A test may have an order that nobody expects. */
static bool is_other_order(void) {
  return getenv("STAND_IN_CUDNN_WEIGHTS") != NULL;
}

static int64_t matrices_of(const struct cudnnRNNStruct* layer) {
  return layer->gates * layer->hidden * (layer->features + layer->hidden);
}
static int64_t matrix_place(const struct cudnnRNNStruct* layer, int64_t direction, int64_t id) {
  const int64_t of_x = layer->gates * layer->hidden * layer->features;
  const int64_t first = direction * matrices_of(layer);
  return id < layer->gates ? first + id * layer->hidden * layer->features
                           : first + of_x + (id - layer->gates) * layer->hidden * layer->hidden;
}
static int64_t bias_place(const struct cudnnRNNStruct* layer, int64_t direction, int64_t id) {
  const int64_t shown = is_other_order() ? 2 * layer->gates - 1 - id : id;
  return layer->directions * matrices_of(layer) +
         (direction * 2 * layer->gates + shown) * layer->hidden;
}

cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t layer,
                                         size_t* size) {
  (void)handle;
  *size = (size_t)(layer->directions * (matrices_of(layer) + 2 * layer->gates * layer->hidden)) *
          size_of(layer->type);
  return CUDNN_STATUS_SUCCESS;
}

static void* address_of(const void* base, int64_t place, cudnnDataType_t type) {
  const char* address = (const char*)base + (size_t)place * size_of(type);
  void* found = NULL;
  memcpy((void*)&found, (const void*)&address, sizeof(found));
  return found;
}

static void describe_matrix(cudnnTensorDescriptor_t out, cudnnDataType_t type, int64_t rows,
                            int64_t columns) {
  out->tensor = (tensor_t){
      .type = type, .rank = 3, .dims = {1, rows, columns}, .strides = {rows * columns, columns, 1}};
}

/* NOLINTNEXTLINE(readability-function-size): cuDNN's own */
cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t layer,
                                      int32_t direction, size_t size, const void* weights,
                                      int32_t id, cudnnTensorDescriptor_t matrix,
                                      void** matrix_address, cudnnTensorDescriptor_t bias,
                                      void** bias_address) {
  size_t needed = 0;
  (void)cudnnGetRNNWeightSpaceSize(handle, layer, &needed);
  if (size < needed || id < 0 || id >= 2 * layer->gates || direction >= layer->directions) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  describe_matrix(matrix, layer->type, layer->hidden,
                  id < layer->gates ? layer->features : layer->hidden);
  describe_matrix(bias, layer->type, layer->hidden, 1);
  *matrix_address = address_of(weights, matrix_place(layer, direction, id), layer->type);
  *bias_address = address_of(weights, bias_place(layer, direction, id), layer->type);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t layer,
                                        cudnnForwardMode_t mode, cudnnRNNDataDescriptor_t x,
                                        size_t* work_bytes, size_t* reserve_bytes) {
  const char* more = getenv("STAND_IN_CUDNN_WORK_SPACE");
  const size_t least = more == NULL ? 4096 : (size_t)strtoul(more, NULL, 10);
  size_t weights = 0;
  (void)cudnnGetRNNWeightSpaceSize(handle, layer, &weights);
  const int64_t row = layer->features + layer->directions * (layer->gates + 4) * layer->hidden;
  *work_bytes = least + weights + (size_t)(x->steps * x->batch * row) * size_of(layer->type);
  *reserve_bytes = 0;
  return mode == CUDNN_FWD_MODE_INFERENCE ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}

/* ---- Running ---- */

typedef struct walk_t {
  struct cudnnRNNStruct layer;
  struct cudnnRNNDataStruct data; /* of x */
  tensor_t x;
  tensor_t y;
  tensor_t weights;
  tensor_t states[4]; /* h and c, as they were and as they become; data NULL: absent */
  void* work_space;
  size_t work_bytes;
} walk_t;

/* One sequence in one direction. */
typedef struct line_t {
  int64_t direction;
  int64_t row;
  float* h;
  double* c;
} line_t;

static double as_multiplied(const walk_t* w, float value) {
  const bool rounds = w->layer.type == CUDNN_DATA_FLOAT && w->layer.math != CUDNN_FMA_MATH;
  return (double)(rounds ? stand_in_tf32(value) : value);
}

/* Row `unit` of matrix `id` times x or the state, and its bias. */
static double sum_of(const walk_t* w, const line_t* line, int64_t id, int64_t unit, int64_t at) {
  const bool of_x = id < w->layer.gates;
  const int64_t columns = of_x ? w->layer.features : w->layer.hidden;
  const int64_t first = matrix_place(&w->layer, line->direction, id) + unit * columns;
  double sum =
      (double)stand_in_load(&w->weights, bias_place(&w->layer, line->direction, id) + unit);
  for (int64_t k = 0; k < columns; k++) {
    const float value = of_x ? stand_in_load(&w->x, at * columns + k) : line->h[k];
    sum += as_multiplied(w, stand_in_load(&w->weights, first + k)) * as_multiplied(w, value);
  }
  return sum;
}

static double sigmoid(double x) {
  return 1.0 / (1.0 + exp(-x));
}

static double state_of(const walk_t* w, line_t* line, int64_t unit, int64_t at) {
  double x[4] = {0};
  double h[4] = {0};
  for (int64_t k = 0; k < w->layer.gates; k++) {
    x[k] = sum_of(w, line, k, unit, at);
    h[k] = sum_of(w, line, w->layer.gates + k, unit, at);
  }
  switch (w->layer.mode) {
    case CUDNN_LSTM:
      line->c[unit] =
          sigmoid(x[1] + h[1]) * line->c[unit] + sigmoid(x[0] + h[0]) * tanh(x[2] + h[2]);
      return sigmoid(x[3] + h[3]) * tanh(line->c[unit]);
    case CUDNN_GRU: {
      const double z = sigmoid(x[1] + h[1]);
      const double proposed = tanh(x[2] + sigmoid(x[0] + h[0]) * h[2]);
      return (1.0 - z) * proposed + z * (double)line->h[unit];
    }
    case CUDNN_RNN_RELU:
      return fmax(x[0] + h[0], 0.0);
    default:
      return tanh(x[0] + h[0]);
  }
}

static void walk_line(const walk_t* w, line_t* line) {
  const int64_t hidden = w->layer.hidden;
  const int64_t steps = w->data.steps;
  const bool batch_major = w->data.layout == CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED;
  const int64_t state = (line->direction * w->data.batch + line->row) * hidden;
  for (int64_t k = 0; k < hidden; k++) {
    line->h[k] = w->states[0].data == NULL ? 0.0F : stand_in_load(&w->states[0], state + k);
    line->c[k] = w->states[1].data == NULL ? 0.0 : (double)stand_in_load(&w->states[1], state + k);
  }
  for (int64_t step = 0; step < steps; step++) {
    const int64_t t = line->direction == 1 ? steps - 1 - step : step;
    const int64_t at = batch_major ? line->row * steps + t : t * w->data.batch + line->row;
    const int64_t to = (at * w->layer.directions + line->direction) * hidden;
    for (int64_t k = 0; k < hidden; k++) {
      stand_in_store(&w->y, to + k, state_of(w, line, k, at));
    }
    memset(w->work_space, 0xEE, w->work_bytes);
    for (int64_t k = 0; k < hidden; k++) {
      line->h[k] = stand_in_load(&w->y, to + k);
    }
  }
  for (int64_t k = 0; k < hidden; k++) {
    if (w->states[2].data != NULL) {
      stand_in_store(&w->states[2], state + k, (double)line->h[k]);
    }
    if (w->states[3].data != NULL) {
      stand_in_store(&w->states[3], state + k, line->c[k]);
    }
  }
}

static void walk_all(const void* parameters) {
  const walk_t* w = parameters;
  const size_t hidden = (size_t)w->layer.hidden;
  line_t line = {.h = calloc(hidden, sizeof(float)), .c = calloc(hidden, sizeof(double))};
  for (line.direction = 0; line.direction < w->layer.directions; line.direction++) {
    for (line.row = 0; line.row < w->data.batch; line.row++) {
      walk_line(w, &line);
    }
  }
  free(line.h);
  free(line.c);
}

static tensor_t elements_at(cudnnDataType_t type, const void* data) {
  tensor_t tensor = {.type = type};
  memcpy((void*)&tensor.data, (const void*)&data, sizeof(data));
  return tensor;
}

/* [directions, batch, hidden], dense. */
static bool is_state(cudnnTensorDescriptor_t descriptor, cudnnRNNDescriptor_t layer,
                     cudnnRNNDataDescriptor_t x) {
  const int64_t dims[] = {layer->directions, x->batch, layer->hidden};
  const tensor_t* state = &descriptor->tensor;
  bool is_so = state->type == layer->type && state->rank == 3;
  int64_t step = 1;
  for (int64_t k = 3; is_so && k-- > 0;) {
    is_so = state->dims[k] == dims[k] && state->strides[k] == step;
    step *= dims[k];
  }
  return is_so;
}

/* NOLINTNEXTLINE(readability-function-size): cuDNN's own */
cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t layer,
                              cudnnForwardMode_t mode, const int32_t* device_lengths,
                              cudnnRNNDataDescriptor_t x, const void* from,
                              cudnnRNNDataDescriptor_t y, void* to, cudnnTensorDescriptor_t h,
                              const void* h_from, void* h_to, cudnnTensorDescriptor_t c,
                              const void* c_from, void* c_to, size_t weight_bytes,
                              const void* weights, size_t work_bytes, void* work_space,
                              size_t reserve_bytes, void* reserve) {
  size_t wanted[2] = {0, 0};
  size_t none = 0;
  (void)cudnnGetRNNWeightSpaceSize(handle, layer, &wanted[0]);
  const cudnnStatus_t sized = cudnnGetRNNTempSpaceSizes(handle, layer, mode, x, &wanted[1], &none);
  const bool is_padded = x->layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED;
  const bool fits =
      x->width == layer->features && y->width == layer->directions * layer->hidden &&
      x->steps == y->steps && x->batch == y->batch && x->layout == y->layout &&
      x->type == layer->type && y->type == layer->type && is_padded == layer->takes_padded &&
      is_state(h, layer, x) &&
      (layer->mode == CUDNN_LSTM ? is_state(c, layer, x) : c_from == NULL && c_to == NULL);
  if (!fits || sized != CUDNN_STATUS_SUCCESS || device_lengths != NULL || from == NULL ||
      to == NULL || weight_bytes < wanted[0] || work_bytes < wanted[1] || work_space == NULL ||
      reserve_bytes != 0 || reserve != NULL) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  const cudnnDataType_t type = layer->type;
  const walk_t walk = {.layer = *layer,
                       .data = *x,
                       .x = elements_at(type, from),
                       .y = elements_at(type, to),
                       .weights = elements_at(type, weights),
                       .states = {elements_at(type, h_from), elements_at(type, c_from),
                                  elements_at(type, h_to), elements_at(type, c_to)},
                       .work_space = work_space,
                       .work_bytes = work_bytes};
  return stand_in_work(handle, walk_all, &walk, sizeof(walk));
}
