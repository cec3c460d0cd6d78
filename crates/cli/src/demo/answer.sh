#!/bin/sh
# The demo's operator: waits until task 3 asks, thinks for a moment, and answers from a terminal of
# their own, as it were. The command is the one that the run shows.
looks=0
until "$FLAGPOST_BIN" status | grep -q 'flagpost answer 3'; do
    looks=$((looks + 1))
    if [ "$looks" -gt 150 ]; then exit 1; fi
    sleep 0.2
done
sleep 3
exec "$FLAGPOST_BIN" answer 3 'None: what it does is its name'
