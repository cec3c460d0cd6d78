# The tests: built once, then run in two lanes side by side.
#
# Owns which test runs where. The lane of the processor runs two tests at a time; the lane of those that wait
# (checks/waiting) six, then the screens, then the attack. Each test of the workspace is in exactly one lane: a
# binary's tests that one lane takes by name, the other leaves out by the same names.

# build_tests: every test binary and the product, with the features of the whole workspace; notes where they are.
# Builds of some of the packages would have other features, and build what they share once more.
build_tests() {
    : >"$out/binaries"
    at_once env FLAGPOST_TEST_BINARIES="$PWD/$out/binaries" cargo test --workspace --tests --locked \
        --config "target.'cfg(all())'.runner='$PWD/checks/note-binary'"
}

# named LIST CRATE BINARY: the names of tests that checks/LIST has of it; 'all', or nothing.
named() {
    awk -v crate="$2" -v binary="$3" '$1 == crate && $2 == binary {
        $1 = $2 = ""; sub(/^ +/, ""); print $0 == "" ? "all" : $0
    }' "checks/$1"
}

# run_binary DIRECTORY BINARY ARGUMENT…
run_binary() {
    directory=$1
    binary=$2
    shift 2
    printf '\n-- %s %s\n' "$(basename "$directory")" "$(basename "${binary%-*}")"
    at_once in_directory "$directory" env CARGO_MANIFEST_DIR="$directory" "$binary" "$@"
}

in_directory() {
    cd "$1" && shift && exec "$@"
}

# skipping NAME…: the arguments that leave tests of these names out.
skipping() {
    for skipped_name; do printf -- '--skip %s ' "$skipped_name"; done
}

# lane NAME BINARIES: the tests of a lane in the binaries of that list; of a quick check without those in
# checks/lengthy. The binaries that failed are named at the end.
lane() {
    lane=$1
    list=$2
    red=
    left_out=
    while read -r directory binary; do
        crate=$(basename "$directory")
        names=$(named waiting "$crate" "$(basename "${binary%-*}")")
        [ "$mode" != quick ] || left_out=$(named lengthy "$crate" "$(basename "${binary%-*}")")
        [ "$left_out" != all ] || continue
        # shellcheck disable=SC2046,SC2086 # One word is one name.
        case $lane,$names in
            waiting, | processor,all) ;;
            waiting,all) run_binary "$directory" "$binary" --test-threads=6 $(skipping $left_out) ;;
            waiting,*) run_binary "$directory" "$binary" --test-threads=6 $names $(skipping $left_out) ;;
            *) run_binary "$directory" "$binary" --test-threads=2 $(skipping $names $left_out) ;;
        esac || red="$red $crate"
    done <"$list"
    [ -z "$red" ] || { echo "tests failed in:$red"; return 101; }
}

processor_lane() {
    lane processor "$out/binaries" && at_once cargo test --workspace --doc --locked
}

waiting_lane() {
    lane waiting "$out/binaries" && screens && attack
}

# both PROCESSOR WAITING: two lanes beside each other; what the first printed comes first, and why tests failed last.
both() {
    begin waiting "$2"
    "$1" >"$out/processor.log" 2>&1
    processor_code=$?
    cat "$out/processor.log"
    await waiting
    waiting_code=$?
    [ "$processor_code $waiting_code" != '0 0' ] || return 0
    panics
    [ "$waiting_code" = 0 ] && return "$processor_code"
    return "$waiting_code"
}

tests() {
    both processor_lane waiting_lane && all_green "$out/binaries"
}

# panics: where and why tests failed, once more at the end of the output, which is what is left of it elsewhere.
panics() {
    printf '\n-- why\n'
    grep -h -A 3 "^thread '.*panicked at" "$out/processor.log" "$out/waiting.log" | cut -c 1-300 | tail -n 40
}

# all_green BINARIES: these have passed as they are.
all_green() {
    mkdir -p target/green
    while read -r _ binary; do touch "target/green/$(basename "$binary")"; done <"$1"
}

# starts_newer BINARY GREEN: whether its tests start the program, and that was built anew since.
starts_newer() {
    [ "$FLAGPOST_TEST_BIN" -nt "$2" ] && grep -qF "$FLAGPOST_TEST_BIN" "$1"
}

# quick_tests: the binaries that were built anew since they last passed, in both lanes. What reads the sources
# always runs.
quick_tests() {
    while read -r directory binary; do
        green=target/green/$(basename "$binary")
        case $directory in
            */testkit) ;;
            # Not every shell calls a file newer than one that is not there. The program that tests start is no part
            # of their binary.
            *) [ ! -e "$green" ] || [ "$binary" -nt "$green" ] || starts_newer "$binary" "$green" || continue ;;
        esac
        echo "$directory $binary"
    done <"$out/binaries" >"$out/changed"
    both quick_processor quick_waiting && all_green "$out/changed"
}

quick_processor() { lane processor "$out/changed"; }
quick_waiting() { lane waiting "$out/changed"; }

# tests_told: how many tests ran, and of how many; how often the power was cut, and in how many states.
tests_told() {
    cat "$out"/*.log 2>/dev/null | awk '
        /^test result: / { ran += $4 + $6; ignored += $8 }
        END { printf "%d tests run of %d", ran, ran + ignored }'
    [ ! -s "$out/states" ] || awk '
        { cuts += $2; met += $3; checked += $4 }
        END { printf ", %d cuts and faults with %d states, %d of them distinct", cuts, met, checked }' "$out/states"
}
