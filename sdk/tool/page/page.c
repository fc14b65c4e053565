/* See page.h. */
#include "page/page.h"

#include <stdio.h>
#include <string.h>

#include "data/file.h"
#include "page/page_source.h"
#include "text/console.h"
#include "text/memory.h"

/* "<" is written as an escape of JSON, so that no name can end the element that holds the data. */
static char* escape(const char* lines, size_t* out_size) {
  static const char escaped[] = "\\u003c";
  const size_t longest = sizeof(escaped) - 1;
  size_t count = 0;
  for (const char* at = lines; *at != '\0'; ++at) {
    count += *at == '<' ? longest : 1;
  }
  char* copy = tool_allocate(count + 1, 1);
  char* to = copy;
  for (const char* at = lines; *at != '\0'; ++at) {
    if (*at == '<') {
      memcpy(to, escaped, longest);
      to += longest;
    } else {
      *to++ = *at;
    }
  }
  *out_size = count;
  return copy;
}

tenon_status_t tool_page_write(const char* path, const char* lines) {
  static const char mark[] = "@PLAN@";
  const char* source = (const char*)tool_page_source;
  const char* behind = strstr(source, mark) + sizeof(mark) - 1;
  tool_pieces_t pieces = {0};
  size_t size = 0;
  char* data = escape(lines, &size);
  tool_pieces_borrow(&pieces, source, (size_t)(behind - source) - (sizeof(mark) - 1));
  tool_pieces_adopt(&pieces, (uint8_t*)data, size);
  tool_pieces_borrow(&pieces, behind, strlen(behind));
  tenon_status_t status = TENON_OK;
  if (strcmp(path, "-") != 0) {
    status = tool_file_write_pieces(path, &pieces);
  }
  for (size_t i = 0; i < pieces.count && strcmp(path, "-") == 0 && status == TENON_OK; ++i) {
    if (fwrite(pieces.items[i].data, 1, pieces.items[i].size, stdout) != pieces.items[i].size) {
      status = tool_fail(TENON_ERROR_IO, "standard output cannot be written");
    }
  }
  tool_pieces_free(&pieces);
  return status;
}
