/* See study.h. Draws until the network is valid, the reference can compute it, and the kernel takes
 * it. */
#include "check/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check/compare.h"

enum {
  MOST_DRAWS = 3000,
  MOST_REFUSED = 40,
  FIRST_ELEMENTS = 1 << 14,
  RESULTS = 2 /* times the elements of an input */
};

static uint64_t hash(uint64_t seed, const char* text) {
  uint64_t value = seed * 0x9E3779B97F4A7C15u + 0x6b;
  for (; *text != '\0'; ++text) {
    value = (value ^ (unsigned char)*text) * 0x100000001B3u;
  }
  return value;
}

bool check_study_begin(check_t* check, const char* subject, const char* kind,
                       check_study_t* out_study) {
  const char* blank = strrchr(subject, ' ');
  *out_study = (check_study_t){.check = check,
                               .plugin = check->plugin,
                               .most_elements = FIRST_ELEMENTS,
                               .bound_elements = INFINITY};
  out_study->random.state = hash(hash(check->seed, subject), kind);
  const size_t count = blank != NULL ? check->plugin->kernel_count : 0;
  for (size_t i = 0; i < count; ++i) {
    const check_kernel_t* k = &check->plugin->kernels[i];
    const size_t length = strlen(k->plugin);
    if (strncmp(subject, k->plugin, length) == 0 && subject[length] == ':' &&
        strlen(k->kernel.name) == (size_t)(blank - subject) - length - 1 &&
        strncmp(subject + length + 1, k->kernel.name, strlen(k->kernel.name)) == 0) {
      out_study->kernel = k;
    }
  }
  out_study->op = check_plugin_operator(check->plugin, blank != NULL ? blank + 1 : subject);
  return (out_study->kernel != NULL || blank == NULL) && out_study->op != NULL;
}

static void drop(check_study_t* s) {
  check_results_free(&s->expected);
  check_engine_free(&s->engine);
  tenon_network_destroy(s->network);
  s->network = NULL;
  check_case_release(&s->c);
}

void check_study_end(check_study_t* study) {
  drop(study);
}

/* References may take time that grows with the square of the elements. The size is limited so that no
 * case before would have taken more than about half a second at that size. */
static void learn_size(check_study_t* s, double seconds) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < s->c.input_count; ++i) {
    count += check_input_is_there(&s->c.inputs[i]) ? s->c.inputs[i].value.count : 0;
  }
  const double wanted = fmin(sqrt(0.5 / fmax(seconds, 1e-6)), 64) * (double)count;
  if (seconds > 1e-3) {
    s->bound_elements = fmin(s->bound_elements, wanted);
  }
  const double most = fmin(fmax((double)s->most_elements, wanted), s->bound_elements);
  s->most_elements = (uint64_t)most;
}

/* Small inputs may have huge outputs: by large pads, say. Dynamic outputs are of no size yet. */
static bool is_too_large(const check_engine_t* engine, uint64_t most_elements) {
  const uint32_t outputs = tenon_engine_output_count(engine->engine);
  for (uint32_t i = 0; i < outputs; ++i) {
    tenon_io_info_t info = {.size = sizeof(info)};
    uint64_t count = 0;
    uint64_t bytes = 0;
    if (tenon_engine_get_output(engine->engine, i, &info) == TENON_OK && info.rank != TENON_NONE &&
        tool_element_count(info.rank, info.dims, info.dtype, &count, &bytes) &&
        count > RESULTS * most_elements) {
      return true;
    }
  }
  return false;
}

/* False: the case is no good. Without a reference there is nothing to compare with. */
static bool ask_reference(check_study_t* s) {
  const check_kernels_t kernels = {.threads = 1};
  check_engine_t engine;
  const tenon_status_t built =
      check_engine_make(s->plugin, s->network, &s->c, &kernels, NULL, &engine);
  tenon_status_t status = built;
  if (built == TENON_OK && is_too_large(&engine, s->most_elements)) {
    check_engine_free(&engine);
    return false;
  }
  if (built == TENON_OK) {
    const double begin = tool_seconds();
    status = check_engine_run(&engine, &s->c, 1, false, &s->expected);
    learn_size(s, tool_seconds() - begin);
  }
  check_engine_free(&engine);
  s->has_reference = status == TENON_OK;
  return status == TENON_OK || built == TENON_ERROR_UNSUPPORTED;
}

static bool try_case(check_study_t* s, const check_wish_t* wish, bool measured) {
  const check_form_t form = {0};
  const check_kernels_t kernels = {.only = s->kernel, .unmeasured = !measured, .threads = 1};
  if (!check_case_draw(&s->op->op, wish, &s->random, &s->c)) {
    return false;
  }
  check_text_t note;
  check_text_begin(&note, s->check->note, CHECK_NOTE_BYTES);
  check_case_print(&s->c, &note);
  if (check_network_make(s->plugin, &s->c, &form, &s->network) != TENON_OK || !ask_reference(s)) {
    return false;
  }
  if (s->kernel == NULL) {
    s->unreferred += s->has_reference ? 0 : 1;
    return s->has_reference;
  }
  const tenon_status_t built =
      check_engine_make(s->plugin, s->network, &s->c, &kernels, NULL, &s->engine);
  if (built == TENON_ERROR_NOT_FOUND || built == TENON_ERROR_DEVICE) {
    s->lacks_device = true;
    (void)snprintf(s->refusal, sizeof(s->refusal), "%.255s", tenon_last_message());
    return false;
  }
  if (!s->engine.is_used && s->engine.refusal[0] == '\0') {
    /* It lost against an expression, perhaps for its results: by its estimate it may win. */
    const check_kernels_t estimated = {.only = s->kernel, .unmeasured = true, .threads = 1};
    check_engine_free(&s->engine);
    (void)check_engine_make(s->plugin, s->network, &s->c, &estimated, NULL, &s->engine);
  }
  const bool takes = s->engine.is_used || check_engine_is_refuted(&s->engine);
  s->refused += takes ? 0 : 1;
  s->unreferred += takes && !s->has_reference ? 1 : 0;
  if (!takes && s->engine.refusal[0] != '\0') {
    (void)snprintf(s->refusal, sizeof(s->refusal), "%.255s", s->engine.refusal);
  }
  return takes;
}

bool check_study_next(check_study_t* study, const check_wish_t* wish, bool measured) {
  const uint32_t refused = study->refused;
  for (uint32_t i = 0;
       i < MOST_DRAWS && study->refused - refused < MOST_REFUSED && !study->lacks_device; ++i) {
    check_wish_t own = *wish;
    /* Many kernels want their weights constant. */
    own.constants = own.constants || (!own.no_constants && study->refused % 2 == 1);
    own.most_elements =
        own.most_elements < study->most_elements ? own.most_elements : study->most_elements;
    drop(study);
    if (try_case(study, &own, measured)) {
      return true;
    }
  }
  drop(study);
  study->check->note[0] = '\0';
  return false;
}

void check_study_tell(const check_study_t* study, check_text_t* text) {
  check_text_add(text, "; case: ");
  check_case_print(&study->c, text);
}

char check_study_skip(const check_study_t* study, check_text_t* text) {
  const char* obstacle = check_case_obstacle(&study->op->op);
  if (obstacle == NULL && study->kernel == NULL && study->unreferred > 0) {
    obstacle = "no reference kernel and no expression computes it";
  }
  if (study->kernel != NULL && study->lacks_device) {
    check_text_add(text, "device %s cannot be used here: %s", study->kernel->kernel.device,
                   study->refusal);
  } else if (obstacle != NULL) {
    check_text_add(text, "%s", obstacle);
  } else if (study->refused > 0) {
    check_text_add(text, "the kernel took none of %u cases%s%s", study->refused,
                   study->refusal[0] != '\0' ? ": " : "", study->refusal);
  } else {
    check_text_add(text, "no valid node was drawn from the operator's declarations");
  }
  return CHECK_SKIPPED;
}

bool check_study_is_refuted(const check_study_t* study, const check_engine_t* engine,
                            check_text_t* text) {
  if (check_engine_is_refuted(engine)) {
    check_text_add(text, "%s", engine->refusal);
    check_study_tell(study, text);
    return true;
  }
  return false;
}

bool check_study_compare(const check_study_t* study, const check_results_t* results,
                         const check_results_t* expected, check_text_t* text) {
  for (uint32_t i = 0; i < results->count && i < expected->count; ++i) {
    const tenon_port_t* port = check_port(&study->op->op.outputs, i);
    if (!check_compare(&study->c, port->name, &results->values[i], &expected->values[i], text)) {
      check_study_tell(study, text);
      return false;
    }
  }
  return true;
}
