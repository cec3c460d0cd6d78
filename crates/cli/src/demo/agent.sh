#!/bin/sh
# The demo's agent: reads its prompt on stdin, does what the first sh block says, and reports.
# A real agent reads the same prompt and writes the same two files.
prompt=$(cat)
ATTEMPT=$(printf '%s\n' "$prompt" | sed -n 's|^You are worker .* Attempt \([0-9]*\)/.*|\1|p' | head -n 1)
export ATTEMPT
result=$FLAGPOST_SESSION_DIR/result-task-$FLAGPOST_TASK.md
notes=$FLAGPOST_SESSION_DIR/context-task-$FLAGPOST_TASK.md
script=$(printf '%s\n' "$prompt" | awk '/^```sh$/ { inside = 1; next } /^```$/ { if (inside) exit } inside')

# note SECTION TEXT: what the other agents should know.
functions='note() { printf "## %s\n- %s\n" "$1" "$2" >> "$notes"; }'
export notes

echo "worker $FLAGPOST_WORKER, task $FLAGPOST_TASK, attempt $ATTEMPT"
if output=$(printf '%s\n%s\n' "$functions" "$script" | sh -eu 2>&1); then
    status=PASS
else
    status=FAIL
fi
printf '%s\n' "$output"
{
    printf 'status: %s\n\n## Summary\n' "$status"
    if [ "$status" = PASS ]; then echo "Did it."; fi
    printf '\n## Issues\n'
    if [ "$status" = FAIL ]; then printf '%s\n' "$output"; else echo None; fi
} > "$result"
