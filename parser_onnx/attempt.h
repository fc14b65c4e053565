/*
 * Trying what may fail. A branch of an If may be impossible to build; which one is seen by building
 * it. While an attempt is open, everything said by this parser, by converters and by the host's
 * builder is kept instead of shown, and is told afterwards or dropped. Used by branch.c alone;
 * check.c only asks whether it can be done.
 */
#ifndef TENON_PARSER_ONNX_ATTEMPT_H_
#define TENON_PARSER_ONNX_ATTEMPT_H_

#include "program.h"

/* One attempt, in the caller's memory. It is pointed to while it is open (`sink` goes to the
 * builder), so it must not move between begin and end; afterwards it may be copied. What it
 * keeps lives until the parse ends. */
typedef struct tenon__onnx_attempt_t {
  tenon__onnx_program_t* program;
  tenon_sink_t sink;
  /* Where words went until now: the program's own sink, or that of the attempt around this one. */
  const tenon_sink_t* before;
  /* In the order in which it was said, of every severity; NULL when nothing was. */
  struct tenon__onnx_said_t* first;
  struct tenon__onnx_said_t* last;
  /* The program's node_count when it began: what an attempt converts counts only if it is kept. */
  size_t node_count;
  /* Memory ran out while a message was copied: the list is not whole. */
  bool has_lost;
} tenon__onnx_attempt_t;

/* False for a host older than 0.3, which can neither divert words nor end a body as one that
 * cannot run (builder.divert, builder.fail_body): branches are then built plainly, and any
 * failure is the model's. */
bool tenon__onnx_can_attempt(const tenon__onnx_program_t* program);
/* INVALID_DATA and UNSUPPORTED are faults of what was tried, and another branch may do without
 * it. Anything else (memory, a cancelled parse) is the machine's or the caller's: nothing more
 * is tried, and the status is returned. */
bool tenon__onnx_is_fault(tenon_status_t status);

/* Begin and end come in pairs, also when what was tried fails, and nest like brackets: end gives
 * words back to where they went. While any attempt is open (attempt_depth > 0), a node without a
 * converter is an ordinary fault of the branch, and not reported to the host as missing. */
void tenon__onnx_attempt_begin(tenon__onnx_program_t* program, tenon__onnx_attempt_t* out_attempt);
void tenon__onnx_attempt_end(tenon__onnx_attempt_t* attempt);

/* Says again what was kept, in order and with its severities, to the sink of now: call it after
 * end. */
void tenon__onnx_attempt_tell(const tenon__onnx_attempt_t* attempt);
/* The errors alone (no warnings), joined by "; ": what a run says that takes the branch. "" when
 * none was said; NULL when memory is out, or was while words were kept. */
const char* tenon__onnx_attempt_errors(const tenon__onnx_attempt_t* attempt);
/* Says that what was converted does not stay: it leaves node_count and counts as tried.
 * UNSUPPORTED, and told, when a model has made more than TENON__ONNX_NODE_LIMIT nodes in vain:
 * Ifs within Ifs multiply what is tried, and a short file must not ask for much. */
tenon_status_t tenon__onnx_attempt_drop(const tenon__onnx_attempt_t* attempt);

#endif
