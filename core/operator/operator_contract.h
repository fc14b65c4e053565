/* The contract of an operator: a digest of what it means, for telling versions apart. */
#ifndef TENON_CORE_OPERATOR_OPERATOR_CONTRACT_H_
#define TENON_CORE_OPERATOR_OPERATOR_CONTRACT_H_

#include "core/operator/operator.h"

/* The digest over the canonical form. Name, required attributes, ports, control form, traits and
 * every text in its parsed form; not summaries or checks. A plan holds the contracts of its
 * operators; its reader takes what is here under a name only where they are equal. OUT_OF_MEMORY
 * only. */
tenon_status_t tenon__operator_contract(tenon_allocator_t allocator, const tenon__operator_t* op,
                                        tenon__digest_t* out_digest);

#endif
