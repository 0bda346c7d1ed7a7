#!/bin/sh
# run.sh LOCUS [--validate] COMMAND...: runs the command where Vulkan can run, else says why not and ends with 77, which ctest counts as skipped.
locus=$1
shift
reason=$("$locus" backends 2>&1 | sed -n 's/^vulkan: .*cannot run here: //p')
if [ -n "$reason" ]; then
  echo "skipped, Vulkan cannot run here: $reason"
  exit 77
fi
[ "$1" = --validate ] || exec "$@"
shift
export LOCUS_VULKAN_VALIDATION=1
if "$locus" backends 2>&1 | grep -q 'the validation layer is not installed'; then
  echo "skipped: the validation layer is not installed (package vulkan-validationlayers)"
  exit 77
fi
messages=$(mktemp)
"$@" 2> "$messages"
code=$?
if grep -q 'vulkan validation' "$messages"; then
  head -n 20 "$messages"
  echo "$(grep -c 'vulkan validation' "$messages") messages of the validation layer"
  code=1
fi
rm -f "$messages"
exit $code
