/* Words that were meant: the nearest of a list, and what other tools call an option. For
 * messages alone: nothing is guessed and done. */
#ifndef TOOL_TEXT_SPELLING_H_
#define TOOL_TEXT_SPELLING_H_

#include <stddef.h>

/* The nearest of `count` words by edit distance, NULL when none is near. */
const char* tool_nearest_word(const char* word, const char* const* words, size_t count);
/* What stands here for an option of trtexec, as words after a colon; NULL: it is none of its. */
const char* tool_foreign_option(const char* name);

#endif
