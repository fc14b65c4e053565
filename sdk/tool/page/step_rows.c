/* See step_rows.h. */
#include "page/step_rows.h"

#include <string.h>

#include "page/format.h"
#include "page/html.h"
#include "text/memory.h"

enum { OTHERS_LIMIT = 90, NAME_LIMIT = 60 };

static void text(FILE* file, const char* value) {
  tool_html_text(file, value, SIZE_MAX);
}

static void write_entry(FILE* file, const char* key, const char* value) {
  if (value[0] != '\0') {
    (void)fprintf(file, "<dt>%s</dt><dd class=\"mono\">", key);
    text(file, value);
    (void)fputs("</dd>\n", file);
  }
}

/* ---- Refusals ---- */

/* Of kernels that the build was not to use. They are the same at each step, and are told once. */
static bool is_by_policy(const char* line, size_t length) {
  static const char words[] = ": is excluded by the build's policy";
  const char* found = strstr(line, words);
  return found != NULL && found < line + length;
}

/* The line after this one; `*out_length` without its end. */
static const char* next_line(const char* line, size_t* out_length) {
  *out_length = strcspn(line, "\n");
  return line + *out_length + (line[*out_length] == '\n' ? 1 : 0);
}

/* All lines but those of the policy; freed by tool_free. */
static char* own_refusals(const char* refusals) {
  char* kept = tool_copy_text("");
  size_t length = 0;
  for (const char* line = refusals; *line != '\0';) {
    const char* next = next_line(line, &length);
    if (!is_by_policy(line, length)) {
      char* longer = tool_format("%s%.*s", kept, (int)(next - line), line);
      tool_free(kept);
      kept = longer;
    }
    line = next;
  }
  return kept;
}

/* "cuda:convolution, ...": each once. */
static void write_excluded(FILE* file, const tool_facts_t* facts) {
  char* names = tool_copy_text("");
  size_t length = 0;
  for (uint32_t i = 0; i < facts->count; ++i) {
    for (const char* line = facts->steps[i].info.refusals; *line != '\0';) {
      const char* next = next_line(line, &length);
      if (is_by_policy(line, length)) {
        char* name = tool_format(" %.*s,", (int)(strstr(line, ": is excluded") - line), line);
        char* longer = strstr(names, name) == NULL ? tool_format("%s%s", names, name) : NULL;
        tool_free(longer != NULL ? names : NULL);
        names = longer != NULL ? longer : names;
        tool_free(name);
      }
      line = next;
    }
  }
  if (names[0] != '\0') {
    names[strlen(names) - 1] = '.';
    (void)fputs("<p class=\"quiet\">Excluded by the build's policy, and not listed at each step:",
                file);
    text(file, names);
    (void)fputs("</p>\n", file);
  }
  tool_free(names);
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
  char* refusals = own_refusals(step->refusals);
  if (refusals[0] != '\0') {
    (void)fputs("<dt>why not the others</dt><dd><pre>", file);
    text(file, refusals);
    (void)fputs("</pre></dd>\n", file);
  }
  tool_free(refusals);
}

/* What it did, in words: "1.2 GFLOP, 3.1 MB read and written; cannot be faster than 14 us". */
static void write_work(FILE* file, const tool_facts_t* facts, const tool_fact_t* fact) {
  char texts[3][32];
  if (facts->timing == NULL || fact->bytes <= 0) {
    return;
  }
  tool_format_amount(fact->bytes, "B", texts[1]);
  (void)fputs("<dt>work</dt><dd>", file);
  if (fact->operations >= 0) {
    tool_format_amount(fact->operations, "FLOP", texts[0]);
    (void)fprintf(file, "%s, ", texts[0]);
  }
  (void)fprintf(file, "%s read and written", texts[1]);
  if (fact->floor_seconds > fact->seconds) {
    (void)fputs("; faster than through memory: a part lies in caches", file);
  } else if (fact->floor_seconds > 0) {
    tool_format_time(fact->floor_seconds, texts[2]);
    (void)fprintf(file, "; %s for this machine at its best, by its %s", texts[2],
                  tool_fact_bound(facts, fact));
  }
  (void)fputs("</dd>\n", file);
}

static void write_number(FILE* file, const char* format, double value, bool is_known) {
  (void)fprintf(file, "<span class=\"number\" data-v=\"%.9g\">", is_known ? value : -1);
  if (is_known) {
    (void)fprintf(file, format, value);
  }
  (void)fputs("</span>", file);
}

static void write_kernel(FILE* file, const tenon_step_info_t* info) {
  (void)fputs("<span>", file);
  text(file, info->kernel[0] != '\0' ? info->plugin : info->kind);
  (void)fputs(info->kernel[0] != '\0' ? ":" : "", file);
  text(file, info->kernel);
  (void)fputs("</span><span>", file);
  text(file, info->layout);
  (void)fputs("</span>", file);
}

static void write_figures(FILE* file, const tool_facts_t* facts, const tool_fact_t* fact) {
  char colour[32];
  const double share = facts->total_seconds > 0 ? fact->seconds / facts->total_seconds : 0;
  const double reached = tool_fact_share(fact);
  tool_format_colour(facts->longest > 0 ? fact->seconds / facts->longest : 0, colour);
  (void)fprintf(file,
                "<span class=\"number\" data-v=\"%.9g\" style=\"background:%s\">%.1f</span>"
                "<span class=\"number\" data-v=\"%.9g\">%.1f&#8211;%.1f</span>",
                fact->seconds, colour, fact->seconds * 1e6, fact->high - fact->low, fact->low * 1e6,
                fact->high * 1e6);
  write_number(file, "%.1f", share * 100, true);
  write_number(file, "%.3g", fact->operations / fact->seconds * 1e-9,
               fact->operations > 0 && fact->seconds > 0);
  write_number(file, "%.3g", fact->bytes / fact->seconds * 1e-9,
               fact->bytes > 0 && fact->seconds > 0);
  write_number(file, "%.0f", reached * 100, reached >= 0);
}

static void write_step(FILE* file, const tool_facts_t* facts, uint32_t index) {
  const tool_fact_t* fact = &facts->steps[index];
  const tenon_step_info_t* info = &fact->info;
  char others[TOOL_FORMAT_BYTES];
  (void)fprintf(file,
                "<details id=\"step%u\"><summary><span class=\"number\" data-v=\"%u\">%u</span>"
                "<span style=\"padding-left:%upx\">",
                index, index, index, info->depth * 16);
  tool_html_tail(file, info->name, NAME_LIMIT);
  tool_format_others(info, others);
  (void)fputs(" <span class=\"quiet\">", file);
  tool_html_text(file, others, OTHERS_LIMIT);
  (void)fputs("</span></span>", file);
  write_kernel(file, info);
  write_figures(file, facts, fact);
  (void)fputs("</summary>\n<div class=\"inside\"><dl>\n", file);
  write_entry(file, "nodes", info->nodes);
  write_entry(file, "fused", info->expression);
  write_entry(file, "reads", info->inputs);
  write_entry(file, "writes", info->outputs);
  write_entry(file, "tactic", info->tactic);
  write_entry(file, "device", info->device);
  write_work(file, facts, fact);
  write_reasons(file, info);
  (void)fputs("</dl></div></details>\n", file);
}

void tool_step_rows_write(FILE* file, const tool_facts_t* facts) {
  static const char* const heads[] = {"step",          "name", "kernel",  "layout", "&#181;s",
                                      "10&#8211;90 %", "%",    "GFLOP/s", "GB/s",   "% of best"};
  (void)fputs("<h2>Steps</h2>\n", file);
  write_excluded(file, facts);
  (void)fputs(
      "<p><input id=\"filter\" placeholder=\"only steps with these "
      "words\"> <span class=\"quiet\">A click on a head sorts, a click on a step shows what "
      "it computes and why its tactic was chosen.</span></p>\n<div class=\"steps\">"
      "<div class=\"head\">",
      file);
  for (size_t k = 0; k < sizeof(heads) / sizeof(heads[0]); ++k) {
    (void)fprintf(file, "<span class=\"%s\">%s%s</span>", k == 0 || k > 3 ? "number" : "", heads[k],
                  k == 4 && facts->timing == NULL ? ", built" : "");
  }
  (void)fputs("</div>\n", file);
  for (uint32_t i = 0; i < facts->count; ++i) {
    write_step(file, facts, i);
  }
  (void)fputs("</div>\n", file);
}
