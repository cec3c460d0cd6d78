//! The bridge's files → JSON values and ledger entries.
//!
//! Owns what counts as an inbox: any JSON value, of which a list has an item each. What is wrong
//! with one that is none is said in our words, since agents read it and no parser's name helps them.

use serde_json::{Map, Value};

use crate::json;

/// Whether an inbox has nothing in it, as its readers leave it behind.
pub fn is_idle(bytes: &[u8]) -> bool {
    matches!(trimmed(bytes), b"" | b"[]")
}

/// The items of an inbox: those of a list, else the one value there is.
pub fn inbox(bytes: &[u8]) -> Result<Vec<Value>, String> {
    match json::value(trimmed(bytes)) {
        Ok(Value::Array(items)) => Ok(items),
        Ok(single) => Ok(vec![single]),
        Err(error) => Err(wrong(trimmed(bytes), &error)),
    }
}

/// What was expected where a text stops being JSON: the beginning of the parser's words, and ours.
const EXPECTED: [(&str, &str); 9] = [
    ("expected `,` or `]`", "a comma or the end of a list"),
    ("expected `,` or `}`", "a comma or the end of an object"),
    ("expected `:`", "a colon behind a key"),
    ("key must be a string", "a key in double quotes"),
    ("trailing comma", "a value behind the comma, or no comma"),
    (
        "trailing characters",
        "nothing behind the one value; several stand in a list",
    ),
    (
        "control character",
        "a line break or a tab in a text written \\n or \\t",
    ),
    ("invalid number", "a number as JSON has them"),
    (
        "recursion limit",
        "fewer lists and objects within each other",
    ),
];

fn wrong(text: &[u8], error: &serde_json::Error) -> String {
    if let Err(error) = std::str::from_utf8(text) {
        return format!("UTF-8 was expected at byte {}", error.valid_up_to());
    }
    let (line, column, said) = (error.line(), error.column(), error.to_string());
    if error.is_eof() {
        return format!("it ends at line {line}, column {column}, in the middle of a value");
    }
    let known = EXPECTED.iter().find(|(theirs, _)| said.starts_with(theirs));
    let expected = known.map_or("a JSON value", |(_, ours)| ours);
    format!("{expected} was expected at line {line}, column {column}")
}

/// The answers of an outbox; nothing in it is none.
pub fn outbox(bytes: &[u8]) -> Result<Vec<Value>, String> {
    match trimmed(bytes) {
        b"" => Ok(Vec::new()),
        text => inbox(text),
    }
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    // Some editors begin a file with a byte order mark.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.trim_ascii()
}

/// What is known of an item that was dealt with.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerEntry {
    /// The inbox that it was in.
    pub batch: u64,
    /// Its place there, from 0; none for an inbox that could not be read.
    pub item: Option<usize>,
    /// Its id, where it had one.
    pub id: Option<String>,
    /// The print of what it asked for; older lines have none.
    pub print: Option<String>,
    /// What was answered.
    pub answer: KnownAnswer,
}

/// What is known of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum KnownAnswer {
    /// The answer itself.
    Reply(Value),
    /// Only that something was shown, which was too much to keep.
    Shown,
}

/// The entries of a ledger, oldest first. A line that a crash cut off was never relied on.
pub fn ledger(bytes: &[u8]) -> impl Iterator<Item = LedgerEntry> {
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter_map(|line| {
        let mut reply: Map<String, Value> = serde_json::from_slice(line).ok()?;
        let batch = reply.shift_remove("batch")?.as_u64()?;
        let item = reply.shift_remove("item");
        let print = reply.shift_remove("sha256");
        let id = reply.get("commandId").and_then(Value::as_str);
        Some(LedgerEntry {
            batch,
            item: item.and_then(|item| usize::try_from(item.as_u64()?).ok()),
            id: id.map(str::to_owned),
            print: print.and_then(|it| it.as_str().map(str::to_owned)),
            answer: match reply.contains_key("status") {
                true => KnownAnswer::Reply(Value::Object(reply)),
                false => KnownAnswer::Shown,
            },
        })
    })
}
