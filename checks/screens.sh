# The screens: the scripts of the browser's pages with their types, and the pages in a real browser.
#
# FLAGPOST_TEST_CHROMIUM=/path, FLAGPOST_TEST_MODULES=/path and FLAGPOST_TEST_NODE=/path name what is installed
# elsewhere.

# What the tests of the screens need, as `package@version`.
FACES='playwright-core@1.65.1 axe-core@4.14.1 typescript@7.0.2'
node=${FLAGPOST_TEST_NODE:-$PWD/target/agents/node_modules/.bin/node}
modules=${FLAGPOST_TEST_MODULES:-$PWD/target/faces/node_modules}

# faces_missing: which of them are not there in that version.
faces_missing() {
    for face in $FACES; do
        grep -q "^ *\"version\": *\"${face#*@}\"" "$modules/${face%@*}/package.json" 2>/dev/null || echo "$face"
    done
}

faces_modules() {
    [ -z "$(faces_missing)" ] || [ -n "${FLAGPOST_TEST_MODULES:-}" ] || {
        # shellcheck disable=SC2046 # One word is one package.
        npm_install target/faces $(faces_missing)
    }
    [ -z "$(faces_missing)" ] ||
        must_have faces "$(faces_missing | tr '\n' ' ')cannot be installed (npm and its registry are needed)"
}

screens() {
    chromium=${FLAGPOST_TEST_CHROMIUM:-$(command -v chromium-headless-shell)}
    if ! "$node" --version >/dev/null 2>&1; then
        must_have faces "there is no node 22 (it needs npm and its registry), and the screens are not tested"
    elif [ -n "$(faces_missing)" ]; then
        must_have faces "their modules are not installed, and the screens are not tested"
    elif ! "$chromium" --version >/dev/null 2>&1; then
        must_have faces "chromium-headless-shell is not installed (Debian: apt-get install chromium-headless-shell)"
    else
        "$node" "$modules/typescript/bin/tsc" --project crates/board --noEmit &&
            FLAGPOST_TEST_CHROMIUM=$chromium FLAGPOST_TEST_MODULES=$modules "$node" tests/faces/run.mjs
    fi
}
