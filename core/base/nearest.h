/* Names that are like one that is not there: for messages. */
#ifndef TENON_CORE_BASE_NEAREST_H_
#define TENON_CORE_BASE_NEAREST_H_

#include <stddef.h>

enum { TENON_NEAREST_COUNT = 3, TENON_NEAREST_BYTES = 512 };

/* Letters that stand at the same place from the front, and from the back. Of "blur2d" and "blur3d"
 * it is 5, four letters in front and one behind. No letter counts twice. */
size_t tenon__likeness(const char* a, const char* b);

/* The likest so far; all zeros: none. Names are borrowed. */
typedef struct tenon__nearest_t {
  const char* names[TENON_NEAREST_COUNT];
  size_t scores[TENON_NEAREST_COUNT];
} tenon__nearest_t;

/* A score of 0 is no likeness. Of equals the one that came first. */
void tenon__nearest_offer(tenon__nearest_t* nearest, const char* name, size_t score);
/* The same with a name that is short and wanted: at least half of the shorter one's letters must
 * agree. */
void tenon__nearest_offer_word(tenon__nearest_t* nearest, const char* wanted, const char* name);
/* "; near it: 'a', 'b'", the likest first, or "". Returns out_message. Long names are cut at 120
 * bytes. */
const char* tenon__nearest_text(const tenon__nearest_t* nearest,
                                char out_message[TENON_NEAREST_BYTES]);

#endif
