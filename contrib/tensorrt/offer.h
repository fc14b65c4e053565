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

#endif
