/*
 * A trial on a device whose memory is not the host's. What trials make and look at stays where it
 * is, in the host's memory; beside it a mirror lies in the device's. Inputs go there when the first
 * tactic wants them so, and stay for the others; outputs, or what of them is looked at, go there
 * before a run and come back behind it. Of a region that the host computes there is none, and all
 * of this does nothing.
 */
#ifndef TENON_CORE_TIMING_TRIAL_MIRROR_H_
#define TENON_CORE_TIMING_TRIAL_MIRROR_H_

#include "core/device/memory.h"
#include "core/kernel/instance.h"
#include "core/timing/red_zone.h"
#include "core/timing/trial_data.h"

/* Where an output lies there. */
typedef struct tenon__mirrored_t {
  void* device;
  size_t size_bytes; /* of the whole, of which the host may have a part */
} tenon__mirrored_t;

/* Lists are as the region's, in the trial's arena; events give the device's own time. All zero:
 * there is none. */
typedef struct tenon__trial_mirror_t {
  tenon__device_t device; /* whose failures the trial hears */
  tenon__memory_t memory;
  uint32_t input_count;
  uint32_t output_count;
  tenon__mirrored_t* outputs;
  tenon_argument_t* input_arguments; /* as the kernel sees them */
  tenon_argument_t* output_arguments;
  void* zone; /* of the host, in the trial's arena: the pattern of red zones */
  void* seen; /* likewise, for a zone that is read back */
  tenon_event_t* begin;
  tenon_event_t* end;
} tenon__trial_mirror_t;

/* Of the arguments that data and outputs lend now; it stays where it is. `input_rules`: the
 * tactic's, or NULL. `sink`: who hears of what
 * fails. End it whatever it returns. */
tenon_status_t tenon__trial_mirror_begin(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                         const tenon__trial_outputs_t* outputs,
                                         const tenon_argument_rule_t* input_rules,
                                         tenon__arena_t* arena, const tenon_sink_t* sink);
void tenon__trial_mirror_end(tenon__trial_mirror_t* mirror);
bool tenon__trial_mirror_is_used(const tenon__trial_mirror_t* mirror);
/* What the host has of the outputs to the device. */
tenon_status_t tenon__trial_mirror_send(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                        const tenon__trial_outputs_t* outputs);
/* And back, when all is done. What the kernel allocated comes to a block of the data's. */
tenon_status_t tenon__trial_mirror_fetch(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                         tenon__trial_outputs_t* outputs);
/* The first input whose bytes on the device are not the host's any more, TENON_NONE if none: it is
 * made good. Of large ones some pieces are looked at. Those that the kernel packed are left out. */
tenon_status_t tenon__trial_mirror_changed(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                           const tenon__instance_t* instance, uint32_t* out_input);
/* After a run: the first output around which the tactic wrote. */
tenon_status_t tenon__trial_mirror_overrun(const tenon__trial_mirror_t* mirror,
                                           uint32_t* out_output, tenon__overrun_t* out_overrun);
/* Memory between red zones, which are written. NULL if the device has none. `mirror` is in use. */
tenon_status_t tenon__trial_mirror_take_zoned(const tenon__trial_mirror_t* mirror,
                                              size_t size_bytes, void** out_data);
void tenon__trial_mirror_free_zoned(const tenon__trial_mirror_t* mirror, void* data,
                                    size_t size_bytes);
/* Around a run: how long the device was at it. Waits for the end. */
tenon_status_t tenon__trial_mirror_mark(tenon__trial_mirror_t* mirror, tenon_event_t* event);
tenon_status_t tenon__trial_mirror_elapsed(tenon__trial_mirror_t* mirror, double* out_seconds);

#endif
