#!/usr/bin/env bash
# Each script prints its usage for --help and -h, and refuses unknown options and further operands before it does
# anything. They run on a copy, without the programs that build, install and download.
#   scripts.sh ROOT
#   scripts.sh --self-test      scripts with each fault are seen
set -uo pipefail
failures=0

complain() {
  echo "FAILED: scripts/$1"
  sed 's/^/  | /' "$work/out"
  failures=$((failures + 1))
}

# try STATUS TEXT SCRIPT ARGUMENTS...: this exit status, this text, no file changed.
try() {
  local wanted=$1 text=$2 status
  shift 2
  find "$work/tree" -newer "$work/begin" -print >"$work/before"
  PATH=$work/bin timeout 20 "$work/tree/scripts/$1" "${@:2}" >"$work/out" 2>&1 </dev/null
  status=$?
  ((status == wanted)) || complain "$*: its exit status is $status, not $wanted"
  grep -qF -- "$text" "$work/out" || complain "$*: it does not print: $text"
  ! grep -q 'set -[eu]' "$work/out" || complain "$*: its usage has code"
  find "$work/tree" -newer "$work/begin" -print | cmp -s "$work/before" - || complain "$*: it changes files"
}

# check ROOT
check() {
  local script name count=0
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/tree" "$work/bin"
  cp -r "$1/scripts" "$work/tree"
  for name in bash sh sed awk grep cat dirname basename ls env mktemp rm mkdir find cmp touch tail head nproc id date timeout; do
    ln -s "$(command -v "$name")" "$work/bin/$name"
  done
  touch "$work/begin"
  sleep 0.01
  for script in "$work"/tree/scripts/*; do
    [[ -x $script ]] || continue
    name=${script##*/}
    count=$((count + 1))
    for option in --help -h; do
      try 0 "scripts/$name" "$name" "$option"
    done
    for option in -x --nonsense; do
      try 2 "unknown option $option; see scripts/$name --help" "$name" "$option"
    done
    # Options are read before operands are used.
    if [[ $name != python-environment && $name != docs ]]; then
      try 2 "unknown option -x" "$name" -x folder
    fi
  done
  ((count > 0)) || complain "there are no scripts"
  checked=$count
}

self_test() {
  local tree faults=0
  tree=$(mktemp -d)
  mkdir "$tree/scripts"
  fault() { # NAME TEXT: a script that must be seen
    printf '%s\n' "$2" >"$tree/scripts/$1"
    chmod +x "$tree/scripts/$1"
    failures=0
    check "$tree" >/dev/null
    rm -rf "$work" "$tree/scripts/$1"
    ((failures > 0)) || { echo "not seen: $1"; faults=1; }
  }
  local right=$'#!/bin/sh\ncase $1 in -h|--help) echo scripts/NAME ;; *) echo "unknown option $1; see scripts/NAME --help"; exit 2 ;; esac'
  fault silent $'#!/bin/sh\nexit 0'
  fault folder "${right//NAME/folder}"$'\nmkdir -p "$(dirname "$0")/../made"'
  fault status "$(sed 's/exit 2/exit 1/' <<<"${right//NAME/status}")"
  fault code "$(sed 's/echo scripts/echo "set -eu"; echo scripts/' <<<"${right//NAME/code}")"
  failures=0
  printf '%s\n' "${right//NAME/good}" >"$tree/scripts/good"
  chmod +x "$tree/scripts/good"
  check "$tree"
  rm -rf "$tree"
  return $((faults + failures > 0))
}

if [[ ${1:?the root of the tree} == --self-test ]]; then
  self_test
  exit
fi
check "$1"
# Folders of others are left alone.
mkdir -p "$work/others/bin"
touch "$work/others/bin/mine"
for name in python-environment docs; do
  [[ -x $work/tree/scripts/$name ]] || continue
  try 2 "$work/others" "$name" "$work/others"
  try 2 "one folder is expected" "$name" a b
done
[[ -f $work/others/bin/mine ]] || complain "a folder of others is removed"
[[ ! -x $work/tree/scripts/wheel ]] || try 2 "one OUTPUT is expected" wheel a b
((failures == 0)) && echo "scripts: $checked scripts, all as expected"
exit $((failures > 0))
