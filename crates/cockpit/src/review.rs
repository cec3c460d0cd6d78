//! The work of a task as a person looks at it before it lands: its files, their patches, remarks on lines.
//!
//! Owns the rows that the page is made of and what is remarked so far. A patch is read once its file is opened. What
//! is approved is the commit that the page was read with.

use std::collections::BTreeMap;

use flagpost_core::landing::LineRemark;
use flagpost_model::TaskId;
use serde_json::Value;

use crate::{
    event::Outcome,
    text::{self, LineKind},
};

/// The page.
#[derive(Debug)]
pub struct ReviewPage {
    /// Whose work.
    pub task: TaskId,
    /// What it changes, once that was answered.
    pub change: Option<Outcome>,
    /// The patches of the opened files by path; none while one is being read.
    pub patches: BTreeMap<String, Option<Vec<PatchLine>>>,
    /// What is remarked so far.
    pub remarks: Vec<LineRemark>,
    /// The selected row.
    pub at: usize,
    /// How far it is scrolled.
    pub top: usize,
}

/// A line of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchLine {
    /// Whether it came or went.
    pub kind: LineKind,
    /// Its number in the file as it is now; none of one that went, and of what says where lines are.
    pub number: Option<usize>,
    /// The line, without its sign.
    pub text: String,
}

/// A row of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewRow<'p> {
    /// Words about the whole.
    Words(String),
    /// A file with its added and removed lines, in words.
    File {
        /// Its path.
        path: &'p str,
        /// How much of it.
        size: String,
        /// Whether its patch is shown below.
        is_open: bool,
    },
    /// A line of a file's patch.
    Patch(&'p str, &'p PatchLine),
    /// A remark on the line above.
    Remark(&'p LineRemark),
}

impl ReviewPage {
    /// Nothing read yet.
    pub fn new(task: TaskId) -> Self {
        Self {
            task,
            change: None,
            patches: BTreeMap::new(),
            remarks: Vec::new(),
            at: 0,
            top: 0,
        }
    }

    /// The commit that can be approved; none where nothing of it waits to land.
    pub fn commit(&self) -> Option<&str> {
        match &self.change {
            Some(Outcome::Answer(change)) => change["commit"].as_str(),
            Some(Outcome::Refused { .. }) | None => None,
        }
    }

    /// The rows, in order.
    pub fn rows(&self) -> Vec<ReviewRow<'_>> {
        let change = match &self.change {
            None => return vec![ReviewRow::Words("…".to_owned())],
            Some(Outcome::Refused { text, .. }) => {
                return vec![ReviewRow::Words(text::line(text).into_owned())];
            }
            Some(Outcome::Answer(change)) => change,
        };
        let mut rows = vec![ReviewRow::Words(stage(change))];
        for file in change["files"].as_array().into_iter().flatten() {
            let path = file["path"].as_str().unwrap_or_default();
            let patch = self.patches.get(path);
            rows.push(ReviewRow::File {
                path,
                size: size(file),
                is_open: patch.is_some(),
            });
            for line in patch.into_iter().flatten().flatten() {
                rows.push(ReviewRow::Patch(path, line));
                let here = |it: &&LineRemark| it.path == path && Some(it.line) == line.number;
                rows.extend(self.remarks.iter().filter(here).map(ReviewRow::Remark));
            }
        }
        rows
    }

    /// The file of the selected row.
    pub fn path(&self) -> Option<String> {
        match self.rows().get(self.at)? {
            ReviewRow::File { path, .. } | ReviewRow::Patch(path, _) => Some((*path).to_owned()),
            ReviewRow::Remark(remark) => Some(remark.path.clone()),
            ReviewRow::Words(_) => None,
        }
    }

    /// The line of the selected row that can be remarked on.
    pub fn line(&self) -> Option<(String, usize)> {
        match self.rows().get(self.at)? {
            ReviewRow::Patch(path, line) => Some(((*path).to_owned(), line.number?)),
            ReviewRow::Remark(remark) => Some((remark.path.clone(), remark.line)),
            ReviewRow::File { .. } | ReviewRow::Words(_) => None,
        }
    }

    /// Adds what is said of a line, in place of what was said of it; no words take that away.
    pub fn remark(&mut self, (path, line): (String, usize), words: String) {
        self.remarks.retain(|it| it.path != path || it.line != line);
        if !words.is_empty() {
            self.remarks.push(LineRemark { path, line, words });
        }
    }

    /// Takes the answer about a file.
    pub fn take_patch(&mut self, path: &str, answer: &Outcome) {
        let lines = match answer {
            Outcome::Answer(change) => {
                patch_lines(change["files"][0]["patch"].as_str().unwrap_or_default())
            }
            Outcome::Refused { text, .. } => vec![PatchLine {
                kind: LineKind::Plain,
                number: None,
                text: text.clone(),
            }],
        };
        // Who closed it meanwhile wants none.
        if let Some(patch) = self.patches.get_mut(path) {
            *patch = Some(lines);
        }
    }
}

/// How far the work is, in a sentence.
fn stage(change: &Value) -> String {
    let word = |key: &str| text::line(change[key].as_str().unwrap_or_default()).into_owned();
    let files = change["files"].as_array().map_or(0, Vec::len);
    let files = match files {
        1 => "1 file".to_owned(),
        n => format!("{n} files"),
    };
    let onto = word("onto");
    match change["stage"].as_str().unwrap_or_default() {
        "to_land" => format!("{files}, as it would be on {onto}"),
        "conflicts" => {
            let met = change["conflicts"].as_array().into_iter().flatten();
            let met: Vec<String> = met
                .filter_map(|it| Some(text::line(it.as_str()?).into_owned()))
                .collect();
            format!(
                "{files}; it meets conflicts on {onto} in {}",
                met.join(", ")
            )
        }
        "landed" => format!("{files}, landed on {onto}"),
        _ => format!("{files} so far: the task is not done"),
    }
}

fn size(file: &Value) -> String {
    match (file["added"].as_u64(), file["removed"].as_u64()) {
        (Some(added), Some(removed)) => format!("+{added} -{removed}"),
        _ => "no text".to_owned(),
    }
}

/// The lines of one file's patch, as git prints it.
fn patch_lines(patch: &str) -> Vec<PatchLine> {
    let mut next = 0;
    let mut is_begun = false;
    let mut lines = Vec::new();
    for raw in patch.lines() {
        let (sign, rest) = match raw.chars().next() {
            Some(sign @ ('+' | '-' | ' ')) if is_begun => (sign, &raw[1..]),
            _ => ('@', raw),
        };
        let (kind, is_numbered) = match sign {
            '+' => (LineKind::Added, true),
            '-' => (LineKind::Removed, false),
            ' ' => (LineKind::Plain, true),
            _ => {
                if let Some(first) = first_line(raw) {
                    (is_begun, next) = (true, first);
                } else if !is_begun && !raw.starts_with("Binary") {
                    // The names of the file, which stand above.
                    continue;
                }
                (LineKind::Plain, false)
            }
        };
        lines.push(PatchLine {
            kind,
            number: is_numbered.then_some(next),
            text: rest.to_owned(),
        });
        next += usize::from(is_numbered);
    }
    lines
}

/// Where the new side of a hunk begins: 12 of `@@ -3,4 +12,6 @@`.
fn first_line(header: &str) -> Option<usize> {
    let ranges = header.strip_prefix("@@ ")?;
    let new = ranges.split(' ').find_map(|it| it.strip_prefix('+'))?;
    new.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PATCH: &str = "diff --git a/a.rs b/a.rs\nindex 1..2 100644\n--- a/a.rs\n+++ b/a.rs\n\
        @@ -1,3 +1,3 @@ fn main\n one\n-two\n+zwei\n three\n@@ -40,2 +40,2 @@\n-\n+--- x\n\\ No newline at end of file\n";

    #[test]
    fn a_line_of_a_patch_has_its_number_on_the_new_side() {
        let lines = patch_lines(PATCH);
        let told: Vec<_> = lines.iter().map(|it| (it.number, &*it.text)).collect();
        let expected = [
            (None, "@@ -1,3 +1,3 @@ fn main"),
            (Some(1), "one"),
            (None, "two"),
            (Some(2), "zwei"),
            (Some(3), "three"),
            (None, "@@ -40,2 +40,2 @@"),
            (None, ""),
            (Some(40), "--- x"),
            (None, "\\ No newline at end of file"),
        ];
        assert_eq!(told, expected);
        let binary =
            patch_lines("diff --git a/x b/x\nindex 1..2\nBinary files a/x and b/x differ\n");
        let told: Vec<_> = binary.iter().map(|it| &*it.text).collect();
        assert_eq!(told, ["Binary files a/x and b/x differ"]);
    }

    #[test]
    fn a_remark_stands_below_its_line_and_no_words_take_it_away() {
        let mut page = ReviewPage::new("3".parse().unwrap());
        page.change = Some(Outcome::Answer(json!({
            "stage": "to_land", "onto": "main", "commit": "c",
            "files": [{"path": "a.rs", "added": 2, "removed": 2}, {"path": "b.bin", "added": null, "removed": null}],
        })));
        assert_eq!(page.rows().len(), 3);
        page.patches.insert("a.rs".to_owned(), None);
        let answer = json!({"files": [{"patch": PATCH}]});
        page.take_patch("a.rs", &Outcome::Answer(answer));
        page.at = 5;
        assert_eq!(page.line(), Some(("a.rs".to_owned(), 2)));
        page.remark(("a.rs".to_owned(), 2), "Say it in English".to_owned());
        let rows = page.rows();
        let ReviewRow::Remark(remark) = &rows[6] else {
            panic!("{rows:?}");
        };
        assert_eq!(remark.to_string(), "a.rs:2 Say it in English");
        page.remark(("a.rs".to_owned(), 2), String::new());
        assert_eq!(page.remarks, []);
    }
}
