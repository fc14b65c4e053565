/* Trying what may fail. What is said meanwhile, by this parser, by converters and by the host, is
 * kept, and told afterwards or not. */
#ifndef TENON_PARSER_ONNX_ATTEMPT_H_
#define TENON_PARSER_ONNX_ATTEMPT_H_

#include "program.h"

typedef struct tenon__onnx_attempt_t {
  tenon__onnx_program_t* program;
  tenon_sink_t sink;
  const tenon_sink_t* before; /* where what is said went */
  struct tenon__onnx_said_t* first;
  struct tenon__onnx_said_t* last;
  size_t node_count; /* converted before it */
  bool has_lost;     /* memory ran out for what was said */
} tenon__onnx_attempt_t;

/* False: this host cannot keep what is said, nor bodies that fail. */
bool tenon__onnx_can_attempt(const tenon__onnx_program_t* program);
/* True: the fault of what was tried. Else, of the machine, say: nothing more is to be tried. */
bool tenon__onnx_is_fault(tenon_status_t status);

/* The attempt stays where it is until it ends. Attempts may be nested. */
void tenon__onnx_attempt_begin(tenon__onnx_program_t* program, tenon__onnx_attempt_t* out_attempt);
void tenon__onnx_attempt_end(tenon__onnx_attempt_t* attempt);

/* After it: tells what was said. */
void tenon__onnx_attempt_tell(const tenon__onnx_attempt_t* attempt);
/* Likewise: the errors in one line; NULL when memory is out. */
const char* tenon__onnx_attempt_errors(const tenon__onnx_attempt_t* attempt);
/* What it converted is not part of the network. UNSUPPORTED when too much was tried in vain. */
tenon_status_t tenon__onnx_attempt_drop(const tenon__onnx_attempt_t* attempt);

#endif
