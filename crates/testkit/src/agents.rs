//! Fake agents: shell scripts that do what real ones do, and what they should not.
//!
//! Owns the words that such scripts share. A script waits for files and leaves files, in a place
//! that the test chooses: nothing in it depends on how fast the machine is.

use std::{fs, path::Path};

use crate::patience::patience;

/// What every script can say; `@PLACE@` stands for the test's directory, `@LOOKS@` for how often it looks.
const WORDS: &str = r#"
place='@PLACE@'
task=$FLAGPOST_TASK
session=$FLAGPOST_SESSION_DIR
result=$session/result-task-$task.md
notes=$session/context-task-$task.md
# report STATUS [SUMMARY [ISSUES]]
report() {
    printf 'status: %s\n\n## Summary\n%s\n\n## Issues\n%s\n' "$1" "${2-did it}" "${3-None}" > "$result"
}
# mark NAME: tells the test something.
mark() { : > "$place/$1"; }
# await NAME: waits until the test, or another agent, marks it.
await() {
    looked=0
    until [ -e "$place/$1" ]; do
        looked=$((looked + 1))
        if [ "$looked" -gt @LOOKS@ ]; then echo "waited in vain for $1"; exit 99; fi
        sleep 0.05
    done
}
# nth: sets n to how often an agent was started on this task, in all runs.
nth() {
    printf x >> "$place/starts-$task"
    n=$(wc -c < "$place/starts-$task")
}
# trace WORD: one line of a record that all agents share.
trace() { echo "$1 $task" >> "$place/trace"; }
# runner: the process id of whoever runs the live session.
runner() { sed -n 's/^pid: //p' "$session/.lock"; }
# child NAME: a child in the agent's group that would live for ever; its id is left under the name.
child() {
    (trap '' TERM HUP INT; while :; do sleep 60; done) &
    echo "$!" > "$place/$1"
}
"#;

/// Does at random, but by task and attempt always the same, what agents in the wild do: four of
/// ten starts go well, the others fail, hang, write nonsense, die, leave children or end the runner.
pub const WILD: &str = r#"
nth
die=$(( (task * 7 + n * 13 + task * n * 3) % 20 ))
# Whatever fate says, a task gets done in the end.
if [ "$n" -gt 6 ]; then die=0; fi
case $die in
    0|1|2|3|4|5|6) report PASS "task $task"; exit 0 ;;
    7) flagpost done "$task" "task $task" > /dev/null || exit 7; exit 0 ;;
    8) exit 3 ;;
    9) child "child-$task-$n"; report FAIL "" "it went wrong" ;;
    10) child "child-$task-$n"; exec sleep 600 ;;
    11) trap '' TERM; while :; do sleep 60; done ;;
    12) head -c 300000 /dev/urandom > "$result"; exit 1 ;;
    13) head -c 3000000 /dev/zero > "$result"; exit 1 ;;
    14) printf 'status: PA' > "$result"; kill -9 $$ ;;
    15) mkdir "$result"; exit 1 ;;
    16) head -c 200000 /dev/urandom > "$notes"; kill -9 $$ ;;
    17) report PARTIAL half; child "child-$task-$n" ;;
    18) child "child-$task-$n"; kill -9 "$(runner)"; sleep 600 ;;
    19) report PASS "too late"; kill -9 "$(runner)" ;;
esac
"#;

/// Writes a script of this name beside the marks in `place`; the command line that starts it.
///
/// # Panics
/// Where it cannot be written.
pub fn script(place: &Path, name: &str, body: &str) -> String {
    let path = place.join(name);
    let at = place.to_str().expect("the place of a test is UTF-8");
    assert!(!at.contains('\''), "{at:?} cannot be quoted");
    let looks = patience().as_millis() / 50;
    let words = WORDS.replace("@PLACE@", at);
    let text = format!("{}{body}\n", words.replace("@LOOKS@", &looks.to_string()));
    fs::write(&path, text).expect("a script can be written");
    format!("sh '{at}/{name}'")
}

/// How many agents were at work at once, by a record of `trace +` and `trace -`.
pub fn most_at_once(trace: &str) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for line in trace.lines() {
        match line.chars().next() {
            Some('+') => now += 1,
            Some('-') => now = now.saturating_sub(1),
            _ => {}
        }
        most = most.max(now);
    }
    most
}
