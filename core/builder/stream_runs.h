/* Times a plan whose branches are on streams, and the same plan with all steps on one stream. For
 * core/builder/streams.c only. */
#ifndef TENON_CORE_BUILDER_STREAM_RUNS_H_
#define TENON_CORE_BUILDER_STREAM_RUNS_H_

#include "core/builder/building.h"
#include "core/builder/made.h"

/* Seconds of one run at the profile's optimum by the clock of the plan's main device, with inputs
 * and outputs in its memory. Each is the minimum of several runs; both ways take turns. */
typedef struct tenon__stream_times_t {
  double on_streams;
  double in_a_row;
} tenon__stream_times_t;

/* `made` is the building's plan, serialised. Returns UNSUPPORTED if its inputs cannot be made up
 * (sequences, strings), else the status of loading and running it. Sends no messages. */
tenon_status_t tenon__building_time_streams(const tenon__building_t* building,
                                            const tenon__made_t* made,
                                            tenon__stream_times_t* out_times);

#endif
