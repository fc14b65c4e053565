/* Whole files, and what is asked of paths before they are read or written. */
#ifndef TOOL_DATA_FILE_H_
#define TOOL_DATA_FILE_H_

#include <stdbool.h>

#include "data/pieces.h"
#include "tenon/tenon.h"

/* Reads a regular file. The bytes are aligned to 64 and end with a NUL that is not counted; freed
 * by tool_free. */
tenon_status_t tool_file_read(const char* path, uint8_t** out_data, size_t* out_size);
/* Written under another name first, then renamed. A link stays, and leads to the new file; what is
 * no regular file is not replaced. */
tenon_status_t tool_file_write(const char* path, const void* data, size_t size);
tenon_status_t tool_file_write_pieces(const char* path, const tool_pieces_t* pieces);
/* Can a file be written there, or files in that folder, which may have to be made? Said before the
 * time for them is spent. `option` is named in messages. A folder in a file's place is a misuse. */
tenon_status_t tool_file_check(const char* option, const char* path);
/* Refuses (a misuse) to write over the file `read`, whichever names lead to it. NULL: to none. */
tenon_status_t tool_file_check_other(const char* option, const char* path, const char* read);
tenon_status_t tool_folder_check(const char* option, const char* path);
bool tool_file_exists(const char* path);
bool tool_folder_exists(const char* path);
/* Makes the folder and those above it, private to the user. */
tenon_status_t tool_folder_make(const char* path);
/* The part of the path after the last '/'. */
const char* tool_path_base(const char* path);
/* A copy without '/' at its end, freed by tool_free. "/" stays. */
char* tool_path_copy_trimmed(const char* path);
/* Ends with `suffix`, in any case. */
bool tool_path_has_suffix(const char* path, const char* suffix);

#endif
