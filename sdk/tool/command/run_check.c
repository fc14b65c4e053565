/* See run.h. */
#include <string.h>

#include "command/run.h"
#include "data/file.h"
#include "text/console.h"
#include "text/memory.h"

char* run_result_folder(const run_t* run, const char* base, const char* data_set) {
  if (run->task.feeding.data_sets.count < 2) {
    return tool_copy_text(base);
  }
  char* path = tool_path_copy_trimmed(data_set);
  char* folder = tool_format("%s/%s", base, tool_path_base(path));
  tool_free(path);
  return folder;
}

/* Results of one data set must not be written over those of another. */
static tenon_status_t check_result_folders(const run_t* run) {
  const tool_list_t* sets = &run->task.feeding.data_sets;
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
  return tool_output_check(option, path, run->task.model, &run->task.building, feed);
}

/* A whole number, or a file. */
static tenon_status_t check_truth(const char* truth) {
  if (truth == NULL || tool_file_exists(truth) || strspn(truth, "0123456789") == strlen(truth)) {
    return TENON_OK;
  }
  return tool_misuse("--truth %s: is neither a class, a whole number, nor a file", truth);
}

static tenon_status_t check_outputs(const run_t* run) {
  if (run->output != NULL) {
    TOOL_TRY(tool_folder_check("--output", run->output));
  }
  if (run->record != NULL) {
    TOOL_TRY(tool_folder_check("--record", run->record));
  }
  if (run->picture != NULL) {
    TOOL_TRY(tool_picture_check_name("--picture", run->picture));
  }
  return run->overlay == NULL ? TENON_OK : tool_picture_check_name("--overlay", run->overlay);
}

tenon_status_t run_check_options(const run_t* run) {
  TOOL_TRY(check_result_folders(run));
  TOOL_TRY(check_outputs(run));
  TOOL_TRY(check_truth(run->truth));
  if (run->labels != NULL && !tool_file_exists(run->labels)) {
    return tool_fail(TENON_ERROR_NOT_FOUND, "--labels %s: there is no such file", run->labels);
  }
  const bool draws = run->picture != NULL || run->overlay != NULL;
  return draws && run->task.feeding.data_sets.count > 1
             ? tool_misuse("%s with several data sets: each would write over the one before",
                           run->picture != NULL ? "--picture" : "--overlay")
             : TENON_OK;
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
