#!/bin/sh
# Writes which keys callers may show, as nginx reads it, then runs nginx. The key goes from one file to
# another: it is no word of a command and no variable. The tests of Caliper run this as it is.
set -eu

KEY=${KEY:-/run/caliper/model/token}
CONFIG=${CONFIG:-/etc/caliper/nginx}
KEYS=${KEYS:-/tmp/keys}
TLS=${TLS:-/run/caliper/tls/tls.crt}
EVERY=${EVERY:-60}

umask 077
# A line that is empty would let in whoever shows an empty key.
sed -e '/./!d' -e 's/["\\]/\\&/g' -e 's/.*/"Bearer &" 0;/' "$KEY" > "$KEYS/known"
# A certificate that was renewed: nginx, which takes this process's number, reads it when it is told to.
{
  seen=$(cksum < "$TLS")
  while sleep "$EVERY" && kill -0 $$; do
    now=$(cksum < "$TLS")
    [ "$now" = "$seen" ] || nginx -e stderr -c "$CONFIG/nginx.conf" -s reload
    seen=$now
  done
} > /dev/null 2>&1 &
exec nginx -e stderr -c "$CONFIG/nginx.conf" -g 'daemon off;'
