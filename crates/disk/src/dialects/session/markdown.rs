//! Markdown as notes: headings, list items, and everything else.
//!
//! Owns how far Markdown is understood here: enough to move a note from one file to another
//! without its changing meaning there. Invariants: no word is lost; notes that were read here,
//! written, and read again are the same notes, wherever they were put. For that, a heading inside
//! a note is lowered to the fourth level, where it divides nothing, and a code fence that nobody
//! closed is moved off the margin, where it opens nothing.

use flagpost_model::session::KnowledgeNote;

/// What a text consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Block<'t> {
    /// A heading of level 1 to 3.
    Heading { level: usize, text: &'t str },
    /// A list item or a paragraph.
    Note(KnowledgeNote),
}

/// The blocks of a text.
pub(super) fn blocks(text: &str) -> Vec<Block<'_>> {
    let text = text.trim_start_matches('\u{feff}');
    let lines: Vec<&str> = text.split('\n').map(str::trim_end).collect();
    let mut scan = Scan::default();
    let mut rest = lines.as_slice();
    while let Some(line) = rest.first() {
        let fenced = scan.fence(rest);
        let (unit, after) = rest.split_at(fenced.unwrap_or(1));
        scan.take(line, unit, fenced.is_some());
        rest = after;
    }
    scan.close();
    scan.blocks
}

/// A note still being read: its kind and its lines.
#[derive(Default)]
enum OpenNote {
    #[default]
    None,
    Bullet(Vec<String>),
    Prose(Vec<String>),
}

/// How far the reading is.
#[derive(Default)]
struct Scan<'t> {
    blocks: Vec<Block<'t>>,
    open: OpenNote,
    /// Empty lines since the last line of what is open.
    blanks: usize,
    /// Fences known to be without an end: their kind and least length. Without it a text full of
    /// them is searched to its end for each.
    endless: Vec<(char, usize)>,
}

impl<'t> Scan<'t> {
    fn take(&mut self, line: &'t str, unit: &[&'t str], fenced: bool) {
        if line.is_empty() {
            self.blanks += 1;
            if matches!(self.open, OpenNote::Prose(_)) {
                self.close();
            }
            return;
        }
        let blanks = std::mem::take(&mut self.blanks);
        if let OpenNote::Bullet(body) = &mut self.open
            && continues(line, fenced, blanks)
        {
            body.extend(std::iter::repeat_n(String::new(), blanks));
            let whole = |line: &&str| if fenced { line } else { dedented(line) }.to_owned();
            body.extend(unit.iter().map(whole));
            return;
        }
        if !fenced && let Some((level, text)) = heading(line) {
            self.close();
            self.blocks.push(match level {
                1..=3 => Block::Heading { level, text },
                _ => Block::Note(KnowledgeNote::Prose(format!(
                    "{} {text}",
                    "#".repeat(level)
                ))),
            });
        } else if !fenced && let Some(item) = bullet(line) {
            self.close();
            self.open = OpenNote::Bullet(vec![item.to_owned()]);
        } else if let OpenNote::Prose(body) = &mut self.open {
            extend_prose(body, unit, fenced);
        } else {
            self.close();
            let mut body = Vec::new();
            extend_prose(&mut body, unit, fenced);
            self.open = OpenNote::Prose(body);
        }
    }

    /// Ends the open note.
    fn close(&mut self) {
        let note = match std::mem::take(&mut self.open) {
            OpenNote::None => return,
            OpenNote::Bullet(lines) => KnowledgeNote::Bullet(lines.join("\n").trim().to_owned()),
            OpenNote::Prose(lines) => KnowledgeNote::Prose(lines.join("\n")),
        };
        if !note.text().is_empty() {
            self.blocks.push(Block::Note(note));
        }
    }

    /// How many lines the code fence has that opens with the first line.
    fn fence(&mut self, lines: &[&str]) -> Option<usize> {
        let (mark, length) = fence_mark(lines.first()?)?;
        if self.endless.iter().any(|&(m, l)| m == mark && l <= length) {
            return None;
        }
        let closes = |line: &&str| {
            fence_mark(line).is_some_and(|(m, l)| m == mark && l >= length && line.len() == l)
        };
        let end = lines.iter().skip(1).position(closes);
        if end.is_none() {
            self.endless.push((mark, length));
        }
        end.map(|lines_inside| lines_inside + 2)
    }
}

fn extend_prose(body: &mut Vec<String>, unit: &[&str], fenced: bool) {
    if fenced {
        body.extend(unit.iter().map(ToString::to_string));
        return;
    }
    for line in unit {
        let line = if body.is_empty() {
            line.trim_start()
        } else {
            line
        };
        let off_margin = if fence_mark(line).is_some() { " " } else { "" };
        body.push(format!("{off_margin}{line}"));
    }
}

/// Whether a line belongs to the list item before it: indented, or following at once.
fn continues(line: &str, fenced: bool, blanks: usize) -> bool {
    let indented = line.starts_with("  ") || line.starts_with('\t');
    let plain = fenced || (heading(line).is_none() && bullet(line).is_none());
    indented || (blanks == 0 && plain)
}

fn dedented(line: &str) -> &str {
    line.strip_prefix("  ")
        .or_else(|| line.strip_prefix('\t'))
        .unwrap_or_else(|| line.trim_start())
}

/// A heading's level and words.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start();
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let words = text.trim();
    ((1..=6).contains(&level) && text.starts_with([' ', '\t']) && !words.is_empty())
        .then_some((level, words))
}

/// A list item's first line.
pub(super) fn bullet(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix(['-', '*', '+'])?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim())
}

/// A heading's words without decoration, to compare names of sections.
pub(super) fn plain(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || "*_`:#".contains(c))
}

/// The ways of saying that there is nothing to say.
pub(super) fn says_nothing(text: &str) -> bool {
    let text = bullet(text).unwrap_or(text);
    let text = text.trim_matches(|c: char| !c.is_alphanumeric());
    ["", "none", "n/a", "nothing", "no issues", "no issues found"]
        .iter()
        .any(|none| text.eq_ignore_ascii_case(none))
}

/// A heading that divides nothing.
pub(super) fn lowered(text: &str) -> KnowledgeNote {
    KnowledgeNote::Prose(format!("#### {text}"))
}

/// The character and length of a fence at the margin.
fn fence_mark(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let length = line.len() - info.len();
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

/// The notes as text, each ending its line.
pub(super) fn render(notes: &[KnowledgeNote]) -> String {
    let mut out = String::new();
    let mut after_prose = false;
    for note in notes.iter().flat_map(safe) {
        let prose = matches!(note, KnowledgeNote::Prose(_));
        if !out.is_empty() && (prose || after_prose) {
            out.push('\n');
        }
        match &note {
            KnowledgeNote::Bullet(text) => {
                for (at, line) in text.split('\n').enumerate() {
                    let indent = match (at, line.is_empty()) {
                        (0, _) => "- ",
                        (_, true) => "",
                        (_, false) => "  ",
                    };
                    out.push_str(&format!("{indent}{line}\n"));
                }
            }
            KnowledgeNote::Prose(text) => out.push_str(&format!("{text}\n")),
        }
        after_prose = prose;
    }
    out
}

/// The note as it will be read again. Notes that were read pass unchanged; prose made elsewhere
/// could hold a heading.
fn safe(note: &KnowledgeNote) -> Vec<KnowledgeNote> {
    match note {
        KnowledgeNote::Bullet(_) => vec![note.clone()],
        KnowledgeNote::Prose(text) => blocks(text)
            .into_iter()
            .map(|block| match block {
                Block::Heading { text, .. } => lowered(text),
                Block::Note(note) => note,
            })
            .collect(),
    }
}
