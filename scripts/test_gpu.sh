#!/usr/bin/env bash
# The tests that need a GPU, side by side where they do not disturb one another.
#
#     scripts/test_gpu.sh [kernels|class|attacks|counters]...     all of them, if none is named
#
# Takes PYTHON (.venv/bin/python), and SECONDS_EACH as the limit of each process (900). Where there are two GPUs, the
# attacks have the second one. Prints one line for each process, and what failed; ends with 1 if anything did.
set -u
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-.venv/bin/python}
SECONDS_EACH=${SECONDS_EACH:-900}
# Each has a launcher of its own, and all of these want the counters of one GPU.
AT_ONCE=8
LOGS=$(mktemp -d)
trap 'rm -rf "$LOGS"' EXIT

run() { # name, arguments of pytest
    local name=$1 began=$SECONDS
    shift
    timeout -k 5 "$SECONDS_EACH" "$PYTHON" -m pytest -q --tb=short -p no:cacheprovider "$@" >"$LOGS/$name" 2>&1 ||
        touch "$LOGS/$name.failed"
    echo "$name: $((SECONDS - began)) s: $(tail -1 "$LOGS/$name")"
}

part() {
    case $1 in
    kernels)
        run engine -m gpu -n 4 tests/gpu/test_engine.py &
        run replay -m gpu tests/gpu/test_replay.py tests/gpu/test_steps.py &
        run leaks -m gpu tests/leaks &
        ;;
    class)
        run sharing -m gpu tests/gpu/test_launcher.py tests/gpu/test_sharing.py &
        run cluster -m gpu tests/cluster &
        run channels tests/boundary/test_socket_channel.py tests/boundary/test_cgroup.py &
        ;;
    attacks)
        local number=0 test
        while read -r test; do
            number=$((number + 1))
            while [ "$(jobs -rp | wc -l)" -ge "$AT_ONCE" ]; do wait -n; done
            run "interference$number" "$test" &
        done < <("$PYTHON" -m pytest -m gpu --co -q tests/hostile/test_interference.py | grep ::)
        wait
        run attacks -m gpu -n "$AT_ONCE" tests/hostile/test_attacks.py
        ;;
    counters)
        # These hold the counters of the GPU on purpose, or time kernels: one after the other.
        run traffic -m gpu tests/gpu/test_traffic.py
        run labs -m gpu tests/labs
        ;;
    esac
}

[ $# -gt 0 ] || set -- kernels class attacks counters
for name in "$@"; do
    case $name in
    kernels | class | attacks | counters) ;;
    *)
        echo "there is no part $name; parts: kernels, class, attacks, counters" >&2
        exit 2
        ;;
    esac
done
all=" $* "
if [ "$(nvidia-smi -L | wc -l)" -ge 2 ] && [[ $all == *" attacks "* ]]; then
    (
        export CUDA_VISIBLE_DEVICES=1
        part attacks
        wait
    ) &
    beside=$!
    all=${all/ attacks / }
fi
(
    if [ -n "${beside:-}" ]; then export CUDA_VISIBLE_DEVICES=0; fi
    for name in $all; do
        part "$name"
        wait
    done
) &
wait $! ${beside:-}
failed=0
for mark in "$LOGS"/*.failed; do
    [ -e "$mark" ] || continue
    failed=1
    echo "== ${mark##*/}"
    grep -aE '^(FAILED|ERROR|E  )' "${mark%.failed}" | cut -c1-300 | head -20
done
exit $failed
