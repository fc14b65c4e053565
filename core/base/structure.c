#include "core/base/structure.h"

#include <string.h>

bool tenon__structure_copy(const void* source, size_t least, size_t room, size_t full,
                           void* out_copy) {
  size_t size = 0;
  memcpy(&size, source, sizeof(size));
  if (size < least || size > room || size > TENON_STRUCTURE_LIMIT) {
    return false;
  }
  memset(out_copy, 0, full);
  memcpy(out_copy, source, size < full ? size : full);
  memcpy(out_copy, &full, sizeof(full));
  return true;
}
