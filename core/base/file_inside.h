/*
 * Opening a file that must lie below an open folder, whatever its name and the links on the way
 * say. For tenon__file_map_inside and its test. A model names the files of its weights: a name must
 * not reach what the model's folder does not hold, also when a link is changed between a check and
 * the opening. So the opening itself is confined.
 */
#ifndef TENON_CORE_BASE_FILE_INSIDE_H_
#define TENON_CORE_BASE_FILE_INSIDE_H_

#include <stdbool.h>

/* Not empty, not absolute, no "..". */
bool tenon__path_stays_inside(const char* path);

/* Both open `path`, which stays inside, for reading, and give a descriptor or -1 and errno: EXDEV
 * or ELOOP when a link leads outside. Where the kernel cannot confine a look-up itself, the first
 * falls back on the second, which walks the folders one by one and follows no links at all. The
 * descriptor is the caller's to close; `folder` stays open. */
int tenon__open_inside(int folder, const char* path);
int tenon__open_inside_by_steps(int folder, const char* path);

#endif
