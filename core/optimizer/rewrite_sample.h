/* Small networks of constants that hold a pattern: for trying rewrites. */
#ifndef TENON_CORE_OPTIMIZER_REWRITE_SAMPLE_H_
#define TENON_CORE_OPTIMIZER_REWRITE_SAMPLE_H_

#include "core/network/match.h"
#include "core/network/network.h"
#include "core/optimizer/rewrite_draw.h"

/* A network whose one output is the pattern's, over constants. `inputs`: the pattern's, in order of
 * occurrence. */
typedef struct tenon__sample_t {
  tenon__network_t* network;
  tenon__arena_t arena;
  tenon__match_t names; /* inputs, names, and the attributes that the pattern names */
} tenon__sample_t;

/* UNSUPPORTED when this draw makes no valid network: draw again. `out_sample` is to be released
 * whatever is returned. */
tenon_status_t tenon__sample_draw(tenon__sampler_t* sampler, tenon__sample_t* out_sample);
void tenon__sample_release(tenon__sample_t* sample);

/* "x = f64[2] {0.5, -1}, f = 2": in the sample's arena. */
const char* tenon__sample_text(tenon__sample_t* sample);

#endif
