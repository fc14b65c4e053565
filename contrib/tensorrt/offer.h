/* Short forms for the descriptors of this plugin's operators. */
#ifndef TENSORRT_OFFER_H_
#define TENSORRT_OFFER_H_

#include "tenon/plugin.h"

#define TENSORRT_ATTRIBUTE(attribute_name, attribute_kind, default_value, range)  \
  {                                                                               \
    .size = sizeof(tenon_attribute_descriptor_t), .name = (attribute_name),       \
    .kind = (attribute_kind), .default_text = (default_value), .choices = (range) \
  }
#define TENSORRT_INT(name, default_value, range) \
  TENSORRT_ATTRIBUTE(name, TENON_ATTRIBUTE_INT, default_value, range)
#define TENSORRT_FLOAT(name, default_value) \
  TENSORRT_ATTRIBUTE(name, TENON_ATTRIBUTE_FLOAT, default_value, NULL)
#define TENSORRT_FLOATS(name, default_value) \
  TENSORRT_ATTRIBUTE(name, TENON_ATTRIBUTE_FLOATS, default_value, NULL)
#define TENSORRT_PORT(port_name, port_type) \
  { .size = sizeof(tenon_port_t), .name = (port_name), .type = (port_type) }
#define TENSORRT_PORT_IN(port_name, port_type, port_domain)                 \
  {                                                                         \
    .size = sizeof(tenon_port_t), .name = (port_name), .type = (port_type), \
    .domain = (port_domain)                                                 \
  }
#define TENSORRT_CHECK(text, words) \
  { .size = sizeof(tenon_check_t), .condition = (text), .message = (words) }

/* The offering of a kernel for the operator "tensorrt.NAME/1". Its functions are match, tactics,
 * prepare and enqueue of this file. */
#define TENSORRT_KERNEL(offering, operator_name)                                        \
  static const char* const kernel_operators[] = {"tensorrt." operator_name "/1", NULL}; \
  static const tenon_kernel_t kernels[] = {{.size = sizeof(tenon_kernel_t),             \
                                            .name = (operator_name),                    \
                                            .device = "cpu",                            \
                                            .operators = kernel_operators,              \
                                            .version = 1,                               \
                                            .match = match,                             \
                                            .tactics = tactics,                         \
                                            .prepare = prepare,                         \
                                            .enqueue = enqueue}};                       \
  const tenon_offering_t offering = TENON_OFFERING_OF("kernel/1", kernels)

/* Calls body(call, index, thread) for each index in [0, count), on the threads of the run. */
static inline tenon_status_t tensorrt_each(const tenon_enqueue_t* call, int64_t count,
                                           void (*body)(void* user, uint32_t index,
                                                        uint32_t thread)) {
  tenon_enqueue_t copy = *call;
  if (count > 0) {
    call->host->parallel(call->run, (uint32_t)count, body, &copy);
  }
  return TENON_OK;
}

#endif
