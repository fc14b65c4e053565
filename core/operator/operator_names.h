/* Whether each name in an operator's texts stands for something. */
#ifndef TENON_CORE_OPERATOR_OPERATOR_NAMES_H_
#define TENON_CORE_OPERATOR_OPERATOR_NAMES_H_

#include "core/operator/operator.h"

/* The names in a condition that is not an operator's own: those that `is_name` knows, and functions
 * that there are. INVALID_DATA: "column 9: ...". */
tenon_status_t tenon__condition_check_names(const tenon__syntax_t* condition,
                                            bool (*is_name)(const void* user, const char* name),
                                            const void* user, const tenon_sink_t* sink);
/* Do names in the texts stand for something, and do statements define outputs that exist? Without
 * it a misspelt name would be found only by the first model that takes that case. */
tenon_status_t tenon__operator_check_names(const tenon__operator_t* op, const tenon_sink_t* sink);

#endif
