//! One line that a person types.
//!
//! Owns the text and the cursor in it: the usual keys of a shell's line. What the line is for, and when
//! it ends, is the prompt's matter.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A line and the place of the cursor in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineInput {
    text: String,
    /// In bytes, at the boundary of a character.
    cursor: usize,
}

impl LineInput {
    /// A line with the cursor at its end.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let cursor = text.len();
        Self { text, cursor }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text in front of the cursor.
    pub fn before(&self) -> &str {
        &self.text[..self.cursor]
    }

    /// Puts in what was pasted: line breaks are spaces, so that nothing is sent by it.
    pub fn paste(&mut self, text: &str) {
        let kept = text.replace(['\n', '\r', '\t'], " ");
        let kept: String = kept.chars().filter(|c| !c.is_control()).collect();
        self.text.insert_str(self.cursor, &kept);
        self.cursor += kept.len();
    }

    /// Takes a key; whether it was one for a line.
    pub fn key(&mut self, key: &KeyEvent) -> bool {
        let is_ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('a') if is_ctrl => self.cursor = 0,
            KeyCode::Char('e') if is_ctrl => self.cursor = self.text.len(),
            KeyCode::Char('u') if is_ctrl => {
                self.text.drain(..self.cursor);
                self.cursor = 0;
            }
            KeyCode::Char('k') if is_ctrl => self.text.truncate(self.cursor),
            KeyCode::Char('w') if is_ctrl => {
                let kept = self.before().trim_end();
                let start = kept.rfind(' ').map_or(0, |at| at + 1);
                self.text.drain(start..self.cursor);
                self.cursor = start;
            }
            KeyCode::Char(_) if is_ctrl || key.modifiers.contains(KeyModifiers::ALT) => {
                return false;
            }
            KeyCode::Char(c) => {
                self.text.insert(self.cursor, c);
                self.cursor += c.len_utf8();
            }
            KeyCode::Backspace => {
                if let Some(c) = self.before().chars().next_back() {
                    self.cursor -= c.len_utf8();
                    self.text.remove(self.cursor);
                }
            }
            KeyCode::Delete if self.cursor < self.text.len() => {
                self.text.remove(self.cursor);
            }
            KeyCode::Left => {
                let back = self.before().chars().next_back();
                self.cursor -= back.map_or(0, char::len_utf8);
            }
            KeyCode::Right => {
                let next = self.text[self.cursor..].chars().next();
                self.cursor += next.map_or(0, char::len_utf8);
            }
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = self.text.len(),
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[(KeyCode, KeyModifiers)]) -> String {
        let mut line = LineInput::new("über alles");
        for (code, modifiers) in keys {
            line.key(&KeyEvent::new(*code, *modifiers));
        }
        line.paste("|");
        line.text().to_owned()
    }

    #[test]
    fn a_line_is_edited_as_in_a_shell() {
        use KeyCode::{Backspace, Char, Delete, Home, Left, Right};
        let (plain, ctrl) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
        for (keys, expected) in [
            (vec![], "über alles|"),
            (
                vec![(Home, plain), (Right, plain), (Backspace, plain)],
                "|ber alles",
            ),
            (vec![(Home, plain), (Delete, plain)], "|ber alles"),
            (
                vec![(Left, plain), (Left, plain), (Char('ö'), plain)],
                "über allö|es",
            ),
            (vec![(Char('w'), ctrl)], "über |"),
            (vec![(Char('a'), ctrl), (Char('k'), ctrl)], "|"),
            (vec![(Left, plain), (Char('u'), ctrl)], "|s"),
        ] {
            assert_eq!(typed(&keys), expected);
        }
    }

    #[test]
    fn a_paste_sends_nothing() {
        let mut line = LineInput::default();
        line.paste("two\nlines\u{1b}[2J");
        assert_eq!(line.text(), "two lines[2J");
    }
}
