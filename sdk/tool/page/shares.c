/* See shares.h. Steps in bodies are counted in the step that they belong to. */
#include "page/shares.h"

#include <stdlib.h>
#include <string.h>

#include "page/format.h"
#include "page/html.h"
#include "page/repeats.h"
#include "text/memory.h"

/* All steps of one kernel. */
typedef struct share_t {
  const char* plugin;
  const char* name; /* of the kernel, or what the core does itself */
  uint32_t step_count;
  double seconds;
} share_t;

/* Names fit into pieces that are at least so large. */
/* Lines between more pieces than these would leave no room for the pieces. */
enum { LINED_STEPS_MOST = 200 };
static const double share_with_name = 0.07;

void tool_shares_write_bar(FILE* file, const tool_facts_t* facts) {
  (void)fprintf(file, "<div class=\"bar%s\">\n", facts->count > LINED_STEPS_MOST ? " fine" : "");
  for (uint32_t i = 0; i < facts->count; ++i) {
    const double share =
        facts->total_seconds > 0 ? facts->steps[i].seconds / facts->total_seconds : 0;
    if (facts->steps[i].info.depth > 0) {
      continue;
    }
    char colour[32];
    char time[32];
    tool_format_colour(facts->longest > 0 ? facts->steps[i].seconds / facts->longest : 0, colour);
    tool_format_time(facts->steps[i].seconds, time);
    (void)fprintf(file, "<a href=\"#step%u\" style=\"flex:%.6f;background:%s\" title=\"", i,
                  share * 1000, colour);
    tool_html_text(file, facts->steps[i].info.name, SIZE_MAX);
    (void)fprintf(file, ": %s, %.1f %%\">", time, share * 100);
    tool_html_text(file, share >= share_with_name ? facts->steps[i].info.name : "", SIZE_MAX);
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
    tool_format_time(shares[i].seconds, time);
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

void tool_shares_write_kernels(FILE* file, const tool_facts_t* facts) {
  share_t* shares = tool_allocate(facts->count + (size_t)1, sizeof(*shares));
  uint32_t count = 0;
  for (uint32_t i = 0; i < facts->count; ++i) {
    const tenon_step_info_t* step = &facts->steps[i].info;
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
    shares[k].seconds += facts->steps[i].seconds;
  }
  if (count > 0) {
    qsort(shares, count, sizeof(*shares), compare_shares);
  }
  (void)fputs("<h2>Kernels</h2>\n", file);
  write_shares(file, shares, count, facts->total_seconds);
  tool_free(shares);
}

/* ---- Repeated blocks ---- */

static void write_repeat(FILE* file, const tool_facts_t* facts, const tool_repeat_t* repeat) {
  double least = 0;
  double most = 0;
  double total = 0;
  char texts[3][32];
  for (uint32_t t = 0; t < repeat->times; ++t) {
    double seconds = 0;
    for (uint32_t k = 0; k < repeat->length; ++k) {
      seconds += facts->steps[repeat->first + t * repeat->length + k].seconds;
    }
    least = t == 0 || seconds < least ? seconds : least;
    most = seconds > most ? seconds : most;
    total += seconds;
  }
  tool_format_time(least, texts[0]);
  tool_format_time(most, texts[1]);
  tool_format_time(total, texts[2]);
  (void)fprintf(file,
                "<tr><td>%u &#215; %u steps</td><td><a href=\"#step%u\">%u</a> to %u</td><td>",
                repeat->times, repeat->length, repeat->first, repeat->first,
                repeat->first + repeat->times * repeat->length - 1);
  for (uint32_t k = 0; k < repeat->length; ++k) {
    const tool_fact_t* fact = &facts->steps[repeat->first + k];
    (void)fputs(k > 0 ? ", " : "", file);
    tool_html_tail(file, fact->info.name, 24);
    if (k == 11 && repeat->length > 12) {
      (void)fputs(", &#8230;", file);
      break;
    }
  }
  (void)fprintf(file,
                "</td><td class=\"number\">%s to %s</td><td class=\"number\">%s</td>"
                "<td class=\"number\">%.1f</td></tr>\n",
                texts[0], texts[1], texts[2],
                facts->total_seconds > 0 ? total / facts->total_seconds * 100 : 0);
}

void tool_shares_write_repeats(FILE* file, const tool_facts_t* facts) {
  tool_repeat_t* repeats = NULL;
  const uint32_t count = tool_repeats_find(facts, &repeats);
  if (count > 0) {
    (void)fputs(
        "<h2>Repeated blocks</h2>\n<table><tr><th>blocks</th><th>steps</th><th>the first "
        "one</th><th class=\"number\">each</th><th class=\"number\">all</th><th "
        "class=\"number\">%</th></tr>\n",
        file);
  }
  for (uint32_t k = 0; k < count; ++k) {
    write_repeat(file, facts, &repeats[k]);
  }
  (void)fputs(count > 0 ? "</table>\n" : "", file);
  tool_free(repeats);
}
