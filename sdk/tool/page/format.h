/* What a page says in few words: times, colours, and short forms of what a step's texts say. */
#ifndef TOOL_PAGE_FORMAT_H_
#define TOOL_PAGE_FORMAT_H_

#include <stdbool.h>

#include "tenon/tenon.h"

enum { TOOL_FORMAT_BYTES = 256 };

/* "463 us" with the Greek letter, "99.2 ms", "1.25 s". */
void tool_format_time(double seconds, char out_text[32]);
/* "13.5 MiB". */
void tool_format_bytes(double bytes, char out_text[32]);
/* A number in thousands: "812 GFLOP", "21.4 GB"; `unit` may be "". */
void tool_format_amount(double amount, const char* unit, char out_text[32]);
/* A colour for a share of the slowest step's time, pale at 0, strong from 1 on: "hsl(...)". */
void tool_format_colour(double share, char out_colour[32]);
/* Where the last `limit` characters of a name begin, one less when it is longer: room for an
 * ellipsis. A name's end tells more than its beginning, which is often a path. */
const char* tool_format_tail(const char* name, size_t limit);
/* The first of a list of tensors "x f32[1,64] row-major, y ...": "f32 1x64 row-major". */
void tool_format_tensor(const char* list, char out_text[TOOL_FORMAT_BYTES]);
/* Is a tensor (or sequence, optional) of that name in such a list? */
bool tool_format_has_tensor(const char* list, const char* name);
/* The nodes that a step computes besides the one it is named after, of paths the last component:
 * "+ relu1, add3", "" for none. */
void tool_format_others(const tenon_step_info_t* step, char out_text[TOOL_FORMAT_BYTES]);

#endif
