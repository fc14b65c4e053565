/* Attention in f64. */
#include "attention_case.h"

enum { Q = ATTENTION_Q, KT = ATTENTION_KT, V = ATTENTION_V };

/* The element of a tensor at coordinates of the scores' outer axes, and two more. */
static double read_at(const attention_t* a, const kernel_tensor_t* tensor, const int64_t* at) {
  const tenon_tensor_view_t* view = &tensor->view;
  int64_t place = 0;
  for (uint32_t axis = 0; axis < view->rank; axis++) {
    place += view->dims[axis] == 1 ? 0 : at[axis + a->rank - view->rank] * view->strides[axis];
  }
  const tenon__number_t number = tenon__number_load(view->data, 0, view->dtype, place);
  return tenon__number_is_float(view->dtype) ? number.f : (double)number.i;
}

static double apply(const attention_t* a, const attention_case_t* ac, const attention_step_t* step,
                    double x, const int64_t* at) {
  const double operand =
      step->operand == TENON_NONE ? 0 : read_at(a, &ac->c.tensors[step->operand], at);
  switch (step->kind) {
    case ATTENTION_ADD:
      return x + operand;
    case ATTENTION_SCALE:
      return x * operand;
    case ATTENTION_HIDE:
      return operand != 0 ? x : -(double)INFINITY;
    case ATTENTION_CAP:
      return 3 * tanh(x / 3);
    case ATTENTION_CAUSAL:
      return at[a->rank - 1] > at[a->rank - 2] ? -(double)INFINITY : x;
    case ATTENTION_BEND:
      return x / (1 + fabs(x)) * 4;
    case ATTENTION_CONVERT:
      return x;
    case ATTENTION_HALVE:
      return x / 2;
    case ATTENTION_ROOT:
      return x / sqrt((double)a->keys);
    default:
      return x == -(double)INFINITY ? (double)NAN : x / (1 + exp(-x));
  }
}

/* A row of probabilities, `at` without its last coordinate. */
static void expect_row(const attention_t* a, const attention_case_t* ac, int64_t* at, double* row) {
  const kernel_tensor_t* tensors = ac->c.tensors;
  const double factor = (a->scales_q ? read_at(a, &tensors[ac->factors[Q]], at) : 1) /
                        (a->scales_k ? read_at(a, &tensors[ac->factors[KT]], at) : 1);
  double most = -(double)INFINITY;
  double total = 0;
  const int64_t query = at[a->rank - 2];
  for (int64_t key = 0; key < a->keys; key++) {
    double sum = 0;
    for (int64_t d = 0; d < a->features; d++) {
      int64_t of_q[FAKE_RANK];
      int64_t of_k[FAKE_RANK];
      memcpy(of_q, at, sizeof(of_q));
      memcpy(of_k, at, sizeof(of_k));
      of_q[a->rank - 1] = of_k[a->rank - 2] = d;
      of_k[a->rank - 1] = key;
      sum += read_at(a, &tensors[Q], of_q) * read_at(a, &tensors[KT], of_k);
    }
    at[a->rank - 2] = query;
    at[a->rank - 1] = key;
    row[key] = sum * factor;
    for (uint32_t k = 0; k < a->step_count; k++) {
      row[key] = apply(a, ac, &a->steps[k], row[key], at);
    }
    most = row[key] > most || isnan(row[key]) ? row[key] : most;
  }
  for (int64_t key = 0; key < a->keys; key++) {
    const bool hidden = a->form == ATTENTION_MASKED && most == -(double)INFINITY;
    row[key] = hidden ? 0 : exp(row[key] - most);
    total += row[key];
  }
  for (int64_t key = 0; key < a->keys; key++) {
    row[key] = a->form == ATTENTION_MASKED && total == 0 ? 0 : row[key] / total;
    row[key] = a->form == ATTENTION_REPLACED && isnan(row[key]) ? 0 : row[key];
  }
}

void attention_expect(const attention_t* a, const attention_case_t* ac) {
  const tenon_tensor_view_t* y = &ac->c.tensors[ac->c.fake.input_count].view;
  const int64_t rows = tenon__dims_product(y->dims, 0, a->rank - 1);
  double* row = calloc((size_t)a->keys + 1, sizeof(*row));
  for (int64_t n = 0; n < rows; n++) {
    int64_t at[FAKE_RANK] = {0};
    int64_t rest = n;
    for (uint32_t axis = a->rank - 1; axis-- > 0;) {
      at[axis] = rest % y->dims[axis];
      rest /= y->dims[axis];
    }
    expect_row(a, ac, at, row);
    for (int64_t e = 0; e < a->results; e++) {
      int64_t of_v[FAKE_RANK];
      tenon__number_t sum = {.f = 0};
      memcpy(of_v, at, sizeof(of_v));
      of_v[a->rank - 1] = e;
      for (int64_t key = 0; key < a->keys; key++) {
        of_v[a->rank - 2] = key;
        sum.f += row[key] * read_at(a, &ac->c.tensors[V], of_v);
      }
      tenon__number_store(y->data, 0, y->dtype, tenon__view_place(y, n * a->results + e), sum);
    }
  }
  free(row);
}
