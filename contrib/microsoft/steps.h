/* Steps that converters of several families take. */
#ifndef MICROSOFT_STEPS_H_
#define MICROSOFT_STEPS_H_

#include "tenon/maker.h"

/* The largest extent or count in attributes. Products of two of them fit 64 bits. */
enum { MICROSOFT_EXTENT_MAX = INT32_MAX };

static inline tenon_value_t microsoft_absent(void) {
  return (tenon_value_t){0};
}

/* Refuses an attribute whose value has no equivalent here. Prints name, value, reason. */
void microsoft_refuse(tenon_make_t* make, const char* name, const char* reason);
/* Reads an attribute that is an extent, 0 to MICROSOFT_EXTENT_MAX. Refuses other values. */
int64_t microsoft_extent(tenon_make_t* make, const char* name);
/* Refuses an input that is present. */
void microsoft_refuse_input(tenon_make_t* make, uint32_t index, const char* name,
                            const char* reason);
/* Refuses each output from `first` on that the model uses. */
void microsoft_refuse_outputs(tenon_make_t* make, uint32_t first, const char* reason);

/* Adds input `index` if it is present. */
tenon_value_t microsoft_add_input(tenon_make_t* make, tenon_value_t value, uint32_t index);
/* Multiplies by a constant. Returns `value` if it is 1. */
tenon_value_t microsoft_scaled(tenon_make_t* make, tenon_value_t value, double factor);
/* Moves axis `from` to position `to`. Returns `value` if it lacks one of these axes. */
tenon_value_t microsoft_moved(tenon_make_t* make, tenon_value_t value, uint32_t from, uint32_t to);
/* Swaps the last two axes. Returns `value` if its rank is 1. */
tenon_value_t microsoft_transposed(tenon_make_t* make, tenon_value_t value);
/* Slices the first items of an axis. `count` is i64 of shape [1]. */
tenon_value_t microsoft_first(tenon_make_t* make, tenon_value_t value, int64_t axis,
                              tenon_value_t count);
/* Selects item `index` of an axis and removes the axis. */
tenon_value_t microsoft_item(tenon_make_t* make, tenon_value_t value, int64_t axis, int64_t index);
/* Splits the last axis into halves. Its extent must be even. */
void microsoft_halves(tenon_make_t* make, tenon_value_t value, tenon_value_t out_halves[2]);
/* Makes 0, 1, ... count - 1 as i64 of rank 1. `count` is i64 of rank 0. */
tenon_value_t microsoft_below(tenon_make_t* make, tenon_value_t count);
/* Makes microsoft_below of an extent of `value`. */
tenon_value_t microsoft_counted(tenon_make_t* make, tenon_value_t value, int64_t axis);

/* An activation of ONNX with its numbers alpha, beta and gamma. Bit i of `has`: number i is given. */
typedef struct microsoft_activation_t {
  const char* name; /* "" or NULL: none */
  double numbers[3];
  uint32_t has;
} microsoft_activation_t;
tenon_value_t microsoft_activate(tenon_make_t* make, tenon_value_t value,
                                 const microsoft_activation_t* activation);
/* Reads attributes activation, activation_alpha, activation_beta and activation_gamma. */
microsoft_activation_t microsoft_get_activation(tenon_make_t* make);

/* Makes gelu with ONNX's approximation by tanh. */
tenon_value_t microsoft_tanh_gelu(tenon_make_t* make, tenon_value_t x);
/* Makes g sigmoid(alpha g) (l + beta), where g = min(gate, limit) and l is `linear`, clamped to
 * -limit .. limit. INFINITY: no limit. Reads the attributes activation_alpha and activation_beta. */
tenon_value_t microsoft_swiglu(tenon_make_t* make, tenon_value_t gate, tenon_value_t linear,
                               double limit);

/* Sets strides, dilations and pads, or auto_pad, of the node that was begun. */
void microsoft_set_window(tenon_make_t* make);
/* Moves the channels of an image: from the last axis to axis 1, and back. */
tenon_value_t microsoft_channels_first(tenon_make_t* make, tenon_value_t value);
tenon_value_t microsoft_channels_last(tenon_make_t* make, tenon_value_t value);

#endif
