/*
 * Values of attributes: parsing of defaults, conversion and checks of a node's attributes. All use
 * tenon__scope_attribute_t; its strings and lists are in an arena.
 */
#ifndef TENON_CORE_OPERATOR_ATTRIBUTE_H_
#define TENON_CORE_OPERATOR_ATTRIBUTE_H_

#include "core/base/arena.h"
#include "core/language/scope.h"
#include "core/language/syntax.h"

/* Returns "int", "floats", ... as in plugin.h; "?" for an invalid kind. */
const char* tenon__attribute_kind_name(uint32_t kind);
/* Makes an attribute from a literal: "1", "0.5", "[1, 1]", "'fast'", "f32", "inf". Sets `defined`
 * to false. Returns INVALID_DATA, without a message, if it is not of that kind. */
tenon_status_t tenon__attribute_from_syntax(tenon__arena_t* arena, const tenon__syntax_t* syntax,
                                            uint32_t kind, tenon__scope_attribute_t* out_attribute);
/* Makes a deep copy. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__attribute_copy(tenon__arena_t* arena,
                                     const tenon__scope_attribute_t* attribute,
                                     tenon__scope_attribute_t* out_attribute);
/* Copies and converts to the operator's declared kind: an integer to a float, a list of integers to
 * one of floats, an empty list to any list, a mnemonic to a dtype. Returns INVALID_DATA otherwise,
 * without a message. */
tenon_status_t tenon__attribute_convert(tenon__arena_t* arena,
                                        const tenon__scope_attribute_t* attribute, uint32_t kind,
                                        tenon__scope_attribute_t* out_attribute);
/* Returns 1 if the value, or each item of a list, is within `choices` ("none|fast", "0..8", "1..",
 * "0|2"), else 0. NULL choices allow all. Returns -1 if `choices` is malformed for that kind.
 * "0..8" includes both ends; "1.." has no upper end. */
int tenon__attribute_allowed(const char* choices, const tenon__scope_attribute_t* attribute);
/* Returns the attribute of that name, or NULL. */
const tenon__scope_attribute_t* tenon__attribute_find(const tenon__scope_attribute_t* attributes,
                                                      uint32_t count, const char* name);
/* Returns true for the same kind and value; floats are compared by bits. `defined` is ignored. */
bool tenon__attribute_equal(const tenon__scope_attribute_t* a, const tenon__scope_attribute_t* b);
/* Returns "[1, 2]", "'fast'" or "f32", in the arena; "?" if out of memory. */
const char* tenon__attribute_text(const tenon__scope_attribute_t* attribute, tenon__arena_t* arena);

#endif
