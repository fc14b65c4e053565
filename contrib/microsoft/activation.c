/* Activations, with the addition of a bias before them. */
#include "families.h"
#include "steps.h"

static tenon_value_t tanh_gelu(tenon_make_t* make, tenon_value_t x) {
  tenon_make_begin(make, "gelu");
  tenon_make_set_string(make, "approximate", "tanh");
  tenon_make_add(make, x);
  return tenon_make_end(make);
}

static void bias_gelu(tenon_make_t* make) {
  const tenon_value_t sum = microsoft_add_input(make, tenon_make_input(make, 0), 1);
  tenon_make_output(make, 0, tenon_make_1(make, "gelu", sum));
}

static void fast_gelu(tenon_make_t* make) {
  const tenon_value_t sum = microsoft_add_input(make, tenon_make_input(make, 0), 1);
  tenon_make_output(make, 0, tanh_gelu(make, sum));
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MICROSOFT_ROW("BiasGelu", bias_gelu, NULL, NULL),
    MICROSOFT_ROW("FastGelu", fast_gelu, NULL, NULL),
    MICROSOFT_ROW("Gelu", tenon_make_same, "gelu", NULL),
    MICROSOFT_ROW("QuickGelu", tenon_make_same, "swish", "alpha=1.702"),
};
MICROSOFT_FAMILY(activation);
