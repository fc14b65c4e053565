#!/usr/bin/env bash
# The two commands of the README on a fresh Debian 12: debootstrap makes one, a clone of this
# repository goes into it, and `scripts/demo` and `scripts/test` run there from nothing.
#   tests/chroot/run.sh ROOT FOLDER [demo | test]
# ROOT is the repository, FOLDER a place for the machine (2 GB for the demo, 6 GB with the tests).
# `demo` empties the folder, makes the machine and leaves it there after success. `test` runs
# `scripts/test` in it and removes it after success. The default is both. A chroot lacks some parts of
# a real machine (/proc, /dev, a resolver, certificates, the models). They are mounted or copied here,
# in a mount namespace of its own.
# TENON_TEST_DATA is the folder with the models. Without it the tests inside skip what needs them.
# TENON_CHROOT_CCACHE names a folder for ccache that is kept, for the second run of this test.
# Exits with 77 if this machine cannot do it: not root, no debootstrap, no network. Exits with 1 then
# if TENON_CHROOT_REQUIRED is set.
set -uo pipefail

skip() {
  echo "skipped: $1"
  [[ -z ${TENON_CHROOT_REQUIRED:-} ]] || exit 1
  exit 77
}
fail() {
  echo "FAILED: $1"
  exit 1
}

root=$(cd "${1:?ROOT}" && pwd)
folder=$(realpath -m "${2:?FOLDER}")
part=${3:-both}
case $part in
  demo | test | both) ;;
  *) fail "unknown part $part" ;;
esac
((EUID == 0)) || skip "making a Debian in a folder needs root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed (apt-get install debootstrap)"
command -v git >/dev/null || skip "git is not installed"
if [[ -z ${TENON_CHROOT_INSIDE:-} ]]; then
  unshare --mount true 2>/dev/null || skip "mount namespaces are not permitted here"
  TENON_CHROOT_INSIDE=yes exec unshare --mount --propagation private "$0" "$@"
fi

mirror=${TENON_CHROOT_MIRROR:-http://deb.debian.org/debian}
machine=$folder/machine
log=$folder/log.txt
home=/home/tester
clone=$home/tenon

# inside [VARIABLE=VALUE...] COMMAND: as root, in the clone, with nothing of this machine's settings.
inside() {
  chroot "$machine" /usr/bin/env -i HOME="$home" PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    ${TENON_JOBS:+TENON_JOBS="$TENON_JOBS"} ${http_proxy:+http_proxy="$http_proxy"} \
    ${https_proxy:+https_proxy="$https_proxy"} "$@"
}
in_clone() { inside /bin/sh -c "cd $clone && $1"; }

# expect NAME TEXT...: what was logged last holds each text.
expect() {
  local name=$1 text
  shift
  for text in "$@"; do
    grep -qF -- "$text" "$log" || {
      cat "$log"
      fail "$name does not say: $text"
    }
  done
  echo "ok: $name"
}

make_machine() {
  rm -rf --one-file-system "$folder"
  mkdir -p "$folder"
  echo "making a Debian 12 in $machine"
  debootstrap --variant=minbase bookworm "$machine" "$mirror" >"$log" 2>&1 || {
    grep -qiE 'failed getting release|unable to|could not resolve' "$log" && skip "no Debian mirror can be reached"
    tail -n 5 "$log"
    fail "debootstrap"
  }
  cp -L /etc/resolv.conf "$machine/etc/resolv.conf" 2>/dev/null
  grep -rhsi '^acquire::.*proxy' /etc/apt/apt.conf /etc/apt/apt.conf.d >"$machine/etc/apt/apt.conf.d/proxy"
  git clone -q --no-local "$root" "$machine$clone" || fail "git clone"
}

mount_shared() {
  if [[ -d /etc/ssl/certs ]]; then
    mkdir -p "$machine/etc/ssl/certs"
    mount --rbind /etc/ssl/certs "$machine/etc/ssl/certs"
  fi
  if [[ -n ${TENON_CHROOT_CCACHE:-} ]]; then
    mkdir -p "$TENON_CHROOT_CCACHE" "$machine$home/.cache/ccache"
    mount --bind "$TENON_CHROOT_CCACHE" "$machine$home/.cache/ccache"
  fi
}

mount_system() {
  mount -t proc proc "$machine/proc"
  mount --rbind /dev "$machine/dev"
}

# What the demo says on a machine that lacks something.
try_without() {
  in_clone scripts/demo >"$log" 2>&1 && fail "the demo runs without /proc"
  expect "without /proc" "/proc is not mounted"
  mount_system

  mkdir -p "$machine$clone/build"
  mount -t tmpfs -o size=100m none "$machine$clone/build"
  in_clone scripts/demo >"$log" 2>&1 && fail "the demo runs without disk space"
  expect "without disk space" "MiB of free disk space, 500 are needed"
  umount "$machine$clone/build"

  # A user without sudo is told what to type.
  git clone -q --no-local "$root" "$machine/home/user/tenon"
  chown -R 1000:1000 "$machine/home/user"
  inside setpriv --reuid 1000 --regid 1000 --clear-groups /bin/sh -c \
    "cd /home/user/tenon && HOME=/home/user scripts/demo" >"$log" 2>&1 && fail "the demo runs without a compiler"
  expect "without root" "needs root" "apt-get update && apt-get install -y --no-install-recommends gcc "

  unshare --net chroot "$machine" /bin/sh -c "cd $clone && scripts/demo" >"$log" 2>&1 &&
    fail "the demo runs without a network"
  expect "without a network" "Step [1/5]" "is there a network" "build/logs/demo-packages.log"
}

run_demo() {
  # Processors that are busy with something else are no fault of the demo's: it is judged by the
  # seconds that it keeps a processor busy, of which two have 1200 in ten minutes.
  TIMEFORMAT='%U %S'
  started=$SECONDS
  busy=$({ time in_clone scripts/demo >"$log" 2>&1; } 2>&1) || {
    cat "$log"
    fail "scripts/demo"
  }
  first=$((SECONDS - started))
  busy=$(awk '{ print int($1 + $2) }' <<<"$busy")
  cat "$log"
  expect "the demo" "> 7" "which is right" "overlap (IoU) 0.99" "[5/5]"
  for picture in output.pgm output.png; do
    [[ -s $machine$clone/$picture ]] || fail "no $picture"
  done
  cmp "$machine$clone/output.png" "$root/sdk/docs/coins.png" || fail "output.png is not the README's picture"
  ((busy < 1200)) || fail "the demo took $busy s of a processor the first time, 1200 are allowed"
  # The commands that it ends with are to be tried.
  mapfile -t next < <(sed -n '/\[5\/5\]/,$p' "$log" | grep -E '^ +build/bin/tenon ')
  ((${#next[@]} == 3)) || fail "not three commands to try next"
  for command in "${next[@]}"; do
    in_clone "$command" >"$log" 2>&1 || {
      cat "$log"
      fail "$command"
    }
    echo "ok:$command"
  done

  started=$SECONDS
  again=$({ time in_clone scripts/demo >"$log" 2>&1; } 2>&1) || fail "scripts/demo, the second time"
  second=$((SECONDS - started))
  again=$(awk '{ print int($1 + $2) }' <<<"$again")
  ((again < 20)) || fail "the demo took $again s of a processor the second time, 20 are allowed"
  echo "ok: scripts/demo took $first s the first time ($busy of a processor), $second s the second"
}

run_tests() {
  local data='' started
  if [[ -n ${TENON_TEST_DATA:-} ]]; then
    mkdir -p "$machine/models"
    mount --bind "$TENON_TEST_DATA" "$machine/models"
    data=TENON_TEST_DATA=/models
  fi
  started=$SECONDS
  in_clone "$data scripts/test" 2>&1 | tee "$log"
  ((PIPESTATUS[0] == 0)) || fail "scripts/test; the logs are in $machine$clone/build/logs"
  echo "ok: scripts/test took $((SECONDS - started)) s"
}

if [[ $part != test ]]; then
  make_machine
  mount_shared
  try_without
  run_demo
else
  [[ -x $machine$clone/build/bin/tenon ]] || fail "there is no machine in $folder; run the part \`demo\` first"
  [[ $(git -C "$root" rev-parse HEAD) == $(git -C "$machine$clone" rev-parse HEAD) ]] ||
    fail "the machine in $folder has another commit; run the part \`demo\` again"
  mount_shared
  mount_system
fi
if [[ $part == demo ]]; then
  echo "passed"
  exit 0
fi
run_tests
# Mounts go with the namespace; what is removed here is the machine's own files alone.
umount -lR "$machine/dev" "$machine/proc" "$machine/etc/ssl/certs"
for mounted in "$machine/models" "$machine$home/.cache/ccache"; do
  [[ -d $mounted ]] && umount -l "$mounted" 2>/dev/null
done
rm -rf --one-file-system "$folder"
echo "passed"
