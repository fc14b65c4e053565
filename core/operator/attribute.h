/*
 * Attributes as values: parsing the texts of defaults, converting and checking what a node sets.
 * One representation throughout, tenon__scope_attribute_t; its strings and lists lie in an arena.
 */
#ifndef TENON_CORE_OPERATOR_ATTRIBUTE_H_
#define TENON_CORE_OPERATOR_ATTRIBUTE_H_

#include "core/base/arena.h"
#include "core/language/scope.h"
#include "core/language/syntax.h"

/* "int", "floats", ...; "?" for what is none. As plugin.h spells the kinds in texts. */
const char* tenon__attribute_kind_name(uint32_t kind);
/* From a literal: "1", "0.5", "[1, 1]", "'fast'", "f32", "inf". INVALID_DATA when it is not of that
 * kind; nothing is reported. `defined` comes out false. */
tenon_status_t tenon__attribute_from_syntax(tenon__arena_t* arena, const tenon__syntax_t* syntax,
                                            uint32_t kind, tenon__scope_attribute_t* out_attribute);
/* A deep copy. OUT_OF_MEMORY only. */
tenon_status_t tenon__attribute_copy(tenon__arena_t* arena,
                                     const tenon__scope_attribute_t* attribute,
                                     tenon__scope_attribute_t* out_attribute);
/* A copy as the kind that the operator declares: an integer may stand for a float, a list of
 * integers for one of floats, an empty list for any list, a mnemonic for a dtype. INVALID_DATA
 * otherwise, nothing reported. */
tenon_status_t tenon__attribute_convert(tenon__arena_t* arena,
                                        const tenon__scope_attribute_t* attribute, uint32_t kind,
                                        tenon__scope_attribute_t* out_attribute);
/* Within `choices` ("none|fast", "0..8", "1..", "0|2")? NULL choices allow all. Each item of a list
 * counts. -1 when the text of the choices is malformed for that kind. "0..8" includes both ends,
 * "1.." is open. */
int tenon__attribute_allowed(const char* choices, const tenon__scope_attribute_t* attribute);
/* Of these, the one of that name; NULL. */
const tenon__scope_attribute_t* tenon__attribute_find(const tenon__scope_attribute_t* attributes,
                                                      uint32_t count, const char* name);
/* Same kind and value; floats by bits. `defined` does not count. */
bool tenon__attribute_equal(const tenon__scope_attribute_t* a, const tenon__scope_attribute_t* b);
/* "[1, 2]", "'fast'", "f32"; in the arena, "?" when memory is out. */
const char* tenon__attribute_text(const tenon__scope_attribute_t* attribute, tenon__arena_t* arena);

#endif
