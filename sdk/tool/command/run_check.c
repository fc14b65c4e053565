/* See run.h. */
#include <stdlib.h>
#include <string.h>

#include "command/run.h"
#include "data/file.h"
#include "text/console.h"
#include "text/memory.h"

char* run_result_folder(const run_t* run, const char* base, const char* data_set) {
  if (run->feeding.data_sets.count < 2) {
    return tool_copy_text(base);
  }
  char* path = tool_copy_text(data_set);
  for (size_t length = strlen(path); length > 1 && path[length - 1] == '/'; --length) {
    path[length - 1] = '\0';
  }
  char* folder = tool_format("%s/%s", base, tool_path_base(path));
  tool_free(path);
  return folder;
}

/* Results of one data set must not be written over those of another. */
static tenon_status_t check_result_folders(const run_t* run) {
  const tool_list_t* sets = &run->feeding.data_sets;
  tenon_status_t status = TENON_OK;
  if (run->output == NULL && run->record == NULL) {
    return TENON_OK;
  }
  for (size_t i = 1; i < sets->count; ++i) {
    char* folder = run_result_folder(run, "", sets->items[i]);
    for (size_t k = 0; k < i && status == TENON_OK; ++k) {
      char* other = run_result_folder(run, "", sets->items[k]);
      if (strcmp(folder, other) == 0) {
        status = tool_misuse(
            "--data-set %s: has the name of %s, and its results would be written over that one's",
            sets->items[i], sets->items[k]);
      }
      tool_free(other);
    }
    tool_free(folder);
  }
  return status;
}

static tenon_status_t check_picture(const run_t* run, const tool_feed_t* feed, const char* option,
                                    const char* path) {
  if (path == NULL) {
    return TENON_OK;
  }
  TOOL_TRY(tool_file_check_other(option, path, run->truth));
  TOOL_TRY(tool_file_check_other(option, path, run->labels));
  return tool_output_check(option, path, run->model, &run->building, feed);
}

/* A whole number, or a file. */
static tenon_status_t check_truth(const char* truth) {
  if (truth == NULL || tool_file_exists(truth) || strspn(truth, "0123456789") == strlen(truth)) {
    return TENON_OK;
  }
  return tool_misuse("--truth %s: is neither a class, a whole number, nor a file", truth);
}

static tenon_status_t check_outputs(const run_t* run) {
  tenon_status_t status =
      run->output != NULL ? tool_folder_check("--output", run->output) : TENON_OK;
  if (status == TENON_OK && run->record != NULL) {
    status = tool_folder_check("--record", run->record);
  }
  if (status == TENON_OK && run->picture != NULL) {
    status = tool_picture_check_name("--picture", run->picture);
  }
  return status == TENON_OK && run->overlay != NULL
             ? tool_picture_check_name("--overlay", run->overlay)
             : status;
}

tenon_status_t run_check_options(const run_t* run) {
  tenon_status_t status = check_result_folders(run);
  if (status == TENON_OK) {
    status = check_outputs(run);
  }
  if (status == TENON_OK) {
    status = check_truth(run->truth);
  }
  if (status == TENON_OK && run->labels != NULL && !tool_file_exists(run->labels)) {
    status = tool_fail(TENON_ERROR_NOT_FOUND, "--labels %s: there is no such file", run->labels);
  }
  const bool draws = run->picture != NULL || run->overlay != NULL;
  if (status == TENON_OK && draws && run->feeding.data_sets.count > 1) {
    status = tool_misuse("%s with several data sets: each would write over the one before",
                         run->picture != NULL ? "--picture" : "--overlay");
  }
  return status;
}

tenon_status_t run_check_data(const run_t* run, const tool_feed_t* feed) {
  bool any = false;
  for (size_t i = 0; i < feed->count; ++i) {
    any = any || feed->items[i].is_picture;
  }
  if (run->overlay != NULL && !any) {
    return tool_misuse("--overlay: the file of --input is no picture");
  }
  TOOL_TRY(check_picture(run, feed, "--picture", run->picture));
  return check_picture(run, feed, "--overlay", run->overlay);
}
