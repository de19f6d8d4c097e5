#!/bin/sh
# Evaluates two run files, $BASE and $CANDIDATE, and gates the second by $POLICY. Reports and findings
# are left below $OUT. The exit code is that of `caliper gate`.
set -eu
for run in base candidate; do
    file=$BASE
    [ $run = base ] || file=$CANDIDATE
    # 1: the run is incomplete, which the gate says better.
    caliper evaluate --config "$file" --out "$OUT/$run" --quiet || [ $? -eq 1 ]
done
caliper gate --policy "$POLICY" "$OUT/base" "$OUT/candidate" --markdown "$OUT/gate.md" --junit "$OUT/gate.xml"
