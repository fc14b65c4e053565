/* A value out of a file: a NumPy array or a recorded tensor, as its first bytes tell, whatever
 * its name. */
#ifndef TOOL_DATA_VALUE_FILE_H_
#define TOOL_DATA_VALUE_FILE_H_

#include "data/value.h"

/* `kind`: what a recorded tensor is, see tensor_proto.h. */
tenon_status_t tool_value_read(const char* path, uint32_t kind, tool_value_t* out_value);

#endif
