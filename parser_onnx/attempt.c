/* Attempts: messages are kept in a list and reported or dropped at the end. */
#include "attempt.h"

/* A message that was kept. */
typedef struct tenon__onnx_said_t {
  struct tenon__onnx_said_t* next;
  int32_t severity;
  const char* message;
} tenon__onnx_said_t;

bool tenon__onnx_can_attempt(const tenon__onnx_program_t* program) {
  const tenon_builder_table_t* build = program->reader->build;
  return TENON_HAS(build, tenon_builder_table_t, fail_body) && build->divert != NULL &&
         build->fail_body != NULL;
}

bool tenon__onnx_is_fault(tenon_status_t status) {
  return status == TENON_ERROR_INVALID_DATA || status == TENON_ERROR_UNSUPPORTED;
}

static void keep(void* user, int32_t severity, const char* message) {
  tenon__onnx_attempt_t* attempt = user;
  tenon_reader_t* reader = attempt->program->reader;
  tenon__onnx_said_t* said = tenon_reader_allocate(reader, 1, sizeof(*said));
  const char* copy = tenon_reader_format(reader, "%s", message);
  if (said == NULL || copy == NULL) {
    attempt->has_lost = true;
    return;
  }
  *said = (tenon__onnx_said_t){.severity = severity, .message = copy};
  if (attempt->last == NULL) {
    attempt->first = said;
  } else {
    attempt->last->next = said;
  }
  attempt->last = said;
}

void tenon__onnx_attempt_begin(tenon__onnx_program_t* program, tenon__onnx_attempt_t* out_attempt) {
  tenon_reader_t* reader = program->reader;
  *out_attempt = (tenon__onnx_attempt_t){.program = program, .node_count = program->node_count};
  out_attempt->sink = (tenon_sink_t){out_attempt, keep};
  out_attempt->before = reader->build->divert(reader->builder, &out_attempt->sink);
  ++program->attempt_depth;
}

void tenon__onnx_attempt_end(tenon__onnx_attempt_t* attempt) {
  tenon_reader_t* reader = attempt->program->reader;
  (void)reader->build->divert(reader->builder, attempt->before);
  --attempt->program->attempt_depth;
}

void tenon__onnx_attempt_tell(const tenon__onnx_attempt_t* attempt) {
  for (const tenon__onnx_said_t* said = attempt->first; said != NULL; said = said->next) {
    tenon_reader_say(attempt->program->reader, said->severity, "%s", said->message);
  }
}

const char* tenon__onnx_attempt_errors(const tenon__onnx_attempt_t* attempt) {
  const char* text = attempt->has_lost ? NULL : "";
  for (const tenon__onnx_said_t* said = attempt->first; said != NULL && text != NULL;
       said = said->next) {
    if (said->severity >= TENON_SEVERITY_ERROR) {
      text = tenon_reader_format(attempt->program->reader, "%s%s%s", text,
                                 text[0] == '\0' ? "" : "; ", said->message);
    }
  }
  return text;
}

tenon_status_t tenon__onnx_attempt_drop(const tenon__onnx_attempt_t* attempt) {
  tenon__onnx_program_t* program = attempt->program;
  program->tried_count += program->node_count - attempt->node_count;
  program->node_count = attempt->node_count;
  if (program->tried_count > TENON__ONNX_NODE_LIMIT) {
    return TENON_READER_FAIL(
        program->reader, TENON_ERROR_UNSUPPORTED,
        "more than %d nodes were converted in vain, to find out which branches can "
        "run: give the shapes of inputs, so that fewer conditions are open",
        TENON__ONNX_NODE_LIMIT);
  }
  return TENON_OK;
}
