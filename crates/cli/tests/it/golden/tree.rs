//! The files of a world, with names in place of values that differ from run to run.
//!
//! Owns the list of such values: ids, digests, process ids, the parent process, durations, and the times of
//! locks.
//! The same id has the same name throughout a corpus, so that a reference to it can be followed.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use flagpost_testkit::sealed::World;

/// A file, a link or a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its permissions; none for a link.
    pub mode: Option<u32>,
    /// Its lines; a link's target; none for a directory.
    pub lines: Option<Vec<String>>,
}

/// Everything below a world's directory, by path.
pub type Tree = BTreeMap<String, Entry>;

/// The name of each id and digest.
#[derive(Debug, Default)]
pub struct Names(BTreeMap<String, String>);

impl Names {
    /// The tree of a world as it is now.
    pub fn tree(&mut self, world: &World) -> Tree {
        let mut found = Vec::new();
        walk(world.outside(), &mut found);
        // In an order that no id has a part in, so that they are named in the same order each time.
        found.sort_by_cached_key(|path| Self::default().named(&relative(world, path)));
        let entries = found.iter().map(|path| {
            let name = self.named(&world.redact(&relative(world, path)));
            (name, self.entry(world, path))
        });
        entries.collect()
    }

    fn entry(&mut self, world: &World, path: &Path) -> Entry {
        let meta = fs::symlink_metadata(path).unwrap();
        if meta.is_symlink() {
            let target = fs::read_link(path).unwrap();
            let target = self.text(world, &target.to_string_lossy());
            return Entry {
                mode: None,
                lines: Some(vec![format!("-> {target}")]),
            };
        }
        let mode = Some(meta.permissions().mode() & 0o777);
        if meta.is_dir() {
            return Entry { mode, lines: None };
        }
        let lines = match String::from_utf8(fs::read(path).unwrap()) {
            Ok(text) => lines(&self.text(world, &text)),
            Err(_) => vec!["(no text)".to_owned()],
        };
        let lines = Some(lines);
        Entry { mode, lines }
    }

    fn text(&mut self, world: &World, text: &str) -> String {
        let mut text = world.redact(text);
        for key in ["pid", "uid", "tty", "parent", "prev", "seconds"] {
            text = without_value(&text, &format!("\"{key}\":"), key);
        }
        for key in ["pid", "since"] {
            text = without_value(&text, &format!("{key}: "), key);
        }
        self.named(&text)
    }

    /// The text with a name in place of each id and digest.
    fn named(&mut self, text: &str) -> String {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let (mut named, mut rest) = (String::new(), text);
        while let Some(begin) = rest.find(is_part) {
            let (before, word) = rest.split_at(begin);
            let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
            let (word, after) = word.split_at(end);
            named += before;
            named += &self.name(word);
            rest = after;
        }
        named + rest
    }

    fn name(&mut self, word: &str) -> String {
        let seconds = word.strip_suffix('s').unwrap_or_default();
        if !seconds.is_empty() && seconds.bytes().all(|b| b.is_ascii_digit()) {
            return "[seconds]".to_owned();
        }
        let Some(kind) = kind(word) else {
            return word.to_owned();
        };
        if let Some(known) = self.0.get(word) {
            return known.clone();
        }
        let known = self
            .0
            .values()
            .filter(|it| it.starts_with(&format!("[{kind}-")));
        let name = format!("[{kind}-{}]", known.count() + 1);
        self.0.insert(word.to_owned(), name.clone());
        name
    }
}

/// The kind of a random word; none for any other word.
fn kind(word: &str) -> Option<&'static str> {
    let is_hex = |part: &str| part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let parts: Vec<usize> = word.split('-').map(str::len).collect();
    let has = |test: fn(&u8) -> bool| word.as_bytes().iter().any(test);
    if parts == [8, 4, 4, 4, 12] && word.split('-').all(is_hex) {
        return Some("id");
    }
    // One digest in 1,800 is digits alone; a number as long as that is a moment of our clock in microseconds.
    let is_moment = word.starts_with("17786") && !has(u8::is_ascii_lowercase);
    if word.len() >= 16 && is_hex(word) && !is_moment {
        return Some("digest");
    }
    // The 43 letters of a digest in base 64.
    let is_key = word.len() == 43 && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    is_key.then_some("key")
}

/// The text with this name in place of each value of the key.
fn without_value(text: &str, key: &str, name: &str) -> String {
    let mut parts = text.split(key);
    let mut left = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let value = part.trim_start_matches(' ');
        let end = value.find([',', '}', '\n']).unwrap_or(value.len());
        let space = &part[..part.len() - value.len()];
        left += &format!("{key}{space}[{name}]{}", &value[end..]);
    }
    left
}

fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if !text.is_empty() && !text.ends_with('\n') {
        lines.push("(no end of line)".to_owned());
    }
    lines
}

fn relative(world: &World, path: &Path) -> String {
    let path = path.strip_prefix(world.outside()).unwrap();
    path.to_str().unwrap().to_owned()
}

fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        // Git owns its own files.
        if path.file_name().is_some_and(|name| name == ".git") {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            walk(&path, found);
        }
        found.push(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_value_has_a_name_and_keeps_it() {
        let mut names = Names::default();
        let id = "01a2069c-535a-757c-bab7-c92d132afd56";
        let other = "30c32e53-1d73-4196-8c87-3802f27a636a";
        let told = names.named(&format!("{id}.json {other} {id}"));
        assert_eq!(told, "[id-1].json [id-2] [id-1]");
        let told = names.named("fb2913682cdc7eca 1778682300000001 deadbeef W3-1");
        assert_eq!(told, "[digest-1] 1778682300000001 deadbeef W3-1");
        assert_eq!(names.named("1636363985384421"), "[digest-2]");
        assert_eq!(names.named("(0s)"), "([seconds])");
        let told = names.named("iFGqp9CMoa5-XWMngDdTLzIiqLdG56vdivP7BtbU-ZM");
        assert_eq!(told, "[key-1]");
    }

    #[test]
    fn a_value_ends_where_its_line_or_its_object_does() {
        let told = without_value(
            "{\"pid\":1,\"a\":{\"pid\": 22}}\n\"pid\": 3\n",
            "\"pid\":",
            "p",
        );
        assert_eq!(told, "{\"pid\":[p],\"a\":{\"pid\": [p]}}\n\"pid\": [p]\n");
    }
}
