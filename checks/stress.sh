# The same tests again and again on a busy machine: how a test that was mended for chance is shown to be mended.

# stress TIMES NAME…: the tests whose names have one of these in them, so many times beside two busy loops.
stress() {
    times=$1
    shift
    printf '#!/bin/sh\nwhile :; do :; done\n' >"$out/busy"
    for loop in 1 2; do begin "busy$loop" sh "$out/busy"; done
    red=0
    for round in $(seq "$times"); do
        while read -r directory binary; do
            # What it would run: none, in most binaries.
            "$binary" --list "$@" 2>/dev/null | grep -q ': test$' || continue
            run_binary "$directory" "$binary" "$@" || { red=$((red + 1)); echo "round $round: red"; }
        done <"$out/binaries"
    done >"$out/stress.log" 2>&1
    rounds=$(grep -c '^test result: ' "$out/stress.log")
    [ "$red" = 0 ] || grep -E '^(round |test .*FAILED|---- )' "$out/stress.log"
    echo "$red red of $rounds runs of $* in $times rounds beside two busy loops"
    [ "$red" = 0 ] && [ "$rounds" -gt 0 ]
}
