/* Attention in the stand-in for cuDNN: what it asks of the tensors, and the plain sums. Each is
 * read by its own extents and strides. */
#include <math.h>
#include <stdlib.h>

#include "cudnn_program.h"

enum { AXES = 4, BATCH = 0, HEADS, TOKENS, FEATURES };

/* Features one behind the other, known steps between all else, in memory of the caller's. */
static bool lies_well(const tensor_t* t, cudnnDataType_t type) {
  bool good = t->rank == AXES && t->type == type && !t->is_virtual && !t->by_value &&
              t->strides[FEATURES] == 1 && t->dims[FEATURES] % 8 == 0 && t->dims[FEATURES] <= 128 &&
              t->alignment == 16;
  for (int k = 0; k < FEATURES; k++) {
    good = good && t->dims[k] > 0 && t->strides[k] > 0 && t->strides[k] % 8 == 0;
  }
  return good;
}

bool stand_in_takes_attention(const program_t* program) {
  const operation_t* o = &program->operations[0];
  if (program->operation_count != 1 || o->x < 0 || o->w < 0 || o->v < 0 || o->y < 0 ||
      o->scale < 0) {
    return false;
  }
  const tensor_t* q = &program->tensors[o->x];
  const tensor_t* k = &program->tensors[o->w];
  const tensor_t* v = &program->tensors[o->v];
  const tensor_t* y = &program->tensors[o->y];
  const tensor_t* scale = &program->tensors[o->scale];
  bool good = (q->type == CUDNN_DATA_HALF || q->type == CUDNN_DATA_BFLOAT16) &&
              lies_well(q, q->type) && lies_well(k, q->type) && lies_well(v, q->type) &&
              lies_well(y, q->type) && scale->by_value && scale->type == CUDNN_DATA_FLOAT &&
              scale->rank == AXES;
  for (int axis = BATCH; axis <= HEADS; axis++) {
    good = good && k->dims[axis] == q->dims[axis] && v->dims[axis] == q->dims[axis] &&
           y->dims[axis] == q->dims[axis];
  }
  return good && k->dims[FEATURES] == q->dims[FEATURES] && v->dims[TOKENS] == k->dims[TOKENS] &&
         y->dims[TOKENS] == q->dims[TOKENS] && y->dims[FEATURES] == v->dims[FEATURES];
}

/* Where a row begins. */
static int64_t row_of(const tensor_t* t, const int64_t* at, int64_t token) {
  return at[BATCH] * t->strides[BATCH] + at[HEADS] * t->strides[HEADS] + token * t->strides[TOKENS];
}

/* The powers of a query's scores, relative to the largest; their sum. */
static double weigh(const program_t* program, const operation_t* o, const int64_t* at,
                    double* powers) {
  const tensor_t* q = &program->tensors[o->x];
  const tensor_t* k = &program->tensors[o->w];
  const double scale = (double)stand_in_load(&program->tensors[o->scale], 0);
  double most = -(double)INFINITY;
  double sum = 0;
  for (int64_t key = 0; key < k->dims[TOKENS]; key++) {
    double score = 0;
    for (int64_t d = 0; d < q->dims[FEATURES]; d++) {
      score += (double)stand_in_load(q, row_of(q, at, at[TOKENS]) + d) *
               (double)stand_in_load(k, row_of(k, at, key) + d);
    }
    powers[key] = score * scale;
    most = powers[key] > most || isnan(powers[key]) ? powers[key] : most;
  }
  for (int64_t key = 0; key < k->dims[TOKENS]; key++) {
    powers[key] = exp(powers[key] - most);
    sum += powers[key];
  }
  return sum;
}

void stand_in_attend(const program_t* program, const operation_t* operation) {
  const tensor_t* v = &program->tensors[operation->v];
  const tensor_t* y = &program->tensors[operation->y];
  double* powers = calloc((size_t)v->dims[TOKENS], sizeof(*powers));
  int64_t at[RANK] = {0};
  do {
    const double sum = weigh(program, operation, at, powers);
    for (int64_t e = 0; e < y->dims[FEATURES]; e++) {
      double result = 0;
      for (int64_t key = 0; key < v->dims[TOKENS]; key++) {
        result += powers[key] * (double)stand_in_load(v, row_of(v, at, key) + e);
      }
      stand_in_store(y, row_of(y, at, at[TOKENS]) + e, result / sum);
    }
  } while (stand_in_next(at, y->dims, TOKENS + 1));
  free(powers);
}
