/* See check.h. The file's own checks come first. A child then lists the subjects of the others, in
 * memory that it shares with the parent. */
#include "check/check.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check/file_checks.h"
#include "session/children.h"
#include "text/console.h"
#include "text/crash.h"
#include "text/json.h"
#include "text/memory.h"

enum { SUBJECTS_BYTES = 1 << 20, CRASH_BYTES = 512, MOST_DETAIL = 2048 };

/* In phases: if one fails, the next ones are not run. */
static const check_kind_t kinds[] = {
    {"admission", 0, NULL, check_admission},
    {"load", 1, NULL, check_load},
    {"hosts", 1, NULL, check_hosts},
};
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]), PHASE_COUNT = 2 };

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
  const char* crash = run->crashes + index * CRASH_BYTES;
  char code = result->code;
  const char* detail = result->message;
  if (code != CHECK_OK && code != CHECK_SKIPPED && code != CHECK_FAILED) {
    code = CHECK_FAILED;
    detail = crash[0] != '\0' ? crash : detail;
  }
  char* line = tool_copy_text(detail);
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

static char do_job(void* user, size_t index, char* out_message, size_t size) {
  run_t* run = user;
  check_text_t text;
  check_text_begin(&text, out_message, size < MOST_DETAIL ? size : MOST_DETAIL);
  tool_console_silence(true);
  tool_crash_redirect(run->crashes + index * CRASH_BYTES, CRASH_BYTES);
  (void)alarm((unsigned)(run->check->seconds < 1 ? 1 : run->check->seconds));
  const char code = run->jobs[index].kind->run(run->check, run->jobs[index].subject, &text);
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
  run->crashes = share((run->count + 1) * CRASH_BYTES);
  if (run->crashes == NULL) {
    return tool_fail(TENON_ERROR_OUT_OF_MEMORY, "no memory to share with child processes");
  }
  const bool good = tool_children_run(&jobs);
  tool_progress_end();
  (void)munmap(run->crashes, (run->count + 1) * CRASH_BYTES);
  return good ? TENON_OK : tool_fail(TENON_ERROR_CANCELLED, "the checks were interrupted");
}

tenon_status_t tool_check_run(check_t* check, uint32_t* out_failed) {
  run_t run = {.check = check, .subjects = share(SUBJECTS_BYTES)};
  tenon_status_t status = TENON_OK;
  if (run.subjects == NULL) {
    return tool_fail(TENON_ERROR_OUT_OF_MEMORY, "no memory to share with child processes");
  }
  for (uint32_t phase = 0; phase < PHASE_COUNT && status == TENON_OK && run.failed == 0; ++phase) {
    run.count = 0;
    for (size_t i = 0; i < KIND_COUNT; ++i) {
      if (kinds[i].phase == phase) {
        add_job(&run, &kinds[i], "");
      }
    }
    status = run_jobs(&run);
  }
  if (status == TENON_OK) {
    tool_say("%u checks passed, %u failed, %u skipped\n", run.passed, run.failed, run.skipped);
  }
  (void)munmap(run.subjects, SUBJECTS_BYTES);
  tool_free(run.jobs);
  *out_failed = run.failed;
  return status;
}
