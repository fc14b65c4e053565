/* Patterns and checksums over the memory of a tensor, word by word. */
#include "core/timing/trial_memory.h"

#include <string.h>

#include "core/tensor/dtype.h"

/* ---- Patterns ---- */

static uint32_t width_of(tenon_dtype_t dtype) {
  const uint32_t bytes = tenon__dtype_bits(dtype) / 8;
  return bytes == 0 ? 1 : bytes;
}

/* Quiet NaNs with a payload that no arithmetic gives; else bytes that are nothing in particular. */
static uint64_t word_of(tenon_dtype_t dtype, uint32_t pattern) {
  const bool first = pattern == TENON_PATTERN_FIRST;
  switch (dtype) {
    case TENON_DTYPE_FLOAT16:
    case TENON_DTYPE_BFLOAT16:
      return first ? 0xffe5u : 0x7fdau;
    case TENON_DTYPE_FLOAT32:
    case TENON_DTYPE_COMPLEX64:
      return first ? 0xffe5a5a5ffe5a5a5u : 0x7fda5a5a7fda5a5au;
    case TENON_DTYPE_FLOAT64:
    case TENON_DTYPE_COMPLEX128:
      return first ? 0xfffda5a5a5a5a5a5u : 0x7ffa5a5a5a5a5a5au;
    default:
      return first ? 0xa5a5a5a5a5a5a5a5u : 0x5a5a5a5a5a5a5a5au;
  }
}

uint64_t tenon__pattern_elements(tenon_dtype_t dtype, size_t size_bytes) {
  return size_bytes / width_of(dtype);
}

/* The pattern of every element repeats within 8 bytes. */
static uint64_t repeated(tenon_dtype_t dtype, uint32_t pattern) {
  const uint64_t word = word_of(dtype, pattern);
  return width_of(dtype) == 2 ? word * 0x0001000100010001u : word;
}

void tenon__pattern_fill(void* data, tenon_dtype_t dtype, size_t size_bytes, uint32_t pattern) {
  enum { LINE = 64 };
  const uint64_t word = repeated(dtype, pattern);
  uint8_t line[LINE];
  size_t at = 0;
  for (size_t k = 0; k < LINE; k += sizeof word) {
    memcpy(line + k, &word, sizeof word);
  }
  for (; at + LINE <= size_bytes; at += LINE) {
    memcpy((uint8_t*)data + at, line, LINE);
  }
  memcpy((uint8_t*)data + at, line, size_bytes - at);
}

static bool holds(const uint8_t* element, uint32_t width, uint64_t word) {
  bool is_it = true;
  for (uint32_t k = 0; k < width && is_it; k += 8) {
    is_it = memcmp(element + k, &word, width < 8 ? width : 8) == 0;
  }
  return is_it;
}

/* The usual case: floats, hardly ever a hit. Eight beside each other, looked at together. */
static uint64_t count_words(const uint32_t* data, uint64_t count, uint32_t word) {
  enum { LANES = 8 };
  uint64_t hits = 0;
  uint64_t k = 0;
  for (; k + LANES <= count; k += LANES) {
    uint32_t any = 0;
    for (int lane = 0; lane < LANES; ++lane) {
      any |= data[k + (uint64_t)lane] == word ? 1u : 0u;
    }
    const int lanes = any != 0 ? LANES : 0;
    for (int lane = 0; lane < lanes; ++lane) {
      hits += data[k + (uint64_t)lane] == word ? 1u : 0u;
    }
  }
  for (; k < count; ++k) {
    hits += data[k] == word ? 1u : 0u;
  }
  return hits;
}

static uint64_t count_halves(const uint16_t* data, uint64_t count, uint16_t word) {
  uint64_t hits = 0;
  for (uint64_t k = 0; k < count; ++k) {
    hits += data[k] == word ? 1u : 0u;
  }
  return hits;
}

uint64_t tenon__pattern_count(const void* data, tenon_dtype_t dtype, size_t size_bytes,
                              uint32_t pattern, uint8_t* inout_marks) {
  const uint64_t word = word_of(dtype, pattern);
  const uint32_t width = width_of(dtype);
  const uint64_t count = tenon__pattern_elements(dtype, size_bytes);
  uint64_t hits = 0;
  if (inout_marks == NULL && width == 4) {
    return count_words(data, count, (uint32_t)word);
  }
  if (inout_marks == NULL && width == 2) {
    return count_halves(data, count, (uint16_t)word);
  }
  for (uint64_t k = 0; k < count; ++k) {
    const bool is_it = (inout_marks == NULL || inout_marks[k] != 0) &&
                       holds((const uint8_t*)data + k * width, width, word);
    hits += is_it ? 1u : 0u;
    if (inout_marks != NULL) {
      inout_marks[k] = is_it ? 1 : 0;
    }
  }
  return hits;
}

/* ---- Checksums ---- */

/* Four sums beside each other, so that they do not wait for one another. */
uint64_t tenon__memory_checksum(const void* data, size_t size_bytes) {
  enum { LANES = 4 };
  const uint64_t odd = 0x9e3779b97f4a7c15u;
  const uint8_t* bytes = data;
  uint64_t lanes[LANES] = {1, 2, 3, 4};
  uint64_t words[LANES];
  size_t at = 0;
  for (; at + sizeof words <= size_bytes; at += sizeof words) {
    memcpy(words, bytes + at, sizeof words);
    for (int k = 0; k < LANES; ++k) {
      lanes[k] = (lanes[k] ^ words[k]) * odd;
    }
  }
  uint64_t sum = size_bytes;
  for (; at < size_bytes; ++at) {
    sum = (sum ^ bytes[at]) * odd;
  }
  for (int k = 0; k < LANES; ++k) {
    sum = (sum ^ lanes[k]) * odd;
  }
  return sum;
}
