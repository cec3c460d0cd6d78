//! Backtraces in what a program printed before it died.
//!
//! Owns how the frames of a backtrace are known, and which lines are the error that they belong to:
//! who reads a few words of an output should read the error. Pure.

use super::reader::text;

/// An error is looked for among so many lines at the end: what stands before was survived.
const LINES: usize = 8;

/// So much of it is told.
const LONGEST: usize = 400;

/// The text without the frames of backtraces, and without what introduces them.
pub(crate) fn without_frames(text: &str) -> String {
    let mut is_inside = false;
    let kept = text.lines().filter(|line| {
        let introduces = line.trim().eq_ignore_ascii_case("stack backtrace:");
        is_inside = introduces || is_inside && is_numbered(line) || is_inside && is_place(line);
        !is_inside && !is_place(line) && !is_remark(line)
    });
    let kept: Vec<&str> = kept.collect();
    kept.join("\n").trim_end().to_owned()
}

/// The error that a program died of, where its last lines name one: from its first line on, on one line.
pub(crate) fn error(output: &str) -> Option<String> {
    let mut last = output.lines().rev().take(LINES);
    let line = last.find(|line| is_error(line))?;
    let begins = line.as_ptr() as usize - output.as_ptr() as usize;
    Some(text::line(&output[begins..], LONGEST))
}

fn is_error(line: &str) -> bool {
    let line = line.trim_start().to_ascii_lowercase();
    let begins = ["error", "fatal", "panic"];
    let is_thread = line.starts_with("thread ") && line.contains(" panicked at ");
    is_thread || begins.iter().any(|word| line.starts_with(word))
}

/// A frame as `   3: core::panic`. The causes of an error are numbered alike, and no frames.
fn is_numbered(line: &str) -> bool {
    let number = line.trim_start().split_once(": ").map(|(number, _)| number);
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
}

/// Where a frame is, as `    at run (/app/x.js:1:2)`.
fn is_place(line: &str) -> bool {
    let place = line.trim_start().strip_prefix("at ");
    let has_number = |place: &str| {
        let mut parts = place.split(':').skip(1);
        parts.any(|part| part.starts_with(|c: char| c.is_ascii_digit()))
    };
    let is_known = |place: &str| place.contains("<anonymous>") || place.contains("(index ");
    line.starts_with([' ', '\t']) && place.is_some_and(|it| has_number(it) || is_known(it))
}

/// What a runtime says around a backtrace.
fn is_remark(line: &str) -> bool {
    let line = line.trim();
    let remarks = [
        "note: run with `RUST_BACKTRACE=",
        "note: Some details are omitted, run with `RUST_BACKTRACE=",
        "Node.js v",
    ];
    remarks.iter().any(|remark| line.starts_with(remark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_and_its_frames_are_not() {
        let anyhow = "Error: Model provider `nope` not found\n\nStack backtrace:\n   0: <unknown>\n   9: <unknown>\n";
        let panic = "thread 'main' (7) panicked at src/main.rs:3:5:\nboom\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/library/std/src/panicking.rs:1:2\nnote: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.\n";
        let node = "/app/x.js:2\n    throw new Error('no key');\n    ^\n\nError: no key\n    at Object.<anonymous> (/app/x.js:2:9)\n    at node:internal/main:30\n\nNode.js v22.1.0\n";
        for (text, told) in [
            (anyhow, "Error: Model provider `nope` not found"),
            (panic, "thread 'main' (7) panicked at src/main.rs:3:5: boom"),
            (node, "Error: no key"),
        ] {
            let text = without_frames(text);
            assert_eq!(error(&text).as_deref(), Some(told), "{text}");
            assert!(told.ends_with(text.lines().last().unwrap()), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_frame_is_kept() {
        let text = "Error: no config\n\nCaused by:\n    0: cannot read it\n    1: not there\n  at first sight\nat x:1";
        assert_eq!(without_frames(text), text);
        let told =
            "Error: no config Caused by: 0: cannot read it 1: not there at first sight at x:1";
        assert_eq!(error(text).as_deref(), Some(told));
    }

    #[test]
    fn an_error_of_several_lines_is_told_to_its_end_and_an_old_one_is_none() {
        let config = "WARNING: no aliases\nError loading config.toml: invalid type\nin `model`\n";
        assert_eq!(
            error(config).as_deref(),
            Some("Error loading config.toml: invalid type in `model`")
        );
        assert_eq!(error("no words\nof a mistake"), None);
        let survived = format!("error: it was mended\n{}", "and on\n".repeat(LINES));
        assert_eq!(error(&survived), None);
        assert_eq!(error(""), None);
    }
}
