/* Texts of a kernel's faults, with the value in its place. */
#include "core/kernel/fault.h"

#include <stdio.h>
#include <string.h>

#include "core/base/status.h"
#include "core/kernel/bound.h"

bool tenon__instance_has_faults(const tenon__instance_t* instance) {
  return instance != NULL && instance->kernel.kernel->faults != NULL &&
         instance->kernel.kernel->faults[0] != NULL;
}

tenon_status_t tenon__instance_tell_fault(const tenon__instance_t* instance,
                                          const tenon_fault_t* fault, const tenon_sink_t* sink) {
  static const char hole[] = "{value}";
  const char* const* texts = instance->kernel.kernel->faults;
  uint32_t count = 0;
  while (texts[count] != NULL) {
    ++count;
  }
  if (fault->code > count) {
    return tenon__fail(sink, TENON_ERROR_INTERNAL,
                       "%sthe kernel tells fault %u, it has texts of %u", instance->prefix,
                       fault->code, count);
  }
  const char* text = texts[fault->code - 1];
  const char* place = strstr(text, hole);
  if (place == NULL) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "%s%s", instance->prefix, text);
  }
  return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "%s%.*s%lld%s", instance->prefix,
                     (int)(place - text), text, (long long)fault->value, place + sizeof(hole) - 1);
}
