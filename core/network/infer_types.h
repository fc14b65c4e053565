/* Which input stands at which port of a node, and what its type variables become. */
#ifndef TENON_CORE_NETWORK_INFER_TYPES_H_
#define TENON_CORE_NETWORK_INFER_TYPES_H_

#include "core/network/inference.h"

tenon_status_t tenon__infer_bind(tenon__inference_t* inference);

/* The scope value of a network value. `argument`: its number among the node's inputs. */
tenon__scope_value_t tenon__infer_scope_value(const tenon__network_t* network, uint32_t graph,
                                              uint32_t value, uint32_t argument);

#endif
