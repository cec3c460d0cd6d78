//! Texts from the command line, from files and from stdin are stored as they are.

use insta::assert_snapshot;

use crate::{world, world_with};

/// Everything that shells, terminals and careless programs change.
fn odd() -> String {
    let mut text = String::from(
        "\u{feff}\r\n\t 'single' \"double\" `backtick` $(rm -rf .) ${HOME} $HOME %s \\n \\0 \\\\ ! * ? ~ # & | ; < >\n",
    );
    text.extend((0_u8..128).map(char::from));
    text.extend(('\u{80}'..='\u{a0}').chain([
        '\u{fffd}',
        '\u{202e}',
        '\u{2028}',
        '\u{10ffff}',
        '🏳',
        '\u{200d}',
    ]));
    text += "--json\n- \n-\n\r\n\r\n\n\n \t";
    text
}

#[test]
fn trap_37_text_is_stored_exactly() {
    let world = world_with(&["a", "b", "c", "d"]);
    let mut text = String::new();
    while text.len() < 1 << 20 {
        text += &odd();
    }
    text += "\r\n\n\n";
    let file = world.repository().join("report.md");
    std::fs::write(&file, &text).unwrap();
    let echo = format!("({} bytes)", text.len());

    let ran = world.flagpost(["done", "1", "--file", "report.md"]);
    assert_eq!(
        ran.stdout,
        format!("completed 1 a {echo}\n"),
        "{}",
        ran.stderr
    );
    let ran = world.feed(["done", "2", "-"], text.as_bytes());
    assert_eq!(
        ran.stdout,
        format!("completed 2 b {echo}\n"),
        "{}",
        ran.stderr
    );
    let ran = world.feed(["done", "3", "--file", "-"], text.as_bytes());
    assert_eq!(
        ran.stdout,
        format!("completed 3 c {echo}\n"),
        "{}",
        ran.stderr
    );
    for id in ["1", "2", "3"] {
        assert!(
            world.json(["show", id]).1["result"]["text"] == text.as_str(),
            "task {id}"
        );
    }
    let ran = world.feed(["add", "e", "--description", "-"], text.as_bytes());
    assert_eq!(
        ran.stdout,
        format!("added 5 e (description: {} bytes)\n", text.len()),
        "{}",
        ran.stderr
    );
    assert!(world.json(["show", "5"]).1["description"] == text.as_str());
    let ran = world.flagpost(["task", "edit", "4", "--file", "report.md"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(world.json(["show", "4"]).1["description"] == text.as_str());
}

#[test]
fn text_of_the_command_line_is_stored_exactly() {
    let world = world_with(&["a", "b"]);
    let text = odd().replace('\0', "");
    let ran = world.flagpost(["done", "1", &text]);
    assert_eq!(
        ran.stdout,
        format!("completed 1 a ({} bytes)\n", text.len())
    );
    assert_eq!(world.json(["show", "1"]).1["result"]["text"], text);
    let subject = text.replace(['\n', '\r'], "");
    let ran = world.flagpost(["add", &subject, "--quiet"]);
    assert_eq!(ran.stdout, "3\n", "{ran}");
    assert_eq!(world.json(["show", "3"]).1["subject"], subject);
    transcript!(world, @r"
    $ done 2 --file -dash
    exit 2
    2> flagpost: unexpected argument '-d' found
    2>   hint: 'flagpost done --help' shows how
    $ done 2 -- -x
    completed 2 b (2 bytes)
    ");
}

#[test]
fn a_dash_is_stdin_wherever_a_text_is_taken() {
    let world = world_with(&["a"]).with("FLAGPOST_TASK", "1");
    assert_snapshot!(world.feed(["add", "-"], b"From a pipe\n"), @r#"added 2 From a pipe"#);
    assert_snapshot!(world.feed(["add", "-"], b"Two\nlines\n"), @r#"
    exit 6
    2> flagpost: subject: one line; the rest belongs into --description
    "#);
    assert_snapshot!(world.feed(["add", "-"], b""), @r#"
    exit 6
    2> flagpost: subject: a task needs one
    "#);
    assert_snapshot!(world.feed(["done", "-"], b"It works\n"), @r#"completed 1 a (9 bytes)"#);
    assert_eq!(world.json(["show", "1"]).1["result"]["text"], "It works\n");
    assert_eq!(world.ok(["list", "--quiet", "--all"]), "1\n2\n");
}

#[test]
fn texts_that_cannot_be_taken() {
    let world = world_with(&["a"]);
    let ran = world.feed(["done", "1", "-"], b"caf\xe9");
    assert_snapshot!(ran, @r#"
    exit 6
    2> flagpost: stdin: not UTF-8 at byte 3
    "#);
    let ran = world.feed(["done", "1", "-"], &vec![b'x'; (8 << 20) + 1]);
    assert_snapshot!(ran, @r#"
    exit 6
    2> flagpost: stdin: more than the 8388608 bytes a text may have
    "#);
    let ran = world.feed(["add", "-"], &vec![b'x'; (8 << 20) + 1]);
    assert_snapshot!(ran, @r#"
    exit 6
    2> flagpost: stdin: more than the 8388608 bytes a text may have
    "#);
    transcript!(world, @r#"
    $ done 1 --file nowhere
    exit 3
    2> flagpost: cannot read nowhere: No such file or directory (os error 2)
    $ done 1 --file .
    exit 6
    2> flagpost: cannot read .: Is a directory (os error 21)
    2>   hint: name a file
    $ done 1 --file /dev/zero
    exit 6
    2> flagpost: /dev/zero: more than the 8388608 bytes a text may have
    $ done 1 both --file x
    exit 2
    2> flagpost: give the text or --file, not both
    2>   hint: flagpost --help shows how
    $ add x --description a --file x
    exit 2
    2> flagpost: give the text or --file, not both
    2>   hint: flagpost --help shows how
    $ list --quiet
    1
    "#);
}

/// What JSON makes of it is longer, and what cannot be read again must not be taken.
#[test]
fn a_text_that_could_not_be_read_again_is_refused() {
    let world = world_with(&["a", "b"]);
    let text = "x".repeat(8 << 20);
    let ran = world.feed(["done", "1", "-", "--quiet"], text.as_bytes());
    assert_eq!(ran.code, 0, "{ran}");
    assert!(world.json(["show", "1"]).1["result"]["text"] == text.as_str());

    let text = "\u{1}".repeat(8 << 20);
    let ran = world.feed(["done", "2", "-"], text.as_bytes());
    assert_snapshot!(ran, @"
    exit 6
    2> flagpost: task 2: its file would have 50332202 bytes, more than the 16777216 that are read
    ");
    assert_eq!(world.json(["show", "2"]).1["state"], "pending");
}

#[test]
fn stdin_is_left_alone_unless_asked_for() {
    let world = world();
    // An agent's terminal: nobody ever closes it.
    let mut child = world
        .command()
        .args(["add", "x"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
