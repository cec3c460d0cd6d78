//! The page of `status`: texts, and headings with lines below.
//!
//! Owns how many of its lines are shown. Pure.

use crate::screen::Screen;

/// As many lines are below a heading where there is room.
const MOST: usize = 10;

/// What `status` says to a person, part by part.
pub struct StatusPage {
    screen: Screen,
    parts: Vec<Part>,
}

enum Part {
    Text(String),
    Section { title: String, lines: Vec<String> },
}

impl StatusPage {
    /// Nothing yet.
    pub fn new(screen: Screen) -> Self {
        let parts = Vec::new();
        Self { screen, parts }
    }

    /// Adds a text, which is shown as it is.
    pub fn say(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Text(text.into()));
    }

    /// Adds a heading with lines below; nothing where there are none.
    pub fn list(&mut self, title: &str, lines: impl Iterator<Item = String>) {
        let (title, lines) = (self.screen.bold(title), lines.collect::<Vec<_>>());
        if !lines.is_empty() {
            self.parts.push(Part::Section { title, lines });
        }
    }

    /// The page in so many rows, however many where nobody says: fewer lines below each heading, and at
    /// last the page's beginning alone.
    pub fn text(&self, rows: Option<usize>) -> String {
        let Some(rows) = rows else {
            return self.with(MOST);
        };
        let wrapped = (1..=MOST)
            .rev()
            .map(|most| self.screen.wrapped(&self.with(most)));
        let mut shortest = String::new();
        for text in wrapped {
            if text.lines().count() <= rows {
                return text;
            }
            shortest = text;
        }
        let begins = shortest.lines().take(rows.saturating_sub(1));
        let begins: String = begins.map(|line| format!("{line}\n")).collect();
        begins + "… 'flagpost status' shows the rest\n"
    }

    fn with(&self, most: usize) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(said) => text += said,
                Part::Section { title, lines } => {
                    text += &format!("\n{title}\n");
                    let shown = lines.iter().take(most);
                    shown.for_each(|line| text += &format!("  {line}\n"));
                    if lines.len() > most {
                        text += &format!("  … and {} more\n", lines.len() - most);
                    }
                }
            }
        }
        text.trim_start_matches('\n').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_takes_as_many_rows_as_there_are() {
        let mut page = StatusPage::new(Screen::none());
        page.say("web: 24 tasks\n");
        page.list("Ready", (1..=12).map(|n| format!("{n} Task")));
        page.list("At work", (1..=12).map(|n| format!("{n} Task")));
        page.list("Landing", std::iter::empty());
        for (rows, ready, lines) in [
            (None, "  10 Task\n  … and 2 more\n", 27),
            (Some(40), "  10 Task\n  … and 2 more\n", 27),
            (Some(23), "  8 Task\n  … and 4 more\n", 23),
            (Some(22), "  7 Task\n  … and 5 more\n", 21),
            (Some(9), "  1 Task\n  … and 11 more\n", 9),
            (Some(6), "… 'flagpost status' shows the rest\n", 6),
        ] {
            let text = page.text(rows);
            assert!(text.contains(ready), "{rows:?}\n{text}");
            assert_eq!(text.lines().count(), lines, "{rows:?}\n{text}");
            assert!(
                text.starts_with("web: 24 tasks\n\nReady\n  1 Task\n"),
                "{text}"
            );
        }
    }
}
