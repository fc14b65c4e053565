/* The functions of the index language that work on lists: attributes, shapes, contents. */
#ifndef TENON_CORE_LANGUAGE_INDEX_LISTS_H_
#define TENON_CORE_LANGUAGE_INDEX_LISTS_H_

#include "core/language/index_language.h"

/* index_lists.c */
tenon_status_t tenon__index_call_len(tenon__index_environment_t* e, const tenon__syntax_t* call,
                                     tenon__index_value_t* out);
tenon_status_t tenon__index_call_value(tenon__index_environment_t* e, const tenon__syntax_t* call,
                                       tenon__index_value_t* out);
tenon_status_t tenon__index_call_at(tenon__index_environment_t* e, const tenon__syntax_t* call,
                                    tenon__index_value_t* out);
tenon_status_t tenon__index_call_index_of(tenon__index_environment_t* e,
                                          const tenon__syntax_t* call, tenon__index_value_t* out);
tenon_status_t tenon__index_call_axis_of(tenon__index_environment_t* e, const tenon__syntax_t* call,
                                         tenon__index_value_t* out);
tenon_status_t tenon__index_call_fold(tenon__index_environment_t* e, const tenon__syntax_t* call,
                                      tenon__index_value_t* out);

#endif
