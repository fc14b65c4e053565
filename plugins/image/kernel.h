/*
 * The kernel of image.decode_picture/1: the life of it, and what the tables name. Input: the bytes
 * of a file, u8 [n]; output: u8 [height, width, channels], whose extents the decoder finds. prepare
 * keeps the order of pixels; there is nothing to bind. A picture is decoded by one thread, and the
 * format's library allocates while it does.
 */
#ifndef PLUGINS_IMAGE_KERNEL_H_
#define PLUGINS_IMAGE_KERNEL_H_

#include "tenon/plugin.h"

tenon_status_t tenon__decode_prepare(const tenon_prepare_t* call, void** out_instance);
tenon_status_t tenon__decode_enqueue(const tenon_enqueue_t* call);

#endif
