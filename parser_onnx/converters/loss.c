/* Losses, as far as inference computes them. */
#include "families.h"

static void reduce_loss(tenon_make_t* make, tenon_value_t logarithms) {
  tenon_make_begin(make, "negative_log_likelihood");
  tenon_make_pass_all(make, "reduction ignore_index");
  tenon_make_set_int(make, "ignores", tenon_make_has(make, "ignore_index"));
  tenon_make_add(make, logarithms);
  tenon_make_add(make, tenon_make_input(make, 1));
  tenon_make_add(make, tenon_make_input(make, 2));
  tenon_make_output(make, 0, tenon_make_end(make));
}

static void negative_log_likelihood(tenon_make_t* make) {
  reduce_loss(make, tenon_make_input(make, 0));
}

static void softmax_cross_entropy(tenon_make_t* make) {
  tenon_make_begin(make, "log_softmax");
  tenon_make_set_int(make, "axis", 1);
  tenon_make_add(make, tenon_make_input(make, 0));
  const tenon_value_t logarithms = tenon_make_end(make);
  reduce_loss(make, logarithms);
  tenon_make_output(make, 1, logarithms);
}

#define MADE(type, function) TENON__ONNX_ROW("", type, 12, 0, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MADE("NegativeLogLikelihoodLoss", negative_log_likelihood),
    MADE("SoftmaxCrossEntropyLoss", softmax_cross_entropy),
};
TENON__ONNX_FAMILY(loss);
