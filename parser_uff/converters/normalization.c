/* Normalisation by statistics that are given, and along axes. */
#include <inttypes.h>

#include "families.h"

/* x, scale, shift, mean, variance, channels where `layout` says. */
static tenon_value_t batch_norm(tenon_make_t* make, const tenon__uff_layout_t* layout,
                                double epsilon) {
  const tenon_value_t x = tenon__uff_channels_first(make, layout, tenon_make_input(make, 0));
  tenon_make_begin(make, "batch_norm");
  tenon_make_set_float(make, "epsilon", epsilon);
  tenon_make_add(make, x);
  for (uint32_t i = 1; i < 5; ++i) {
    tenon_make_add(make, tenon_make_input(make, i));
  }
  return tenon__uff_channels_back(make, layout, tenon_make_end(make));
}

/* Mean and variance go through; what training would need of them is not asked for. */
static void fused_batch_norm(tenon_make_t* make) {
  if (!tenon__uff_needs(make, 5)) {
    return;
  }
  const bool is_training = tenon_make_get_int(make, "is_training", 1) != 0;
  const uint32_t rank = tenon_make_rank(make, tenon_make_input(make, 0));
  (void)tenon_make_has(make, "exponential_avg_factor");
  if (is_training) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "is_training is set: freeze the graph for inference");
    return;
  }
  const tenon__uff_layout_t layout = tenon__uff_layout(make, "data_format", 0, "N+C", rank);
  if (tenon_make_ok(make)) {
    tenon_make_output(make, 0,
                      batch_norm(make, &layout, tenon_make_get_float(make, "epsilon", 0.0001)));
    tenon_make_output(make, 1, tenon_make_input(make, 3));
    tenon_make_output(make, 2, tenon_make_input(make, 4));
  }
}

static void uff_batch_norm(tenon_make_t* make) {
  if (tenon__uff_needs(make, 5)) {
    const uint32_t rank = tenon_make_rank(make, tenon_make_input(make, 0));
    const tenon__uff_layout_t layout = tenon__uff_layout(make, "inputs_orders", 0, "NC+", rank);
    if (tenon_make_ok(make)) {
      tenon_make_output(make, 0,
                        batch_norm(make, &layout, tenon_make_get_float(make, "epsilon", 0.001)));
    }
  }
}

/* x, mean, variance, beta, gamma: along the last axis. */
static void batch_norm_with_global(tenon_make_t* make) {
  const bool scales = tenon_make_get_int(make, "scale_after_normalization", 1) != 0;
  if (!tenon__uff_needs(make, 5)) {
    return;
  }
  char text[128];
  (void)snprintf(text, sizeof(text), "y = (a - b) * rsqrt(c + %.9g)%s + d",
                 tenon_make_get_float(make, "variance_epsilon", 0), scales ? " * e" : "");
  tenon_make_output(make, 0, tenon_make_math(make, text, scales ? 5 : 4, make->inputs));
}

/* ---- Across channels ---- */

typedef struct local_t {
  int64_t radius;
  double alpha;
  double beta;
  double bias;
} local_t;

/* Alpha counts for each neighbour; the operator's is for the mean over the window. */
static void local_response(tenon_make_t* make, const tenon__uff_layout_t* layout,
                           const local_t* from) {
  if (!tenon_make_ok(make)) {
    return;
  }
  if (from->radius < 0 || from->radius > INT32_MAX / 4) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its window reaches %" PRId64 " channels",
                    from->radius);
    return;
  }
  const int64_t window = 2 * from->radius + 1;
  const tenon_value_t x = tenon__uff_channels_first(make, layout, tenon_make_input(make, 0));
  tenon_make_begin(make, "lrn");
  tenon_make_set_int(make, "window", window);
  tenon_make_set_float(make, "alpha", from->alpha * (double)window);
  tenon_make_set_float(make, "beta", from->beta);
  tenon_make_set_float(make, "bias", from->bias);
  tenon_make_add(make, x);
  tenon_make_output(make, 0, tenon__uff_channels_back(make, layout, tenon_make_end(make)));
}

static void tensorflow_lrn(tenon_make_t* make) {
  if (tenon__uff_needs(make, 1)) {
    const uint32_t rank = tenon_make_rank(make, tenon_make_input(make, 0));
    const tenon__uff_layout_t layout = tenon__uff_layout(make, NULL, 0, "N+C", rank);
    const local_t from = {
        tenon_make_get_int(make, "depth_radius", 5), tenon_make_get_float(make, "alpha", 1),
        tenon_make_get_float(make, "beta", 0.5), tenon_make_get_float(make, "bias", 1)};
    local_response(make, &layout, &from);
  }
}

/* UFF's converter writes TensorFlow's radius as window_size. */
static void uff_lrn(tenon_make_t* make) {
  if (tenon__uff_needs(make, 1)) {
    const uint32_t rank = tenon_make_rank(make, tenon_make_input(make, 0));
    const tenon__uff_layout_t layout = tenon__uff_layout(make, "inputs_orders", 0, "NC+", rank);
    const local_t from = {
        tenon_make_get_int(make, "window_size", 5), tenon_make_get_float(make, "alpha", 1),
        tenon_make_get_float(make, "beta", 0.5), tenon_make_get_float(make, "k", 1)};
    local_response(make, &layout, &from);
  }
}

/* ---- Softmax ---- */

static void softmax_along(tenon_make_t* make, int64_t axis) {
  tenon_make_begin(make, "softmax");
  tenon_make_set_int(make, "axis", axis);
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_output(make, 0, tenon_make_end(make));
}

/* Along the channels: what files have in `axis` is not to be relied on. */
static void uff_softmax(tenon_make_t* make) {
  if (!tenon__uff_needs(make, 1)) {
    return;
  }
  const uint32_t rank = tenon_make_rank(make, tenon_make_input(make, 0));
  (void)tenon_make_has(make, "axis");
  if (rank < 2 || !tenon_make_has(make, "inputs_orders")) {
    softmax_along(make, -1);
    return;
  }
  softmax_along(make, tenon__uff_layout(make, "inputs_orders", 0, "N+C", rank).channel);
}

#define LAST "axis=-1"
#define UFF(type, function) TENON__UFF_ROW(type, function, NULL, NULL)
#define TF(type, function) TENON__UFF_TF_ROW(type, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    UFF("BatchNorm", uff_batch_norm),
    UFF("LRN", uff_lrn),
    UFF("Softmax", uff_softmax),

    TF("BatchNormWithGlobalNormalization", batch_norm_with_global),
    TF("FusedBatchNorm", fused_batch_norm),
    TF("FusedBatchNormV2", fused_batch_norm),
    TF("FusedBatchNormV3", fused_batch_norm),
    TF("LRN", tensorflow_lrn),
    TENON__UFF_TF_ROW("LogSoftmax", tenon_make_same, "log_softmax", LAST),
    TENON__UFF_TF_ROW("Softmax", tenon_make_same, "softmax", LAST),
};
TENON__UFF_FAMILY(normalization);
