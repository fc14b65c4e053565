#!/bin/sh
# What `cmake --install` leaves, as a stranger finds it: who compiles with pkg-config alone, in C and in C++; what
# documents it; nothing that only debuggers read.
#   installed.sh PREFIX SOURCE WORK STRIPPED MANIFEST [C FLAG...]
set -eu
prefix=$1 source=$2 work=$3 stripped=$4 manifest=$5
shift 5
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}

rm -rf "$work"
mkdir -p "$work"

# Whoever removes what the manifest lists has removed everything.
find "$prefix" ! -type d | sort >"$work/files"
sort "$manifest" | comm -23 "$work/files" - >"$work/unlisted"
[ ! -s "$work/unlisted" ] || fail "not in install_manifest.txt: $(cat "$work/unlisted")"

# Moved to another place: nothing depends on where it was installed.
cp -a "$prefix" "$work/moved"
prefix=$work/moved
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
version=$(sed -n 's/^#define TENON_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$prefix/include/tenon/tenon.h" | paste -sd .)
[ "$(pkg-config --modversion tenon)" = "$version" ] || fail "tenon.pc is not of version $version"
# shellcheck disable=SC2046 # flags
cc -std=c11 -Wall -Wextra -Werror "$@" "$prefix/share/doc/tenon/sdk/examples/by_hand.c" -o "$work/by_hand" \
  $(pkg-config --cflags --libs tenon) "-Wl,-rpath,$prefix/lib"
(unset TENON_BUILD_DIR TENON_PLUGIN_PATH && "$work/by_hand") | grep -q 'last row: 0.9526 0.0474' ||
  fail "by_hand does not run with what is installed"

# C++, which the C compiler links: the headers need nothing of its library. Descriptors leave members out.
compiler=
for candidate in c++ g++ clang++; do
  if [ -z "$compiler" ] && command -v "$candidate" >/dev/null; then
    compiler=$candidate
  fi
done
if [ -z "$compiler" ]; then
  fail "no C++ compiler is installed: clang++ belongs to what the tests need"
fi
warnings="-Wall -Wextra -Wshadow -Wconversion -pedantic-errors -Wno-missing-field-initializers -Werror"
for standard in 11 14 17 20; do
  # shellcheck disable=SC2046,SC2086
  "$compiler" -std=c++$standard -fno-exceptions -fno-rtti $warnings -c "$source/tests/sdk/cplusplus.cc" \
    -o "$work/cplusplus.o" $(pkg-config --cflags tenon) ||
    { fail "the headers are no C++$standard" && continue; }
  # shellcheck disable=SC2046
  cc "$@" "$work/cplusplus.o" -o "$work/cplusplus" $(pkg-config --libs tenon) "-Wl,-rpath,$prefix/lib"
  (unset TENON_BUILD_DIR TENON_PLUGIN_PATH && "$work/cplusplus") || fail "C++$standard: status $?"
  # shellcheck disable=SC2046,SC2086
  "$compiler" -std=c++$standard $warnings "$@" "$source/tests/sdk/exceptions.cc" -o "$work/exceptions" \
    $(pkg-config --cflags tenon) || { fail "the helpers are no C++$standard with exceptions" && continue; }
  "$work/exceptions" || fail "C++$standard: exceptions: status $?"
done
# Functions in our plugins that the host calls are noexcept.
for file in "$source"/contrib/samples/*/*.cpp "$prefix"/share/tenon/templates/*/*.cpp; do
  called=$(grep -oE '\.[a-z_]+ = [a-z_]+[,}]' "$file" | sed -E 's/.* = (.*)./\1/' | sort -u)
  [ -n "$called" ] || fail "$file: no functions found"
  for name in $called; do
    # The definition in one line, up to its brace.
    definition=$(tr '\n' ' ' <"$file" | grep -oE "[^;{}]* $name\([^;{}]*\{" | head -n 1)
    case $definition in
      '' | *') noexcept {') ;;
      *) fail "$file: $name is not noexcept" ;;
    esac
  done
done

for file in bin/tenon lib/libtenon.so include/tenon/plugin.h include/tenon/reader.h include/tenon/reader/wire.h lib/cmake/Tenon/TenonConfig.cmake \
  share/doc/tenon/LICENSE share/doc/tenon/NOTICE share/doc/tenon/README.md share/doc/tenon/sdk/docs/expressions.md \
  share/doc/tenon/sdk/examples/plugin/squareplus.c share/man/man1/tenon.1; do
  [ -s "$prefix/$file" ] || fail "$file is not installed"
done
for command in $("$prefix/bin/tenon" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'); do
  grep -q "^.SH tenon $command$" "$prefix/share/man/man1/tenon.1" || fail "tenon.1 does not explain $command"
done
grep -q -- 'warm\\-up S' "$prefix/share/man/man1/tenon.1" || fail "tenon.1 has no options"

# Links of the documents lead to what is installed.
for page in "$prefix"/share/doc/tenon/README.md "$prefix"/share/doc/tenon/sdk/docs/README.md; do
  # shellcheck disable=SC2013 # no link has spaces
  for link in $(grep -oE '\]\([^):]*\)' "$page" | sed -e 's/^](//' -e 's/)$//' -e 's/#.*//'); do
    [ -e "$(dirname "$page")/$link" ] || fail "${page#"$prefix/"}: $link is not installed"
  done
done

if [ "$stripped" = 1 ]; then
  for file in "$prefix/bin/tenon" "$prefix"/lib/libtenon.so.?.* "$prefix"/lib/tenon/plugins/*.so; do
    if readelf -SW "$file" | grep -qE ' \.(symtab|debug_info) '; then
      fail "${file#"$prefix/"} is not stripped"
    fi
  done
fi
[ "$failures" = 0 ]
