//! Slash commands: what the operator types in a palette.
//!
//! Owns their grammar, the seed's word for word. What a command does is for `core`. A text runs to
//! the end of the line and is taken as it is; elsewhere quotes keep words together.

use crate::{
    envelope::Ticket,
    glob::Glob,
    id::{Seq, WorkerId},
};

/// A command, understood.
#[derive(Debug, Clone, PartialEq)]
pub enum Slash {
    /// `/ratify all [--scope=GLOB]`
    RatifyAll {
        /// Only these workers'.
        scope: Option<Glob>,
    },
    /// `/ratify W [seq]`
    Ratify(WorkerId, Option<Seq>),
    /// `/reject W [seq]`
    Reject(WorkerId, Option<Seq>),
    /// `/edit W [seq]`
    Edit(WorkerId, Option<Seq>),
    /// `/assign TICKET W [--brief=FILE|--inline=TEXT]`
    Assign {
        /// What it is about.
        ticket: Ticket,
        /// Who is to do it.
        worker: WorkerId,
        /// Where its text is.
        text: TextSource,
    },
    /// `/inbox [W]`
    Inbox(Option<WorkerId>),
    /// `/outbox [W]`
    Outbox(Option<WorkerId>),
    /// `/redirect W TEXT`
    Redirect(WorkerId, String),
    /// `/merge PR`
    Merge(u64),
    /// `/relay-gc`
    Gc,
    /// `/search TEXT`
    Search(String),
}

/// Where the text of an assignment is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextSource {
    /// In a file.
    File(String),
    /// In the command.
    Inline(String),
    /// Whoever asks has it: on stdin, or beside the command.
    Given,
}

/// What is no command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSlash(String);

const KNOWN: &str =
    "/ratify /reject /edit /assign /inbox /outbox /redirect /merge /relay-gc /search";

/// Reads a command.
pub fn parse(line: &str) -> Result<Slash, InvalidSlash> {
    let line = line.trim();
    let (verb, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match verb {
        "/redirect" => {
            let (worker, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let text = require_text(text.trim(), "/redirect W3 'Look at #1244 first'")?;
            return Ok(Slash::Redirect(read(worker)?, unquoted(&text)));
        }
        "/search" => {
            return Ok(Slash::Search(unquoted(&require_text(
                rest,
                "/search merge",
            )?)));
        }
        _ => {}
    }
    let words = words(rest)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match (verb, words.as_slice()) {
        ("/ratify", ["all"]) => Ok(Slash::RatifyAll { scope: None }),
        ("/ratify", ["all", option]) => match option.strip_prefix("--scope=") {
            Some(glob) => Ok(Slash::RatifyAll {
                scope: Some(read(glob)?),
            }),
            None => Err(wrong("/ratify all --scope=W{1,2}")),
        },
        ("/ratify", ["all", ..]) => Err(wrong("/ratify all --scope=W{1,2}")),
        ("/ratify", _) => one(&words, "/ratify W3").map(|(it, seq)| Slash::Ratify(it, seq)),
        ("/reject", _) => one(&words, "/reject W3 7").map(|(it, seq)| Slash::Reject(it, seq)),
        ("/edit", _) => one(&words, "/edit W3 7").map(|(it, seq)| Slash::Edit(it, seq)),
        ("/assign", [ticket, worker, options @ ..]) => Ok(Slash::Assign {
            ticket: read(ticket)?,
            worker: read(worker)?,
            text: text(options)?,
        }),
        ("/assign", _) => Err(wrong("/assign #1244 W7 --brief=brief.md")),
        ("/inbox", []) => Ok(Slash::Inbox(None)),
        ("/inbox", [worker]) => Ok(Slash::Inbox(Some(read(worker)?))),
        ("/outbox", []) => Ok(Slash::Outbox(None)),
        ("/outbox", [worker]) => Ok(Slash::Outbox(Some(read(worker)?))),
        ("/merge", [pr]) => match pr.strip_prefix('#').unwrap_or(pr).parse() {
            Ok(pr) => Ok(Slash::Merge(pr)),
            Err(_) => Err(wrong("/merge 1192")),
        },
        ("/relay-gc", []) => Ok(Slash::Gc),
        ("/inbox" | "/outbox", _) => Err(wrong(&format!("{verb} W3"))),
        ("/merge", _) => Err(wrong("/merge 1192")),
        ("/relay-gc", _) => Err(wrong("/relay-gc")),
        _ => Err(InvalidSlash(format!(
            "there is no command {:?}: there are {KNOWN}",
            verb.chars().take(40).collect::<String>()
        ))),
    }
}

fn one(words: &[&str], example: &str) -> Result<(WorkerId, Option<Seq>), InvalidSlash> {
    match words {
        [worker] => Ok((read(worker)?, None)),
        [worker, seq] => Ok((read(worker)?, Some(read(seq)?))),
        _ => Err(wrong(example)),
    }
}

fn text(options: &[&str]) -> Result<TextSource, InvalidSlash> {
    let given = |option: &str| {
        let file = option
            .strip_prefix("--brief=")
            .map(|it| TextSource::File(it.to_owned()));
        file.or_else(|| {
            Some(TextSource::Inline(
                option.strip_prefix("--inline=")?.to_owned(),
            ))
        })
    };
    match options {
        [] => Ok(TextSource::Given),
        [option] => {
            given(option).ok_or_else(|| wrong("/assign #1244 W7 --inline='Fix the parser'"))
        }
        _ => Err(wrong("/assign #1244 W7 --brief=brief.md")),
    }
}

fn read<T: std::str::FromStr<Err: std::fmt::Display>>(word: &str) -> Result<T, InvalidSlash> {
    word.parse()
        .map_err(|error: T::Err| InvalidSlash(error.to_string()))
}

fn require_text(text: &str, example: &str) -> Result<String, InvalidSlash> {
    match text.is_empty() {
        true => Err(wrong(example)),
        false => Ok(text.to_owned()),
    }
}

fn wrong(example: &str) -> InvalidSlash {
    InvalidSlash(format!("write it as in {example}"))
}

/// A text that stands in one pair of quotes as a whole loses them.
fn unquoted(text: &str) -> String {
    let inner = ['"', '\''].into_iter().find_map(|quote| {
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(quote)).then_some(inner)
    });
    inner.unwrap_or(text).to_owned()
}

/// Words at blanks, but not at those within quotes.
fn words(text: &str) -> Result<Vec<String>, InvalidSlash> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut open = None;
    for c in text.chars() {
        match (open, c) {
            (Some(quote), c) if c == quote => open = None,
            (None, '"' | '\'') => {
                open = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    match open {
        Some(quote) => Err(InvalidSlash(format!("a {quote} is never closed"))),
        None => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> WorkerId {
        text.parse().unwrap()
    }

    #[test]
    fn the_seeds_commands_are_understood() {
        let seq = |n: &str| n.parse().ok();
        let assign = |text| Slash::Assign {
            ticket: "1244".parse().unwrap(),
            worker: id("W7"),
            text,
        };
        for (line, expected) in [
            ("/ratify all", Slash::RatifyAll { scope: None }),
            (
                "/ratify all --scope=W{1,2,3}",
                Slash::RatifyAll {
                    scope: "W{1,2,3}".parse().ok(),
                },
            ),
            ("/ratify W1", Slash::Ratify(id("W1"), None)),
            ("/reject W1 0007", Slash::Reject(id("W1"), seq("7"))),
            (" /edit  W1 7 ", Slash::Edit(id("W1"), seq("7"))),
            ("/assign #1244 W7", assign(TextSource::Given)),
            (
                "/assign 1244 W7 --brief=a.md",
                assign(TextSource::File("a.md".into())),
            ),
            (
                "/assign #1244 W7 --inline='Fix it, \"now\"'",
                assign(TextSource::Inline("Fix it, \"now\"".into())),
            ),
            ("/inbox", Slash::Inbox(None)),
            ("/outbox W2", Slash::Outbox(Some(id("W2")))),
            (
                "/redirect W2 don't do #3 yet",
                Slash::Redirect(id("W2"), "don't do #3 yet".into()),
            ),
            (
                "/redirect W2 'stop'",
                Slash::Redirect(id("W2"), "stop".into()),
            ),
            ("/merge #12", Slash::Merge(12)),
            ("/relay-gc", Slash::Gc),
            ("/search \"a b\"", Slash::Search("a b".into())),
        ] {
            assert_eq!(parse(line), Ok(expected), "{line}");
        }
    }

    #[test]
    fn a_scope_without_its_sign_is_shown_with_it() {
        let error = parse("/ratify all --scope W1").unwrap_err().to_string();
        assert_eq!(error, "write it as in /ratify all --scope=W{1,2}");
    }

    #[test]
    fn what_is_no_command_says_how_it_is_written() {
        for line in [
            "",
            "ratify all",
            "/",
            "/nope",
            "/ratify",
            "/ratify all now",
            "/ratify W1 0",
            "/ratify all --scope=W{",
            "/reject",
            "/assign #12",
            "/assign x W1",
            "/assign 1 ../W",
            "/assign 1 W1 --inline=a b",
            "/inbox a b",
            "/redirect W1",
            "/merge x",
            "/search",
            "/relay-gc now",
            "/reject 'W1",
        ] {
            let error = parse(line).unwrap_err().to_string();
            assert!(error.len() > 10, "{line}: {error}");
        }
    }
}
