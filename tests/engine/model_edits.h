/*
 * Changes to an ONNX file, field by field: a number becomes another, a name becomes another of the
 * file's or an operator's, a field is dropped, said twice, or taken from elsewhere in the file. The
 * lengths around it are made anew.
 */
#ifndef TENON_TESTS_ENGINE_MODEL_EDITS_H_
#define TENON_TESTS_ENGINE_MODEL_EDITS_H_

#include <stddef.h>
#include <stdint.h>

/* One change; the new size, at most `capacity`, which is the old one where there is no room. */
size_t model_edits_mutate(uint8_t* data, size_t size, size_t capacity, uint64_t* random);

#endif
