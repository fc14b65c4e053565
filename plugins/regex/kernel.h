/* The operator regex.full_match/1: what its tables name. */
#ifndef PLUGINS_REGEX_KERNEL_H_
#define PLUGINS_REGEX_KERNEL_H_

#include "tenon/plugin.h"

/* A bool for each string; refuses an expression that cannot be read. */
tenon_status_t tenon__full_match_infer(void* state, tenon_shape_builder_t* builder,
                                       const tenon_shape_table_t* table);
tenon_status_t tenon__full_match_prepare(const tenon_prepare_t* call, void** out_instance);
tenon_status_t tenon__full_match_bind(void* instance, tenon_binding_t* binding,
                                      const tenon_bind_table_t* host, void** out_bound);
tenon_status_t tenon__full_match_enqueue(const tenon_enqueue_t* call);
void tenon__full_match_unbind(void* instance, void* bound);
void tenon__full_match_destroy(void* instance);

#endif
