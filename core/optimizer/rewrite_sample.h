/* Small networks of constants that hold a pattern: for trying rewrites. Constants alone, so that
 * both sides can be folded to numbers by the optimiser's own means, without a plan or a kernel. */
#ifndef TENON_CORE_OPTIMIZER_REWRITE_SAMPLE_H_
#define TENON_CORE_OPTIMIZER_REWRITE_SAMPLE_H_

#include "core/network/match.h"
#include "core/network/network.h"
#include "core/optimizer/rewrite_draw.h"

/* A network whose one output is the pattern's, over constants. `inputs`: the pattern's, in order of
 * occurrence. Network and arena are the sample's own; `names` borrows from both, and from the
 * pattern's text. */
typedef struct tenon__sample_t {
  tenon__network_t* network;
  tenon__arena_t arena;
  tenon__match_t names; /* inputs, names, and the attributes that the pattern names */
} tenon__sample_t;

/* UNSUPPORTED when this draw makes no valid network: draw again. `out_sample` is to be released
 * whatever is returned. Most draws make one: what an operator refuses is a matter of chance and no
 * fault. */
tenon_status_t tenon__sample_draw(tenon__sampler_t* sampler, tenon__sample_t* out_sample);
void tenon__sample_release(tenon__sample_t* sample);

/* "x = f64[2] {0.5, -1}, f = 2": in the sample's arena. Of longer inputs the first six elements;
 * "?" when memory is out. */
const char* tenon__sample_text(tenon__sample_t* sample);
/* "0.5", of one element; "?" when memory is out. */
const char* tenon__element_text(const tenon__weights_t* weights, uint64_t index,
                                tenon__arena_t* arena);

#endif
