#!/bin/sh
# Pastes each brief that was let through into the pane of a worker's agent and presses Enter. A
# brief counts as read once tmux took it; while the pane is gone, it waits.
#
#   tmux-poller.sh WORKER_DIR PANE [--once]
#
# as in: tmux-poller.sh ~/.flagpost/repos/REPO_ID/workers/W1 fleet:1.0

set -u

# poller.sh calls us back with each brief.
if test -n "${FLAGPOST_PANE-}"; then
    body=$1 word=$2 seq=$3
    buffer=flagpost-$seq-$$
    {
        if test "$word" = rejected; then
            echo "Do not do this: it was rejected."
        fi
        cat "$body"
    } | tmux load-buffer -b "$buffer" - &&
        tmux paste-buffer -p -d -b "$buffer" -t "$FLAGPOST_PANE" &&
        tmux send-keys -t "$FLAGPOST_PANE" Enter
    exit
fi

worker=${1:?usage: tmux-poller.sh WORKER_DIR PANE [--once]}
FLAGPOST_PANE=${2:?usage: tmux-poller.sh WORKER_DIR PANE [--once]}
case $0 in
*/*) FLAGPOST_HAND=$0 ;;
*) FLAGPOST_HAND=./$0 ;;
esac
export FLAGPOST_PANE FLAGPOST_HAND
exec "${FLAGPOST_HAND%/*}/poller.sh" "$worker" "${3-}"
