/* What instances do with the packed store (its life is declared in core/plan/instance.h). */
#ifndef TENON_CORE_PLAN_PACKED_STORE_H_
#define TENON_CORE_PLAN_PACKED_STORE_H_

#include "core/plan/instance.h"

/* The bytes under `key`, made (zero-filled, *out_ready 0) when they are not there. */
tenon_status_t tenon__packed_store_get_or_make(tenon__packed_store_t* store,
                                               const tenon__digest_t* key, const char* format,
                                               size_t size_bytes, void** out_data,
                                               int32_t* out_ready);

/* NULL when it is not there. */
const tenon__packed_t* tenon__packed_store_find(tenon__packed_store_t* store,
                                                const tenon__digest_t* key);

#endif
