/* An If with an unknown condition: both branches are attempted. If their results differ in type or
 * rank, the nodes after the If are attempted with each of them. */
#include "branch.h"

#include "attempt.h"
#include "scope.h"
#include "types.h"

/* A branch on its way: what came of an attempt at it. */
typedef struct branch_t {
  tenon__onnx_attempt_t attempt;
  tenon__onnx_body_t body;
  tenon_status_t status;
  const char* fault; /* NULL: it can run */
} branch_t;

typedef struct choosing_t {
  const tenon_source_t* source;
  tenon__onnx_program_t* program;
  tenon_reader_t* reader;
  const char* const* attributes;
} choosing_t;

/* Tries branch `index`, with what follows the node when `rest` is given. Fails where nothing more
 * is to be tried. */
static tenon_status_t try_branch(const choosing_t* c, uint32_t index,
                                 const tenon__onnx_rest_t* rest, branch_t* out_branch) {
  const tenon__onnx_body_request_t request = {.attribute = c->attributes[index], .rest = rest};
  branch_t* branch = out_branch;
  branch->fault = NULL;
  tenon__onnx_attempt_begin(c->program, &branch->attempt);
  branch->status = tenon__onnx_convert_body(c->source, &request, &branch->body);
  tenon__onnx_attempt_end(&branch->attempt);
  if (branch->status == TENON_OK) {
    return TENON_OK;
  }
  if (!tenon__onnx_is_fault(branch->status)) {
    tenon__onnx_attempt_tell(&branch->attempt);
    return branch->status;
  }
  branch->fault = tenon__onnx_attempt_errors(&branch->attempt);
  return branch->fault == NULL ? tenon_reader_fail_memory(c->reader)
                               : tenon__onnx_attempt_drop(&branch->attempt);
}

/* ---- Results ---- */

/* "f32[2, ?]"; NULL when memory is out. */
static const char* type_text(const choosing_t* c, const tenon_value_type_t* type) {
  const char* text =
      tenon_reader_format(c->reader, "%s%s[",
                          type->kind == TENON_ARGUMENT_SEQUENCE            ? "sequence "
                          : type->kind == TENON_ARGUMENT_OPTIONAL          ? "optional "
                          : type->kind == TENON_ARGUMENT_OPTIONAL_SEQUENCE ? "optional sequence "
                                                                           : "",
                          tenon__onnx_dtype_name(type->dtype));
  if (type->rank != TENON_NONE) {
    for (uint32_t d = 0; text != NULL && d < type->rank; ++d) {
      text = type->dims[d] < 0 ? tenon_reader_format(c->reader, "%s%s?", text, d == 0 ? "" : ", ")
                               : tenon_reader_format(c->reader, "%s%s%lld", text,
                                                     d == 0 ? "" : ", ", (long long)type->dims[d]);
    }
  }
  return text == NULL ? NULL : tenon_reader_format(c->reader, "%s]", text);
}

/* Do the bodies' results have the types that outputs of one node can have? */
static tenon_status_t compare(const choosing_t* c, const branch_t* branches, bool* out_same) {
  const tenon__onnx_body_t* a = &branches[0].body;
  const tenon__onnx_body_t* b = &branches[1].body;
  *out_same = true;
  for (uint32_t k = 0; k < a->result_count && k < b->result_count; ++k) {
    tenon_value_type_t first = {.size = sizeof(first)};
    tenon_value_type_t second = {.size = sizeof(second)};
    TENON_READER_TRY(c->reader->build->type(c->reader->builder, a->results[k], &first));
    TENON_READER_TRY(c->reader->build->type(c->reader->builder, b->results[k], &second));
    *out_same = *out_same && first.kind == second.kind && first.dtype == second.dtype &&
                (first.rank == second.rank || first.kind != TENON_ARGUMENT_TENSOR);
  }
  return TENON_OK;
}

/* "y f32[2, ?], z i64[]", of a body's results by the node's outputs. */
static const char* results_text(const choosing_t* c, const tenon__onnx_body_t* body) {
  const char* text = "";
  for (uint32_t k = 0; k < body->result_count && text != NULL; ++k) {
    tenon_value_type_t type = {.size = sizeof(type)};
    const char* name = tenon__onnx_source_table()->output_name(c->source, k);
    if (c->reader->build->type(c->reader->builder, body->results[k], &type) == TENON_OK) {
      const char* message = type_text(c, &type);
      text = message == NULL ? NULL
                             : tenon_reader_format(c->reader, "%s%s%s %s", text,
                                                   text[0] == '\0' ? "" : ", ", name, message);
    }
  }
  return text;
}

/* ---- What the file declares ---- */

static const Onnx__ValueInfoProto* find_declared(const Onnx__GraphProto* graph, const char* name) {
  for (size_t i = 0; i < graph->n_output; ++i) {
    if (strcmp(tenon__onnx_text(graph->output[i]->name), name) == 0) {
      return graph->output[i];
    }
  }
  for (size_t i = 0; i < graph->n_value_info; ++i) {
    if (strcmp(tenon__onnx_text(graph->value_info[i]->name), name) == 0) {
      return graph->value_info[i];
    }
  }
  return NULL;
}

/* What is not declared contradicts nothing. */
static bool contradicts(const choosing_t* c, const char* name, tenon_value_t value) {
  const Onnx__GraphProto* graph = c->source->scope->block->graph;
  const Onnx__ValueInfoProto* info = graph == NULL ? NULL : find_declared(graph, name);
  tenon__onnx_attempt_t attempt;
  tenon__onnx_type_t declared;
  tenon_value_type_t type = {.size = sizeof(type)};
  if (info == NULL || info->type == NULL) {
    return false;
  }
  tenon__onnx_attempt_begin(c->program, &attempt); /* what is wrong with it does not matter */
  const bool is_read = tenon__onnx_type_read(c->reader, info->type, name, &declared) == TENON_OK;
  tenon__onnx_attempt_end(&attempt);
  return is_read && c->reader->build->type(c->reader->builder, value, &type) == TENON_OK &&
         (declared.kind != type.kind || declared.dtype != type.dtype ||
          (declared.rank != TENON_NONE && declared.rank != type.rank));
}

/* Does a branch give what is declared, for the node's outputs and for the block's? */
static bool is_declared(const choosing_t* c, const branch_t* branch, const branch_t* whole,
                        const tenon__onnx_rest_t* rest) {
  bool fits = true;
  for (uint32_t k = 0; k < branch->body.result_count; ++k) {
    const char* name = tenon__onnx_source_table()->output_name(c->source, k);
    fits = fits && !contradicts(c, name, branch->body.results[k]);
  }
  for (uint32_t k = 0; k < rest->result_count; ++k) {
    fits = fits && !contradicts(c, rest->results[k], whole->body.results[k]);
  }
  return fits;
}

/* ---- Which ---- */

/* The branch's results are not what follows can take, or are not what is declared. */
static tenon_status_t refuse(const choosing_t* c, branch_t* branch, const char* reason) {
  const char* results = results_text(c, &branch->body);
  branch->fault = results == NULL
                      ? NULL
                      : tenon_reader_format(c->reader, "its results are %s; %s", results, reason);
  branch->status = TENON_ERROR_UNSUPPORTED;
  return branch->fault == NULL ? tenon_reader_fail_memory(c->reader) : TENON_OK;
}

/* Tries what follows the node with either branch's results. *out_whole: with both it works, and
 * ends alike; `branches` are then with it. */
static tenon_status_t try_rest(const choosing_t* c, const tenon__onnx_rest_t* rest,
                               branch_t* branches, bool* out_whole) {
  branch_t whole[2];
  for (uint32_t i = 0; i < 2; ++i) {
    TENON_READER_TRY(try_branch(c, i, rest, &whole[i]));
  }
  *out_whole = false;
  for (uint32_t i = 0; i < 2; ++i) {
    if (whole[i].fault != NULL) {
      TENON_READER_TRY(refuse(c, &branches[i], whole[i].fault));
    }
  }
  if (whole[0].fault == NULL && whole[1].fault == NULL) {
    TENON_READER_TRY(compare(c, whole, out_whole));
  }
  if (*out_whole) {
    branches[0] = whole[0];
    branches[1] = whole[1];
    return TENON_OK;
  }
  for (uint32_t i = 0; i < 2; ++i) {
    if (whole[i].fault == NULL) {
      TENON_READER_TRY(tenon__onnx_attempt_drop(&whole[i].attempt));
    }
  }
  if (whole[0].fault != NULL || whole[1].fault != NULL) {
    return TENON_OK;
  }
  const bool fits[2] = {is_declared(c, &branches[0], &whole[0], rest),
                        is_declared(c, &branches[1], &whole[1], rest)};
  return fits[0] == fits[1] ? TENON_OK
                            : refuse(c, &branches[fits[0] ? 1 : 0],
                                     "with these the file's outputs are of other types than it "
                                     "declares");
}

/* One that cannot run, in place of what was built of it. */
static tenon_status_t build_fault(const choosing_t* c, uint32_t index, branch_t* branch) {
  const tenon__onnx_body_request_t request = {
      .attribute = c->attributes[index], .fault = branch->fault, .fault_status = branch->status};
  return tenon__onnx_convert_body(c->source, &request, &branch->body);
}

static tenon_status_t build_plain(const choosing_t* c, branch_t* branches) {
  for (uint32_t i = 0; i < 2; ++i) {
    const tenon__onnx_body_request_t request = {.attribute = c->attributes[i]};
    TENON_READER_TRY(tenon__onnx_convert_body(c->source, &request, &branches[i].body));
  }
  return TENON_OK;
}

static tenon_status_t try_branches(const choosing_t* c, branch_t* branches,
                                   const tenon__onnx_rest_t** out_rest) {
  bool is_same = true;
  bool is_whole = false;
  for (uint32_t i = 0; i < 2; ++i) {
    TENON_READER_TRY(try_branch(c, i, NULL, &branches[i]));
  }
  if (branches[0].fault == NULL && branches[1].fault == NULL) {
    TENON_READER_TRY(compare(c, branches, &is_same));
  }
  if (!is_same) {
    tenon__onnx_rest_t* rest = tenon_reader_allocate(c->reader, 1, sizeof(*rest));
    if (rest == NULL) {
      return tenon_reader_fail_memory(c->reader);
    }
    TENON_READER_TRY(tenon__onnx_list_rest(c->source, rest));
    TENON_READER_TRY(try_rest(c, rest, branches, &is_whole));
    *out_rest = is_whole ? rest : NULL;
  }
  for (uint32_t i = 0; i < 2; ++i) {
    if (branches[i].fault != NULL) {
      TENON_READER_TRY(build_fault(c, i, &branches[i]));
    } else {
      tenon__onnx_attempt_tell(&branches[i].attempt);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__onnx_convert_choice(const tenon_source_t* source,
                                          const char* const* attributes,
                                          tenon__onnx_choice_t* out_choice) {
  const choosing_t c = {source, source->program, source->program->reader, attributes};
  const tenon__onnx_rest_t* rest = NULL;
  branch_t branches[2] = {{.status = TENON_OK}, {.status = TENON_OK}};
  for (uint32_t i = 0; i < 2; ++i) {
    if (tenon__onnx_body_graph(source, attributes[i]) == NULL) {
      return TENON_ERROR_INVALID_DATA;
    }
  }
  TENON_READER_TRY(tenon__onnx_can_attempt(source->program) ? try_branches(&c, branches, &rest)
                                                            : build_plain(&c, branches));
  *out_choice = (tenon__onnx_choice_t){
      .bodies = {branches[0].body.body, branches[1].body.body},
      .captures = branches[0].body.captures,
      .output_count = rest != NULL ? rest->result_count : (uint32_t)source->node->n_output,
      .rest = rest};
  return TENON_OK;
}

tenon_status_t tenon__onnx_bind_rest(const tenon_source_t* source,
                                     const tenon__onnx_choice_t* choice,
                                     const tenon_value_t* outputs) {
  tenon__onnx_program_t* program = source->program;
  for (uint32_t i = 0; i < choice->rest->result_count; ++i) {
    const char* name = choice->rest->results[i];
    TENON_READER_TRY(tenon__onnx_scope_name(program, source->scope, outputs[i], name));
    TENON_READER_TRY(tenon__onnx_scope_bind(program, source->scope, name, outputs[i]));
  }
  source->scope->is_done = true;
  return TENON_OK;
}
