/*
 * A trial on a device with its own memory. The data of trials stay in the host's memory, with a
 * device copy (mirror). Inputs are copied to the device when the first tactic needs them in a
 * layout, and stay for the others. Outputs, or their compared parts, are copied there before a run
 * and back after it. For regions on the host there is no mirror, and these functions do nothing.
 */
#ifndef TENON_CORE_TIMING_TRIAL_MIRROR_H_
#define TENON_CORE_TIMING_TRIAL_MIRROR_H_

#include "core/device/memory.h"
#include "core/kernel/instance.h"
#include "core/timing/red_zone.h"
#include "core/timing/trial_data.h"

/* An output on the device. */
typedef struct tenon__mirrored_t {
  void* device;
  size_t size_bytes; /* of the whole; the host may have a part */
} tenon__mirrored_t;

/* Lists correspond to the region's and are in the trial's arena. Events give the device's own time.
 * All zero: no mirror. */
typedef struct tenon__trial_mirror_t {
  tenon__device_t device; /* reports failures to the trial */
  tenon__memory_t memory;
  uint32_t input_count;
  uint32_t output_count;
  tenon__mirrored_t* outputs;
  tenon_argument_t* input_arguments; /* as the kernel sees them */
  tenon_argument_t* output_arguments;
  void* zone; /* of the host, in the trial's arena: pattern of red zones */
  void* seen; /* same, for a zone that is read back */
  tenon_event_t* begin;
  tenon_event_t* end;
} tenon__trial_mirror_t;

/* Makes the mirror of the arguments that data and outputs lend now. Do not move the structure.
 * `input_rules` are the tactic's, or NULL. `sink` gets messages of failures. Call
 * tenon__trial_mirror_end in any case. */
tenon_status_t tenon__trial_mirror_begin(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                         const tenon__trial_outputs_t* outputs,
                                         const tenon_argument_rule_t* input_rules,
                                         tenon__arena_t* arena, const tenon_sink_t* sink);
void tenon__trial_mirror_end(tenon__trial_mirror_t* mirror);
bool tenon__trial_mirror_is_used(const tenon__trial_mirror_t* mirror);
/* Copies the host's outputs to the device. */
tenon_status_t tenon__trial_mirror_send(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                        const tenon__trial_outputs_t* outputs);
/* Copies them back after all work. Outputs that the kernel has allocated are copied to a block of
 * the data. */
tenon_status_t tenon__trial_mirror_fetch(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                         tenon__trial_outputs_t* outputs);
/* Finds the first input whose bytes on the device differ from the host's, and restores it;
 * TENON_NONE if there is none. Only parts of large inputs are compared. Inputs that the kernel has
 * packed are skipped. */
tenon_status_t tenon__trial_mirror_changed(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                           const tenon__instance_t* instance, uint32_t* out_input);
/* After a run: finds the first output whose red zones the tactic has overwritten. */
tenon_status_t tenon__trial_mirror_overrun(const tenon__trial_mirror_t* mirror,
                                           uint32_t* out_output, tenon__overrun_t* out_overrun);
/* Allocates memory between red zones and writes these. NULL if the device has no memory left.
 * `mirror` is in use. */
tenon_status_t tenon__trial_mirror_take_zoned(const tenon__trial_mirror_t* mirror,
                                              size_t size_bytes, void** out_data);
void tenon__trial_mirror_free_zoned(const tenon__trial_mirror_t* mirror, void* data,
                                    size_t size_bytes);
/* Called around a run: record events, and compute the device's time between them.
 * tenon__trial_mirror_elapsed waits for the end. */
tenon_status_t tenon__trial_mirror_mark(tenon__trial_mirror_t* mirror, tenon_event_t* event);
tenon_status_t tenon__trial_mirror_elapsed(tenon__trial_mirror_t* mirror, double* out_seconds);

#endif
