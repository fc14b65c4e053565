/*
 * couple_pairs: what classes are probable, of which of each two of them is: the second method of
 * Wu, Lin and Weng, "Probability estimates for multi-class classification by pairwise coupling"
 * (2004), stopped where LIBSVM stops.
 */
#include <math.h>

#include "kernels.h"

enum { MOST_ROUNDS = 100 };

/* One row: `pairs` in the order (0, 1), (0, 2), ..., (1, 2), ...; q is k by k, qp and p have k. */
typedef struct coupling_t {
  int64_t k;
  const tenon__number_t* pairs;
  tenon__number_t* q;
  tenon__number_t* qp;
  tenon__number_t* p;
} coupling_t;

static void fill(const coupling_t* c) {
  int64_t pair = 0;
  for (int64_t i = 0; i < c->k; ++i) {
    c->p[i].f = 1.0 / (double)c->k;
    c->q[i * c->k + i].f = 0.0;
  }
  for (int64_t i = 0; i < c->k; ++i) {
    for (int64_t j = i + 1; j < c->k; ++j, ++pair) {
      const double first = c->pairs[pair].f;
      const double second = 1.0 - first;
      c->q[i * c->k + i].f += second * second;
      c->q[j * c->k + j].f += first * first;
      c->q[i * c->k + j].f = -first * second;
      c->q[j * c->k + i].f = -first * second;
    }
  }
}

/* Q p, and p Q p. */
static double multiply(const coupling_t* c) {
  double total = 0.0;
  for (int64_t i = 0; i < c->k; ++i) {
    c->qp[i].f = 0.0;
    for (int64_t j = 0; j < c->k; ++j) {
      c->qp[i].f += c->q[i * c->k + j].f * c->p[j].f;
    }
    total += c->p[i].f * c->qp[i].f;
  }
  return total;
}

static double largest_residual(const coupling_t* c, double total) {
  double largest = 0.0;
  for (int64_t i = 0; i < c->k; ++i) {
    largest = fmax(largest, fabs(c->qp[i].f - total));
  }
  return largest;
}

/* One class after the other is moved to where its residual is 0, and all are scaled to sum 1. */
static void improve(const coupling_t* c, double total) {
  for (int64_t i = 0; i < c->k; ++i) {
    const double own = c->q[i * c->k + i].f;
    const double step = (total - c->qp[i].f) / own;
    const double scale = 1.0 + step;
    c->p[i].f += step;
    total = (total + step * (step * own + 2.0 * c->qp[i].f)) / scale / scale;
    for (int64_t j = 0; j < c->k; ++j) {
      c->qp[j].f = (c->qp[j].f + step * c->q[i * c->k + j].f) / scale;
      c->p[j].f /= scale;
    }
  }
}

int64_t tenon__scratch_couple_pairs(const tenon__work_t* work) {
  const int64_t k = tenon__work_int(work, "class_count");
  return k * k + k;
}

tenon_status_t tenon__compute_couple_pairs(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  const int64_t k = y->dims[1];
  for (int64_t row = 0; row < x->dims[0]; ++row) {
    const coupling_t c = {.k = k,
                          .pairs = x->at + row * x->dims[1],
                          .q = work->scratch,
                          .qp = work->scratch + k * k,
                          .p = y->at + row * k};
    if (tenon__work_is_cancelled(work)) {
      return TENON_ERROR_CANCELLED;
    }
    fill(&c);
    for (int round = 0; round < MOST_ROUNDS; ++round) {
      const double total = multiply(&c);
      if (largest_residual(&c, total) < 0.005 / (double)k) {
        break;
      }
      improve(&c, total);
    }
  }
  return TENON_OK;
}
