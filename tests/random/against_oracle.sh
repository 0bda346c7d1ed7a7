#!/bin/sh
# Compares the reference backend with the numpy interpreter of the language on small random specs. Not run by ctest.
#   against_oracle.sh RANDOM_SPECS ORACLE [COUNT [SEED]]     RANDOM_SPECS: the built program; ORACLE: the folder of locus_ref.py
# PYTHON (default python3) must have numpy.
set -eu
if [ $# -lt 2 ]; then
  sed -n '2,4s/^# //p' "$0"
  exit 2
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" --small --backend reference --write "$folder" --count "${3:-50}" --seed "${4:-1}"
"${PYTHON:-python3}" - "$2" "$folder" <<'PYTHON'
import os, sys
oracle, folder = sys.argv[1:]
sys.path.insert(0, oracle)
import numpy as np
import locus_ref
from evaluate import Evaluator, load

def arrays(path):
    return {f[:-4]: np.load(os.path.join(path, f)) for f in sorted(os.listdir(path))}

failed = compared = 0
for seed in sorted(os.listdir(folder), key=int):
    case = os.path.join(folder, seed)
    with open(os.path.join(case, "settings")) as f:
        settings = {name: float(value) for name, value in (line.strip().split("=") for line in f)}
    spec = os.path.join(case, "spec.locus")
    try:
        with np.errstate(all="ignore"):
            got = locus_ref.run(Evaluator(load(spec), {}, 0), "main", arrays(os.path.join(case, "inputs")), settings)
    except Exception as e:
        got, problem = None, f"{type(e).__name__}: {e}"
    for name, expected in arrays(os.path.join(case, "expected")).items():
        if got is not None:
            largest = max([1.0, *np.abs(expected[np.isfinite(expected)]).ravel()])
            passed, _, problem = locus_ref.compare(got[name].data, expected, 1e-9 * largest, 0)
            compared += 1
            if passed:
                continue
        failed += 1
        print(f"seed {seed}, {name}: {problem}\n{open(spec).read()}")
        break
print(f"{compared} results compared, {failed} specs failed")
sys.exit(1 if failed or not compared else 0)
PYTHON
