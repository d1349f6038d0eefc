#!/usr/bin/env bash
# Runs once, when Gradescope builds the container: installs a sandbox and the grader.
set -euo pipefail

root="${KATA_AUTOGRADER:-/autograder}"
source_dir="$root/source"
venv="${KATA_VENV:-$root/venv}"

export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends bubblewrap

# The grader needs Python 3.11 or later.
find_python() {
    local name
    for name in ${KATA_PYTHON:-} python3.13 python3.12 python3.11 python3; do
        if command -v "$name" >/dev/null &&
            "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return 0
        fi
    done
    return 1
}

if ! python="$(find_python)"; then
    apt-get install -y --no-install-recommends python3.11 python3.11-venv
    python="$(find_python)" || {
        echo "Error: no Python 3.11 or later; choose a newer base image in Gradescope" >&2
        exit 1
    }
fi

"$python" -m venv "$venv"
cd "$source_dir"
"$venv/bin/python" -m pip install --no-cache-dir -r requirements.txt
"$venv/bin/python" -m tritonkata --version
