/* Names similar to an unknown one, for messages. */
#ifndef TENON_CORE_BASE_NEAREST_H_
#define TENON_CORE_BASE_NEAREST_H_

#include <stddef.h>

enum { TENON_NEAREST_COUNT = 3, TENON_NEAREST_BYTES = 512 };

/* Returns the number of equal leading and trailing letters; no letter counts twice. For "blur2d"
 * and "blur3d" it is 5: 4 leading letters and 1 trailing letter. */
size_t tenon__likeness(const char* a, const char* b);

/* The most similar names so far; all zeros: none. Names are borrowed. */
typedef struct tenon__nearest_t {
  const char* names[TENON_NEAREST_COUNT];
  size_t scores[TENON_NEAREST_COUNT];
} tenon__nearest_t;

/* Adds a name. A score of 0 is ignored. Of equal scores the first name is kept. */
void tenon__nearest_offer(tenon__nearest_t* nearest, const char* name, size_t score);
/* Same for a short requested name: at least half of the shorter name's letters must agree. */
void tenon__nearest_offer_word(tenon__nearest_t* nearest, const char* wanted, const char* name);
/* Writes "; near it: 'a', 'b'", the most similar first, or "". Long names are truncated at 120
 * bytes. Returns out_message. */
const char* tenon__nearest_text(const tenon__nearest_t* nearest,
                                char out_message[TENON_NEAREST_BYTES]);

#endif
