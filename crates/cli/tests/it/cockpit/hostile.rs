//! What agents write reaches the terminal as text: nothing of it is obeyed.

use std::{collections::BTreeSet, fs, path::Path};

use flagpost_model::drawing::steers;
use serde_json::json;

use crate::{
    cockpit::{
        stage::{assert_undecided, propose, until_decided},
        terminal::Terminal,
    },
    fleet::Fleet,
    run_stage::Stage,
};

/// What hostile agents say, each in a line.
const EVIL: &[u8] = b"clip \x1b]52;c;ZXZpbA==\x07 clip\n\
    clear \x1b[2J\x1b[H\x1b[3J cleared\n\
    dcs \x1bP1$r0m\x1b\\ tmux \x1bPtmux;\x1b\x1b]52;c;ZXZpbA==\x07\x1b\\ dcs\n\
    name \x1bkevil\x1b\\ title \x1b]0;evil\x07\x1b]2;evil\x1b\\ name\n\
    c1 \xc2\x9b2J \xc2\x9d52;c;ZXZpbA==\xc2\x9c \x9b2J c1\n\
    bidi \xe2\x80\xaedrow\xe2\x80\xac \xe2\x81\xa6x\xe2\x81\xa9 joined a\xe2\x80\x8db \xef\xbb\xbf\n\
    broken \xff\xfe\xc3( \xed\xa0\x80 \xf0\x9f broken\n\
    bell \x07 back \x08\x08\x08 delete \x7f return \rforged vertical \x0b\x0c \x00 nul\n\
    reset \x1bc\x1b[?1049l\x1b[?25h\x1b[?1000h\x1b[8m hidden\n\
    alone \x1b";

/// Evil in a field of JSON.
fn words() -> String {
    String::from_utf8_lossy(EVIL).into_owned()
}

/// The test sees it where somebody obeys: the shell does.
fn assert_it_would_be_seen(terminal: &Terminal<'_>) {
    terminal.runs("printf '\\033]52;c;ZXZpbA==\\007'");
    terminal.until("the shell sets the clipboard", |_| {
        terminal.tmux(&["show-buffer"]) == "evil"
    });
    terminal.tmux(&["delete-buffer"]);
    terminal.tmux(&["set-buffer", "mine"]);
    terminal.tmux(&["rename-window", "window"]);
    terminal.tmux(&["set-window-option", "allow-rename", "on"]);
}

/// Nothing of it was obeyed, and what is shown steers nothing.
fn assert_unmoved(terminal: &Terminal<'_>, place: &str) -> String {
    let screen = terminal.rests();
    let steering: Vec<char> = screen
        .chars()
        .filter(|c| *c != '\n' && steers(*c))
        .collect();
    assert!(steering.is_empty(), "{place}: {steering:?}\n{screen}");
    let top = screen.lines().next().unwrap_or_default();
    assert!(
        top.contains("1:Fleet") && top.contains("6:Mail"),
        "{place}:\n{screen}"
    );
    assert_eq!(terminal.tmux(&["show-buffer"]), "mine", "{place}");
    assert_eq!(terminal.knows("#{window_name}"), "window", "{place}");
    let title = terminal.knows("#{pane_title}");
    assert!(title.ends_with("flagpost"), "{place}: {title:?}");
    assert_eq!(terminal.knows("#{alternate_on}"), "1", "{place}");
    screen
}

/// The sequences that were written, each by its kind: what is between ESC and the letter that ends it,
/// without numbers; and whatever else steers.
fn steering(written: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(written);
    let mut kinds = BTreeSet::new();
    let mut rest = text.as_ref();
    while let Some(at) = rest.find(|c: char| !matches!(c, '\r' | '\n') && steers(c)) {
        rest = &rest[at..];
        let end = match rest.strip_prefix('\u{1b}') {
            Some(it) if it.starts_with('[') => {
                2 + it[1..].find(|c: char| c.is_ascii_alphabetic()).unwrap_or(0) + 1
            }
            Some(it) if it.starts_with(']') => it.find('\u{7}').map_or(2, |end| end + 2),
            Some(it) => 1 + it.chars().next().map_or(0, char::len_utf8),
            None => rest.chars().next().map_or(1, char::len_utf8),
        };
        let kind = &rest[..end];
        let is_number = |c: char| c.is_ascii_digit() || c == ';';
        kinds.insert(match kind.starts_with("\u{1b}[") {
            true => kind.replace(is_number, ""),
            false => kind.to_owned(),
        });
        rest = &rest[end..];
    }
    kinds
}

/// All that was written is what the cockpit itself needs.
fn assert_only_drawing(written: &Path) {
    let kinds = steering(&fs::read(written).unwrap());
    for kind in &kinds {
        let letter = kind.strip_prefix("\u{1b}[");
        let draws =
            letter.is_some_and(|it| ["m", "H", "J", "K", "?h", "?l", "G", "A", "n"].contains(&it));
        let names = kind.starts_with("\u{1b}]0;") && kind.ends_with("flagpost\u{7}");
        assert!(draws || names || kind == "\u{7}", "{kind:?} of {kinds:?}");
    }
    assert!(kinds.len() > 3, "{kinds:?}");
}

/// A fleet in which every word that others write is evil.
fn evil_fleet() -> Fleet {
    let fleet = Fleet::of(2);
    let world = &fleet.world;
    world.ok(["init"]);
    let evil = words();
    for (id, state, status) in [("1", "stuck", "pending"), ("2", "running", "in_progress")] {
        let task = json!({
            "id": id, "subject": evil, "description": evil, "status": status, "owner": evil,
            "metadata": {"complexity": evil, "task_group": evil, "project": evil, "tags": [evil],
                "flagpost": {"state": state,
                    "result": {"ending": "stuck", "text": evil, "by": "W1", "at": "2026-05-13T14:25:00Z"}}},
        });
        fs::write(
            world.list("web").join(format!("{id}.json")),
            task.to_string(),
        )
        .unwrap();
    }
    propose(&fleet, "W1", "It will be evil");
    fs::write(fleet.inbox("W1").join("0001.brief"), EVIL).unwrap();
    let path = fleet.inbox("W1").join("0001.brief.meta.json");
    let mut meta: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for key in ["summary", "controller_session_id", "target_ticket"] {
        meta[key] = evil.clone().into();
    }
    fs::write(&path, meta.to_string()).unwrap();
    for (worker, said) in [("W1", EVIL), ("W2", evil.as_bytes())] {
        let ran = world.feed(["worker", "report", "--file", "-", "--as", worker], said);
        println!("{ran}");
        let ran = world.feed(["msg", "send", "--to", worker, "--file", "-"], said);
        println!("{ran}");
    }
    fleet
}

#[test]
fn evil_words_are_shown_as_marks_on_every_screen_and_page() {
    let fleet = evil_fleet();
    for (columns, rows) in [(80, 24), (200, 60)] {
        let terminal = or_skip!(Terminal::open(&fleet.world, columns, rows));
        assert_it_would_be_seen(&terminal);
        let written = terminal.keeps_what_is_written();
        terminal.cockpit();
        assert_unmoved(&terminal, "the inbox");
        // Behind the brief that nobody can read.
        terminal.keys(&["j"]);
        let screen = assert_unmoved(&terminal, "the question");
        assert!(screen.contains("␛]52;c;ZXZpbA=="), "{screen}");
        for key in ["1", "2", "3", "4", "5", "6"] {
            terminal.keys(&[key]);
            assert_unmoved(&terminal, key);
            for move_on in ["j", "J", "Enter", "J", "Escape", "+", "_"] {
                terminal.keys(&[move_on]);
                assert_unmoved(&terminal, &format!("{key} {move_on}"));
            }
        }
        // In questions and filters, pasted.
        terminal.tmux(&["set-buffer", "-b", "paste", &words().replace('\0', "")]);
        for key in ["/", ":"] {
            terminal.keys(&["4"]);
            terminal.keys(&[key]);
            terminal.tmux(&["paste-buffer", "-p", "-d", "-b", "paste"]);
            terminal.tmux(&["set-buffer", "-b", "paste", "\u{1b}]52;c;ZXZpbA==\u{7}"]);
            terminal.rests();
            // Read together with it, the next key would be another one, such as Alt-q.
            terminal.keys(&["Escape"]).shows("y approve");
        }
        assert_only_drawing(&written);
        terminal.tmux(&["delete-buffer", "-b", "paste"]);
        terminal.keys(&["q"]);
        assert_eq!(terminal.ended(), 0);
    }
}

#[test]
fn a_line_of_a_megabyte_is_shown_to_its_end_before_it_is_let_through() {
    let fleet = Fleet::of(1);
    let long = format!("{} the end", "x".repeat(1 << 20));
    let ran = fleet
        .world
        .feed(["assign", "1", "W1", "--file", "-"], long.as_bytes());
    assert_eq!(ran.code, 0, "{ran}");
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 200, 60));
    terminal.keys(&["y"]);
    terminal.shows("its end has not been on the screen yet");
    assert_undecided(&fleet, "W1");
    for key in ["1", "2", "3", "4"] {
        terminal.keys(&[key]);
    }
    terminal.rests();
    // Scrolling on such a text stays quick.
    for _ in 0..20 {
        terminal.types(&"J".repeat(20));
    }
    terminal.until("its end", |it| {
        it.contains("the end") && it.contains("end of body")
    });
    terminal.keys(&["y"]);
    until_decided(&fleet, 1);
}

#[test]
fn a_log_steers_nothing_but_its_own_colours() {
    let stage = Stage::of_equal(1);
    let place = stage.world.outside().join("evil");
    fs::write(&place, EVIL).unwrap();
    let agent = format!(
        "cat '{0}'; echo; printf '\\033[31mred\\033[0m\\n'; head -c 1000000 /dev/zero | tr '\\0' x; echo; \
         echo seen; mark printed; await go; cat '{0}'; echo; echo all; report PASS",
        place.display()
    );
    let _run = stage.start(&agent, &[]);
    let terminal = or_skip!(Terminal::open(&stage.world, 120, 40));
    assert_it_would_be_seen(&terminal);
    stage.await_mark("printed");
    let written = terminal.keeps_what_is_written();
    terminal.cockpit();
    terminal.keys(&["5"]).shows("Tasks of the run");
    terminal.keys(&["l"]).shows("seen");
    let screen = assert_unmoved(&terminal, "the log");
    assert!(screen.contains("␛]52;c;ZXZpbA=="), "{screen}");
    assert!(screen.contains("red"), "{screen}");
    for key in ["w", "k", "K", "K", "K", "G", "g", "f"] {
        terminal.keys(&[key]);
        assert_unmoved(&terminal, key);
    }
    stage.mark("go");
    terminal.until("the end is followed", |it| {
        it.lines().any(|line| line.contains("│all "))
    });
    assert_unmoved(&terminal, "the log's end");
    assert_only_drawing(&written);
}
