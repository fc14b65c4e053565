/* See page.h. */
#include "page/page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "data/file.h"
#include "data/value.h"
#include "page/drawing.h"
#include "page/format.h"
#include "page/html.h"
#include "page/memory_curve.h"
#include "page/overview.h"
#include "page/shares.h"
#include "page/step_rows.h"
#include "text/console.h"
#include "text/memory.h"

/* Pictures of more steps are folded away: they are metres long. */
enum { DRAWN_STEPS_MOST = 400, PASSES_MOST = 64 };

static void text(FILE* file, const char* value) {
  tool_html_text(file, value, SIZE_MAX);
}

/* ---- The plan itself ---- */

static void write_row(FILE* file, const char* key, const char* value) {
  (void)fprintf(file, "<tr><th>%s</th><td>", key);
  text(file, value);
  (void)fputs("</td></tr>\n", file);
}

static void write_io(FILE* file, const char* key, const tenon_io_info_t* info) {
  char shape[512] = "";
  char* line = NULL;
  if (info->kind == TENON_ARGUMENT_TENSOR) {
    tool_shape_print(info->rank, info->dims, shape, sizeof(shape));
    line = tool_format("%s: %s %s", info->name, tool_dtype_name(info->dtype), shape);
  } else {
    line = tool_format("%s: %s", info->name, tool_kind_name(info->kind));
  }
  write_row(file, key, line);
  tool_free(line);
}

static void write_plan(FILE* file, const tool_execution_t* execution,
                       const tenon_engine_info_t* info) {
  char texts[5][32];
  char day[64] = "";
  const time_t now = time(NULL);
  struct tm parts;
  (void)fputs("<h2>Plan</h2>\n<table>\n", file);
  for (uint32_t i = 0; i < execution->input_count; ++i) {
    write_io(file, "input", &execution->inputs[i]);
  }
  for (uint32_t i = 0; i < execution->output_count; ++i) {
    write_io(file, "output", &execution->outputs[i]);
  }
  char* device = tool_format("%s, %u threads; tuned for %s", info->device, info->thread_count,
                             info->fingerprint);
  write_row(file, "device", device);
  tool_format_bytes((double)info->plan_bytes, texts[0]);
  tool_format_bytes((double)info->weights_bytes, texts[1]);
  tool_format_bytes((double)info->arena_bytes, texts[2]);
  tool_format_bytes((double)info->peak_alive_bytes, texts[3]);
  tool_format_bytes((double)info->scratch_bytes, texts[4]);
  char* bytes = tool_format("plan %s, weights %s, activations %s (alive at once %s), workspace %s",
                            texts[0], texts[1], texts[2], texts[3], texts[4]);
  write_row(file, "bytes", bytes);
  if (localtime_r(&now, &parts) != NULL) {
    (void)strftime(day, sizeof(day), "%Y-%m-%d %H:%M", &parts);
  }
  char* made = tool_format("%s, Tenon %s", day, tenon_version());
  write_row(file, "page made", made);
  (void)fputs("</table>\n", file);
  tool_free(made);
  tool_free(bytes);
  tool_free(device);
}

/* ---- What the optimiser did: lines "pass: node" ---- */

typedef struct pass_t {
  const char* name;
  size_t length;
  uint32_t count;
} pass_t;

static uint32_t count_passes(const char* patches, pass_t passes[PASSES_MOST]) {
  uint32_t count = 0;
  for (const char* at = patches; *at != '\0';) {
    const size_t line = strcspn(at, "\n");
    const size_t length = strcspn(at, ":\n");
    uint32_t k = 0;
    while (k < count && (passes[k].length != length || strncmp(passes[k].name, at, length) != 0)) {
      ++k;
    }
    if (k == count && count < PASSES_MOST) {
      passes[count++] = (pass_t){at, length, 0};
    }
    if (k < PASSES_MOST) {
      ++passes[k].count;
    }
    at += line + (at[line] == '\n' ? 1 : 0);
  }
  return count;
}

static void write_patches(FILE* file, const char* patches) {
  pass_t passes[PASSES_MOST];
  const uint32_t count = count_passes(patches, passes);
  if (count == 0) {
    return;
  }
  (void)fputs("<h2>What the optimiser did</h2>\n<details class=\"plain\"><summary>", file);
  for (uint32_t k = 0; k < count; ++k) {
    char* name = tool_copy_bytes(passes[k].name, passes[k].length);
    (void)fputs(k > 0 ? ", " : "", file);
    text(file, name);
    (void)fprintf(file, " %u&#215;", passes[k].count);
    tool_free(name);
  }
  (void)fputs("</summary><pre>", file);
  text(file, patches);
  (void)fputs("</pre></details>\n", file);
}

/* ---- The rest ---- */

static void write_network_piece(void* user, const char* piece) {
  FILE* file = user;
  text(file, piece);
}

static tenon_status_t write_graph(FILE* file, const tool_facts_t* facts) {
  bool has_bodies = false;
  for (uint32_t i = 0; i < facts->count; ++i) {
    has_bodies = has_bodies || facts->steps[i].info.depth > 0;
  }
  (void)fprintf(
      file,
      "<h2>Graph</h2>\n<details class=\"plain\"%s><summary>Each box is a step: its main "
      "node, the nodes fused into it, its kernel and time, and the shape and layout of its "
      "outputs. The slowest are the darkest. A click leads to the step's row.</summary>"
      "\n",
      facts->count <= DRAWN_STEPS_MOST ? " open" : "");
  tenon_status_t status = tool_drawing_write(file, facts, false);
  if (status == TENON_OK && has_bodies) {
    (void)fputs("<p>Bodies of branches and loops:</p>\n", file);
    status = tool_drawing_write(file, facts, true);
  }
  (void)fputs("</details>\n", file);
  return status;
}

static tenon_status_t write_body(FILE* file, const char* title, const tool_execution_t* execution,
                                 const tool_facts_t* facts) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  tenon_status_t status = tenon_engine_get_info(facts->engine, &info);
  if (status != TENON_OK) {
    return status;
  }
  tool_overview_write(file, title, facts);
  tool_shares_write_bar(file, facts);
  status = tool_memory_curve_write(file, facts);
  tool_shares_write_kernels(file, facts);
  tool_shares_write_repeats(file, facts);
  if (status == TENON_OK) {
    status = write_graph(file, facts);
  }
  tool_step_rows_write(file, facts);
  write_plan(file, execution, &info);
  write_patches(file, info.patches);
  (void)fputs("<h2>Plugins that the plan names, with their digests</h2>\n<pre>", file);
  text(file, info.plugins);
  (void)fputs(
      "</pre>\n<h2>Network</h2>\n<details class=\"plain\"><summary>after the optimiser, "
      "before it was divided into steps</summary><pre>",
      file);
  tenon_engine_print_network(facts->engine, write_network_piece, file);
  (void)fputs("</pre></details>\n", file);
  return status;
}

static tenon_status_t write_to_standard_output(const char* content, size_t size) {
  return fwrite(content, 1, size, stdout) == size
             ? TENON_OK
             : tool_fail(TENON_ERROR_IO, "standard output cannot be written");
}

tenon_status_t tool_page_write(const char* path, const char* title,
                               const tool_execution_t* execution, const tool_facts_t* facts) {
  char* content = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&content, &size);
  if (file == NULL) {
    return tool_fail(TENON_ERROR_OUT_OF_MEMORY, "out of memory");
  }
  tool_html_begin(file, title);
  tenon_status_t status = write_body(file, title, execution, facts);
  tool_html_end(file);
  (void)fclose(file);
  if (status == TENON_OK) {
    status = strcmp(path, "-") == 0 ? write_to_standard_output(content, size)
                                    : tool_file_write(path, content, size);
  }
  free(content);
  return status;
}
