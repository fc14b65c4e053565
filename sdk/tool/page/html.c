/* See html.h. */
#include "page/html.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "page/format.h"
#include "text/escape.h"
#include "text/utf8.h"

static const char style[] =
    "body{font:14px/1.45 system-ui,sans-serif;margin:0 auto;max-width:1240px;padding:16px 24px;"
    "color:#222;background:#fff}\n"
    "h1{font-size:21px;margin:0 0 2px}h2{font-size:16px;margin:26px 0 6px}\n"
    "p{margin:4px 0}.quiet{color:#666}a{color:#1a5a8a}\n"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:3px 10px 3px 0;"
    "vertical-align:top;border-bottom:1px solid #eee}th{color:#666;font-weight:500}\n"
    ".number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    "code,pre,.mono{font:12px/1.4 ui-monospace,monospace}pre{white-space:pre-wrap;margin:4px 0}\n"
    ".figures{display:flex;flex-wrap:wrap;gap:4px 34px;margin:8px 0}.figures b{font-size:18px;"
    "font-weight:600}.figures span{color:#666}.figures div{line-height:1.3}.figures span "
    "b{font-size:13px;color:#a04000}\n"
    ".pair{display:grid;grid-template-columns:3fr 2fr;gap:30px}@media(max-width:900px){.pair{"
    "grid-template-columns:1fr}}.pair h2{margin-top:12px}\n"
    ".slowest td{padding:2px 8px 2px 0;font-size:13px}.slowest td:first-child{white-space:nowrap}"
    ".track{width:16%}.track i{display:block;height:11px;margin-top:4px;background:#e0a070;"
    "border-radius:2px}\n"
    ".advice{margin:0;padding-left:20px}.advice li{margin-bottom:7px}.advice .gain{color:#a04000;"
    "font-weight:600}\n"
    ".bar{display:flex;height:26px;border:1px solid #ccc;border-radius:4px;overflow:hidden;"
    "margin:10px 0 2px}\n"
    ".bar a{display:block;min-width:0;border-right:1px solid #fff;overflow:hidden;color:#222;"
    "font-size:11px;line-height:26px;text-align:center;text-decoration:none;white-space:nowrap}\n"
    ".bar.fine a{border:0}\n"
    ".graph{border:1px solid #ddd;border-radius:6px;overflow:auto;max-height:78vh;"
    "background:#fcfcfc}\n"
    "svg{display:block;margin:0 auto}svg text{font:12px system-ui,sans-serif;text-anchor:middle;"
    "fill:#222}svg text.small{font-size:11px;fill:#444}svg text.end{text-anchor:end}"
    "svg text.begin{text-anchor:start}\n"
    "svg rect{stroke:#8a8a8a}svg a:hover rect{stroke:#000;stroke-width:2}svg .io rect{fill:#e8f0f8;"
    "stroke:#7a94b0}\n"
    "svg .edges path{fill:none;stroke:#999;marker-end:url(#tip)}svg marker path{fill:#999}\n"
    ".curve path{fill:#b8cfe4;stroke:#5a80a4}.curve line{stroke:#ddd}\n"
    "details{border-bottom:1px solid #eee}details[open]{background:#fafafa;border-radius:4px}\n"
    ".steps summary,.steps .head{display:grid;grid-template-columns:40px minmax(180px,1fr) 170px "
    "100px 76px 96px 46px 66px 60px 60px;gap:8px;padding:4px 6px;list-style:none;font-size:13px}\n"
    ".steps summary{cursor:pointer}summary:hover{background:#f3f6fa}"
    ".steps .head{color:#666;position:sticky;top:0;background:#fff;border-bottom:1px solid #ccc}\n"
    ".steps .head span{cursor:pointer}.steps .head .sorted{color:#000;text-decoration:underline}\n"
    "summary>span{overflow-wrap:anywhere}\n"
    ".inside{padding:4px 6px 12px 60px}.inside dt{color:#666;margin-top:6px}.inside dd{margin:0}\n"
    "details.plain{border:0}details.plain>summary{color:#666;cursor:pointer}\n"
    "input{font:inherit;padding:3px 8px;width:320px;border:1px solid #bbb;border-radius:4px}\n"
    ":target{outline:2px solid #d80}\n"
    ".zoom{margin:0 0 4px}.zoom input{width:160px;padding:0;vertical-align:middle}\n"
    "@media(max-width:900px){.steps{overflow-x:auto}.steps summary,.steps .head{min-width:920px}"
    ".steps .head{position:static}.pair>div{overflow-x:auto}body{padding:10px}}\n"
    "@media(prefers-color-scheme:dark){body,.steps .head{color:#ddd;background:#1b1d20}"
    "a{color:#8ab8e0}.quiet,th,.figures span,.steps .head,.inside dt,details.plain>summary{"
    "color:#a0a4a8}.steps .head .sorted{color:#fff}td,th,details{border-color:#333}"
    ".graph,.bar{background:#26292d;border-color:#444}details[open]{background:#222528}"
    "summary:hover{background:#2b3036}.curve line{stroke:#444}.curve path{fill:#3f5a74}"
    ".curve text{fill:#ccc}.figures span b,.advice .gain{color:#e8965a}"
    ".steps [style*=background],.bar a{color:#222}input{background:#26292d;color:#ddd;"
    "border-color:#555}}\n";

/* A link to a step opens its row, and the folded parts around it; heads sort, the field filters. */
static const char script[] =
    "function show(){var e=location.hash&&document.querySelector(location.hash);"
    "for(var p=e;p;p=p.parentElement)if(p.tagName==='DETAILS')p.open=true;if(e)e.scrollIntoView()}"
    "\naddEventListener('hashchange',show);show();\n"
    "var list=document.querySelector('.steps'),heads=list?list.querySelectorAll('.head span'):[];\n"
    "heads.forEach(function(h,column){h.onclick=function(){"
    "var down=h.className.indexOf('sorted')<0&&column>3;"
    "heads.forEach(function(o){o.className=o.className.replace(' sorted','')});"
    "h.className+=' sorted';"
    "Array.from(list.querySelectorAll('details')).sort(function(a,b){"
    "var x=a.firstChild.children[column],y=b.firstChild.children[column],"
    "v=x.dataset.v,w=y.dataset.v;"
    "var order=v===undefined?x.textContent.localeCompare(y.textContent):v-w;"
    "return down?-order:order}).forEach(function(d){list.appendChild(d)})}});\n"
    "var field=document.querySelector('#filter');if(field)field.oninput=function(){"
    "var words=field.value.toLowerCase().split(' ');"
    "list.querySelectorAll('details').forEach(function(d){var t=d.textContent.toLowerCase();"
    "d.style.display=words.every(function(w){return t.indexOf(w)>=0})?'':'none'})};\n"
    "document.querySelectorAll('.zoom input').forEach(function(z){z.oninput=function(){"
    "var s=z.parentNode.nextElementSibling.querySelector('svg'),v=s.viewBox.baseVal;"
    "s.setAttribute('width',v.width*z.value);s.setAttribute('height',v.height*z.value)}});\n";

static void write_character(FILE* file, const char* text, size_t length) {
  switch (text[0]) {
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
    case '\'':
      (void)fputs("&#39;", file);
      break;
    default:
      (void)fwrite(text, 1, length, file);
  }
}

void tool_html_text(FILE* file, const char* text, size_t limit) {
  const size_t size = strlen(text);
  size_t count = 0;
  for (size_t i = 0; i < size;) {
    uint32_t code = 0;
    const size_t length = tool_utf8_read(text + i, size - i, &code);
    const bool is_plain = code == '\n' || code == '\t' || !tool_is_control(code);
    if ((length == 0 || is_plain) && count++ == limit) {
      (void)fputs("&#8230;", file);
      return;
    }
    if (length == 0) {
      (void)fputs("&#65533;", file);
    } else if (is_plain) {
      write_character(file, text + i, length);
    }
    i += length > 0 ? length : 1;
  }
}

void tool_html_tail(FILE* file, const char* name, size_t limit) {
  const char* end = tool_format_tail(name, limit);
  (void)fputs(end != name ? "&#8230;" : "", file);
  tool_html_text(file, end, SIZE_MAX);
}

void tool_html_begin(FILE* file, const char* title) {
  (void)fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", file);
  tool_html_text(file, title, SIZE_MAX);
  (void)fprintf(file, " - Tenon</title><style>\n%s</style></head><body>\n", style);
}

void tool_html_end(FILE* file) {
  (void)fprintf(file, "<script>\n%s</script></body></html>\n", script);
}
