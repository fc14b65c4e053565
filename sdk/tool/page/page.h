/* The page of `tenon inspect --html`, one file without references to others. page.html draws the
 * data in a browser, and this module writes the data into it. */
#ifndef TOOL_PAGE_PAGE_H_
#define TOOL_PAGE_PAGE_H_

#include "tenon/tenon.h"

/* `lines`: JSON, one object a line: those of command/inspect_json.c, {"network": [...]}, and one
 * with the title and the best rates of this machine. `path` "-": to standard output. */
tenon_status_t tool_page_write(const char* path, const char* lines);

#endif
