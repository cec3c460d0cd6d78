#!/bin/sh
# A worker's side of the relay without any program of Flagpost's: prints each brief that was let
# through, oldest first, and acknowledges it. Looks twice a second; needs cat and sleep.
#
#   poller.sh WORKER_DIR           for ever
#   poller.sh WORKER_DIR --once    one look
#
# WORKER_DIR is ~/.flagpost/repos/REPO_ID/workers/W1. Each brief is printed as
#
#   --- brief 0007 ratified
#   (its text)
#   --- end 0007
#
# Nothing but these lines has '--- brief ' or '--- end ' in it: of a text that has, its path is printed,
# so that no brief can end early and begin another.
#
# With FLAGPOST_HAND set, that program is given each brief instead of stdout, as
# HAND BODY_FILE DECISION NUMBER, and the brief counts as read once it succeeds.
#
# While it runs, WORKER_DIR/alive is touched three times a minute: the worker counts as live.
#
# A shell cannot check that the text is the one that was decided on; 'flagpost worker next' does.

set -u
dir=${1:?usage: poller.sh WORKER_DIR [--once]}
once=${2-}
inbox=$dir/inbox

if ! test -d "$inbox"; then
    echo "poller.sh: $inbox is no directory: is $dir a worker's?" >&2
    exit 3
fi

# The decision on the message $1, if there is one. Of several flags the strictest counts.
decision() {
    for word in rejected edited ratified; do
        if test -f "$1.$word"; then
            echo "$word"
            return 0
        fi
    done
    return 1
}

# Makes the file $1 or makes it young, for nobody else on this machine.
touch_own() {
    (
        umask 077
        : >"$1"
    )
}

# Says that the brief $1 was read.
acknowledge() {
    touch_own "$1.read"
}

# Prints the brief $1 (a path without its ending) unless it is undecided, half, read, or taken back.
deliver() {
    if test -f "$1.read" || test -f "$1.withdrawn" || ! test -f "$1.brief" || ! test -f "$1.brief.meta.json"; then
        return 0
    fi
    word=$(decision "$1") || return 0
    seq=${1##*/}
    if test -n "${FLAGPOST_HAND-}"; then
        if "$FLAGPOST_HAND" "$1.brief" "$word" "$seq"; then
            acknowledge "$1"
        fi
        return 0
    fi
    echo "--- brief $seq $word"
    if test "$word" = rejected; then
        echo "Do not do this: it was rejected."
        echo
    fi
    # What is looked at is what is printed; the x keeps the line breaks at its end.
    text=$(cat "$1.brief" && echo x) || return 0
    case $text in
    *'--- brief '* | *'--- end '*)
        echo "Its text could be taken for the end of a brief. Read it in $1.brief" ;;
    *) printf '%s\n' "${text%x}" ;;
    esac
    echo "--- end $seq"
    acknowledge "$1"
}

looks=0
while :; do
    if test $((looks % 40)) = 0; then
        touch_own "$dir/alive"
    fi
    looks=$((looks + 1))
    # Four digits come before five, and so on: the order of the numbers.
    for body in "$inbox"/[0-9][0-9][0-9][0-9].brief \
        "$inbox"/[0-9][0-9][0-9][0-9][0-9].brief \
        "$inbox"/[0-9][0-9][0-9][0-9][0-9][0-9].brief; do
        deliver "${body%.brief}"
    done
    if test "$once" = --once; then
        exit 0
    fi
    sleep 0.5
done
