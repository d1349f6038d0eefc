#!/usr/bin/env bash
# Makes a virtual environment that can run the grader and its tests.
# usage: scripts/setup.sh VENV CONSTRAINTS
# PYTHON names the interpreter to start from (python3).
set -euo pipefail
cd "$(dirname "$0")/.."

venv=$1
constraints=$2
python=${PYTHON:-python3}

say() { printf 'setup: %s\n' "$*" >&2; }

need_python() {
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        say "$python is missing or older than 3.11; name another one: make PYTHON=python3.12 ..."
        exit 1
    fi
}

# A card that answers, and a torch built for it beside the starting interpreter.
has_gpu_set_up() {
    nvidia-smi >/dev/null 2>&1 &&
        "$python" -c 'import sys, torch, triton; sys.exit(torch.version.cuda is None)' >/dev/null 2>&1
}

make_venv() {
    if ! "$python" -m venv "$@" "$venv"; then
        say "no virtual environment could be made; on Debian and Ubuntu: apt-get install python3-venv"
        exit 1
    fi
}

install_bubblewrap() {
    if command -v bwrap >/dev/null; then return; fi
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        say "installing bubblewrap, the sandbox of submissions"
        apt-get install -qq -y --no-install-recommends bubblewrap >/dev/null 2>&1 ||
            { apt-get update -qq && apt-get install -qq -y --no-install-recommends bubblewrap; } >/dev/null 2>&1 || true
    fi
    command -v bwrap >/dev/null ||
        say "bubblewrap is not there and cannot be installed from here; install it with your package manager." \
            "Until then submissions run with process limits only."
}

pip() { "$venv/bin/python" -m pip --disable-pip-version-check --quiet --quiet "$@"; }

need_python
install_bubblewrap
if [ "$constraints" = constraints.txt ] && has_gpu_set_up; then
    say "$venv: with the torch and triton that $python has"
    make_venv --system-site-packages
    pip install -e '.[dev,gpu]'
else
    say "$venv: with the versions of $constraints"
    make_venv
    # One command each: a torch built for CUDA asks for a Triton of its own, and the pinned one is wanted.
    say "$venv: torch, which is large"
    pip install -c "$constraints" torch
    pip install -c "$constraints" numpy triton
    extras=dev
    if nvidia-smi >/dev/null 2>&1; then extras=dev,gpu; fi
    pip install -e ".[$extras]"
fi
say "$venv is ready"
