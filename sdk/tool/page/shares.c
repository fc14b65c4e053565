/* See shares.h. Steps in bodies are counted in the step that they belong to. */
#include "page/shares.h"

#include <stdlib.h>
#include <string.h>

#include "page/page.h"
#include "page/words.h"
#include "text/memory.h"

/* All steps of one kernel. */
typedef struct share_t {
  const char* plugin;
  const char* name; /* of the kernel, or what the core does itself */
  uint32_t step_count;
  double seconds;
} share_t;

/* Names fit into pieces that are at least so large. */
static const double share_with_name = 0.07;

static void write_bar(FILE* file, const tool_drawing_t* drawing) {
  const double longest = tool_drawing_longest(drawing);
  (void)fputs("<h2>Where time goes</h2>\n<div class=\"bar\">\n", file);
  for (uint32_t i = 0; i < drawing->step_count; ++i) {
    const double share =
        drawing->total_seconds > 0 ? drawing->seconds[i] / drawing->total_seconds : 0;
    if (drawing->steps[i].depth > 0) {
      continue;
    }
    char colour[32];
    char time[32];
    tool_words_colour(longest > 0 ? drawing->seconds[i] / longest : 0, colour);
    tool_words_time(drawing->seconds[i], time);
    (void)fprintf(file, "<a href=\"#step%u\" style=\"flex:%.6f;background:%s\" title=\"", i,
                  share * 1000, colour);
    tool_html_text(file, drawing->steps[i].name, SIZE_MAX);
    (void)fprintf(file, ": %s, %.1f %%\">", time, share * 100);
    tool_html_text(file, share >= share_with_name ? drawing->steps[i].name : "", SIZE_MAX);
    (void)fputs("</a>\n", file);
  }
  (void)fputs("</div>\n", file);
}

static int compare_shares(const void* a, const void* b) {
  const share_t* x = a;
  const share_t* y = b;
  return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static void write_shares(FILE* file, const share_t* shares, uint32_t count, double total) {
  (void)fputs(
      "<table class=\"kernels\"><tr><th>kernel</th><th class=\"number\">steps</th><th "
      "class=\"number\">time</th><th class=\"number\">%</th><th class=\"track\"></th></tr>\n",
      file);
  for (uint32_t i = 0; i < count; ++i) {
    const double percent = total > 0 ? shares[i].seconds / total * 100 : 0;
    char time[32];
    tool_words_time(shares[i].seconds, time);
    (void)fputs("<tr><td>", file);
    tool_html_text(file, shares[i].plugin, SIZE_MAX);
    (void)fputs(shares[i].plugin[0] != '\0' ? ":" : "", file);
    tool_html_text(file, shares[i].name, SIZE_MAX);
    (void)fprintf(file,
                  "</td><td class=\"number\">%u</td><td class=\"number\">%s</td><td "
                  "class=\"number\">%.1f</td><td class=\"track\"><i style=\"width:%.2f%%\"></i>"
                  "</td></tr>\n",
                  shares[i].step_count, time, percent, percent);
  }
  (void)fputs("</table>\n", file);
}

void tool_shares_write(FILE* file, const tool_drawing_t* drawing) {
  share_t* shares = tool_allocate(drawing->step_count + (size_t)1, sizeof(*shares));
  uint32_t count = 0;
  for (uint32_t i = 0; i < drawing->step_count; ++i) {
    const tenon_step_info_t* step = &drawing->steps[i];
    const bool has_kernel = step->kernel[0] != '\0';
    const share_t wanted = {has_kernel ? step->plugin : "", has_kernel ? step->kernel : step->kind,
                            0, 0};
    uint32_t k = 0;
    while (k < count && (strcmp(shares[k].name, wanted.name) != 0 ||
                         strcmp(shares[k].plugin, wanted.plugin) != 0)) {
      ++k;
    }
    if (step->depth > 0) {
      continue;
    }
    if (k == count) {
      shares[count++] = wanted;
    }
    ++shares[k].step_count;
    shares[k].seconds += drawing->seconds[i];
  }
  if (count > 0) {
    qsort(shares, count, sizeof(*shares), compare_shares);
  }
  write_bar(file, drawing);
  write_shares(file, shares, count, drawing->total_seconds);
  tool_free(shares);
}
