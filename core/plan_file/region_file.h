/*
 * Regions in a plan. Nodes and values are written as the ids that they have in the graph, which the
 * plan's network keeps. What is derived (tenon__region_finish) is not in the file.
 */
#ifndef TENON_CORE_PLAN_FILE_REGION_FILE_H_
#define TENON_CORE_PLAN_FILE_REGION_FILE_H_

#include "core/region/region.h"

struct tenon__byte_writer_t;
struct tenon__byte_reader_t;

/* Inputs of a region, and outputs. Numbering values looks at pairs of them. */
#define TENON_REGION_MOST_ARGUMENTS 16384u

/* INVALID_DATA, with the reason, for what no build would have made: ids that are not there,
 * operands of other types than their values, accesses that are not affine. On success nothing in it
 * leads out of the network or the arena. */
void tenon__region_write(const struct tenon_region_t* region, struct tenon__byte_writer_t* writer);
tenon_status_t tenon__region_read(struct tenon__byte_reader_t* reader,
                                  const tenon__network_t* network, uint32_t graph,
                                  tenon__arena_t* arena, const tenon_sink_t* sink,
                                  struct tenon_region_t* out_region);

#endif
