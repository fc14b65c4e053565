/* Attributes of a kind that ONNX alone has. */
#include <inttypes.h>

#include "families.h"
#include "types.h"

tenon_dtype_t tenon__onnx_get_dtype(tenon_make_t* make, const char* name, tenon_dtype_t otherwise) {
  if (!tenon_make_has(make, name)) {
    return otherwise;
  }
  const int64_t number = tenon_make_get_int(make, name, 0);
  const tenon_dtype_t dtype = tenon__onnx_dtype(number);
  if (dtype == TENON_DTYPE_UNDEFINED) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%s is %" PRId64 ", which is no element type",
                    name, number);
  }
  return dtype;
}
