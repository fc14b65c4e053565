/* Operations of dimensions on integers, with overflow checks. */
#include "core/dimension/dimension_apply.h"

#include "core/base/allocator.h"

bool tenon__dim_apply(uint32_t opcode, int64_t a, int64_t b, int64_t* out_value) {
  switch (opcode) {
    case TENON_OPCODE_ADD:
      return tenon__add_int64(a, b, out_value);
    case TENON_OPCODE_MUL:
      return tenon__multiply_int64(a, b, out_value);
    case TENON_OPCODE_MIN:
      *out_value = a < b ? a : b;
      return true;
    case TENON_OPCODE_MAX:
      *out_value = a > b ? a : b;
      return true;
    case TENON_OPCODE_EQ:
      *out_value = a == b;
      return true;
    case TENON_OPCODE_LT:
      *out_value = a < b;
      return true;
    default:
      break;
  }
  if (b == 0 || (a == INT64_MIN && b == -1)) {
    return false;
  }
  const bool inexact = a % b != 0 && (a % b < 0) != (b < 0);
  if (opcode == TENON_OPCODE_FLOOR_DIV) {
    *out_value = a / b - (inexact ? 1 : 0);
  } else {
    *out_value = a % b + (inexact ? b : 0);
  }
  return true;
}

int64_t tenon__floor_div_int64(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}
