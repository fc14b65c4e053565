/* The functions of the index language. */
#ifndef TENON_CORE_LANGUAGE_INDEX_FUNCTIONS_H_
#define TENON_CORE_LANGUAGE_INDEX_FUNCTIONS_H_

#include "core/language/index_language.h"
#include "core/language/index_tensor.h"

/* A CALL. */
tenon_status_t tenon__index_call(tenon__index_environment_t* environment,
                                 const tenon__syntax_t* call, tenon__index_value_t* out_value);
/* An extent; of an output in the making, one that is there already. */
tenon_status_t tenon__index_extent(const tenon__index_environment_t* environment,
                                   const tenon__syntax_t* syntax,
                                   const tenon__index_tensor_t* tensor, uint32_t axis,
                                   tenon__index_value_t* out_value);

#endif
