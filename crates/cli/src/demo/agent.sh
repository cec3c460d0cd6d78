#!/bin/sh
# The demo's agent: reads its prompt on stdin, does what the first sh block says, and reports.
# A real agent reads the same prompt, commits and writes the same two files.
prompt=$(cat)
script=$(printf '%s\n' "$prompt" | awk '/^```sh$/ { inside = 1; next } /^```$/ { if (inside) exit } inside')
# What was answered, if this task asked before.
ANSWER=$("$FLAGPOST_BIN" show "$FLAGPOST_TASK" | sed -n '/^answer /{n;p;}' | tail -n 1)
ATTEMPT=$FLAGPOST_ATTEMPT
NOTES=${FLAGPOST_REPORT%/*}/context.md
export ANSWER ATTEMPT NOTES

# note SECTION TEXT: what the other agents should know. ask TEXT: stops here until a person answers.
functions='
note() { printf "## %s\n- %s\n" "$1" "$2" >> "$NOTES"; }
ask() { "$FLAGPOST_BIN" stuck "$FLAGPOST_TASK" "$1" > /dev/null; exit 77; }
'

echo "worker $FLAGPOST_WORKER, task $FLAGPOST_TASK, attempt $ATTEMPT"
# Thinking takes a moment.
sleep $((FLAGPOST_TASK * 5 % 3 + 1))
output=$(printf '%s\n%s\n' "$functions" "$script" | sh -eu 2>&1)
code=$?
printf '%s\n' "$output"
if [ "$code" = 0 ]; then
    git add --all
    subject=$(printf '%s\n' "$prompt" | sed -n '1s/^# Task [^:]*: //p')
    git diff --cached --quiet || git commit --quiet --message "$subject"
fi
case $code in
    0) status=PASS summary='Did it.' issues=None ;;
    77) exit 0 ;;
    *) status=FAIL summary= issues=$output ;;
esac
printf 'status: %s\n\n## Summary\n%s\n\n## Issues\n%s\n' "$status" "$summary" "$issues" > "$FLAGPOST_REPORT"
