#!/bin/sh
# Puts the checkpoint that the ConfigMap `models` names into the model repository, then runs the server:
# models are named in one place. The tests of Caliper run this as it is.
set -eu

: "${CAPTIONER_REPOSITORY:?of the checkpoint}" "${CAPTIONER_REVISION:?of the checkpoint}"
GIVEN=${GIVEN:-/etc/caliper/triton}
MODELS=${MODELS:-/tmp/repository}
SERVER=${SERVER:-tritonserver}

model=$MODELS/captioner
mkdir -p "$model/1"
sed -e "s|\"model\": \"[^\"]*\"|\"model\": \"/models/$CAPTIONER_REPOSITORY/$CAPTIONER_REVISION\"|" \
  -e "s|\"revision\": \"[^\"]*\"|\"revision\": \"$CAPTIONER_REVISION\"|" "$GIVEN/model.json" > "$model/1/model.json"
# Runs tell checkpoints apart by it: the one value with an @.
sed -e "s|string_value: \"[^\"]*@[^\"]*\"|string_value: \"$CAPTIONER_REPOSITORY@$CAPTIONER_REVISION\"|" \
  "$GIVEN/config.pbtxt" > "$model/config.pbtxt"
exec "$SERVER" --model-repository="$MODELS" "$@"
