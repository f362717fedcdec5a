#!/usr/bin/env bash
# Installs the peers that the interop tests drive, pinned by the lock files beside this script.
#
#   install.sh [CACHE] [COMPONENT...]
#
# CACHE       where to install (default: .cache/interop at the top of the repository)
# COMPONENT   official  the public conformance suite, with the Node.js it needs
#             node      the TypeScript SDKs and the Inspector
#             python    the Python SDK, in a virtual environment
#             rmcp      the rmcp peer, built with cargo
#             (default: all of them)
#
# Needs npm, python3 with venv, and cargo. A component whose inputs have not changed since the last
# run is left alone, so calling this before every test run costs milliseconds.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${1:-$here/../../.cache/interop}
shift || true
components=("$@")
[ ${#components[@]} -gt 0 ] || components=(official node python rmcp)

mkdir -p "$cache"
cache=$(cd "$cache" && pwd)

# Two runs at once would remove each other's files.
if command -v flock >/dev/null; then
    exec 9>"$cache/lock"
    flock 9
fi

# fingerprint FILE... : what an installation was made from
fingerprint() {
    cat "$@" | sha256sum | cut -d' ' -f1
}

# fresh COMPONENT FINGERPRINT : is the installed component made from exactly this?
fresh() {
    [ -f "$cache/$1/.stamp" ] && [ "$(cat "$cache/$1/.stamp")" = "$2" ]
}

# npm_component NAME SOURCE_DIR : an exact copy of a package-lock.json's tree
npm_component() {
    local name=$1 source=$2 print
    print=$(fingerprint "$source/package.json" "$source/package-lock.json" "$source/.npmrc")
    fresh "$name" "$print" && return
    echo "installing $name" >&2
    mkdir -p "$cache/$name"
    rm -f "$cache/$name/.stamp"
    cp "$source/package.json" "$source/package-lock.json" "$source/.npmrc" "$cache/$name/"
    (cd "$cache/$name" && npm ci --loglevel=error >&2)
    echo "$print" >"$cache/$name/.stamp"
}

python_component() {
    local print
    print=$(fingerprint "$here/requirements.txt" <(python3 --version))
    fresh python "$print" && return
    echo "installing python" >&2
    rm -rf "$cache/python"
    python3 -m venv "$cache/python"
    "$cache/python/bin/python" -m pip install --quiet --disable-pip-version-check \
        --require-hashes --only-binary :all: -r "$here/requirements.txt" >&2
    echo "$print" >"$cache/python/.stamp"
}

# Cargo knows by itself what is fresh.
rmcp_component() {
    cargo build --quiet --locked --manifest-path "$here/rmcp-peer/Cargo.toml" \
        --target-dir "${MCP_INTEROP_RMCP_TARGET:-$cache/rmcp}" >&2
}

for component in "${components[@]}"; do
    case $component in
        official) npm_component official "$here/../official" ;;
        node) npm_component node "$here" ;;
        python) python_component ;;
        rmcp) rmcp_component ;;
        *)
            echo "unknown component: $component" >&2
            exit 2
            ;;
    esac
done
