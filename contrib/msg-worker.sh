#!/bin/sh
# A worker that knows 'flagpost msg' and a command: it takes one TASK after another, gives the
# command the prompt on stdin, and reports what it printed.
#
#   FLAGPOST_WORKER=W1 msg-worker.sh COMMAND [ARGUMENT...]
#
# The command finds the task's id in $TASK. Its output is the summary of the DONE; where it fails,
# the reason of a STUCK that asks for guidance, and the REPLY is given to it as the prompt was. A
# QUERY ends the worker. Killed at any moment and started again, it goes on with what it had in hand.

set -u
: "${FLAGPOST_WORKER:?say who you are}" "${1:?usage: msg-worker.sh COMMAND [ARGUMENT...]}"
TASK=
export TASK

# Gives the command its stdin and reports.
work() {
    flagpost msg send --subject PROGRESS --task "$TASK" 'at it' --quiet
    if told=$("$@" 2>&1); then
        printf '%s\n' "${told:-done}" | flagpost msg send --subject DONE --task "$TASK" - --quiet
    else
        printf '%s\n' "${told:-it failed}" |
            flagpost msg send --subject STUCK --task "$TASK" --needs guidance - --quiet
    fi
}

# Takes the message $place in hand, and does what it says.
take() {
    # It may have been taken back since.
    flagpost msg ack "$place" --quiet || return 0
    case $(flagpost msg show "$place" --json) in
        *'"decision":"rejected"'*) ;;
        *'"subject":"TASK"'*)
            TASK=$(flagpost msg show "$place" --field bead_id)
            flagpost msg show "$place" --field prompt | work "$@" ;;
        *'"subject":"REPLY"'*)
            if test -n "$TASK"; then
                flagpost msg show "$place" | work "$@"
            fi ;;
        *'"subject":"QUERY"'*)
            flagpost msg send --subject REPLY --re "$place" 'I stop.' --quiet
            exit 0 ;;
    esac
}

# What it had in hand when it was killed.
for place in $(flagpost msg unacked --to "$FLAGPOST_WORKER" --quiet); do
    take "$@"
done
while place=$(flagpost msg recv --wait --quiet); do
    take "$@"
done
