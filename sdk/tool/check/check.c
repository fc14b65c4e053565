/* See check.h. The file's own checks come first. A child then lists the subjects of the others, in
 * memory that it shares with the parent. */
#include "check/check.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check/file_checks.h"
#include "check/kernel_checks.h"
#include "check/operator_checks.h"
#include "check/plugin.h"
#include "session/children.h"
#include "text/console.h"
#include "text/crash.h"
#include "text/json.h"
#include "text/memory.h"

enum {
  SUBJECTS_BYTES = 1 << 20,
  CRASH_BYTES = 512,
  SLOT_BYTES = CRASH_BYTES + CHECK_NOTE_BYTES,
  MOST_DETAIL = 2048
};

/* In phases: if one fails, the next ones are not run. */
static const check_kind_t kinds[] = {
    {"admission", 0, NULL, check_admission, NULL},
    {"load", 1, NULL, check_load, NULL},
    {"hosts", 1, NULL, check_hosts, NULL},
    {"definition", 2, check_operator_list, NULL, &check_definition},
    {"traits", 2, check_trait_list, NULL, &check_traits},
    {"values", 2, check_kernel_list, NULL, &check_values},
    {"threads", 2, check_kernel_list, NULL, &check_threads},
    {"shapes", 2, check_kernel_list, NULL, &check_shapes},
    {"extents", 2, check_kernel_list, NULL, &check_extents},
    {"allocations", 2, check_kernel_list, NULL, &check_allocations},
    {"layouts", 2, check_kernel_list, NULL, &check_layouts},
    {"slots", 2, check_slot_list, NULL, &check_slots},
};
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]), PHASE_COUNT = 3, LAST_PHASE = 2 };

typedef struct job_t {
  const check_kind_t* kind;
  const char* subject;
} job_t;

typedef struct run_t {
  check_t* check;
  job_t* jobs;
  size_t count;
  size_t capacity;
  char* crashes;  /* shared: CRASH_BYTES for each job */
  char* subjects; /* shared */
  size_t done;
  uint32_t passed;
  uint32_t failed;
  uint32_t skipped;
} run_t;

/* ---- Results ---- */

static const char* result_text(char code) {
  return code == CHECK_OK ? "ok" : code == CHECK_SKIPPED ? "skipped" : "FAILED";
}

static void print_result(const job_t* job, char code, const char* detail, double seconds) {
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "check", job->kind->name);
    tool_json_text(&json, "subject", job->subject);
    tool_json_text(&json, "result", result_text(code));
    tool_json_text(&json, "detail", detail);
    tool_json_number(&json, "seconds", seconds);
    tool_json_end(&json);
    return;
  }
  tool_progress_end();
  tool_say("%-8s %s%s%s%s%s\n", result_text(code), job->kind->name,
           job->subject[0] != '\0' ? " " : "", job->subject, detail[0] != '\0' ? ": " : "", detail);
}

static void on_done(void* user, size_t index, const tool_job_result_t* result) {
  run_t* run = user;
  const char* crash = run->crashes + index * SLOT_BYTES;
  const char* note = crash + CRASH_BYTES;
  char code = result->code;
  char* line = NULL;
  if (code != CHECK_OK && code != CHECK_SKIPPED && code != CHECK_FAILED) {
    code = CHECK_FAILED;
    line = tool_format("%s%s%s", crash[0] != '\0' ? crash : result->message,
                       note[0] != '\0' ? "; case: " : "", note);
  } else {
    line = tool_copy_text(result->message);
  }
  for (char* c = line; *c != '\0'; ++c) {
    if (*c == '\n') {
      *c = ' ';
    }
  }
  print_result(&run->jobs[index], code, line, result->seconds);
  tool_free(line);
  run->passed += code == CHECK_OK ? 1 : 0;
  run->failed += code == CHECK_FAILED ? 1 : 0;
  run->skipped += code == CHECK_SKIPPED ? 1 : 0;
  tool_progress("check", ++run->done, run->count);
}

/* ---- Jobs ---- */

static void add_job(run_t* run, const check_kind_t* kind, const char* subject) {
  char name[1024];
  (void)snprintf(name, sizeof(name), "%s%s%s", kind->name, subject[0] != '\0' ? " " : "", subject);
  if (run->check->only == NULL || regexec(run->check->only, name, 0, NULL, 0) == 0) {
    run->jobs = tool_grow(run->jobs, &run->capacity, run->count + 1, sizeof(*run->jobs));
    run->jobs[run->count++] = (job_t){kind, subject};
  }
}

/* Once in a child. Returns NULL, or the reason why the plugin cannot be used. */
static const char* open_plugin(check_t* check) {
  static check_plugin_t plugin;
  if (check->plugin == NULL && (check_plugin_find(check, NULL, &plugin) != TENON_OK ||
                                check_plugin_load(&plugin) != TENON_OK)) {
    return tenon_last_message();
  }
  check->plugin = &plugin;
  return plugin.info.state == TENON_PLUGIN_REFUSED ? plugin.info.reason : NULL;
}

/* The subjects of a kind of checks, into the shared memory. */
static char list_subjects(void* user, size_t index, char* out_message, size_t size) {
  run_t* run = user;
  check_text_t text;
  tool_console_silence(true);
  check_text_begin(&text, run->subjects + index * SUBJECTS_BYTES, SUBJECTS_BYTES);
  if (kinds[index].list == NULL) {
    return CHECK_OK;
  }
  const char* reason = open_plugin(run->check);
  if (reason != NULL) {
    (void)snprintf(out_message, size, "%s", reason);
    return CHECK_FAILED;
  }
  kinds[index].list(run->check, &text);
  return CHECK_OK;
}

/* Without its subjects a kind of checks would pass. With --only the file's own checks may be all that
 * is wanted, so that it counts if there are no others. */
static void on_listed(void* user, size_t index, const tool_job_result_t* result) {
  run_t* run = user;
  const bool has_run = run->passed + run->skipped > 0;
  if (result->code != CHECK_OK && run->failed == 0 && (run->check->only == NULL || !has_run)) {
    const job_t job = {&kinds[index], ""};
    char* detail = tool_format("its subjects cannot be listed: %s", result->message);
    print_result(&job, CHECK_FAILED, detail, result->seconds);
    tool_free(detail);
    ++run->failed;
  }
}

static char do_job(void* user, size_t index, char* out_message, size_t size) {
  run_t* run = user;
  check_text_t text;
  check_text_begin(&text, out_message, size < MOST_DETAIL ? size : MOST_DETAIL);
  tool_console_silence(true);
  char* slot = run->crashes + index * SLOT_BYTES;
  tool_crash_redirect(slot, CRASH_BYTES);
  run->check->note = slot + CRASH_BYTES;
  (void)alarm((unsigned)(run->check->seconds < 1 ? 1 : run->check->seconds));
  const job_t* job = &run->jobs[index];
  const char* reason = job->kind->phase == LAST_PHASE ? open_plugin(run->check) : NULL;
  if (reason != NULL) {
    check_text_add(&text, "%s", reason);
    return CHECK_FAILED;
  }
  char code = CHECK_FAILED;
  if (job->kind->run != NULL) {
    code = job->kind->run(run->check, &text);
  } else {
    code = check_try_cases(run->check, job->subject, job->kind, &text);
  }
  (void)alarm(0);
  return code;
}

static void* share(size_t size_bytes) {
  void* memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static tenon_status_t run_jobs(run_t* run) {
  const tool_jobs_t jobs = {.count = run->count,
                            .parallel = run->check->jobs,
                            .each = 64,
                            .good = CHECK_OK,
                            .timeout_seconds = run->check->seconds + 5, /* the alarm comes first */
                            .run = do_job,
                            .done = on_done,
                            .user = run};
  run->done = 0;
  run->crashes = share((run->count + 1) * SLOT_BYTES);
  if (run->crashes == NULL) {
    return tool_fail(TENON_ERROR_OUT_OF_MEMORY, "no memory to share with child processes");
  }
  const bool good = tool_children_run(&jobs);
  tool_progress_end();
  (void)munmap(run->crashes, (run->count + 1) * SLOT_BYTES);
  return good ? TENON_OK : tool_fail(TENON_ERROR_CANCELLED, "the checks were interrupted");
}

/* Jobs of kinds that have subjects: the strings stay in the shared memory. */
static bool add_subjects(run_t* run) {
  const tool_jobs_t listing = {.count = KIND_COUNT,
                               .each = KIND_COUNT,
                               .good = CHECK_OK,
                               .timeout_seconds = run->check->seconds,
                               .run = list_subjects,
                               .done = on_listed,
                               .user = run};
  if (!tool_children_run(&listing)) {
    return false;
  }
  for (size_t i = 0; i < KIND_COUNT; ++i) {
    char* line = run->subjects + i * SUBJECTS_BYTES;
    for (char* end = NULL; (end = strchr(line, '\n')) != NULL; line = end + 1) {
      *end = '\0';
      add_job(run, &kinds[i], line);
    }
  }
  return true;
}

tenon_status_t tool_check_run(check_t* check, uint32_t* out_failed) {
  run_t run = {.check = check, .subjects = share((size_t)KIND_COUNT * SUBJECTS_BYTES)};
  tenon_status_t status = TENON_OK;
  if (run.subjects == NULL) {
    return tool_fail(TENON_ERROR_OUT_OF_MEMORY, "no memory to share with child processes");
  }
  for (uint32_t phase = 0; phase < PHASE_COUNT && status == TENON_OK && run.failed == 0; ++phase) {
    run.count = 0;
    for (size_t i = 0; i < KIND_COUNT; ++i) {
      if (kinds[i].phase == phase && kinds[i].list == NULL) {
        add_job(&run, &kinds[i], "");
      }
    }
    if (phase == LAST_PHASE && !add_subjects(&run)) {
      status = tool_fail(TENON_ERROR_CANCELLED, "the checks were interrupted");
    } else {
      status = run_jobs(&run);
    }
  }
  if (status == TENON_OK && run.passed + run.failed + run.skipped == 0) {
    status = tool_misuse("no check was run: --only matches none of this plugin's");
  }
  if (status == TENON_OK) {
    tool_say("%u checks passed, %u failed, %u skipped\n", run.passed, run.failed, run.skipped);
  }
  (void)munmap(run.subjects, (size_t)KIND_COUNT * SUBJECTS_BYTES);
  tool_free(run.jobs);
  *out_failed = run.failed;
  return status;
}
