/* Inputs on which a build looks at what narrower types cost (--samples): folders with input_<i>.pb
 * or .npy, as data sets have them. */
#ifndef TOOL_SESSION_SAMPLES_H_
#define TOOL_SESSION_SAMPLES_H_

#include "data/value.h"
#include "tenon/tenon.h"
#include "text/options.h"

/* One sample for each folder, in order. All zeros: none. */
typedef struct tool_samples_t {
  tenon_sample_t* items;
  uint32_t count;
  uint32_t input_count;
  tool_value_t* values; /* [sample * input_count + input] */
  tenon_argument_t* arguments;
  tenon_tensor_view_t* views; /* likewise */
} tool_samples_t;

/* Reads what the folders have for the network's inputs. INVALID_ARGUMENT names an input that a
 * folder lacks, or that is no tensor. */
tenon_status_t tool_samples_load(const tool_list_t* folders, const tenon_network_t* network,
                                 tool_samples_t* out_samples);
void tool_samples_free(tool_samples_t* samples);

#endif
