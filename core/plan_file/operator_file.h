/* Operators in a plan. */
#ifndef TENON_CORE_PLAN_FILE_OPERATOR_FILE_H_
#define TENON_CORE_PLAN_FILE_OPERATOR_FILE_H_

#include "core/plan_file/network_file.h"

/* Operators by identity, contract, ports and control form. */
void tenon__operator_write(const tenon__operator_t* op, tenon__byte_writer_t* writer);
/* Returns the operator that `find` returns for the identity if it has the same contract, else one
 * with only these data. */
bool tenon__operator_read(tenon__file_reading_t* reading, tenon__find_operator_t find,
                          void* find_user, const tenon__operator_t** out_operator);

#endif
