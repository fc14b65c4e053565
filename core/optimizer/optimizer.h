/*
 * The optimiser: small passes over the network, each change a labelled patch. Passes ask what an
 * operator declares, never what it is called. They change the algebra; which nodes run together is
 * the tactics' matter, so after the passes the network is still one of operators.
 *
 * Passes work on lists of nodes that something happened to, until nothing is left to do: the time
 * grows with the number of nodes and patches, not with rounds over the whole network.
 */
#ifndef TENON_CORE_OPTIMIZER_OPTIMIZER_H_
#define TENON_CORE_OPTIMIZER_OPTIMIZER_H_

#include "core/network/network.h"
#include "core/optimizer/optimize_options.h"

/* Changes the network in place. On failure the network is valid but for OUT_OF_MEMORY, after which
 * it may only be destroyed. The report is the caller's to deinitialise whatever is returned; it may
 * be NULL. The first pass in the table with a node on its list goes first, so that cheap and
 * freeing passes run between the others. Rewrites that undo one another are stopped after a number
 * of patches that grows with the network, with a warning that names the busiest one. CANCELLED
 * between two visits. */
tenon_status_t tenon__optimize(tenon__network_t* network, const tenon__optimize_options_t* options,
                               const tenon_sink_t* sink, tenon__optimize_report_t* out_report);
/* Once for each report, those of failed runs too. */
void tenon__optimize_report_deinitialize(tenon__optimize_report_t* report);

/* The ordered table: names by index, NULL past the end. The index is the bit of options.passes. */
const char* tenon__optimizer_pass_name(uint32_t index);
/* The passes, as a mask, that rest on nothing but what operators mean (expressions, moves,
 * decompositions, control): on no rewrite and no trait. For comparisons: a network after these
 * alone is what a suspicious rewrite is measured against. */
uint32_t tenon__optimizer_passes_without_rewrites(void);

#endif
