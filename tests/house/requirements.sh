#!/usr/bin/env bash
# What scripts/install-dependencies asks for: nothing that a build does without. Usage: requirements.sh ROOT
set -euo pipefail
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
# A machine on which every package is installed but those that $LACKING names.
cat >"$work/bin/dpkg-query" <<'QUERY'
#!/usr/bin/env bash
shift 3 # -W -f FORMAT
for package in "$@"; do
  [[ " $LACKING " == *" $package "* ]] || printf 'ii  %s\n' "$package"
done
QUERY
chmod +x "$work/bin/dpkg-query"
check() { # LACKING OPTION...: what is asked for; the status in $status
  status=0
  asked=$(LACKING=$1 PATH=$work/bin:$PATH "$root/scripts/install-dependencies" "${@:2}") || status=$?
}

check "" --build-only --check
((status == 0)) || { echo "something is asked for where nothing is missing: $asked"; exit 1; }
check "ccache" --build-only --check
((status == 0)) || { echo "a build is refused for want of: $asked"; exit 1; }
check "ccache" --check
((status == 0)) || { echo "tests are refused for want of: $asked"; exit 1; }
check "ccache cmake clang" --build-only --check
[[ $status == 1 && $asked == cmake ]] || { echo "cmake is missing, asked for is: $asked"; exit 1; }
echo "only what is needed is asked for"
