/* Crashes in the function that the environment names: CRASH_IN=match, and so on. CRASH_IN=malloc:
 * in the allocation of CRASHER_SIZE bytes by a worker, in a program whose malloc crashes for it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tenon/plugin.h"

enum { CRASHER_SIZE = 24157 };

TENON_PLUGIN_MANIFEST("crasher", "1.0.0",
                      "offers: operator crasher.same/1\noffers: kernel same crasher.same/1 cpu\n"
                      "offers: converter onnx:crasher:Same\noffers: parser crashed\n"
                      "offers: rewrite same\n");

static void maybe(const char* here) {
  const char* where = getenv("CRASH_IN");
  if (where != NULL && strcmp(where, here) == 0) {
    static volatile int* volatile nowhere;
    *nowhere = 1; /* NOLINT(clang-analyzer-core.NullDereference): that is what it is for */
  }
  if (where != NULL && strcmp(where, "abort") == 0 && strcmp(here, "enqueue") == 0) {
    abort();
  }
}

__attribute__((constructor)) static void construct(void) {
  maybe("constructor");
}

/* ---- The operator and its kernel ---- */

static tenon_status_t infer(void* state, tenon_shape_builder_t* builder,
                            const tenon_shape_table_t* table) {
  (void)state;
  maybe("infer");
  const tenon_dim_t dim = table->dim(builder, 0, 0);
  return table->set_output(builder, 0, TENON_DTYPE_UNDEFINED, 1, &dim);
}

static const tenon_type_variable_t types[] = {{sizeof(*types), .name = "T", .allowed = "float"}};
static const tenon_port_t inputs[] = {{sizeof(*inputs), .name = "x", .type = "T"}};
static const tenon_port_t outputs[] = {{sizeof(*outputs), .name = "y", .type = "T"}};
static const tenon_operator_t operators[] = {
    {sizeof(*operators), .name = "crasher.same/1", .types = TENON_LIST(types),
     .inputs = TENON_LIST(inputs), .outputs = TENON_LIST(outputs), .infer = infer}};

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  (void)region;
  (void)table;
  (void)out_refusal;
  maybe("match");
  return 1;
}

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "the only one"};
  (void)state;
  (void)region;
  (void)table;
  maybe("tactics");
  return add(emit, &tactic);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  (void)call;
  (void)out_instance;
  maybe("prepare");
  return TENON_OK;
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  (void)instance;
  (void)binding;
  (void)host;
  (void)out_bound;
  maybe("bind");
  return TENON_OK;
}

/* A worker crashes in malloc, and the program's first thread waits for it. */
static void allocate(void) {
  if (gettid() == getpid()) {
    (void)sleep(10);
  } else {
    void* volatile memory = malloc(CRASHER_SIZE);
    free(memory);
  }
}

/* Index 1 is done by a worker, or by the caller where that is quicker. */
static void body(void* user, uint32_t index, uint32_t thread) {
  const char* where = getenv("CRASH_IN");
  (void)user;
  (void)thread;
  if (where != NULL && strcmp(where, "malloc") == 0) {
    allocate();
  } else if (index == 1) {
    maybe("body");
  }
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  maybe("enqueue");
  call->host->parallel(call->run, 2, body, NULL);
  memcpy(call->outputs[0].tensor.data, call->inputs[0].tensor.data,
         (size_t)call->inputs[0].tensor.dims[0] * sizeof(float));
  return TENON_OK;
}

static void unbind(void* instance, void* bound) {
  (void)instance;
  (void)bound;
  maybe("unbind");
}

static void destroy(void* instance) {
  (void)instance;
  maybe("destroy");
}

static const char* const computes[] = {"crasher.same/1", NULL};
static const tenon_kernel_t kernels[] = {{sizeof(*kernels), .name = "same", .device = "cpu",
                                          .operators = computes, .match = match, .tactics = tactics,
                                          .prepare = prepare, .bind = bind, .enqueue = enqueue,
                                          .unbind = unbind, .destroy = destroy}};

/* ---- Reading models ---- */

static tenon_status_t convert(const tenon_conversion_t* call) {
  maybe("convert");
  tenon_status_t status =
      call->build->begin(call->builder, "crasher.same/1", call->table->name(call->source));
  if (status == TENON_OK) {
    status = call->build->add_input(call->builder, call->inputs[0]);
  }
  return status == TENON_OK ? call->build->end(call->builder, call->outputs, call->output_count)
                            : status;
}

static const tenon_converter_t converters[] = {{sizeof(*converters), .format = "onnx",
                                                .domain = "crasher", .type = "Same", .since = 1,
                                                .convert = convert}};

static int32_t sniff(void* state, const void* data, size_t size_bytes, const char* file_name) {
  (void)state;
  (void)data;
  (void)size_bytes;
  (void)file_name;
  maybe("sniff");
  return 0;
}

static tenon_status_t parse(void* state, tenon_parse_t* parsing, const tenon_parse_table_t* host,
                            tenon_builder_t* builder, const tenon_builder_table_t* build) {
  (void)state;
  (void)parsing;
  (void)host;
  (void)builder;
  (void)build;
  maybe("parse");
  return TENON_ERROR_UNSUPPORTED;
}

static const tenon_parser_t parsers[] = {
    {sizeof(*parsers), .format = "crashed", .sniff = sniff, .parse = parse}};

/* ---- Rewrites ---- */

static int32_t rewrite(const tenon_rewriting_t* call, tenon_value_t* out) {
  (void)call;
  (void)out;
  maybe("rewrite");
  return 0;
}

static const tenon_rewrite_t rewrites[] = {
    {sizeof(*rewrites), .name = "same", .pattern = "y = crasher.same/1(x)", .rewrite = rewrite}};

static const tenon_offering_t* const offerings[] = {
    TENON_OFFERING("operator/1", operators), TENON_OFFERING("kernel/1", kernels),
    TENON_OFFERING("converter/1", converters), TENON_OFFERING("parser/1", parsers),
    TENON_OFFERING("rewrite/1", rewrites)};

static tenon_status_t start(const tenon_host_offer_t* host, void** out_state) {
  (void)host;
  (void)out_state;
  maybe("start");
  return TENON_OK;
}

static void stop(void* state) {
  (void)state;
  maybe("stop");
}

static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "crasher",
                                      .version = "1.0.0",  .offerings = TENON_LIST(offerings),
                                      .start = start,      .stop = stop};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  maybe("query");
  return &plugin;
}
