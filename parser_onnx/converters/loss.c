/* Losses, as far as inference computes them. */
#include "families.h"

static void reduce_loss(tenon__make_t* make, tenon_value_t logarithms) {
  tenon__make_begin(make, "negative_log_likelihood");
  tenon__make_pass_all(make, "reduction ignore_index");
  tenon__make_set_int(make, "ignores", tenon__make_has(make, "ignore_index"));
  tenon__make_add(make, logarithms);
  tenon__make_add(make, tenon__make_input(make, 1));
  tenon__make_add(make, tenon__make_input(make, 2));
  tenon__make_output(make, 0, tenon__make_end(make));
}

static void negative_log_likelihood(tenon__make_t* make) {
  reduce_loss(make, tenon__make_input(make, 0));
}

static void softmax_cross_entropy(tenon__make_t* make) {
  tenon__make_begin(make, "log_softmax");
  tenon__make_set_int(make, "axis", 1);
  tenon__make_add(make, tenon__make_input(make, 0));
  const tenon_value_t logarithms = tenon__make_end(make);
  reduce_loss(make, logarithms);
  tenon__make_output(make, 1, logarithms);
}

#define MADE(type, function) TENON__MAKE_ROW("", type, 12, 0, function, NULL, NULL)

TENON__ONNX_FAMILY(loss) = {
    MADE("NegativeLogLikelihoodLoss", negative_log_likelihood),
    MADE("SoftmaxCrossEntropyLoss", softmax_cross_entropy),
};
