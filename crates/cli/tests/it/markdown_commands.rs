//! Every `flagpost …` command that Markdown names is one the binary knows.
//!
//! Owns how a command is found in prose and in `sh` blocks, and how its verb is told from its
//! arguments: by asking the binary for help, as a reader would. Options are looked up in the same
//! help.

use std::{collections::HashMap, process::Command};

use flagpost_testkit::{
    markdown::{Document, Piece},
    repository,
};

/// Answers `flagpost WORDS… --help` with the help text, or `None` if the binary refuses the words.
type Help<'a> = dyn FnMut(&[String]) -> Option<String> + 'a;

/// The commands a document names: each is the words behind `flagpost`.
fn commands(document: &Document) -> Vec<(usize, Vec<String>)> {
    let shell = |language: &str| matches!(language, "sh" | "bash" | "shell" | "console");
    let blocks = document
        .fences
        .iter()
        .filter(|fence| shell(&fence.language))
        .flat_map(|fence| lines(fence.line, &fence.text));
    document
        .code
        .iter()
        .cloned()
        .chain(blocks)
        .flat_map(|piece| {
            split(&piece.text)
                .into_iter()
                .filter_map(move |words| Some((piece.line, behind_flagpost(words)?)))
        })
        .collect()
}

/// A script's lines, those joined that end in a backslash.
fn lines(first: usize, script: &str) -> Vec<Piece> {
    let mut lines: Vec<Piece> = Vec::new();
    let mut continued = false;
    for (index, line) in script.lines().enumerate() {
        let text = line.strip_suffix('\\').unwrap_or(line);
        match lines.last_mut() {
            Some(last) if continued => last.text.push_str(text),
            _ => lines.push(Piece {
                line: first + index,
                text: text.to_owned(),
            }),
        }
        continued = line.ends_with('\\');
    }
    lines
}

/// A shell line as simple commands, each as words. Quoted text is one word and never a verb.
fn split(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word = String::new();
    let mut quote = None;
    for c in line.chars().chain(['\n']) {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            // A mark that no verb and no option contains.
            (Some(_), _) => word.push('"'),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.push('"');
            }
            (None, '#') if word.is_empty() => break,
            (None, c) if c.is_whitespace() || "|&;()`".contains(c) => {
                let command = commands.last_mut().expect("there is always one");
                command.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
                if !c.is_whitespace() {
                    commands.push(Vec::new());
                }
            }
            (None, c) => word.push(c),
        }
    }
    commands
}

/// The words behind the program's name, if the command is ours.
fn behind_flagpost(words: Vec<String>) -> Option<Vec<String>> {
    let mut words = words
        .into_iter()
        .skip_while(|word| matches!(word.as_str(), "$" | "%" | "exec" | "time") || is_setting(word))
        .peekable();
    let program = words.next()?;
    if program == "cargo" && words.peek().is_some_and(|word| word == "run") {
        return Some(words.skip_while(|word| word != "--").skip(1).collect());
    }
    let ours = program == "flagpost" || program.ends_with("/flagpost");
    ours.then(|| words.collect())
}

/// `NAME=value` in front of a command.
fn is_setting(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
}

fn is_verb_like(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// Whether a help text tells of verbs below.
fn has_verbs(help: &str) -> bool {
    // One line for each way to call it, up to the first empty one.
    help.lines()
        .skip_while(|line| !line.starts_with("Usage:"))
        .take_while(|line| !line.is_empty())
        .any(|usage| usage.ends_with("<COMMAND>") || usage.ends_with("[COMMAND]"))
}

/// Whether a help text names an option, with a value behind it if `valued`.
fn knows(help: &str, option: &str, valued: bool) -> bool {
    help.match_indices(option).any(|(at, _)| {
        let rest = &help[at + option.len()..];
        let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-');
        ends && (!valued || rest.starts_with(" <") || rest.starts_with("=<"))
    })
}

/// What is wrong with a command.
fn fault(words: &[String], help: &mut Help<'_>) -> Option<String> {
    let mut verbs: Vec<String> = Vec::new();
    let Some(mut text) = help(&verbs) else {
        return Some("the binary gives no help".to_owned());
    };
    let mut options = Vec::new();
    let mut words = words.iter().take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        if word.starts_with("--") {
            let option = word.split('=').next().unwrap_or(word);
            let option = option.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            options.extend((option.len() > 2).then_some(option));
            if !word.contains('=') && knows(&text, option, true) {
                words.next();
            }
        } else if has_verbs(&text) {
            if !is_verb_like(word) {
                // A placeholder such as VERB or …: nothing below it can be known.
                return None;
            }
            verbs.push(word.clone());
            let Some(below) = help(&verbs) else {
                return Some(format!("there is no `flagpost {}`", verbs.join(" ")));
            };
            text = below;
        }
    }
    options
        .into_iter()
        .find(|option| !knows(&text, option, false))
        .map(|option| {
            verbs.insert(0, "flagpost".to_owned());
            format!("`{}` has no {option}", verbs.join(" "))
        })
}

/// What the binary itself tells: an agent types it as it stands.
fn told_to_agents() -> Vec<(String, String)> {
    let world = crate::world();
    let topics = world.ok(["instructions", "--quiet"]);
    let mut told: Vec<_> = topics
        .lines()
        .map(|topic| (topic.to_owned(), world.ok(["instructions", topic])))
        .collect();
    told.push(("instructions".to_owned(), world.ok(["instructions"])));
    world.ok(["init"]);
    let block = std::fs::read_to_string(world.repository().join("AGENTS.md"));
    told.push(("AGENTS.md".to_owned(), block.expect("init wrote it")));
    assert!(told.len() > 5, "{told:?}");
    for (name, text) in &told {
        assert!(!commands(&Document::parse(text)).is_empty(), "{name}");
    }
    told
}

#[test]
fn every_command_in_markdown_is_known() {
    let mut asked: HashMap<Vec<String>, Option<String>> = HashMap::new();
    let mut help = |verbs: &[String]| {
        let ask = || {
            let output = Command::new(env!("CARGO_BIN_EXE_flagpost"))
                .args(verbs)
                .arg("--help")
                .output()
                .expect("the binary starts");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            output.status.success().then_some(text)
        };
        asked.entry(verbs.to_vec()).or_insert_with(ask).clone()
    };
    let mut faults = Vec::new();
    let prose = repository::prose();
    let files = prose.into_iter().map(|file| (file.path, file.text));
    for (name, text) in files.chain(told_to_agents()) {
        for (line, words) in commands(&Document::parse(&text)) {
            if let Some(why) = fault(&words, &mut help) {
                faults.push(format!("{name}:{line}: {why}"));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "Markdown names commands that do not exist:\n  {}",
        faults.join("\n  ")
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A binary with `task add [--priority P]`, `task show`, and `claim [ID] [--next]`.
    fn help(verbs: &[String]) -> Option<String> {
        let verbs: Vec<&str> = verbs.iter().map(String::as_str).collect();
        // An option's value may be called COMMAND too.
        let text = match verbs[..] {
            [] => "Usage: flagpost [OPTIONS] [COMMAND]\n  --list <NAME>  --json",
            ["task"] => "Usage: flagpost task <COMMAND>\n  --list <NAME>  --json",
            ["task", "add"] => "Usage: … <SUBJECT>\n  --priority <P>  --list <NAME>  --json",
            ["task", "show"] => "Usage: … <ID>\n  --list <NAME>  --json",
            ["claim"] => "Usage: … [ID]\n  --agent <COMMAND>  --next  --list <NAME>  --json",
            _ => return None,
        };
        Some(text.to_owned())
    }

    fn faults(text: &str) -> Vec<String> {
        commands(&Document::parse(text))
            .iter()
            .filter_map(|(line, words)| Some(format!("{line}: {}", fault(words, &mut help)?)))
            .collect()
    }

    #[test]
    fn unknown_verbs_and_options_are_caught() {
        let cases = [
            ("`flagpost ratify W3 7`", "1: there is no `flagpost ratify`"),
            ("`flagpost task ad x`", "1: there is no `flagpost task ad`"),
            (
                "`flagpost --json task nope`",
                "1: there is no `flagpost task nope`",
            ),
            (
                "`flagpost --list claim task nope`",
                "1: there is no `flagpost task nope`",
            ),
            ("`flagpost --nope`", "1: `flagpost` has no --nope"),
            ("`flagpost claim --nxt`", "1: `flagpost claim` has no --nxt"),
            (
                "`flagpost task show 7 --priority high`",
                "1: `flagpost task show` has no --priority",
            ),
            (
                "```sh\n\nX=1 flagpost gone\n```",
                "3: there is no `flagpost gone`",
            ),
            (
                "```sh\necho a | flagpost gone -\n```",
                "2: there is no `flagpost gone`",
            ),
            (
                "```sh\nT=$(flagpost gone)\n```",
                "2: there is no `flagpost gone`",
            ),
            (
                "```sh\ncargo run --release -- gone\n```",
                "2: there is no `flagpost gone`",
            ),
            (
                "```sh\nflagpost task \\\n  gone\n```",
                "2: there is no `flagpost task gone`",
            ),
            (
                "```sh\n./target/release/flagpost gone\n```",
                "2: there is no `flagpost gone`",
            ),
        ];
        for (text, wanted) in cases {
            assert_eq!(faults(text), [wanted], "{text}");
        }
    }

    #[test]
    fn known_commands_and_other_words_pass() {
        for text in [
            "`flagpost`",
            "`flagpost task add \"gone: --nope\" --priority high`",
            "`flagpost task show web --json`",
            "`flagpost claim --next --list=web`",
            "`flagpost claim --agent codex web`",
            "`flagpost NOUN VERB`",
            "`flagpost task <verb>`",
            "`flagpost …`",
            "the flagpost gone",
            "```\nflagpost gone\n```",
            "```sh\n# flagpost gone\ngit commit -m 'flagpost gone'\n```",
            "```sh\ncargo run --release -- task add x # and more\n```",
        ] {
            assert_eq!(faults(text), [""; 0], "{text}");
        }
    }
}
