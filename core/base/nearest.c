/* The likeness of two names: the length of their common begin and end. */
#include "core/base/nearest.h"

#include <stdio.h>
#include <string.h>

size_t tenon__likeness(const char* a, const char* b) {
  const size_t length_a = strlen(a);
  const size_t length_b = strlen(b);
  const size_t shorter = length_a < length_b ? length_a : length_b;
  size_t front = 0;
  size_t back = 0;
  while (front < shorter && a[front] == b[front]) {
    ++front;
  }
  while (back < shorter - front && a[length_a - 1 - back] == b[length_b - 1 - back]) {
    ++back;
  }
  return front + back;
}

void tenon__nearest_offer(tenon__nearest_t* nearest, const char* name, size_t score) {
  for (int i = 0; i < TENON_NEAREST_COUNT; ++i) { /* insertion */
    if (score > nearest->scores[i]) {
      const size_t old_score = nearest->scores[i];
      const char* old = nearest->names[i];
      nearest->scores[i] = score;
      nearest->names[i] = name;
      score = old_score;
      name = old;
    }
  }
}

void tenon__nearest_offer_word(tenon__nearest_t* nearest, const char* wanted, const char* name) {
  const size_t score = tenon__likeness(wanted, name);
  const size_t length = strlen(wanted);
  const size_t other = strlen(name);
  const size_t shorter = length < other ? length : other;
  tenon__nearest_offer(nearest, name, 2 * score >= shorter ? score : 0);
}

const char* tenon__nearest_text(const tenon__nearest_t* nearest,
                                char out_message[TENON_NEAREST_BYTES]) {
  size_t used = 0;
  out_message[0] = '\0';
  for (int i = 0; i < TENON_NEAREST_COUNT && nearest->scores[i] > 0; ++i) {
    used += (size_t)snprintf(out_message + used, TENON_NEAREST_BYTES - used, "%s'%.120s'",
                             i == 0 ? "; near it: " : ", ", nearest->names[i]);
  }
  return out_message;
}
