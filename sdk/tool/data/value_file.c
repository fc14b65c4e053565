/* See value_file.h. */
#include "data/value_file.h"

#include "data/file.h"
#include "data/npy.h"
#include "data/tensor_proto.h"
#include "text/memory.h"

tenon_status_t tool_value_read(const char* path, uint32_t kind, tool_value_t* out_value) {
  uint8_t* bytes = NULL;
  size_t size = 0;
  tenon_status_t status = tool_file_read(path, &bytes, &size);
  if (status == TENON_OK) {
    status = tool_npy_is_one(bytes, size)
                 ? tool_npy_parse(path, bytes, size, out_value)
                 : tool_tensor_proto_parse(path, bytes, size, kind, out_value);
  }
  tool_free(bytes);
  return status;
}
