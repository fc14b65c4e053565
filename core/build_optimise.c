/* The algebra of a build. */
#include "core/build_parts.h"

tenon_status_t tenon__building_optimise(tenon__building_t* b) {
  (void)b;
  return TENON_OK;
}
