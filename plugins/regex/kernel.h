/*
 * The operator regex.full_match/1: what its tables name. Input: strings of any shape; output: a
 * bool for each, of the same shape; attribute "pattern". infer refuses an expression that cannot be
 * read, where the user still sees the node; prepare compiles it once, and all contexts share it;
 * bind makes a matcher, which serves one thread, and unbind frees it. A string on which a match
 * takes too long fails the run (pattern.h); others are matched one after the other by one thread.
 */
#ifndef PLUGINS_REGEX_KERNEL_H_
#define PLUGINS_REGEX_KERNEL_H_

#include "tenon/plugin.h"

/* A bool for each string; refuses an expression that cannot be read, with the byte. */
tenon_status_t tenon__full_match_infer(void* state, tenon_shape_builder_t* builder,
                                       const tenon_shape_table_t* table);
tenon_status_t tenon__full_match_prepare(const tenon_prepare_t* call, void** out_instance);
tenon_status_t tenon__full_match_bind(void* instance, tenon_binding_t* binding,
                                      const tenon_bind_table_t* host, void** out_bound);
tenon_status_t tenon__full_match_enqueue(const tenon_enqueue_t* call);
void tenon__full_match_unbind(void* instance, void* bound);
void tenon__full_match_destroy(void* instance);

#endif
