#!/usr/bin/env bash
# Follows the pages of the user's guide to the letter, with the SDK installed at ~/tenon: programs are written, compiled
# and run, and the output must have the text that the page promises.
#
#   guide.sh PREFIX WORK PAGE...    in this order, in one folder
#   guide.sh --self-test
#
# A page may contain:
#   Save this program as `NAME`:    the C block that follows is written to this file
#   ```sh                           the block runs, in one shell for the page; a failure is an error
#   On a machine with a GPU:        the next block runs only if `tenon doctor` finds a device cuda
#   It prints `TEXT` ... `TEXT`.    the output of the last block has each text of the line
#   | command | message | remedy |  each row's command fails, and prints the message
set -euo pipefail
script=$(realpath "$0")

fail() { # MESSAGE
  echo "$page: $1"
  exit 1
}

run_block() { # FLAGS
  blocks=$((blocks + 1))
  said=$work/said
  : >"$said"
  if [[ $1 == gpu ]] && ! tenon doctor | grep -q '^device *cuda [0-9]'; then
    ran=no
    return
  fi
  ran=yes
  # The page's shell is this one, so that `cd` and `export` reach the next block.
  trap 'echo "$page: this block fails: $block$(tail -n 20 "$said")"' EXIT
  eval "$block" >"$said" 2>&1
  trap - EXIT
}

check_row() { # COMMAND MESSAGE
  rows=$((rows + 1))
  local output
  if output=$(bash -uo pipefail -c "$1" 2>&1); then
    fail "this command does not fail: $1"
  fi
  [[ $output == *"$2"* ]] || fail "$1 prints $output, not $2"
}

follow() { # PAGE: in a subshell
  local page=$1 line block='' flags='' name='' said='' ran=no inside=no table=no blocks=0 rows=0
  while IFS= read -r line || [[ -n $line ]]; do
    if [[ $inside != no ]]; then
      if [[ $line == '```' ]]; then
        case $inside in
        sh)
          run_block "$flags"
          flags=''
          ;;
        c)
          [[ -n $name ]] || fail "a program without a name: ${block:0:80}"
          printf '%s' "$block" >"$name"
          name=''
          ;;
        esac
        inside=no
      else
        block+=$line$'\n'
      fi
      continue
    fi
    case $line in
    '```sh') inside=sh block='' ;;
    '```c') inside=c block='' ;;
    '```'*) inside=other block='' ;;
    'On a machine with a GPU:') flags=gpu ;;
    '| command | message | remedy |') table=yes ;;
    '|'*)
      if [[ $table == yes && $line =~ ^'| `'([^\`]+)'` | `'([^\`]+)'` | ' ]]; then
        check_row "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
      elif [[ $table == yes && $line != '|---'* ]]; then
        fail "a row without a command: $line"
      fi
      ;;
    *)
      table=no
      if [[ $line =~ 'Save this program as `'([a-z_]+.c)'`' ]]; then
        name=${BASH_REMATCH[1]}
      elif [[ $line == 'It prints '* && $ran == yes ]]; then
        while [[ $line =~ \`([^\`]+)\`(.*) ]]; do
          grep -qF -- "${BASH_REMATCH[1]}" "$said" || fail "it does not print ${BASH_REMATCH[1]}: $(tail -n 20 "$said")"
          line=${BASH_REMATCH[2]}
        done
      fi
      ;;
    esac
  done <"$page"
  [[ $inside == no ]] || fail 'a block does not end'
  ((blocks + rows > 0)) || fail 'no block runs'
  echo "$(basename "$page"): $blocks blocks, $rows errors"
}

self_test() {
  local text
  cd "$work"
  printf '%s\n' 'Save this program as `one.c`:' '```c' 'int x;' '```' '```sh' 'cat one.c' 'true' 'export TEXT=two' '```' \
    'It prints `int x`.' '```sh' 'echo "$TEXT"' '```' 'It prints `two`, `wo`.' '| command | message | remedy |' '|---|---|---|' \
    '| `echo none; false` | `none` | another |' >page.md
  "$script" --follow "$work" page.md || exit 1
  for text in 's/int x;/int y;/' 's/TEXT=two/TEXT=three/' 's/^cat.*/false/' 's/^true/false/' 's/`wo`/`ow`/' 's/; false//' 's/| `none`/| `nine`/' \
    's/| `none`/| none/' 's/^Save.*//' '1,12d;/echo/d'; do
    sed "$text" page.md >wrong.md
    if "$script" --follow "$work" wrong.md >/dev/null 2>&1; then
      echo "missed: $text"
      exit 1
    fi
  done
}

if [[ ${1:-} == --follow ]]; then # of the self-test
  work=$2
  follow "$3"
  exit
fi
if [[ ${1:-} == --self-test ]]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  (self_test)
  exit
fi
prefix=$1 work=$2
shift 2
rm -rf "$work"
mkdir -p "$work"
ln -s "$prefix" "$work/tenon"
export HOME=$work PATH=$work/tenon/bin:$PATH PKG_CONFIG_PATH=$work/tenon/lib/pkgconfig
unset TENON_PLUGIN_PATH TENON_BUILD_DIR XDG_CACHE_HOME TENON_CPU
for page in "$@"; do
  # The first page makes this folder, the others work in it.
  (if [[ -d ~/digits ]]; then cd ~/digits; else cd ~; fi && follow "$page")
done
