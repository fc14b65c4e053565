#!/bin/sh
# Writes the manual page of the `tenon` command out of its help, so that both say the same.
#   manual.sh TENON VERSION > tenon.1
set -eu
tenon=$1 version=$2

# What the command says, as it stands. No pipe: its exit status counts.
verbatim() {
  text=$("$tenon" "$@")
  printf '.nf\n'
  printf '%s\n' "$text" | sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\\([.']\\)/\\\\\&\\1/"
  printf '.fi\n'
}

help=$("$tenon" --help)
# A name has one word or two.
commands=$(printf '%s\n' "$help" | sed -n 's/^  \([a-z][a-z]*\( [a-z][a-z]*\)\{0,1\}\)  .*/\1/p')
printf '.TH TENON 1 "" "Tenon %s" "Tenon"\n' "$version"
printf '.SH NAME\ntenon \\- run, build, measure and look at networks\n.SH SYNOPSIS\n'
verbatim --help
IFS='
'
for command in $commands; do
  printf '.SH tenon %s\n' "$command"
  IFS=' '
  # shellcheck disable=SC2086
  verbatim $command --help-all
done
