/* SHA-256 of a file, as plans and policies name plugins. */
#include "core/base/digest.h"

#include <string.h>

#include "sdk/library/library.h"

tenon_status_t tenon_digest_file(const char* path, char out_digest[65]) {
  tenon__mapped_file_t file;
  TENON_TRY(tenon__enter(__func__, "path", path != NULL));
  TENON_TRY(tenon__need(&tenon__message_sink, __func__, "out_digest", out_digest != NULL));
  TENON_TRY(tenon__file_map(path, &tenon__message_sink, &file));
  const tenon__digest_t digest = tenon__digest_of(file.data, file.size);
  tenon__digest_text(&digest, out_digest);
  tenon__file_unmap(&file);
  return TENON_OK;
}
