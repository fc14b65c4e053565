/* Text inside HTML. */
#ifndef TOOL_PAGE_HTML_H_
#define TOOL_PAGE_HTML_H_

#include <stddef.h>
#include <stdio.h>

/* What means something to HTML is escaped; control characters, those that turn the direction of
 * writing too, are dropped; bytes that are not UTF-8 become U+FFFD. After `limit` characters stands
 * an ellipsis. */
void tool_html_text(FILE* file, const char* text, size_t limit);
/* The last `limit` characters, behind an ellipsis where there are more: names end with what tells
 * them apart. */
void tool_html_tail(FILE* file, const char* name, size_t limit);
/* The head of a page, styles included, and its end, with the script. */
void tool_html_begin(FILE* file, const char* title);
void tool_html_end(FILE* file);

#endif
