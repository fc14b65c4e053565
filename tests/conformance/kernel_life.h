/*
 * A kernel's life on a device: prepared, bound and enqueued by the contract's tables, with memory
 * of the device for all that it asks for. What it computes, and whether that is right, is for
 * kernel_case.h and convolution_case.h.
 *
 *   kernel_life_t life;
 *   kernel_life_begin(&life, kernel_find(&fake), &fake);      the fake has the tactic
 *   kernel_life_block(&life, bytes, KERNEL_UNTOUCHED, &life.inputs[0].tensor.data); ...
 *   kernel_life_bind(&life), kernel_life_enqueue(&life), ...
 *   kernel_life_end(&life);                                   whatever failed before
 */
#ifndef TESTS_CONFORMANCE_KERNEL_LIFE_H_
#define TESTS_CONFORMANCE_KERNEL_LIFE_H_

#include <stdbool.h>

#include "opened_device.h"
#include "tests/support/kernel_host.h"

enum { KERNEL_TENSORS = 16 };
/* What every byte of an output is before somebody writes it. */
enum { KERNEL_UNTOUCHED = 0xCD };

/* What a driver has opened. */
extern opened_device_t kernel_device;
/* Whose kernels are asked, where that is not the device's own plugin. */
extern const tenon_plugin_t* kernel_plugin;
extern void* kernel_plugin_state;
/* Errors that kernels tell are kept in opened_words alone: some are expected. */
extern bool kernel_is_quiet;
extern int kernel_failures;
extern int kernel_runs;

/* The kernel for the region that the fake is, `nth` of them; NULL: there are no more. */
const tenon_kernel_t* kernel_find_nth(const fake_t* fake, uint32_t nth);
const tenon_kernel_t* kernel_find(const fake_t* fake);
/* Does it take the region? */
bool kernel_takes(const tenon_kernel_t* kernel, fake_t* fake, tenon_refusal_t* out_refusal);
/* How many tactics there are; the fake keeps the one that is wanted, if it is among them. */
uint32_t kernel_take_tactic(const tenon_kernel_t* kernel, fake_t* fake, uint32_t wanted);
/* As a build does it before it times them: what they take long for begins, in all processors. Every
 * `step`th of those from `first` to `count`. */
void kernel_expect_tactics(const tenon_kernel_t* kernel, fake_t* fake, uint32_t first,
                           uint32_t count, uint32_t step);

typedef struct kernel_life_t {
  const tenon_kernel_t* kernel;
  fake_t* fake;
  tenon_stream_t* stream;
  void* instance;
  void* bound;
  tenon_argument_t inputs[KERNEL_TENSORS]; /* in the device's memory: the caller's part */
  tenon_argument_t outputs[KERNEL_TENSORS];
  void* zeroed;
  void* persistent;
  void* fault; /* where it tells faults; NULL: nowhere */
  void* blocks[KERNEL_TENSORS + 4];
  size_t sizes[KERNEL_TENSORS + 4];
  uint32_t block_count;
} kernel_life_t;

/* A stream, and what the tactic asks for. */
tenon_status_t kernel_life_begin(kernel_life_t* out_life, const tenon_kernel_t* kernel,
                                 fake_t* fake);
/* Memory of the device that lives as long, all of one byte; NULL for none. */
tenon_status_t kernel_life_block(kernel_life_t* life, size_t size_bytes, int32_t byte,
                                 void** out_block);
/* Once the arguments are there. UNSUPPORTED: a tactic may find that it is none. */
tenon_status_t kernel_life_bind(kernel_life_t* life);
tenon_status_t kernel_life_enqueue(const kernel_life_t* life);
/* One call, recorded and not done. */
tenon_status_t kernel_life_record(const kernel_life_t* life, void** out_recording);
/* Done, and waited for; the recording goes. */
tenon_status_t kernel_life_play(const kernel_life_t* life, void* recording);
/* To the host's memory, and waited for. */
tenon_status_t kernel_life_read(const kernel_life_t* life, const void* block, size_t size_bytes,
                                void* out_bytes);
void kernel_life_end(kernel_life_t* life);
/* What tactics asked for; before the device is closed. */
void kernel_free_scratch(void);

#endif
