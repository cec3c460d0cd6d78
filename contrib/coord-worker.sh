#!/bin/sh
# A worker of a coordination directory that polls: asks for a task once a second, hands it to a
# program, and completes or fails it by that program's exit code. Needs flagpost, sed, cat, sleep,
# mktemp and rm.
#
#   coord-worker.sh AGENT PROGRAM [ARGUMENT…]
#
# The program runs with COORD_TASK and COORD_TOKEN set and gets on its stdin what 'flagpost coord
# worker claim --json' said. What it prints is the result, or the reason why it failed.
#
# With COORD_ONCE set the worker ends, with 0, when it finds nothing to claim.

set -u
agent=${1:?usage: coord-worker.sh AGENT PROGRAM [ARGUMENT…]}
shift
: "${1:?usage: coord-worker.sh AGENT PROGRAM [ARGUMENT…]}"

dir=$(mktemp -d) || exit 1
child=
end() {
    if test -n "$child"; then
        kill "$child" 2>/dev/null
    fi
    rm -rf "$dir"
}
trap end EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

while :; do
    flagpost coord worker claim --as "$agent" --json >"$dir/claim" 2>"$dir/error"
    code=$?
    if test "$code" -eq 0; then
        # In JSON no quote stands alone within a text, so these find keys and nothing else.
        task=$(sed -n 's/.*"task":{"id":"\([^"]*\)".*/\1/p' "$dir/claim")
        token=$(sed -n 's/.*"token":\([0-9][0-9]*\).*/\1/p' "$dir/claim")
        flagpost coord worker start "$task" --token "$token" --as "$agent" --quiet >"$dir/error"
        COORD_TASK=$task COORD_TOKEN=$token "$@" <"$dir/claim" >"$dir/said" 2>&1 &
        child=$!
        # A sign of life every five minutes keeps the task.
        seconds=0
        while kill -0 "$child" 2>/dev/null; do
            sleep 1
            seconds=$((seconds + 1))
            if test $((seconds % 300)) -eq 0; then
                flagpost coord worker heartbeat --as "$agent" --quiet >"$dir/error"
            fi
        done
        if wait "$child"; then
            verb=complete
        else
            verb=fail
        fi
        child=
        flagpost coord worker "$verb" "$task" --token "$token" --file "$dir/said" --as "$agent"
        if test "$?" -eq 6; then
            flagpost coord worker fail "$task" 'what the program printed is no text' \
                --token "$token" --as "$agent"
        fi
        continue
    elif test "$code" -ne 3; then
        cat "$dir/claim" "$dir/error" >&2
    elif test -n "${COORD_ONCE-}"; then
        exit 0
    fi
    sleep 1
done
