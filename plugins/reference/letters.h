/* Letters in upper and lower case. Texts are UTF-8. A byte that belongs to no character stays as it
 * is. The cases are those of the C library's locale C.UTF-8; the program's own locale has no effect.
 * One letter becomes one letter, so 'ß' has no upper case. */
#ifndef TENON_REFERENCE_LETTERS_H_
#define TENON_REFERENCE_LETTERS_H_

#include <stdbool.h>
#include <stddef.h>

/* A C library without the locale gives NULL; then ASCII's letters alone have a case. */
void* tenon__letters_begin(void);
void tenon__letters_end(void* letters);

/* direction: -1 lower, 1 upper. Writes at most 2 * size bytes to `out`. Returns their number. */
size_t tenon__letters_change(void* letters, const char* text, size_t size, int direction,
                             char* out);
/* Are the texts equal if case does not count? */
bool tenon__letters_same(void* letters, const char* a, size_t a_size, const char* b, size_t b_size);

#endif
