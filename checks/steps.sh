# What a check is made of: steps, work in the background, and what was skipped.
#
# Owns target/check/, where each run leaves its logs, and the last line. Sourced by ./check.

out=target/check
began=$(date +%s)
steps=0

seconds_since() {
    echo $(($(date +%s) - $1))
}

# step NAME COMMAND…: run one step, tell how long it took, end everything if it fails.
step() {
    step_name=$1
    shift
    step_began=$(date +%s)
    printf '\n== %s\n' "$step_name"
    "$@" || failed "$step_name" $?
    steps=$((steps + 1))
    printf '== %s: ok in %s s\n' "$step_name" "$(seconds_since "$step_began")"
}

# at_once COMMAND…: run it so that a signal is answered at once, and not when the command has ended.
at_once() {
    "$@" </dev/null &
    wait $!
}

# begin NAME COMMAND…: the same beside what follows; what it prints goes to a file until 'await NAME'.
begin() {
    begun_name=$1
    shift
    (
        trap - INT TERM
        begun_at=$(date +%s)
        "$@"
        begun_code=$?
        printf '%s: %s s\n' "$begun_name" "$(seconds_since "$begun_at")"
        exit "$begun_code"
    ) >"$out/$begun_name.log" 2>&1 &
    echo "$begun_name $!" >>"$out/begun"
}

# await NAME: wait for what was begun; what it printed.
await() {
    awaited=$(sed -n "s/^$1 //p" "$out/begun")
    wait "$awaited"
    awaited_code=$?
    sed -i "/^$1 /d" "$out/begun"
    cat "$out/$1.log"
    return "$awaited_code"
}

# Ends what still runs, in the background or not, each by its id, with what it started.
end_begun() {
    end_children $$
    rm -f "$out/begun"
}

end_children() {
    for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
        end_children "$child"
        kill "$child" 2>/dev/null
    done
}

# skip NAME WHY: say at once, and again at the end, that this was not checked.
skip() {
    echo "skipped: $1: $2"
    echo "$1" >>"$out/skipped"
}

# last_line RESULT: one line of this run in target/check.last, of the checkout that it ran for.
last_line() {
    commit=$(git rev-parse --short HEAD 2>/dev/null)
    [ -z "$(git status --porcelain 2>/dev/null)" ] || commit="$commit+"
    mkdir -p "$for_dir/target"
    echo "${commit:-unknown} $1 $mode, $steps steps, $(seconds_since "$began") s" >"$for_dir/target/check.last"
}

# ended CODE HOW: end what runs, record it, leave.
ended() {
    end_begun
    last_line "$2"
    printf '\ncheck: %s after %s s\n' "$2" "$(seconds_since "$began")" >&2
    exit "$1"
}

failed() {
    ended "$2" "FAILED at \"$1\" (exit code $2)"
}

missing() {
    printf '\n%s\n' "$*" >&2
    ended 127 FAILED
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# passed: the last line, with what was skipped and how many tests ran.
passed() {
    end_begun
    skipped=$(sort -u "$out/skipped" | tr '\n' ',' | sed 's/,$//; s/,/, /g')
    last_line passed
    printf '\ncheck: passed %s steps in %s s, %s%s\n' "$steps" "$(seconds_since "$began")" "$(tests_told)" \
        "${skipped:+, without $skipped}"
}

start_steps() {
    mkdir -p "$out" && rm -f "$out"/*.log "$out/begun" "$out/skipped" "$out/states"
    : >"$out/skipped"
    trap 'ended 130 interrupted' INT
    trap 'ended 143 terminated' TERM
}
