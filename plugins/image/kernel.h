/*
 * The kernel of image.decode_picture/1: the life of it, and what the tables name. Input: the bytes
 * of a file, u8 [n]; output: u8 [height, width, channels], whose extents the decoder finds. prepare
 * keeps the order of pixels; there is nothing to bind. A picture is decoded by one thread, and the
 * format's library allocates while it does.
 */
#ifndef PLUGINS_IMAGE_KERNEL_H_
#define PLUGINS_IMAGE_KERNEL_H_

#include "tenon/plugin.h"

tenon_status_t tenon__decode_prepare(void* state, const tenon_region_t* region,
                                     const tenon_region_table_t* table,
                                     const tenon_tactic_t* tactic, tenon_preparation_t* preparation,
                                     const tenon_prepare_table_t* host, void** out_instance);
tenon_status_t tenon__decode_enqueue(void* instance, void* bound, tenon_run_t* run,
                                     const tenon_run_table_t* host, const tenon_argument_t* inputs,
                                     uint32_t input_count, const tenon_argument_t* outputs,
                                     uint32_t output_count);

#endif
