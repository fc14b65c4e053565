/*
 * Regions in a plan. Nodes and values are written as their ids in the graph, which the plan's
 * network keeps. Derived data (tenon__region_finish) are not in the file.
 */
#ifndef TENON_CORE_PLAN_FILE_REGION_FILE_H_
#define TENON_CORE_PLAN_FILE_REGION_FILE_H_

#include "core/region/region.h"

struct tenon__byte_writer_t;
struct tenon__byte_reader_t;

/* Maximum number of inputs, and of outputs, of a region. The numbering of values compares pairs of
 * them. */
#define TENON_REGION_MOST_ARGUMENTS 16384u

/* The reader returns INVALID_DATA with a message for regions that no build makes: invalid ids,
 * operands of other types than their values, accesses that are not affine. On success, all
 * references are valid. */
void tenon__region_write(const struct tenon_region_t* region, struct tenon__byte_writer_t* writer);
tenon_status_t tenon__region_read(struct tenon__byte_reader_t* reader,
                                  const tenon__network_t* network, uint32_t graph,
                                  tenon__arena_t* arena, const tenon_sink_t* sink,
                                  struct tenon_region_t* out_region);

#endif
