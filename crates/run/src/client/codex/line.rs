//! A command line of `codex exec`, and what the app-server is told in its place.
//!
//! Owns which of exec's options the app-server has another way for. Pure.

use std::ffi::OsString;

/// What such a line says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExecLine {
    /// Codex' program.
    program: String,
    /// Options that both take: settings, and features that are on or off.
    both: Vec<String>,
    /// What the sandbox lets its commands do.
    pub(super) sandbox: Option<String>,
    /// Directories beside its own that they may write.
    pub(super) roots: Vec<String>,
    /// The model.
    pub(super) model: Option<String>,
    /// The conversation that goes on.
    pub(super) resumes: Option<String>,
}

impl ExecLine {
    /// What a line says; none where it is no line of exec that reads its prompt from stdin, or has an option that the
    /// app-server has no way for.
    pub fn read(line: &[OsString]) -> Option<Self> {
        let mut words = line.iter().map(|it| it.to_str());
        let mut read = Self {
            program: words.next()??.to_owned(),
            ..Self::default()
        };
        (words.next()?? == "exec").then_some(())?;
        let mut words = words.map(|it| it.unwrap_or_default()).peekable();
        while let Some(word) = words.next() {
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) if word.starts_with("--") => (name, Some(value)),
                _ => (word, None),
            };
            match name {
                "--json" | "--skip-git-repo-check" => continue,
                "-" => return words.peek().is_none().then_some(read),
                _ => {}
            }
            let value = joined.or_else(|| words.next())?.to_owned();
            match name {
                "-c" | "--config" | "--enable" | "--disable" => {
                    read.both.extend([name.to_owned(), value]);
                }
                "-s" | "--sandbox" => read.sandbox = Some(value),
                "--add-dir" => read.roots.push(value),
                "-m" | "--model" => read.model = Some(value),
                "resume" => read.resumes = Some(value),
                // It is in the log, too.
                "-o" | "--output-last-message" => {}
                _ => return None,
            }
        }
        None
    }

    /// The app-server's program and arguments.
    pub(super) fn server(&self) -> Vec<OsString> {
        let words = [self.program.as_str(), "app-server"].into_iter();
        let words = words.chain(self.both.iter().map(String::as_str));
        words.map(OsString::from).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<ExecLine> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        ExecLine::read(&words)
    }

    #[test]
    fn a_line_of_a_run_is_served_and_one_with_other_options_is_not() {
        let ours = "/x/codex exec --json --sandbox workspace-write --skip-git-repo-check --add-dir /out --add-dir /git \
                    -c allow_login_shell=false -o /live/last.md";
        let line = read(&format!(
            "{ours} -c a.b=1 --enable x --model=o9 resume u-1 -"
        ))
        .unwrap();
        assert_eq!(
            line.server(),
            "/x/codex app-server -c allow_login_shell=false -c a.b=1 --enable x"
                .split(' ')
                .map(OsString::from)
                .collect::<Vec<_>>()
        );
        let said = (
            line.sandbox.as_deref(),
            line.model.as_deref(),
            line.resumes.as_deref(),
        );
        assert_eq!(said, (Some("workspace-write"), Some("o9"), Some("u-1")));
        assert_eq!(line.roots, ["/out", "/git"]);
        for other in [
            &format!("{ours} --profile work -"),
            &format!("{ours} --full-auto -"),
            &format!("{ours} 'Do it'"),
            ours,
            "/x/codex -c a=1 exec -",
            "/x/codex exec -c",
            "/x/codex exec - --json",
            "/x/codex",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
