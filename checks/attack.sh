# The attack: send the daemon of a scratch home whatever its own description allows, and much that it does not.

SCHEMATHESIS=4.32.5
SECONDS_OF_ATTACK=40

fuzzer() {
    tool=$PWD/target/schemathesis/bin/schemathesis
    [ "$("$tool" --version 2>/dev/null)" = "schemathesis, version $SCHEMATHESIS" ] ||
        { python3 -m venv target/schemathesis && target/schemathesis/bin/pip install -q "schemathesis==$SCHEMATHESIS"; } ||
        skip schemathesis "it cannot be installed (it needs python3 with venv, and PyPI)"
}

attack() {
    tool=$PWD/target/schemathesis/bin/schemathesis
    "$tool" --version >/dev/null 2>&1 || return 0
    top=$PWD
    flagpost=$FLAGPOST_TEST_BIN
    scratch=$(mktemp -d) || return
    (
        export FLAGPOST_HOME="$scratch/home"
        unset FLAGPOST_WORKER FLAGPOST_LIST FLAGPOST_TASK FLAGPOST_TOKEN
        mkdir "$scratch/web" && cd "$scratch/web" && git init -q . &&
            "$flagpost" init --yes >/dev/null && "$flagpost" add 'Write the parser' >/dev/null &&
            "$flagpost" worker add W1 >/dev/null &&
            "$flagpost" assign 1192 W1 --inline 'Merge the seal' >/dev/null &&
            "$flagpost" up --quiet >"$scratch/http"
    ) || { rm -rf "$scratch"; return 1; }
    # Streams do not end, and are left to the tests. What may be refused is said in the configuration.
    # It keeps a cache where it runs.
    (
        cd "$scratch" && "$tool" --config-file "$top/crates/daemon/schemathesis.toml" \
            run "$(cat "$scratch/http")/v1/openapi.json" \
            --header "Authorization: Bearer $(cat "$scratch/home/run/token")" \
            --exclude-path-regex 'events$' --checks all \
            --max-time "$SECONDS_OF_ATTACK" --max-failures 5 --seed 1
    )
    attacked=$?
    FLAGPOST_HOME="$scratch/home" "$flagpost" down >/dev/null
    rm -rf "$scratch"
    return "$attacked"
}
