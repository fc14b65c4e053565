#!/bin/sh
# Counts clauses with "what" and "who" as nouns, and "is told", "of which", "that there is", "is there", in the texts that
# outsiders read, in the core's headers and in messages, and keeps them within limits, in 1,000 words.
# CONTRIBUTING.md has the rules.
#   words.sh ROOT [TENON] | --found ROOT | --self-test      TENON: the command, for its help
set -eu
export LC_ALL=C

verbs='is|are|was|were|has|have|does|can|may|a|an|the|it|they|needs?|makes?|takes?|reads?|writes?|uses?|stands?|goes|lies|comes'
before='^|[,(] *|\<(of|for|by|to|from|with|in|and|or|than|but) +'
habit="($before)(what|whoever|whatever|who) +($verbs)\\>|\\<(is|are) told\\>|\\<of which\\>|\\<that there is\\>|\\<(is|are) there\\>"

# A sentence on each line, without code blocks.
sentences() {
  sed -E '/^ *```/,/^ *```/d; s/^[ \t*]+//' "$@" | awk '
    /^$/ { print ""; next }
    { printf "%s ", $0 }
    END { print "" }' | sed -E 's/([.;:!?|]) /\1\n/g' | sed -E 's/^ +//'
}

# The comments of C sources.
comments() {
  awk '
    { line = $0 }
    !inside && (at = index(line, "/*")) { inside = 1; line = substr(line, at + 2) }
    inside {
      end = index(line, "*/")
      print end ? substr(line, 1, end - 1) : line
      if (end) { inside = 0; print "" }
    }' "$@"
}

# The texts of string literals with blanks, one on each line.
messages() {
  comments_out=$(cat "$@" | sed -E 's|/\*.*\*/||; /^ *(\*\|\/\*)/d; /^#include/d')
  printf '%s\n' "$comments_out" | grep -oE '"([^"\\]|\\.)+ ([^"\\]|\\.)*"' | sed -E 's/^"(.*)"$/\1/'
}

pages() { # ROOT
  echo "$1/README.md $1/CONTRIBUTING.md"
  find "$1/sdk/docs" -name '*.md' | sort
}

# check NAME LIMIT: the text is on standard input; LIMIT: clauses in 1,000 words
check() {
  text=$(cat)
  words=$(printf '%s\n' "$text" | grep -oE "[A-Za-z']+" | wc -l)
  found=$(printf '%s\n' "$text" | grep -oiE "$habit" | wc -l)
  echo "$1: $found in $words words, at most $2 in 1,000"
  [ "$((found * 1000))" -le "$(awk -v words="$words" -v limit="$2" 'BEGIN { printf "%d", words * limit }')" ] || {
    printf '%s\n' "$text" | grep -iE "$habit" | cut -c1-160
    return 1
  }
}

case ${1:-} in
--self-test)
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  for text in 'What is copied is not counted.' 'One, what it needs.' 'A list of
what the step needs' 'The logger is told. Good.' 'Two, of which one fails.' 'Nothing is there.'; do
    printf '%s\n' "$text" >"$work/page"
    ! sentences "$work/page" | check page 0 >/dev/null || { echo "missed: $text"; exit 1; }
  done
  printf 'Whatever fails, the call returns what was read before.\n```\nwhat is code\n```\n' >"$work/page"
  sentences "$work/page" | check page 0 >/dev/null || { echo 'a false alarm'; exit 1; }
  printf 'int x; /* what is here */ what is not\n/* a list of\n * what the step needs */\n' >"$work/page"
  [ "$(comments "$work/page" | sentences | grep -ciE "$habit")" = 2 ] || { echo 'comments are not found'; exit 1; }
  printf 'int x = "no text"; /* "a comment: what is here" */\n  fail(s, "what it has is \\"gone\\"");\n' >"$work/page"
  [ "$(messages "$work/page" | grep -ciE "$habit")" = 1 ] || { echo 'messages are not found'; exit 1; }
  exit 0
  ;;
--found)
  for page in $(pages "$2"); do
    sentences "$page" | grep -iE "$habit" | cut -c1-200 | sed "s|^|${page#"$2/"}: |" || true
  done
  comments "$2"/sdk/include/tenon/*.h "$2"/sdk/include/tenon/*/*.h | sentences | grep -iE "$habit" | cut -c1-200 || true
  exit 0
  ;;
esac
root=$1
failures=0
# shellcheck disable=SC2046 # names without spaces
sentences $(pages "$root") | check documents 1 || failures=1
comments "$root"/sdk/include/tenon/*.h "$root"/sdk/include/tenon/*/*.h | sentences | check 'public headers' 1 || failures=1
comments "$root"/core/*/*.h "$root"/plugin_registry/*.h "$root"/sdk/library/*.h | sentences | check 'core headers' 1 ||
  failures=1
# shellcheck disable=SC2046 # names without spaces
messages $(find "$root"/core "$root"/plugin_registry "$root"/sdk/library "$root"/sdk/tool "$root"/parser_* -name '*.c' \
  ! -name '*_test.c' ! -name '*_fuzz.c' | sort) | check messages 1 || failures=1
if [ -x "${2:-}" ]; then
  for command in run build bench inspect compare convert suite plugins doctor; do
    "$2" "$command" --help-all
  done | sentences | check help 1 || failures=1
fi
[ "$failures" = 0 ]
