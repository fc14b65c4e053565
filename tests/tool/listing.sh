# shellcheck shell=bash disable=SC2154
# Help, plugins, the machine.
try 0 --help
for command_name in run build bench inspect compare convert suite plugins doctor; do
  says "  $command_name "
done
for command_name in "${subcommands[@]}"; do
  # shellcheck disable=SC2086 # a name has one word or two
  try 0 $command_name --help
  says "usage: tenon $command_name" "examples" "exit status"
  ! grep -qE ' $' out || complain "lines end with blanks"
  # shellcheck disable=SC2086
  try 0 help $command_name
done
try 0 --version
says "0.2"
try 0 plugins --offers
says "available  standard" "offers kernel" "0 refused" "devices:" "cpu 0: "
try 0 plugins --json
prints_json
try 0 plugins --index
prints_json
try 0 doctor
says "device " "cpu 0: " "search path" "nothing is missing"
try 0 doctor --json
prints_json
cp "$root/README.md" not_elf.so
try 1 plugins --plugins "$folder"
says "refused" "not_elf.so"
# The name of a file forges no line.
cp "$root/README.md" $'forged.so\navailable  ours.so'
try 1 plugins --plugins "$folder"
! grep -q '^available  ours' out || complain "a name forges a line"
rm $'forged.so\navailable  ours.so'
