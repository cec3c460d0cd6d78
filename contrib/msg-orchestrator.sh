#!/bin/sh
# An orchestrator that knows 'flagpost msg': it gives each worker a task, and the next one when that
# is done, until there are none left. With one worker it works one after another.
#
#   msg-orchestrator.sh THREAD W1 [W2...] < prompts
#
# Each line of stdin is a prompt; its number is the task's id. What its workers say is printed, a
# line each. A STUCK waits for the operator: 'flagpost answer W1/outbox/3 …'.
# A policy that lets through what the controller 'orchestrator' writes keeps it from waiting. In the
# end each worker is sent a QUERY to stop.

set -u
thread=${1:?usage: msg-orchestrator.sh THREAD WORKER... < prompts}
shift
FLAGPOST_WORKER=orchestrator
export FLAGPOST_WORKER
number=0
open=0

# Gives the worker $1 the next task, if there is one.
give() {
    if IFS= read -r prompt; then
        number=$((number + 1))
        open=$((open + 1))
        printf '%s\n' "$prompt" | flagpost msg send --to "$1" --subject TASK --thread "$thread" \
            --task "$number" --num "$number" - --quiet >/dev/null
    fi
}

for worker; do
    give "$worker"
done
while test "$open" -gt 0; do
    place=$(flagpost msg recv --wait --thread "$thread" --quiet) || exit
    flagpost msg show "$place" --line
    case $(flagpost msg show "$place" --json) in
        *'"subject":"DONE"'*)
            open=$((open - 1))
            give "${place%%/*}" ;;
    esac
    # Only now that it is dealt with.
    flagpost msg ack "$place" --quiet >/dev/null
done
for worker; do
    flagpost msg send --to "$worker" --subject QUERY 'Please stop.' --quiet >/dev/null
done
