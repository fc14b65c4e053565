/* Small networks of constants that contain a pattern, for trials of rewrites. All inputs are
 * constants, so that the optimiser can fold both sides to numbers, without a plan or a kernel. */
#ifndef TENON_CORE_OPTIMIZER_REWRITE_SAMPLE_H_
#define TENON_CORE_OPTIMIZER_REWRITE_SAMPLE_H_

#include "core/network/match.h"
#include "core/network/network.h"
#include "core/optimizer/rewrite_draw.h"

/* A network of constants whose only output is the pattern's. `inputs` are the pattern's, in order
 * of occurrence. The sample owns network and arena. `names` borrows from both, and from the
 * pattern's text. */
typedef struct tenon__sample_t {
  tenon__network_t* network;
  tenon__arena_t arena;
  tenon__match_t names; /* inputs, names, and the attributes that the pattern names */
} tenon__sample_t;

/* Draws a sample. Returns UNSUPPORTED if this draw gives no valid network, because an operator
 * rejects random inputs; then draw again. Most draws are valid. Call tenon__sample_release in any
 * case. */
tenon_status_t tenon__sample_draw(tenon__sampler_t* sampler, tenon__sample_t* out_sample);
void tenon__sample_release(tenon__sample_t* sample);

/* Returns "x = f64[2] {0.5, -1}, f = 2", in the sample's arena, with at most the first 6 elements
 * of each input; "?" if out of memory. */
const char* tenon__sample_text(tenon__sample_t* sample);
/* Returns one element as text, "0.5"; "?" if out of memory. */
const char* tenon__element_text(const tenon__weights_t* weights, uint64_t index,
                                tenon__arena_t* arena);

#endif
