/* Extents in the device's memory: what an elementwise kernel makes of those that it was given. */
#ifndef TENON_TESTS_SUPPORT_FAR_DEVICE_EXTENTS_H_
#define TENON_TESTS_SUPPORT_FAR_DEVICE_EXTENTS_H_

#include "tenon/plugin.h"

/* Behind a call, on addresses inside: writes the extents of outputs that have some in device memory
 * from those of the inputs. Where no input has any the kernel found them, and `stretch` is added to
 * the last. */
void far_extents_pass(const tenon_argument_t* inputs, uint32_t input_count,
                      const tenon_argument_t* outputs, uint32_t output_count, uint64_t stretch);

#endif
