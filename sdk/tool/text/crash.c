/* See crash.h. The handler calls what POSIX lists as async-signal-safe, and tenon_current_call. */
#include "text/crash.h"

#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <ucontext.h>
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
/* Where libtenon begins. */
static uintptr_t library;
enum { LIBRARY_BYTES_MAX = 64 * 1024 * 1024 };
static const char* (*note_plugin)(const char* path);
/* Where the line goes instead; NULL: to standard error. */
static char* redirected;
static size_t redirected_bytes;

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

static void add_hex(line_t* line, uintptr_t number) {
  char digits[2 * sizeof(number) + 1] = "";
  size_t first = sizeof(digits) - 1;
  do {
    digits[--first] = "0123456789abcdef"[number % 16];
    number /= 16;
  } while (number != 0);
  add(line, "0x");
  add(line, digits + first);
}

/* The next instruction; 0: unknown. */
static uintptr_t address_of(const void* context) {
#if defined(__x86_64__)
  return (uintptr_t)((const ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (uintptr_t)((const ucontext_t*)context)->uc_mcontext.pc;
#else
  (void)context;
  return 0;
#endif
}

/* Without a plugin it is a fault of ours, and all that a report needs is here. */
static void add_place(line_t* line, uintptr_t address) {
  const bool is_ours = address >= library && address - library < LIBRARY_BYTES_MAX;
  add(line, ", in no plugin, at ");
  add(line, is_ours ? "libtenon.so+" : "");
  add_hex(line, is_ours ? address - library : address);
  add(line, ": a fault of Tenon ");
  add(line, tenon_version());
  add(line, "; please report it with this line, the command and the model");
}

/* A plugin that cannot be loaded would end every command. */
static void set_aside(const tenon_call_info_t* call, line_t* line) {
  static const char* const functions[] = {"a constructor", "query", "start"};
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
    if (strcmp(call->function, functions[i]) == 0) {
      add_part(line, "; the plugin is set aside until its file changes or ",
               note_plugin(call->item), " is deleted");
    }
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

static void on_crash(int number, siginfo_t* information, void* context) {
  line_t line = {.used = 0};
  tenon_call_info_t call = {.size = sizeof(call)};
  (void)information;
  add(&line, number == SIGALRM ? "error: it does not end in time (" : "error: it crashed (");
  for (int i = 0; i < SIGNAL_COUNT; ++i) {
    add(&line, signals[i].number == number ? signals[i].text : "");
  }
  add(&line, number == SIGALRM ? "time limit)" : ")");
  if (tenon_current_call(&call) != 0) {
    add_part(&line, " in plugin '", call.plugin, "'");
    add_part(&line, ", in its function ", call.function, "");
    add_part(&line, ", of '", call.item, "'");
    add_part(&line, ", for '", call.node, "'");
    if (redirected == NULL) {
      set_aside(&call, &line);
    }
  } else if (number != SIGALRM) {
    add_place(&line, address_of(context));
  }
  if (redirected != NULL) {
    line.text[line.used] = '\0';
    (void)strncpy(redirected, line.text + strlen("error: "), redirected_bytes - 1);
    (void)raise(number);
    return;
  }
  line.text[line.used] = '\n';
  (void)!write(STDERR_FILENO, line.text, line.used + 1);
  if (tool_console_is_json() && getpid() == teller) {
    line.text[line.used] = '\0';
    tell_json(line.text + strlen("error: "), 128 + number);
  }
  (void)raise(number); /* as it would have ended: the default is back */
}

static void catch_signal(int number) {
  struct sigaction action = {.sa_sigaction = on_crash,
                             .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK | SA_SIGINFO)};
  (void)sigemptyset(&action.sa_mask);
  (void)sigaction(number, &action, NULL);
}

void tool_crash_redirect(char* text, size_t size_bytes) {
  redirected = text;
  redirected_bytes = size_bytes;
  catch_signal(SIGALRM);
}

void tool_crash_catch(const char* (*note)(const char* path)) {
  const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof(stack)};
  Dl_info module;
  void* symbol = dlsym(RTLD_DEFAULT, "tenon_version");
  teller = getpid();
  library = symbol != NULL && dladdr(symbol, &module) != 0 ? (uintptr_t)module.dli_fbase : 0;
  note_plugin = note;
  if (sigaltstack(&alternative, NULL) != 0) {
    return;
  }
  for (int i = 0; i < SIGNAL_COUNT; ++i) {
    struct sigaction old;
    if (sigaction(signals[i].number, NULL, &old) == 0 && old.sa_handler == SIG_DFL) {
      catch_signal(signals[i].number);
    }
  }
}
