//! The simple commands of a shell's command line, where it can be told without running it.
//!
//! Owns the part of the grammar in which the words that are typed are the words that run: plain words and quotes,
//! `&&`, `||`, `;`, `|`, `&`, lines, and redirections to other outputs and `/dev/null`. Invariant: it is a list of what is
//! known, not of what is dangerous, so whatever it does not know (substitutions, patterns, files written to, loops,
//! variables) gives none, in sh, bash and zsh alike. It must never guess.

/// Words that begin more than a simple command.
const KEYWORDS: &[&str] = &[
    "case", "coproc", "do", "done", "elif", "else", "end", "esac", "fi", "for", "foreach",
    "function", "if", "in", "repeat", "select", "then", "time", "until", "while",
];

/// The simple commands of a command line, in order, each with one space between its words; a word that has a space
/// itself, or nothing in it, is quoted. None where it cannot be told what runs.
pub(super) fn simple_commands(line: &str) -> Option<Vec<String>> {
    let mut scan = Scan {
        rest: line,
        commands: Vec::new(),
        words: Vec::new(),
        word: None,
    };
    while let Some(next) = scan.take() {
        scan.character(next)?;
    }
    // What ends with an operator that another command must follow ends too early.
    let is_over = !matches!(line.trim_end().as_bytes(), [.., b'|'] | [.., b'&', b'&']);
    scan.end_command(is_over)?;
    Some(scan.commands).filter(|it| !it.is_empty())
}

/// A command line while it is read.
struct Scan<'t> {
    rest: &'t str,
    /// Those that have ended.
    commands: Vec<String>,
    /// The words of the command that has not.
    words: Vec<String>,
    /// The word that has not ended, and whether all of it stands outside of quotes.
    word: Option<(String, bool)>,
}

impl Scan<'_> {
    fn take(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    /// Whether the rest begins so; then that is behind us.
    fn take_if(&mut self, start: &str) -> bool {
        let rest = self.rest.strip_prefix(start);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn character(&mut self, next: char) -> Option<()> {
        match next {
            ' ' | '\t' => self.end_word(),
            '\n' => self.end_command(true),
            ';' => self.end_command(false),
            // In bash a redirection, in sh the end of a command.
            '&' if self.rest.starts_with('>') => None,
            '&' => {
                self.take_if("&");
                self.end_command(false)
            }
            '|' => {
                self.take_if("|");
                self.end_command(false)
            }
            '<' | '>' => self.redirection(next),
            '\'' => {
                let end = self.rest.find('\'')?;
                let (quoted, rest) = self.rest.split_at(end);
                self.rest = &rest[1..];
                self.push_quoted(quoted)
            }
            '"' => {
                let end = self.rest.find('"')?;
                let (quoted, rest) = self.rest.split_at(end);
                self.rest = &rest[1..];
                // What is expanded there, and what takes a quote's meaning away.
                let is_plain = !quoted.contains(['$', '`', '\\', '!']);
                is_plain.then(|| self.push_quoted(quoted)).flatten()
            }
            _ if next.is_alphanumeric() || "_-./:,@%+=~".contains(next) => {
                let (word, _) = self.word.get_or_insert_with(|| (String::new(), true));
                // A home, or in zsh a program's path.
                let is_expanded = match next {
                    '~' => word.is_empty() || word.ends_with([':', '=']),
                    '=' => word.is_empty(),
                    _ => false,
                };
                word.push(next);
                (!is_expanded).then_some(())
            }
            _ => None,
        }
    }

    fn push_quoted(&mut self, quoted: &str) -> Option<()> {
        let (word, is_plain) = self.word.get_or_insert_with(|| (String::new(), false));
        word.push_str(quoted);
        *is_plain = false;
        Some(())
    }

    /// Behind `<` or `>`: another output, or `/dev/null`.
    fn redirection(&mut self, direction: char) -> Option<()> {
        match self.word.take() {
            // The number of what is redirected.
            Some((word, true)) if word.bytes().all(|it| it.is_ascii_digit()) => {}
            word => {
                self.word = word;
                self.end_word()?;
            }
        }
        let is_output = direction == '>';
        if is_output && (self.take_if("&1") || self.take_if("&2")) {
            return self.stands_alone();
        }
        if is_output {
            self.take_if(">");
        }
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        self.take_if("/dev/null").then_some(())?;
        self.stands_alone()
    }

    /// Whether the word that was taken ends here.
    fn stands_alone(&self) -> Option<()> {
        let next = self.rest.chars().next();
        next.is_none_or(|it| " \t\n;&|<>".contains(it))
            .then_some(())
    }

    fn end_word(&mut self) -> Option<()> {
        let Some((word, is_plain)) = self.word.take() else {
            return Some(());
        };
        if self.words.is_empty() {
            let is_name =
                !word.is_empty() && !word.contains(char::is_whitespace) && !word.contains('=');
            let is_keyword = is_plain && KEYWORDS.contains(&word.as_str());
            (is_name && !is_keyword).then_some(())?;
        }
        self.words.push(
            match word.is_empty() || word.contains([' ', '\t', '\n', '\'']) {
                true => format!("'{}'", word.replace('\'', r"'\''")),
                false => word,
            },
        );
        Some(())
    }

    /// Only at the end and at the end of a line there may be no command.
    fn end_command(&mut self, may_be_none: bool) -> Option<()> {
        self.end_word()?;
        match self.words.is_empty() {
            true => may_be_none.then_some(()),
            false => {
                self.commands
                    .push(std::mem::take(&mut self.words).join(" "));
                Some(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::simple_commands;

    #[test]
    fn what_runs_is_known_word_by_word() {
        for (line, commands) in [
            ("npm test", &["npm test"][..]),
            ("  npm   test  ", &["npm test"]),
            ("npm ci && npm test", &["npm ci", "npm test"]),
            ("a || b; c & d | e\nf;", &["a", "b", "c", "d", "e", "f"]),
            ("a\n\n b\n", &["a", "b"]),
            ("a &&\nb", &["a", "b"]),
            ("cargo test 2>&1 | tail -n 5", &["cargo test", "tail -n 5"]),
            ("make >/dev/null 2>&1", &["make"]),
            (
                "make > /dev/null; make >> /dev/null < /dev/null",
                &["make", "make"],
            ),
            (
                "git commit -m 'fix: a && b'",
                &["git commit -m 'fix: a && b'"],
            ),
            (
                "git commit -m \"it's\" ''",
                &[r"git commit -m 'it'\''s' ''"],
            ),
            (
                "git log HEAD~2..main --format=%h",
                &["git log HEAD~2..main --format=%h"],
            ),
            ("'npm' te\"st\"", &["npm test"]),
            ("ls größe", &["ls größe"]),
        ] {
            let found = simple_commands(line).unwrap_or_default();
            assert_eq!(found, commands, "{line}");
        }
    }

    #[test]
    fn what_is_expanded_written_to_or_more_than_commands_is_not_known() {
        for line in [
            "",
            " ",
            "\n",
            ";",
            "a;;b",
            "a &&",
            "a |",
            "| a",
            "a && && b",
            "a &&& b",
            "a |& b",
            "! a",
            "a 'b",
            "a \"b",
            "a $(b)",
            "a `b`",
            "a $B",
            "a \"$B\"",
            "a \"`b`\"",
            "a \"\\$b\"",
            "$A",
            "a <(b)",
            "(a)",
            "{ a; }",
            "a() { b; }",
            "a\\\nb",
            "a \\; b",
            "a > b",
            "a >b",
            "a 2> b",
            "a >| b",
            "a < b",
            "a << E\nx\nE",
            "a <<< b",
            "a &> b",
            "a &>/dev/null b",
            "a&>&1",
            "a > /dev/nullx",
            "a > /dev/null/../x",
            "a >&3",
            "a >&1x",
            "a <&1",
            "A=1 b",
            "A=1",
            "a=b c",
            "a *",
            "a ?",
            "a [b]",
            "a {b,c}",
            "~/a",
            "a ~/b",
            "a --b=~/c",
            "a =b",
            "a # b",
            "#a",
            "a ^b",
            "if a; then b; fi",
            "for a in b; do c; done",
            "while a; do b; done",
            "time a",
            "function a",
            "'a b' c",
            "'' a",
            "a\rb",
            "a\0b",
            "a \u{1b}[31m",
            "a $'b'",
            "> /dev/null",
            "a;b c=d e;f g= ;h=i",
            "a !b",
        ] {
            assert_eq!(simple_commands(line), None, "{line}");
        }
    }
}
