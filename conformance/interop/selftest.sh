#!/usr/bin/env bash
# Drives every peer's client against every peer's server, without our code: what fails here is not ours.
#
#   selftest.sh [PAIR...]     PAIR is CLIENT:SERVER:TRANSPORT, for example ts1:python:http
#
# Prints one line for each pair, and the checks that did not hold. Run install.sh first.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
server=
stop_server() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "$server" ] || wait "$server" 2>/dev/null || true
    server=
}
trap 'stop_server; rm -rf "$work"' EXIT

# The SDKs start a server with only a few variables of their own environment.
run=(env)
for name in MCP_INTEROP_CACHE MCP_INTEROP_RMCP_TARGET; do
    [ -z "${!name:-}" ] || run+=("$name=${!name}")
done
run+=("$here/run.sh")

# start_server PEER TRANSPORT : sets `url` once the server listens
start_server() {
    : >"$work/server"
    "${run[@]}" server "$1" "$2" 2>"$work/server" &
    server=$!
    for _ in $(seq 300); do
        url=$(sed -n 's/^listening on //p' "$work/server")
        [ -z "$url" ] || return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    cat "$work/server" >&2
    return 1
}

pairs=("$@")
if [ ${#pairs[@]} -eq 0 ]; then
    for client in ts1 ts2 python rmcp inspector; do
        for peer in ts1 ts2 python rmcp; do
            pairs+=("$client:$peer:stdio" "$client:$peer:http")
        done
    done
    for client in ts1 ts2 python inspector; do
        pairs+=("$client:ts1:sse" "$client:python:sse")
    done
    # This server knows no revision without handshake, so these clients have to fall back.
    for client in ts2 python rmcp inspector; do
        pairs+=("$client:ts1:stdio:--auto" "$client:ts1:http:--auto")
    done
fi

failed=0
for pair in "${pairs[@]}"; do
    IFS=: read -r client peer transport flag <<<"$pair"
    target=(stdio "${run[@]}" server "$peer" stdio)
    if [ "$transport" != stdio ]; then
        start_server "$peer" "$transport"
        target=("$transport" "$url")
    fi
    if timeout 120 "${run[@]}" client "$client" ${flag:+"$flag"} "${target[@]}" >"$work/out" 2>"$work/err"; then
        echo "ok      $pair  $(wc -l <"$work/out") checks"
    else
        failed=1
        echo "FAILED  $pair"
        grep '"ok":false' "$work/out" | cut -c1-400 || tail -5 "$work/err"
    fi
    stop_server
done
exit $failed
