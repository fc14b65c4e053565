/* Text inside HTML. */
#ifndef TOOL_PAGE_HTML_H_
#define TOOL_PAGE_HTML_H_

#include <stddef.h>
#include <stdio.h>

/* & < > " are escaped, control characters dropped; after `limit` characters an ellipsis. */
void tool_html_text(FILE* file, const char* text, size_t limit);
/* The last `limit` characters, behind an ellipsis where there are more: names end with what tells
 * them apart. */
void tool_html_tail(FILE* file, const char* name, size_t limit);
/* The head of a page, styles included, and its end, with the script. */
void tool_html_begin(FILE* file, const char* title);
void tool_html_end(FILE* file);

#endif
