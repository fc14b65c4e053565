/* See page.h. */
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

#include "data/file.h"
#include "page/drawing.h"
#include "page/shares.h"
#include "page/words.h"
#include "text/console.h"
#include "text/memory.h"

enum { OTHERS_LIMIT = 90 };

static const char style[] =
    "body{font:14px/1.45 system-ui,sans-serif;margin:0 "
    "auto;max-width:1180px;padding:24px;color:#222;"
    "background:#fff}\n"
    "h1{font-size:22px;margin:0 0 4px}h2{font-size:16px;margin:28px 0 8px}\n"
    "p{margin:4px 0}.quiet{color:#666}\n"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:3px 10px 3px 0;"
    "vertical-align:top;border-bottom:1px solid #eee}th{color:#666;font-weight:500;width:150px}\n"
    "td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}\n"
    "code,pre,.mono{font:12px/1.4 ui-monospace,monospace}pre{white-space:pre-wrap;margin:4px 0}\n"
    ".bar{display:flex;height:28px;border:1px solid #ccc;border-radius:4px;overflow:hidden;"
    "margin-bottom:10px}\n"
    ".bar a{display:block;min-width:0;border-right:1px solid #fff;overflow:hidden;color:#222;"
    "font-size:11px;line-height:28px;text-align:center;text-decoration:none;white-space:nowrap}\n"
    ".kernels td{padding:2px 10px 2px 0}.kernels .track{width:45%}.kernels i{display:block;"
    "height:12px;margin-top:4px;background:#e0a070;border-radius:2px}\n"
    ".graph{border:1px solid "
    "#ddd;border-radius:6px;overflow:auto;max-height:78vh;background:#fcfcfc}\n"
    "svg{display:block;margin:0 auto}svg text{font:12px system-ui,sans-serif;text-anchor:middle;"
    "fill:#222}svg text.small{font-size:11px;fill:#444}\n"
    "svg rect{stroke:#8a8a8a}svg a:hover rect{stroke:#000;stroke-width:2}svg .io rect{fill:#e8f0f8;"
    "stroke:#7a94b0}\n"
    "svg .edges path{fill:none;stroke:#999;marker-end:url(#tip)}svg marker path{fill:#999}\n"
    "details{border-bottom:1px solid #eee}details[open]{background:#fafafa;border-radius:4px}\n"
    "summary{display:grid;grid-template-columns:44px 1fr 210px 120px 90px "
    "60px;gap:10px;padding:4px 6px;"
    "cursor:pointer;list-style:none}summary:hover{background:#f3f6fa}\n"
    "summary>span{overflow-wrap:anywhere}summary "
    ".number{text-align:right;font-variant-numeric:tabular-nums}\n"
    ".inside{padding:4px 6px 12px 60px}.inside dt{color:#666;margin-top:6px}.inside dd{margin:0}\n"
    "details.plain summary{display:block;color:#666}\n"
    ":target{outline:2px solid #d80}\n";

static const char script[] =
    "function show(){var e=location.hash&&document.querySelector(location.hash);"
    "if(e&&e.tagName==='DETAILS')e.open=true}\n"
    "addEventListener('hashchange',show);show();\n";

void tool_html_text(FILE* file, const char* text, size_t limit) {
  size_t count = 0;
  for (; *text != '\0'; ++text) {
    const unsigned char c = (unsigned char)*text;
    /* Limits count characters, not the later bytes of one. */
    if ((c & 0xC0) != 0x80 && count++ == limit) {
      (void)fputs("&#8230;", file);
      return;
    }
    switch (c) {
      case '&':
        (void)fputs("&amp;", file);
        break;
      case '<':
        (void)fputs("&lt;", file);
        break;
      case '>':
        (void)fputs("&gt;", file);
        break;
      case '"':
        (void)fputs("&quot;", file);
        break;
      default:
        if (c >= 0x20 || c == '\n' || c == '\t') {
          (void)fputc(c, file);
        }
    }
  }
}

static void text(FILE* file, const char* words) {
  tool_html_text(file, words, SIZE_MAX);
}

/* ---- Totals ---- */

static void write_row(FILE* file, const char* key, const char* value) {
  (void)fprintf(file, "<tr><th>%s</th><td>", key);
  text(file, value);
  (void)fputs("</td></tr>\n", file);
}

static void write_bytes(FILE* file, const char* key, uint64_t bytes) {
  char words[64];
  (void)snprintf(words, sizeof(words), "%.2f MiB", (double)bytes / 1048576);
  write_row(file, key, words);
}

static void write_io(FILE* file, const char* key, const tenon_io_info_t* info) {
  char shape[512] = "";
  char* words = NULL;
  if (info->kind == TENON_ARGUMENT_TENSOR) {
    tool_shape_print(info->rank, info->dims, shape, sizeof(shape));
    words = tool_format("%s: %s %s", info->name, tool_dtype_name(info->dtype), shape);
  } else {
    words = tool_format("%s: a %s", info->name,
                        info->kind == TENON_ARGUMENT_SEQUENCE ? "sequence" : "optional");
  }
  write_row(file, key, words);
  tool_free(words);
}

static void write_totals(FILE* file, const tool_page_t* page, const tenon_engine_info_t* info,
                         double total_seconds) {
  const tool_execution_t* execution = page->execution;
  char source[96] = "as measured when it was built";
  if (page->times != NULL) {
    (void)snprintf(source, sizeof(source), "the steps' times added up, means of %u runs",
                   page->times->run_count);
  }
  (void)fputs("<h1>", file);
  text(file, page->title);
  (void)fprintf(file,
                "</h1>\n<p class=\"quiet\">%u steps on %s, %u threads; %.4g ms, %s</p>\n<table>\n",
                tenon_engine_step_count(execution->engine), info->device, info->thread_count,
                total_seconds * 1e3, source);
  for (uint32_t i = 0; i < execution->input_count; ++i) {
    write_io(file, "input", &execution->inputs[i]);
  }
  for (uint32_t i = 0; i < execution->output_count; ++i) {
    write_io(file, "output", &execution->outputs[i]);
  }
  write_row(file, "tuned for", info->fingerprint);
  write_bytes(file, "plan", info->plan_bytes);
  write_bytes(file, "weights", info->weights_bytes);
  write_bytes(file, "activations", info->arena_bytes);
  write_bytes(file, "largest set alive", info->peak_alive_bytes);
  write_bytes(file, "workspace", info->scratch_bytes);
  (void)fputs("</table>\n", file);
}

/* ---- Steps ---- */

static void write_entry(FILE* file, const char* key, const char* value) {
  if (value[0] != '\0') {
    (void)fprintf(file, "<dt>%s</dt><dd class=\"mono\">", key);
    text(file, value);
    (void)fputs("</dd>\n", file);
  }
}

static void write_reasons(FILE* file, const tenon_step_info_t* step) {
  if (step->kernel[0] == '\0') {
    (void)fputs("<dt>why</dt><dd>the core does this itself</dd>\n", file);
    return;
  }
  (void)fputs("<dt>why this one</dt><dd>", file);
  const bool competed = strstr(step->refusals, "was slower") != NULL;
  if (step->measured_seconds > 0) {
    (void)fprintf(file, "measured %.4g &#181;s when the plan was built%s",
                  step->measured_seconds * 1e6,
                  competed ? ", in the plan that is fastest as a whole" : "");
  } else {
    (void)fputs(competed ? "the best estimate" : "no other kernel accepts it", file);
  }
  (void)fputs("</dd>\n", file);
  if (step->refusals[0] != '\0') {
    (void)fputs("<dt>why not the others</dt><dd><pre>", file);
    text(file, step->refusals);
    (void)fputs("</pre></dd>\n", file);
  }
}

static void write_step(FILE* file, const tool_drawing_t* drawing, uint32_t index, double longest) {
  const tenon_step_info_t* step = &drawing->steps[index];
  const double share =
      drawing->total_seconds > 0 ? drawing->seconds[index] / drawing->total_seconds : 0;
  (void)fprintf(file,
                "<details id=\"step%u\"><summary><span class=\"number\">%u</span><span "
                "style=\"padding-left:%upx\">",
                index, index, step->depth * 16);
  text(file, step->name);
  char others[TOOL_WORDS_BYTES];
  tool_words_others(step, others);
  (void)fputs(" <span class=\"quiet\">", file);
  tool_html_text(file, others, OTHERS_LIMIT);
  (void)fputs("</span></span><span>", file);
  if (step->kernel[0] != '\0') {
    text(file, step->plugin);
    (void)fputs(":", file);
    text(file, step->kernel);
  } else {
    text(file, step->kind);
  }
  (void)fputs("</span><span>", file);
  text(file, step->layout);
  char colour[32];
  tool_words_colour(longest > 0 ? drawing->seconds[index] / longest : 0, colour);
  (void)fprintf(file,
                "</span><span class=\"number\">%.1f</span><span class=\"number\" "
                "style=\"background:%s\">%.1f</span></summary>\n<div class=\"inside\"><dl>\n",
                drawing->seconds[index] * 1e6, colour, share * 100);
  write_entry(file, "nodes", step->nodes);
  write_entry(file, "fused", step->expression);
  write_entry(file, "reads", step->inputs);
  write_entry(file, "writes", step->outputs);
  write_entry(file, "tactic", step->tactic);
  write_reasons(file, step);
  (void)fputs("</dl></div></details>\n", file);
}

static void write_steps(FILE* file, const tool_drawing_t* drawing, bool ran) {
  (void)fprintf(
      file,
      "<h2>Steps</h2>\n<p class=\"quiet\">Click a step: what it computes, why its tactic was "
      "chosen, why the others were not.</p>\n<details open "
      "style=\"border:0;background:none\"><summary style=\"color:#666\"><span "
      "class=\"number\">step</span><span>name</span><span>kernel</span><span>layout</span>"
      "<span class=\"number\">&#181;s%s</span><span class=\"number\">%%</span></summary>"
      "</details>\n",
      ran ? "" : ", built");
  const double longest = tool_drawing_longest(drawing);
  for (uint32_t i = 0; i < drawing->step_count; ++i) {
    write_step(file, drawing, i, longest);
  }
}

/* ---- The rest ---- */

static void write_lines(FILE* file, const char* title, const char* lines) {
  if (lines[0] != '\0') {
    (void)fprintf(file, "<h2>%s</h2>\n<pre>", title);
    text(file, lines);
    (void)fputs("</pre>\n", file);
  }
}

static void write_network_piece(void* user, const char* piece) {
  FILE* file = user;
  text(file, piece);
}

static tenon_status_t write_body(FILE* file, const tool_page_t* page,
                                 const tool_drawing_t* drawing) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  tenon_status_t status = tenon_engine_get_info(drawing->engine, &info);
  bool has_bodies = false;
  for (uint32_t i = 0; i < drawing->step_count; ++i) {
    has_bodies = has_bodies || drawing->steps[i].depth > 0;
  }
  if (status != TENON_OK) {
    return status;
  }
  write_totals(file, page, &info, drawing->total_seconds);
  tool_shares_write(file, drawing);
  (void)fputs(
      "<h2>Graph</h2>\n<p class=\"quiet\">Each box is a step: its main node, what is fused into "
      "it, its kernel and time, and the shape and layout of what it writes. The slowest are the "
      "darkest. A click leads to the step's row.</p>\n",
      file);
  status = tool_drawing_write(file, drawing, false);
  if (status == TENON_OK && has_bodies) {
    (void)fputs("<h2>Bodies of branches and loops</h2>\n", file);
    status = tool_drawing_write(file, drawing, true);
  }
  write_steps(file, drawing, page->times != NULL);
  write_lines(file, "What the optimiser did", info.patches);
  write_lines(file, "Plugins that the plan names, with their digests", info.plugins);
  (void)fputs(
      "<h2>Network</h2>\n<details class=\"plain\"><summary>after the optimiser, before it was "
      "divided into steps</summary><pre>",
      file);
  tenon_engine_print_network(drawing->engine, write_network_piece, file);
  (void)fputs("</pre></details>\n", file);
  return status;
}

static tenon_status_t collect_steps(const tool_page_t* page, tenon_step_info_t* steps,
                                    double* seconds, tool_drawing_t* drawing) {
  for (uint32_t i = 0; i < drawing->step_count; ++i) {
    const tenon_status_t status = tenon_engine_get_step(drawing->engine, i, &steps[i]);
    if (status != TENON_OK) {
      return status;
    }
    seconds[i] = page->times != NULL ? page->times->seconds[i] / page->times->run_count
                                     : steps[i].measured_seconds;
    drawing->total_seconds += steps[i].depth == 0 ? seconds[i] : 0;
  }
  return TENON_OK;
}

static tenon_status_t write_to_standard_output(const char* content, size_t size) {
  return fwrite(content, 1, size, stdout) == size
             ? TENON_OK
             : tool_fail(TENON_ERROR_IO, "standard output cannot be written");
}

tenon_status_t tool_page_write(const char* path, const tool_page_t* page) {
  char* content = NULL;
  size_t size = 0;
  const uint32_t count = tenon_engine_step_count(page->execution->engine);
  tenon_step_info_t* steps = tool_allocate(count, sizeof(*steps));
  double* seconds = tool_allocate(count, sizeof(*seconds));
  tool_drawing_t drawing = {
      .engine = page->execution->engine, .steps = steps, .seconds = seconds, .step_count = count};
  FILE* file = open_memstream(&content, &size);
  tenon_status_t status = file != NULL ? collect_steps(page, steps, seconds, &drawing)
                                       : tool_fail(TENON_ERROR_OUT_OF_MEMORY, "out of memory");
  if (status == TENON_OK) {
    (void)fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", file);
    text(file, page->title);
    (void)fprintf(file, " - Tenon</title><style>\n%s</style></head><body>\n", style);
    status = write_body(file, page, &drawing);
    (void)fprintf(file, "<script>\n%s</script></body></html>\n", script);
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  if (status == TENON_OK) {
    status = strcmp(path, "-") == 0 ? write_to_standard_output(content, size)
                                    : tool_file_write(path, content, size);
  }
  free(content);
  tool_free(steps);
  tool_free(seconds);
  return status;
}
