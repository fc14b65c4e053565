#!/usr/bin/env bash
# Follows a recipe of CONTRIBUTING.md to the letter, on a copy of the tree: what it says to write is written, what it
# says to run is run, and what it promises must come.
#
#   follow.sh NAME ROOT BUILD    NAME: the recipe's heading in lower case, "-" for blanks
#   follow.sh --self-test
#
# The lines of a recipe that do something, each followed by a fenced block where it ends with a colon:
#   New file `PATH`:                        the block is the file
#   In `PATH`, behind `TEXT`:               the block follows the first line that has the text
#   In `PATH`, `OLD` becomes `NEW`.         the first of them
#   Run:                                    the block, by a shell in the root; `build` is a build folder
#   It says `TEXT`.                         what was run last wrote it
set -euo pipefail
folder=$(cd "$(dirname "$0")" && pwd)

follow() { # FILE NAME: in the root of the copy
  local line text='' target='' anchor='' action='' block='' inside=no found=no done=0
  while IFS= read -r line || [[ -n $line ]]; do
    if [[ $inside == yes ]]; then
      if [[ $line == '```' ]]; then
        inside=no
        act
        continue
      fi
      block+=$line$'\n'
      continue
    fi
    case $line in
    '### '*)
      text=${line#'### '}
      text=${text,,}
      [[ ${text// /-} == "$2" ]] && found=yes || found=no
      continue
      ;;
    esac
    [[ $found == yes ]] || continue
    if [[ $line =~ ^'New file `'([^\`]+)'`:'$ ]]; then
      action=new target=${BASH_REMATCH[1]}
    elif [[ $line =~ ^'In `'([^\`]+)'`, behind `'([^\`]+)'`:'$ ]]; then
      action=behind target=${BASH_REMATCH[1]} anchor=${BASH_REMATCH[2]}
    elif [[ $line =~ ^'In `'([^\`]+)'`, `'([^\`]+)'` becomes `'([^\`]+)'`.'$ ]]; then
      replace "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]}"
    elif [[ $line == 'Run:' ]]; then
      action=run
    elif [[ $line =~ ^'It says `'([^\`]+)'`.'$ ]]; then
      grep -qF -- "${BASH_REMATCH[1]}" "$said" || fail "it does not say ${BASH_REMATCH[1]}: $(tail -n 20 "$said")"
      done=$((done + 1))
    elif [[ $line == '```'* ]]; then
      inside=yes block=''
    fi
  done <"$1"
  ((done > 0)) || fail "there is no recipe $2 that promises something"
}

fail() {
  echo "$1"
  exit 1
}

replace() { # FILE OLD NEW
  local all
  all=$(cat "$1" && echo x)
  [[ $all == *"$2"* ]] || fail "$1 does not have $2"
  printf '%s' "${all%%"$2"*}$3${all#*"$2"}" >"$1"
  all=$(cat "$1" && echo y)
  printf '%s' "${all%xy}" >"$1"
}

act() {
  case $action in
  new)
    [[ ! -e $target ]] || fail "$target is there already"
    mkdir -p "$(dirname "$target")"
    printf '%s' "$block" >"$target"
    ;;
  behind)
    grep -qF -- "$anchor" "$target" || fail "$target does not have $anchor"
    ANCHOR=$anchor BLOCK=$block awk '{ print } !told && index($0, ENVIRON["ANCHOR"]) {
      printf "%s", ENVIRON["BLOCK"]
      told = 1
    }' "$target" >"$target.new"
    cat "$target.new" >"$target"
    rm "$target.new"
    ;;
  run)
    bash -euo pipefail -c "$block" >"$said" 2>&1 || fail "it fails: $block $(tail -n 30 "$said")"
    ;;
  *) fail "a block that nothing is said of: $block" ;;
  esac
  action=''
}

self_test() {
  local work
  work=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" EXIT
  said=$work/said
  cd "$work"
  printf '%s\n' '### A thing' 'New file `a/x`:' '```c' 'one' 'two' '```' 'In `a/x`, behind `one`:' '```' 'between' '```' \
    'In `a/x`, `two` becomes `three`.' 'Run:' '```sh' 'tr "\n" " " <a/x' '```' 'It says `one between three`.' \
    '### Another' 'Run:' '```' 'false' '```' 'It says `nothing`.' >recipes
  follow recipes a-thing
  [[ $(tr '\n' ' ' <a/x) == 'one between three ' ]] || fail 'the file came out otherwise'
  rm -r a
  local text
  for text in 's/one between/two between/' 's/behind `one`/behind `four`/' 's/`two` becomes/`four` becomes/' \
    's/^tr .*/false/' 's/### A thing/### Something/' '/^It says/d'; do
    sed "$text" recipes >wrong
    if (follow wrong a-thing) >/dev/null 2>&1; then fail "missed: $text"; fi
    rm -rf a
  done
}

prepare() { # NAME ROOT BUILD: a copy of the tree beside a build folder of its own, which is kept for the next time
  local work=$3/recipes/$1
  rm -rf "$work/tree"
  mkdir -p "$work"/tree "$work"/build/{bin,lib,plugins}
  (cd "$2" && git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
    [[ ! -e $file ]] || printf '%s\0' "$file"
  done | tar -c --null -T - -f -) | tar -xf - -C "$work/tree"
  ln -s ../build "$work/tree/build"
  said=$work/said
  cd "$work/tree"
  # The command and the library as they are, where a recipe does not make them anew.
  cp -p "$3"/bin/tenon build/bin/
  cp -pP "$3"/lib/libtenon.so* build/lib/
  cp -p "$3"/plugins/*.so build/plugins/
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release >"$said" 2>&1 || fail "$(tail -n 20 "$said")"
  # Plugins beside the library are the library's own.
  export LD_LIBRARY_PATH=$work/build/lib
}

if [[ ${1:-} == --self-test ]]; then
  self_test
else
  export LC_ALL=C.UTF-8
  name=${1:?the name of a recipe} root=$(cd "${2:?the root}" && pwd) build=$(cd "${3:?the build folder}" && pwd)
  prepare "$name" "$root" "$build"
  follow "$root/CONTRIBUTING.md" "$name"
  echo "it does what it says"
fi
