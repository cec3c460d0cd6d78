#!/usr/bin/env python3
"""Make the pictures of docs/cockpit.md from a real run of the cockpit.

    docs/pictures/cockpit.py [FLAGPOST]

Needs git and tmux. FLAGPOST is the program, target/release/flagpost if not said. A fleet is made in a
temporary home, the cockpit is opened in a tmux of its own, keys are pressed, and what the terminal shows
is written as SVG beside this file: the characters and colours are the terminal's, not drawn by hand.
"""

import html
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SOCKET = f"flagpost-pictures-{os.getpid()}"

# Name, columns, rows, and the keys that lead there.
PICTURES = [
    ("inbox", 80, 24, ["4"]),
    ("fleet", 80, 24, ["1"]),
    ("board", 120, 36, ["2"]),
    ("run", 120, 30, ["5"]),
    ("palette", 100, 24, [":", "r", "a", "t"]),
]

COLORS = {
    31: "#d16969", 32: "#6a9955", 33: "#c9a94f", 34: "#569cd6", 35: "#c586c0", 36: "#4ec9b0",
    37: "#d4d4d4", 90: "#808080",
}
GROUND, INK = "#1e1e1e", "#d4d4d4"
WIDTH, HEIGHT = 8.43, 18


def fleet(flagpost, home, repo):
    """A fleet at work: tasks in each state, briefs and a question that wait, a run that goes on."""
    env = {"PATH": os.environ["PATH"], "HOME": home, "FLAGPOST_HOME": f"{home}/.flagpost",
           "USER": "ann", "LANG": "C.UTF-8", "TERM": "xterm-256color", "EDITOR": "vi"}

    def run(*words, worker=None):
        more = {"FLAGPOST_WORKER": worker} if worker else {}
        subprocess.run([flagpost, *words], cwd=repo, env={**env, **more}, check=True,
                       stdout=subprocess.DEVNULL)

    subprocess.run(["git", "init", "-q", repo], check=True)
    run("init", "--yes")
    for subject in ["Parser", "Seal", "Lexer", "Split the lexer", "Token ring", "Cursor", "Docs",
                    "Ledger", "Which API is meant?", "Index"]:
        run("add", subject)
    run("edit", "4", "--priority", "high", "--group", "auth")
    run("task", "dep", "add", "6", "4")
    for worker in ["W1", "W3", "W4", "W7"]:
        run("worker", "add", worker, "--agent", "claude")
    for worker, task in [("W1", "1"), ("W3", "2"), ("W7", "7")]:
        run("task", "start", task, worker=worker)
    run("claim", "3", worker="W4")
    run("done", "3", "all tokens have names", worker="W4")
    run("claim", "9", worker="W4")
    run("stuck", "9", "The old API or the new one?", worker="W4")
    run("assign", "1192", "W1", "--inline",
        "Merge the seal of the parser.\n\n1. Rebase on main\n2. Run ./check\n3. Report with the commit\n")
    run("relay", "redirect", "W3", "Leave the seal, take the ledger.")
    agent = f"{home}/agent.sh"
    with open(agent, "w", encoding="utf-8") as file:
        file.write("for n in 1 2 3 4 5 6 7 8; do echo running $n of 8 tests; sleep $((FLAGPOST_TASK % 4)); done\n")
    going = subprocess.Popen([flagpost, "run", "--agent", f"sh {agent}", "--max-parallel", "3"],
                             cwd=repo, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             start_new_session=True)
    return env, going


def tmux(*words, **more):
    return subprocess.run(["tmux", "-L", SOCKET, *words], check=True, text=True, capture_output=True, **more)


def shoot(flagpost, env, repo, columns, rows, keys):
    """The terminal's rows with their escapes, after these keys."""
    line = " ".join(f"{name}='{value}'" for name, value in env.items())
    tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "-s", "p", "-c", repo,
         f"env -i {line} {flagpost} cockpit")
    try:
        wait_for("flagpost\\|Fleet")
        for key in keys:
            tmux("send-keys", "-t", "p", key)
            time.sleep(0.3)
        time.sleep(1)
        return tmux("capture-pane", "-e", "-p", "-t", "p").stdout.split("\n")[:rows]
    finally:
        tmux("kill-session", "-t", "p")


def wait_for(words):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if re.search(words.replace("\\|", "|"), tmux("capture-pane", "-p", "-t", "p").stdout):
            return
        time.sleep(0.05)
    sys.exit("the cockpit did not open")


def spans(row):
    """A row as pieces of text, each with its colour, weight and whether it is reversed or dim."""
    style = {"fg": None, "bold": False, "dim": False, "reverse": False}
    for part in re.split("(\x1b\\[[0-9;]*m)", row):
        if not part.startswith("\x1b["):
            if part:
                yield part, dict(style)
            continue
        codes = iter([int(it or 0) for it in part[2:-1].split(";")])
        for code in codes:
            if code == 0:
                style = {"fg": None, "bold": False, "dim": False, "reverse": False}
            elif code in (1, 2, 7):
                style[{1: "bold", 2: "dim", 7: "reverse"}[code]] = True
            elif code == 22:
                style["bold"] = style["dim"] = False
            elif code == 27:
                style["reverse"] = False
            elif code == 38 and next(codes, None) == 5:
                number = next(codes, 0)
                style["fg"] = COLORS.get(number + (30 if number < 8 else 82))
            elif code == 39:
                style["fg"] = None
            elif code in COLORS:
                style["fg"] = COLORS[code]


def columns_of(text):
    wide = sum(1 for c in text if "\u1100" <= c <= "\uffdc" and not "\u2000" <= c <= "\u2fff")
    return len(text) + wide


def svg(name, rows, columns):
    height = len(rows) * HEIGHT + 16
    width = columns * WIDTH + 16
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
             f'viewBox="0 0 {width:.0f} {height}" role="img" aria-label="The cockpit: {name}">',
             f'<rect width="100%" height="100%" rx="6" fill="{GROUND}"/>',
             f'<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" fill="{INK}" '
             'xml:space="preserve">']
    for n, row in enumerate(rows):
        x, y = 8.0, 8 + n * HEIGHT
        for text, style in spans(row):
            wide = columns_of(text) * WIDTH
            ink, ground = style["fg"] or INK, None
            if style["reverse"]:
                ink, ground = GROUND, ink
            if ground:
                lines.append(f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{HEIGHT}" fill="{ground}"/>')
            if text.strip():
                weight = ' font-weight="bold"' if style["bold"] else ""
                dim = ' opacity="0.6"' if style["dim"] else ""
                lines.append(f'<text x="{x:.1f}" y="{y + 14}" fill="{ink}"{weight}{dim} textLength="{wide:.1f}" '
                             f'lengthAdjust="spacingAndGlyphs">{html.escape(text)}</text>')
            x += wide
    lines += ["</g>", "</svg>", ""]
    with open(os.path.join(HERE, f"cockpit-{name}.svg"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def main():
    flagpost = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else f"{ROOT}/target/release/flagpost"
    with tempfile.TemporaryDirectory() as scratch:
        repo = f"{scratch}/web"
        os.makedirs(f"{scratch}/home")
        env, going = fleet(flagpost, f"{scratch}/home", repo)
        try:
            time.sleep(6)
            for name, columns, rows, keys in PICTURES:
                svg(name, shoot(flagpost, env, repo, columns, rows, keys), columns)
        finally:
            subprocess.run([flagpost, "stop", "--now"], cwd=repo, env=env, capture_output=True)
            going.wait(timeout=30)
            subprocess.run(["tmux", "-L", SOCKET, "kill-server"], capture_output=True)


if __name__ == "__main__":
    main()
