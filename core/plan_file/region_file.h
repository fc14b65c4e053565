/* Regions in a plan. */
#ifndef TENON_CORE_PLAN_FILE_REGION_FILE_H_
#define TENON_CORE_PLAN_FILE_REGION_FILE_H_

#include "core/region/region.h"

struct tenon__byte_writer_t;
struct tenon__byte_reader_t;

/* Inputs of a region, and outputs. Numbering values looks at pairs of them. */
#define TENON_REGION_MOST_ARGUMENTS 16384u

void tenon__region_write(const struct tenon_region_t* region, struct tenon__byte_writer_t* writer);
tenon_status_t tenon__region_read(struct tenon__byte_reader_t* reader,
                                  const tenon__network_t* network, uint32_t graph,
                                  tenon__arena_t* arena, const tenon_sink_t* sink,
                                  struct tenon_region_t* out_region);

#endif
