/* A plan whose branches are on streams, run so and with all its steps in a row. For
 * core/builder/streams.c alone. */
#ifndef TENON_CORE_BUILDER_STREAM_RUNS_H_
#define TENON_CORE_BUILDER_STREAM_RUNS_H_

#include "core/builder/building.h"
#include "core/builder/made.h"

/* Seconds of one run at the profile's optimum by the clock of the plan's main device, inputs and
 * outputs in its memory: the least of several, that both ways take in turn. */
typedef struct tenon__stream_times_t {
  double on_streams;
  double in_a_row;
} tenon__stream_times_t;

/* `made`: what the building's plan was written as. UNSUPPORTED where its inputs cannot be made up:
 * sequences, strings. Otherwise what loading and running it say; nobody is told. */
tenon_status_t tenon__building_time_streams(const tenon__building_t* building,
                                            const tenon__made_t* made,
                                            tenon__stream_times_t* out_times);

#endif
