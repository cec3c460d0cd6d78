//! What a client's help tells of its options.
//!
//! Owns how a help is read and how a command line is taken apart for it. Pure. A help that does not
//! surely list options proves nothing, and an option counts as missing only in one that does.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
};

/// Whoever names fewer options in its help does not list them there.
const LEAST: usize = 8;

/// The options that a help defines; `None` where it is no list of them.
pub(super) fn options_in(help: &str) -> Option<BTreeSet<String>> {
    let mut options = BTreeSet::new();
    for line in help.lines().map(str::trim) {
        if !line.starts_with('-') {
            continue;
        }
        // Behind two blanks stands what it does, and may name others.
        let defined = line.split("  ").next().unwrap_or_default();
        for part in defined.split(", ") {
            let word = part.split([' ', '=', '[', '<']).next().unwrap_or_default();
            if is_option(word) {
                options.insert(word.trim_end_matches(',').to_owned());
            }
        }
    }
    (options.contains("--help") && options.len() >= LEAST).then_some(options)
}

/// The options of a command line, each once and without its value.
pub(super) fn options_of(line: &[OsString]) -> Vec<String> {
    let words = line.iter().filter_map(|word| word.to_str());
    let mut options: Vec<String> = Vec::new();
    for word in words.take_while(|word| *word != "--") {
        let name = name_of(word);
        if is_option(name) && !options.iter().any(|it| it == name) {
            options.push(name.to_owned());
        }
    }
    options
}

/// An option without the value that is joined to it.
pub(super) fn name_of(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

/// The verb in front of the options.
pub(super) fn verb_of(line: &[OsString]) -> &[OsString] {
    let dashed = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let end = line.iter().position(dashed).unwrap_or(line.len());
    &line[..end]
}

/// The line that prints its help instead of doing what it says.
pub(super) fn with_help(line: &[OsString]) -> Vec<OsString> {
    // A '-' in the end is no option: it says that the prompt comes on stdin.
    let end = match line.last().map(OsString::as_os_str) {
        Some(last) if last == OsStr::new("-") => line.len() - 1,
        _ => line.len(),
    };
    let help = OsString::from("--help");
    line[..end].iter().cloned().chain([help]).collect()
}

/// The option that a client refuses in these words.
pub(super) fn refused_option(said: &str) -> Option<&str> {
    let rest = said.split_once("unexpected argument '")?.1;
    let option = name_of(rest.split('\'').next()?);
    is_option(option).then_some(option)
}

/// The version in what a client prints of itself.
pub(super) fn version_in(said: &str) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
    said.split(|c: char| !is_part(c))
        .map(|word| word.strip_prefix('v').unwrap_or(word))
        .find(|word| {
            let mut parts = word.splitn(3, '.');
            let whole = |part: Option<&str>| {
                part.is_some_and(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()))
            };
            whole(parts.next()) && whole(parts.next()) && parts.next().is_some_and(starts_whole)
        })
}

fn starts_whole(part: &str) -> bool {
    part.starts_with(|c: char| c.is_ascii_digit())
}

fn is_option(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    let dashes = word.len() - name.len();
    (1..=2).contains(&dashes) && name.starts_with(|c: char| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_help_of_any_make_defines_options_at_the_beginning_of_its_lines() {
        let help = "\
Usage: x [options]
  -c, --config <key=value>
          Use it as `-c a=b`, unlike --not-this
  -m, --model                     Model, as for --nor-this  [string]
      --allowedTools, --allowed-tools <tools...>
  --cloud [description]  Create a session
  --json[=WHICH]
  -f COMMAND_FILE, --message-file COMMAND_FILE, -q
      --add-dir=<DIR>   A directory
  - not one
  -h, --help
";
        let options = options_in(help).unwrap();
        let expected = "--add-dir --allowed-tools --allowedTools --cloud --config --help --json \
                        --message-file --model -c -f -h -m -q";
        let options: Vec<_> = options.iter().map(String::as_str).collect();
        assert_eq!(options.join(" "), expected);
    }

    #[test]
    fn what_is_no_list_of_options_proves_nothing() {
        for help in [
            "",
            "hello\n",
            "Usage: true\n  --help  display this\n  --version  output version\n",
            &"-x, --xx\n-y, --yy\n".repeat(20),
            "-a, -b, -c, -d, -e, -f, -g, -h, --hell\n",
        ] {
            assert_eq!(options_in(help), None, "{help:?}");
        }
    }

    #[test]
    fn a_line_is_a_verb_its_options_and_their_values() {
        let line = words("exec resume --json -c a=-b --sandbox=x --json -o /p -1 -- --no -");
        assert_eq!(options_of(&line), ["--json", "-c", "--sandbox", "-o"]);
        assert_eq!(verb_of(&line), words("exec resume"));
        assert_eq!(verb_of(&words("-p")), &[] as &[OsString]);
        assert_eq!(
            with_help(&words("exec --json -")),
            words("exec --json --help")
        );
        assert_eq!(
            with_help(&words("exec --json")),
            words("exec --json --help")
        );
    }

    #[test]
    fn a_version_is_found_in_what_each_client_prints() {
        for (said, version) in [
            ("2.1.330 (Claude Code)\n", Some("2.1.330")),
            ("WARNING: no aliases\ncodex-cli 0.169.0\n", Some("0.169.0")),
            ("aider 0.86.2", Some("0.86.2")),
            ("v1.18.33\n", Some("1.18.33")),
            ("2025.09.04-fc40cd1", Some("2025.09.04-fc40cd1")),
            ("1.2.3-beta.4", Some("1.2.3-beta.4")),
            ("version 12", None),
            ("127.0", None),
            ("", None),
        ] {
            assert_eq!(version_in(said), version, "{said:?}");
        }
    }

    #[test]
    fn an_option_that_is_refused_is_named() {
        let said = "error: unexpected argument '--full-auto' found\n\n  tip: to pass '--x'";
        assert_eq!(refused_option(said), Some("--full-auto"));
        let value = "error: unexpected argument '--sandbox=x' found";
        assert_eq!(refused_option(value), Some("--sandbox"));
        assert_eq!(refused_option("error: invalid value 'x' for '--y'"), None);
        assert_eq!(
            refused_option("error: unexpected argument 'word' found"),
            None
        );
    }
}
