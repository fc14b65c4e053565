/* The kernel of image.decode_picture/1: the life of it, and what the tables name. */
#ifndef PLUGINS_IMAGE_KERNEL_H_
#define PLUGINS_IMAGE_KERNEL_H_

#include "tenon/plugin.h"

tenon_status_t tenon__decode_prepare(const tenon_prepare_t* call, void** out_instance);
tenon_status_t tenon__decode_enqueue(const tenon_enqueue_t* call);

#endif
