/* See crash.h. The handler calls what POSIX lists as async-signal-safe, and tenon_current_call. */
#include "text/crash.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "tenon/tenon.h"
#include "text/console.h"

enum { STACK_BYTES = 64 * 1024, LINE_BYTES = 1024 };

static const struct {
  int number;
  const char* text;
} signals[] = {{SIGSEGV, "SIGSEGV, memory that is not there"},
               {SIGBUS, "SIGBUS, memory that cannot be read"},
               {SIGFPE, "SIGFPE, a division by zero or the like"},
               {SIGILL, "SIGILL, an instruction that this processor lacks"},
               {SIGABRT, "SIGABRT"}};
enum { SIGNAL_COUNT = sizeof(signals) / sizeof(signals[0]) };

/* The main thread's stack that ran over leaves none to report it on. Other threads have no such
 * stack: where one of theirs runs over, the process ends without words. */
static char stack[STACK_BYTES];
/* What its children do is told by their parent. */
static pid_t teller;

typedef struct line_t {
  char text[LINE_BYTES];
  size_t used;
} line_t;

/* Names come from models and plugins: a terminal must not obey them. */
static void add(line_t* line, const char* text) {
  for (; text != NULL && *text != '\0' && line->used < sizeof(line->text) - 1; ++text) {
    const unsigned char c = (unsigned char)*text;
    line->text[line->used++] = (char)(c < 0x20 || c == 0x7F ? '?' : c);
  }
}

static void add_part(line_t* line, const char* before, const char* text, const char* after) {
  if (text != NULL && text[0] != '\0') {
    add(line, before);
    add(line, text);
    add(line, after);
  }
}

/* `words` as the object that a failure is with --json. ASCII alone: names may be cut in the middle
 * of a character. */
static void tell_json(const char* message, int exit_status) {
  char text[2 * LINE_BYTES + 64] = "{\"error\": \"";
  size_t used = strlen(text);
  for (; *message != '\0'; ++message) {
    if (*message == '"' || *message == '\\') {
      text[used++] = '\\';
    }
    text[used++] = (char)((unsigned char)*message < 0x80 ? *message : '?');
  }
  static const char middle[] = "\", \"exit\": ";
  memcpy(text + used, middle, sizeof(middle) - 1);
  used += sizeof(middle) - 1;
  for (int unit = 100; unit > 0; unit /= 10) {
    text[used++] = (char)('0' + exit_status / unit % 10);
  }
  text[used++] = '}';
  text[used++] = '\n';
  (void)!write(STDOUT_FILENO, text, used);
}

static void on_crash(int number) {
  line_t line = {.used = 0};
  tenon_call_info_t call = {.size = sizeof(call)};
  add(&line, "error: it crashed (");
  for (int i = 0; i < SIGNAL_COUNT; ++i) {
    add(&line, signals[i].number == number ? signals[i].text : "");
  }
  add(&line, ")");
  if (tenon_current_call(&call) != 0) {
    add_part(&line, " in plugin '", call.plugin, "'");
    add_part(&line, ", in its function ", call.function, "");
    add_part(&line, ", of '", call.item, "'");
    add_part(&line, ", for '", call.node, "'");
  } else {
    add(&line, ", in no plugin");
  }
  line.text[line.used] = '\n';
  (void)!write(STDERR_FILENO, line.text, line.used + 1);
  if (tool_console_is_json() && getpid() == teller) {
    line.text[line.used] = '\0';
    tell_json(line.text + strlen("error: "), 128 + number);
  }
  (void)raise(number); /* as it would have ended: the default is back */
}

void tool_crash_catch(void) {
  const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof(stack)};
  teller = getpid();
  if (sigaltstack(&alternative, NULL) != 0) {
    return;
  }
  for (int i = 0; i < SIGNAL_COUNT; ++i) {
    struct sigaction old;
    struct sigaction action = {.sa_handler = on_crash,
                               .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK)};
    (void)sigemptyset(&action.sa_mask);
    if (sigaction(signals[i].number, NULL, &old) == 0 && old.sa_handler == SIG_DFL) {
      (void)sigaction(signals[i].number, &action, NULL);
    }
  }
}
