#!/bin/sh
# Rule 1: the core and the registry know no operator, device or file format by name. Loads all plugins, and looks
# for what they register in core/ and plugin_registry/, outside of comments and tests: as whole identifiers, as
# string literals, and as identities inside of literals.
#
#   names.sh ROOT DUMP_PROGRAM PLUGIN_FOLDER
#   names.sh --self-test
#
# What may stand anywhere, as classes: C keywords; the functions of the expression language (TENON_OPCODES).
# What may be an identifier but no literal: identifiers of plugin.h, for these words are the contract's own, and
# the words of names_own.txt, each with what it means there.
set -eu
export LC_ALL=C # the order of sort, and what awk takes for a letter
folder=$(cd "$(dirname "$0")" && pwd)

# search LISTS SOURCE...: LISTS is a folder with the three lists.
search() {
  lists=$1
  shift
  awk -f "$folder/names.awk" list=names "$lists/names" list=free "$lists/free" \
    list=own "$lists/own" list= "$@"
}

# The part of a line of the dump that is a name: "operator standard.add/1" -> add.
short_names() {
  sed -nE -e 's|^operator [^.]*\.(.*)/[0-9]+$|\1|p' -e 's|^converter [^:]*:[^:]*:(.*)$|\1|p' \
    -e 's|^(device\|parser) (.*)$|\2|p' | grep -vxF '*' | sort -u
}

make_lists() { # ROOT LISTS; the dump is standard input
  short_names >"$2/names"
  {
    sed -nE 's/^ *X\([A-Z_0-9]+, "([a-z_0-9]+)", [0-9], .*/\1/p' "$1/sdk/include/tenon/plugin.h"
    printf '%s\n' auto break case char const continue default do double else enum extern float for \
      goto if inline int long register restrict return short signed sizeof static struct switch \
      typedef union unsigned void volatile while
  } >"$2/free"
  {
    awk -v words=1 -f "$folder/names.awk" "$1/sdk/include/tenon/plugin.h" | sort -u
    cat "$folder/names_own.txt"
  } >"$2/own"
}

self_test() {
  printf 'operator a.blur/1\noperator a.exp/1\ndevice abacus\nparser scroll\nconverter scroll::Blur\n' |
    short_names >"$work/names"
  [ "$(tr '\n' ' ' <"$work/names")" = "Blur abacus blur exp scroll " ] || { cat "$work/names"; exit 1; }
  echo exp >"$work/free"
  echo 'abacus  a thing to count with' >"$work/own"
  cat >"$work/good.c" <<'END'
/* blur "blur" */ int blurred = exp("exp", "a blur"); // scroll
int abacus = '"'; /*
"scroll" */ const char* x = "\"blur";
END
  search "$work" "$work/good.c" || { echo "what is allowed was found"; exit 1; }
  for bad in 'int blur;' 'f("blur");' 'f("abacus");' 'g("see a.blur/1 there");' 'f(/* x */Blur);' \
    'x = "\\"; scroll();'; do
    printf '%s\n' "$bad" >"$work/bad.c"
    if search "$work" "$work/bad.c" >/dev/null; then
      echo "missed: $bad"
      exit 1
    fi
  done
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "$1" = --self-test ]; then
  self_test
  exit 0
fi
root=$1
"$2" "$3" >"$work/dump"
make_lists "$root" "$work" <"$work/dump"
[ -s "$work/names" ] || { echo "the plugins register no names"; exit 1; }
# What is built into the core: its sources, and the headers that they include, those of tests thus not.
find "$root/core" "$root/plugin_registry" -name '*.c' ! -name '*_test.c' ! -name '*_fuzz.c' |
  sort >"$work/sources"
while :; do
  xargs sed -nE 's/^ *# *include "((core|plugin_registry)\/[^"]*)".*/\1/p' <"$work/sources" | sort -u |
    sed "s|^|$root/|" | grep -vxFf "$work/sources" >"$work/headers" || break
  cat "$work/headers" >>"$work/sources"
done
sources=$(cat "$work/sources")
# shellcheck disable=SC2086 # paths of this tree have no spaces
if ! search "$work" $sources; then
  echo "Rule 1: the names above are those of operators, devices or formats that plugins register."
  exit 1
fi
echo "$(wc -l <"$work/names") names, none of them in the core or the registry"
