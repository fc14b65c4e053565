/* Computing an operation graph plainly: each operation over all of its result, sums in double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cudnn_program.h"

/* ---- Elements ---- */

static float float_of(uint32_t bits) {
  float value = 0;
  memcpy(&value, &bits, sizeof(value));
  return value;
}
static uint32_t bits_of(float value) {
  uint32_t bits = 0;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}
/* Keeps all but the lowest `dropped` bits, to the nearest, halves to even. */
static float round_bits(float value, uint32_t dropped) {
  const uint32_t bits = bits_of(value);
  const uint32_t half = (1U << (dropped - 1)) - 1 + (bits >> dropped & 1U);
  return isfinite(value) ? float_of((bits + half) >> dropped << dropped) : value;
}

float stand_in_tf32(float value) {
  return round_bits(value, 13);
}

/* f16: 1, 5 and 10 bits. */
static float of_half(uint16_t half) {
  const uint32_t exponent = half >> 10 & 31U;
  const uint32_t fraction = half & 1023U;
  const float magnitude = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                          : exponent == 0 ? ldexpf((float)fraction, -24)
                                          : ldexpf((float)(fraction + 1024U), (int)exponent - 25);
  return (half & 0x8000U) != 0 ? -magnitude : magnitude;
}
static uint16_t to_half(float value) {
  const uint16_t sign = signbit(value) != 0 ? 0x8000U : 0;
  int exponent = 0;
  if (isnan(value)) {
    return 0x7E00U;
  }
  (void)frexpf(fabsf(value), &exponent);
  const int least = exponent < -13 ? -13 : exponent; /* below it fractions keep the same unit */
  const float units = nearbyintf(ldexpf(fabsf(value), 11 - least));
  const float rounded = ldexpf(units, least - 11);
  if (rounded >= 65536.0F) {
    return sign | 0x7C00U;
  }
  (void)frexpf(rounded, &exponent);
  const bool tiny = rounded == 0.0F || exponent < -13;
  const uint32_t fraction = (uint32_t)ldexpf(rounded, tiny ? 24 : 11 - exponent);
  return (uint16_t)(sign |
                    (tiny ? fraction : (uint32_t)(exponent + 14) << 10 | (fraction & 1023U)));
}

float stand_in_load(const tensor_t* tensor, int64_t place) {
  if (tensor->by_value) {
    return tensor->number;
  }
  if (tensor->type == CUDNN_DATA_HALF) {
    return of_half(((const uint16_t*)tensor->data)[place]);
  }
  if (tensor->type == CUDNN_DATA_BFLOAT16) {
    return float_of((uint32_t)((const uint16_t*)tensor->data)[place] << 16);
  }
  return ((const float*)tensor->data)[place];
}

void stand_in_store(const tensor_t* tensor, int64_t place, double value) {
  if (tensor->type == CUDNN_DATA_HALF) {
    ((uint16_t*)tensor->data)[place] = to_half((float)value);
  } else if (tensor->type == CUDNN_DATA_BFLOAT16) {
    ((uint16_t*)tensor->data)[place] = (uint16_t)(bits_of(round_bits((float)value, 16)) >> 16);
  } else {
    ((float*)tensor->data)[place] = (float)value;
  }
}

int64_t stand_in_place(const tensor_t* tensor, const int64_t* point) {
  int64_t place = 0;
  for (int64_t k = 0; k < tensor->rank; k++) {
    place += tensor->dims[k] == 1 ? 0 : point[k] * tensor->strides[k];
  }
  return place;
}

bool stand_in_next(int64_t* point, const int64_t* dims, int64_t rank) {
  for (int64_t k = rank; k-- > 0;) {
    if (++point[k] < dims[k]) {
      return true;
    }
    point[k] = 0;
  }
  return false;
}

/* ---- Convolutions ---- */

typedef struct convolution_t {
  const program_t* program;
  const operation_t* operation;
  const tensor_t* x;
  const tensor_t* w;
  const tensor_t* y;
} convolution_t;

static double product(const convolution_t* c, const int64_t* from, const int64_t* weight) {
  float a = stand_in_load(c->x, stand_in_place(c->x, from));
  float b = stand_in_load(c->w, stand_in_place(c->w, weight));
  if (c->program->rounds && c->x->type == CUDNN_DATA_FLOAT) {
    a = stand_in_tf32(a);
    b = stand_in_tf32(b);
  }
  return (double)a * (double)b;
}

/* Where tap `weight` of the window at `at` reads; of a transposed one, which element of x was
 * spread to `at` by it. */
static bool source_of(const convolution_t* c, bool transposed, const int64_t* at,
                      const int64_t* weight, int64_t* out_from) {
  const operation_t* o = c->operation;
  for (int64_t a = 0; a < o->axes; a++) {
    int64_t place = 0;
    if (transposed) {
      place = at[a + 2] + o->begin[a] - weight[a + 2] * o->dilation[a];
      if (place % o->stride[a] != 0) {
        return false;
      }
      place /= o->stride[a];
    } else {
      place = at[a + 2] * o->stride[a] + weight[a + 2] * o->dilation[a] - o->begin[a];
    }
    if (place < 0 || place >= c->x->dims[a + 2]) {
      return false;
    }
    out_from[a + 2] = place;
  }
  return true;
}

static void convolve(const program_t* program, const operation_t* operation) {
  const bool transposed =
      operation->type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
  const convolution_t c = {program, operation, &program->tensors[operation->x],
                           &program->tensors[operation->w], &program->tensors[operation->y]};
  const int64_t channels = transposed ? c.y->dims[1] : c.x->dims[1];
  const int64_t groups = channels / c.w->dims[1];
  const int64_t in_group = c.x->dims[1] / groups;
  const int64_t out_group = c.y->dims[1] / groups;
  int64_t at[RANK] = {0};
  do {
    double sum = 0;
    const int64_t first = at[1] / out_group * in_group;
    for (int64_t channel = 0; channel < in_group; channel++) {
      int64_t weight[RANK] = {transposed ? first + channel : at[1],
                              transposed ? at[1] % out_group : channel};
      do {
        int64_t from[RANK] = {at[0], first + channel};
        sum += source_of(&c, transposed, at, weight, from) ? product(&c, from, weight) : 0;
      } while (stand_in_next(weight + 2, c.w->dims + 2, c.w->rank - 2));
    }
    stand_in_store(c.y, stand_in_place(c.y, at), sum);
  } while (stand_in_next(at, c.y->dims, c.y->rank));
}

/* ---- Pointwise ---- */

static double clip(const operation_t* o, double x) {
  if (isnan(x)) {
    return o->propagates ? x : o->lower;
  }
  return fmin(fmax(x, o->lower), o->upper);
}

static double apply(const operation_t* o, double x, double b) {
  switch (o->mode) {
    case CUDNN_POINTWISE_ADD:
      return x + b;
    case CUDNN_POINTWISE_SUB:
      return x - b;
    case CUDNN_POINTWISE_MUL:
      return x * b;
    case CUDNN_POINTWISE_DIV:
      return x / b;
    case CUDNN_POINTWISE_MIN:
      return fmin(x, b);
    case CUDNN_POINTWISE_MAX:
      return fmax(x, b);
    case CUDNN_POINTWISE_NEG:
      return -x;
    case CUDNN_POINTWISE_ABS:
      return fabs(x);
    case CUDNN_POINTWISE_FLOOR:
      return floor(x);
    case CUDNN_POINTWISE_CEIL:
      return ceil(x);
    case CUDNN_POINTWISE_SQRT:
      return sqrt(x);
    case CUDNN_POINTWISE_RSQRT:
      return 1.0 / sqrt(x);
    case CUDNN_POINTWISE_RECIPROCAL:
      return 1.0 / x;
    case CUDNN_POINTWISE_EXP:
      return exp(x);
    case CUDNN_POINTWISE_LOG:
      return log(x);
    case CUDNN_POINTWISE_SIN:
      return sin(x);
    case CUDNN_POINTWISE_COS:
      return cos(x);
    case CUDNN_POINTWISE_SOFTPLUS_FWD:
      return log1p(exp(x));
    case CUDNN_POINTWISE_ERF:
      return erf(x);
    case CUDNN_POINTWISE_TANH_FWD:
      return tanh(x);
    case CUDNN_POINTWISE_SIGMOID_FWD:
      return 1.0 / (1.0 + exp(-x));
    case CUDNN_POINTWISE_IDENTITY:
      return x;
    case CUDNN_POINTWISE_RELU_FWD:
      return clip(o, x);
    default:
      return (double)NAN; /* a test that gets here is to fail */
  }
}

static void compute_pointwise(const program_t* program, const operation_t* o) {
  const tensor_t* x = &program->tensors[o->x];
  const tensor_t* b = o->w < 0 ? NULL : &program->tensors[o->w];
  const tensor_t* y = &program->tensors[o->y];
  int64_t at[RANK] = {0};
  do {
    const double left = (double)stand_in_load(x, stand_in_place(x, at));
    const double right = b == NULL ? 0 : (double)stand_in_load(b, stand_in_place(b, at));
    stand_in_store(y, stand_in_place(y, at), apply(o, left, right));
  } while (stand_in_next(at, y->dims, y->rank));
}

/* ---- All of it ---- */

static size_t elements_of(const tensor_t* tensor) {
  int64_t most = 0;
  for (int64_t k = 0; k < tensor->rank; k++) {
    most += (tensor->dims[k] - 1) * tensor->strides[k];
  }
  return (size_t)most + 1;
}

/* Memory for the values between operations. */
static float* give_memory(program_t* program) {
  size_t count = 1;
  for (int32_t k = 0; k < program->tensor_count; k++) {
    count += program->tensors[k].is_virtual ? elements_of(&program->tensors[k]) : 0;
  }
  float* memory = calloc(count, sizeof(float));
  float* next = memory;
  for (int32_t k = 0; k < program->tensor_count; k++) {
    if (program->tensors[k].is_virtual) {
      program->tensors[k].data = next;
      next += elements_of(&program->tensors[k]);
    }
  }
  return memory;
}

void stand_in_compute(const void* data) {
  program_t program = *(const program_t*)data; /* values between operations are of this run */
  float* memory = give_memory(&program);
  if (program.workspace_bytes > 0) { /* it is there to be written to */
    memset(program.workspace, 0x5A, (size_t)program.workspace_bytes);
  }
  for (int32_t k = 0; k < program.operation_count; k++) {
    const operation_t* operation = &program.operations[k];
    if (operation->type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) {
      compute_pointwise(&program, operation);
    } else if (operation->type == CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR) {
      stand_in_attend(&program, operation);
    } else {
      convolve(&program, operation);
    }
  }
  free(memory);
}
