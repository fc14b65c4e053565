/*
 * The optimiser: small passes over the network, each change a labelled patch. Passes query an
 * operator's declarations, never its name. They change the algebra and never fuse nodes into steps,
 * so after the passes the network still consists of operators.
 *
 * Passes process lists of changed nodes until the lists are empty. The time grows with the number
 * of nodes and patches, not with rounds over the whole network.
 */
#ifndef TENON_CORE_OPTIMIZER_OPTIMIZER_H_
#define TENON_CORE_OPTIMIZER_OPTIMIZER_H_

#include "core/network/network.h"
#include "core/optimizer/optimize_options.h"

/* Changes the network in place. After a failure the network is valid, except after OUT_OF_MEMORY,
 * when it may only be destroyed. `out_report` may be NULL; else the caller deinitialises it in any
 * case. The first pass in the table with a node on its list runs first, so that cheap passes and
 * passes that remove nodes run between the others. Rewrites that undo each other are stopped after
 * a number of patches that grows with the network, with a warning that names the one with most
 * patches. Returns CANCELLED between two visits. */
tenon_status_t tenon__optimize(tenon__network_t* network, const tenon__optimize_options_t* options,
                               const tenon_sink_t* sink, tenon__optimize_report_t* out_report);
/* Call it once for each report, also of failed runs. */
void tenon__optimize_report_deinitialize(tenon__optimize_report_t* report);

/* Returns the name of the pass at an index of the ordered table, NULL past the end. The index is
 * the bit in options.passes. */
const char* tenon__optimizer_pass_name(uint32_t index);
/* Returns the mask of passes that rely only on the operators' definitions (expressions, moves,
 * decompositions, control), and not on rewrites or traits. Used to compare: a network after only
 * these passes is the reference for a suspicious rewrite. */
uint32_t tenon__optimizer_passes_without_rewrites(void);

#endif
