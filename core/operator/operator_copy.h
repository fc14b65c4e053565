/* Copies in full size of what plugins declare in structures of their own size. */
#ifndef TENON_CORE_OPERATOR_OPERATOR_COPY_H_
#define TENON_CORE_OPERATOR_OPERATOR_COPY_H_

#include "core/base/arena.h"

/* A full-size copy, honouring sizes and strides; what is missing at an old plugin's tails is zero.
 * Strings are borrowed from the plugin, which stays loaded. INVALID_DATA for a stride that cannot
 * be. */
tenon_status_t tenon__operator_copy(tenon__arena_t* arena, const tenon_operator_t* source,
                                    const tenon_sink_t* sink, tenon_operator_t* out_copy);

#endif
