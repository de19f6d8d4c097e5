#!/bin/sh
# Formats the volume of a broker that is new, then runs it. Written for any POSIX shell: the tests of
# Caliper run it as it is, against the same Kafka, in folders of their own.
set -eu

: "${BROKERS:?how many brokers there are}" "${NAMES:?their names, with %d for the number}" "${HEAP:?of Java}"
POD=${POD:-$(hostname)}              # kafka-0, kafka-1, ...
LIBRARIES=${LIBRARIES:-/opt/kafka/libs}
CONFIG=${CONFIG:-/etc/caliper/kafka}
SECRETS=${SECRETS:-/run/caliper/kafka}
TLS=${TLS:-/run/caliper/tls}
DATA=${DATA:-/var/lib/kafka/data}
WORK=${WORK:-/tmp}
BIND=${BIND:-0.0.0.0}
CLIENTS=${CLIENTS:-9093} CONTROLLERS=${CONTROLLERS:-9094} PEERS=${PEERS:-9095}

name() {
  # shellcheck disable=SC2059 # the names are a format
  printf "$NAMES" "$1"
}
number=${POD##*-}
voters=
broker=0
while [ "$broker" -lt "$BROKERS" ]; do
  voters="$voters${voters:+,}$broker@$(name "$broker"):$CONTROLLERS"
  broker=$((broker + 1))
done
copies=$((BROKERS < 3 ? BROKERS : 3))
enough=$((copies > 2 ? 2 : 1))

# The password stands in a file of the container's memory, which nobody else can read.
umask 077
password=$(cat "$SECRETS/broker-password")
plain="org.apache.kafka.common.security.plain.PlainLoginModule required"
plain="$plain username=\"broker\" password=\"$password\" user_broker=\"$password\";"
{
  cat "$CONFIG/server.properties"
  cat <<END
node.id=$number
controller.quorum.voters=$voters
listeners=CLIENTS://$BIND:$CLIENTS,CONTROLLERS://$BIND:$CONTROLLERS,BROKERS://$BIND:$PEERS
advertised.listeners=CLIENTS://$(name "$number"):$CLIENTS,BROKERS://$(name "$number"):$PEERS
listener.name.brokers.plain.sasl.jaas.config=$plain
listener.name.controllers.plain.sasl.jaas.config=$plain
super.users=User:broker;User:$(cat "$SECRETS/user")
ssl.keystore.location=$TLS/keystore.pem
ssl.truststore.location=$TLS/ca.crt
log.dirs=$DATA/log
default.replication.factor=$copies
min.insync.replicas=$enough
offsets.topic.replication.factor=$copies
transaction.state.log.replication.factor=$copies
transaction.state.log.min.isr=$enough
END
} > "$WORK/server.properties"

java="java -Xms$HEAP -Xmx$HEAP -XX:+ExitOnOutOfMemoryError -Dlog4j2.configurationFile=$CONFIG/log4j2.yaml"
# The cluster's name is that of every installation: it keeps volumes apart, and is no secret.
# One that is formatted is left as it is, and so are its users. The password is no word of the command,
# which processes can list; and what the tool tells of it, on standard output, is for no log.
{
  echo --add-scram
  printf 'SCRAM-SHA-512=[name=%s,password=%s]\n' "$(cat "$SECRETS/user")" "$(cat "$SECRETS/password")"
} > "$WORK/scram"
$java -cp "$LIBRARIES/*" kafka.tools.StorageTool format --ignore-formatted \
  --cluster-id Y2FsaXBlci1jbHVzdGVyMA --config "$WORK/server.properties" "@$WORK/scram" > /dev/null
rm "$WORK/scram"
exec $java -cp "$LIBRARIES/*" kafka.Kafka "$WORK/server.properties"
