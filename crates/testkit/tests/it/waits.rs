//! A slow machine turns no test red.
//!
//! Owns what a test may not do with a clock: assert that something was fast enough, or wait for a time of its
//! own in place of `patience()`. A test may assert that something took at least so long, it may pause, look
//! again and again, and give up what it tests: none of that depends on how fast a machine is.

use flagpost_testkit::repository;

use crate::{
    assert_none,
    product::{self, closed},
};

/// The words by which a script of a test waits for a time of its own, and where such scripts are.
const SCRIPTS: &[(&str, &str, &str)] = &[("tests/faces/", ".mjs", "waitForTimeout")];

/// Calls whose first argument says how long something is waited for.
const WAITS: &[&str] = &[
    "connect_timeout",
    "end_within",
    "recv_timeout",
    "set_read_timeout",
    "set_write_timeout",
    "timeout",
];

/// Parts of the names of times that somebody waits.
const NAMES: &[&str] = &["DEADLINE", "PATIENCE", "TIMEOUT"];

/// A fault of a file: its line, and what it does.
type Fault = (usize, &'static str);

const BOUND: &str = "asserts that something was fast enough: assert what happened";
const OWN_TIME: &str =
    "waits for a time of its own: `patience()` is how long anything is waited for";

/// The faults of the code of tests.
fn faults(code: &[(usize, String)]) -> Vec<Fault> {
    let mut faults = asserted_bounds(code);
    faults.extend(own_times(code));
    faults.sort_unstable();
    faults
}

fn token(code: &[(usize, String)], at: usize) -> &str {
    code.get(at).map_or("", |(_, token)| token.as_str())
}

/// Whether these tokens stand here.
fn stands(code: &[(usize, String)], at: usize, tokens: &[&str]) -> bool {
    let here = code.get(at..at.saturating_add(tokens.len()));
    let here = here.unwrap_or_default();
    here.iter().map(|(_, token)| token).eq(tokens)
}

/// Asserts in which a measured time is less than something.
fn asserted_bounds(code: &[(usize, String)]) -> Vec<Fault> {
    let measured = measured(code);
    let mut faults = Vec::new();
    for at in 0..code.len() {
        let is_assert = token(code, at).contains("assert") && stands(code, at + 1, &["!", "("]);
        if !is_assert {
            continue;
        }
        let end = closed(code, at + 2).min(code.len());
        for (clock, after) in clocks(code, at + 3, end, &measured) {
            let is_least = stands(code, after, &["<"]);
            let is_most_of = stands(code, clock.wrapping_sub(1), &[">"])
                || stands(code, clock.wrapping_sub(2), &[">", "="]);
            // A range whose end is open is a lower bound.
            let is_within = stands(code, clock.wrapping_sub(4), &[".", "contains", "(", "&"])
                && !stands(code, clock.wrapping_sub(7), &[".", ".", ")"]);
            if is_least || is_most_of || is_within {
                faults.push((code[clock].0, BOUND));
            }
        }
    }
    faults
}

/// The names that were given to measured times.
fn measured(code: &[(usize, String)]) -> Vec<&str> {
    let is_let = |at: &usize| token(code, *at) == "let";
    let named = (0..code.len()).filter(is_let).filter_map(|at| {
        let name = at + 1 + usize::from(token(code, at + 1) == "mut");
        let end = (name..code.len()).find(|&it| token(code, it) == ";")?;
        let is_measured = stands(code, name + 1, &["="])
            && (name..end).any(|it| stands(code, it, &["elapsed", "(", ")"]))
            // What is measured within is not what is named.
            && !(name..end).any(|it| token(code, it) == "{");
        is_measured.then(|| token(code, name))
    });
    named.collect()
}

/// Where measured times begin between these places, and what comes after each.
fn clocks(
    code: &[(usize, String)],
    from: usize,
    to: usize,
    measured: &[&str],
) -> Vec<(usize, usize)> {
    let chain = |mut at: usize| {
        // What is asked of it, as in `.as_secs()`.
        while token(code, at) == "." && token(code, at + 2) == "(" {
            at = closed(code, at + 2) + 1;
        }
        at
    };
    let mut clocks = Vec::new();
    for at in from..to {
        if stands(code, at, &["elapsed", "(", ")"]) {
            let mut begin = at;
            while token(code, begin.wrapping_sub(1)) == "." {
                begin = begin.saturating_sub(2);
            }
            clocks.push((begin, chain(at + 3)));
        } else if measured.contains(&token(code, at)) && token(code, at.wrapping_sub(1)) != "." {
            clocks.push((at, chain(at + 1)));
        }
    }
    clocks
}

/// Waits whose time is not `patience()`.
fn own_times(code: &[(usize, String)]) -> Vec<Fault> {
    let is_patience = |at: usize| {
        let some = 2 * usize::from(stands(code, at, &["Some", "("]));
        token(code, at + some) == "patience"
    };
    let mut faults = Vec::new();
    for at in 0..code.len() {
        let is_wait = WAITS.contains(&token(code, at))
            && token(code, at + 1) == "("
            && token(code, at.wrapping_sub(1)) != "fn"
            && !is_patience(at + 2);
        let is_deadline =
            stands(code, at, &["Instant", "::", "now", "(", ")", "+"]) && !is_patience(at + 6);
        let is_constant = token(code, at) == "const"
            && stands(code, at + 2, &[":", "Duration"])
            && NAMES.iter().any(|name| token(code, at + 1).contains(name));
        if is_wait || is_deadline || is_constant {
            faults.push((code[at].0, OWN_TIME));
        }
    }
    faults
}

/// The lines of a script that wait for a time of their own.
fn faults_of_script(text: &str, word: &str) -> Vec<Fault> {
    let lines = text
        .lines()
        .zip(1..)
        .filter(|(line, _)| line.contains(word));
    lines.map(|(_, line)| (line, OWN_TIME)).collect()
}

#[test]
fn no_test_can_fail_because_a_machine_is_slow() {
    let mut found: Vec<(String, Vec<Fault>)> = product::tests()
        .into_iter()
        .map(|(path, code)| (path, faults(&code)))
        .collect();
    assert!(found.len() > 500, "only {} files were read", found.len());
    for (dir, ending, word) in SCRIPTS {
        let scripts = repository::texts(|path| path.starts_with(dir) && path.ends_with(ending));
        assert!(!scripts.is_empty(), "no scripts in {dir}");
        found.extend(
            scripts
                .into_iter()
                .map(|file| (file.path, faults_of_script(&file.text, word))),
        );
    }
    found.retain(|(_, faults)| !faults.is_empty());
    let told: Vec<String> = found
        .iter()
        .flat_map(|(path, faults)| {
            let line = |(line, what): &Fault| format!("{path}:{line} {what}");
            faults.iter().map(line).collect::<Vec<_>>()
        })
        .collect();
    assert_none("tests that depend on the speed of a machine", &told);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{code_only, tokens};

    fn count(text: &str) -> usize {
        faults(&tokens(&code_only(text))).len()
    }

    #[test]
    fn an_assert_that_something_was_fast_is_caught() {
        for text in [
            "assert!(began.elapsed() < Duration::from_secs(5));",
            "assert!(it.ended && began.elapsed().as_millis() <= 1000, \"late\");",
            "assert!(LIMIT > self.began.elapsed());",
            "assert!(LIMIT >= began.elapsed());",
            "let took = began.elapsed().as_secs(); assert!((10..40).contains(&took), \"{took}\");",
            "let took = began.elapsed(); work(); assert!(took >= wait && took < LONG, \"{took:?}\");",
            "prop_assert!(began.elapsed() < LONG);",
            "debug_assert!(began.elapsed() < LONG);",
        ] {
            assert_eq!(count(text), 1, "{text}");
        }
    }

    #[test]
    fn a_wait_with_a_time_of_its_own_is_caught() {
        for text in [
            "let deadline = Instant::now() + Duration::from_secs(20);",
            "let deadline = std::time::Instant::now() + LONG;",
            "events.recv_timeout(Duration::from_secs(60))",
            "stream.set_read_timeout(Some(LONG)).unwrap();",
            "run.end_within(LONG)",
            "tokio::time::timeout(Duration::from_secs(1), told).await",
            "const PATIENCE: Duration = Duration::from_secs(30);",
            "pub const ANSWER_TIMEOUT: Duration = LONG;",
        ] {
            assert_eq!(count(text), 1, "{text}");
        }
        let script = "await page.click('a');\nawait page.waitForTimeout(500);\n";
        assert_eq!(faults_of_script(script, "waitForTimeout"), [(2, OWN_TIME)]);
    }

    #[test]
    fn what_no_slow_machine_fails_by_is_let_through() {
        for text in [
            "assert!(began.elapsed() >= Duration::from_secs(1));",
            "let took = began.elapsed(); assert!(took >= wait, \"{took:?}\");",
            "let took = began.elapsed(); assert!((10..).contains(&took));",
            "assert!(limit < began.elapsed());",
            "if said.elapsed() >= limit { return None; }",
            "while kills < LEAST || began.elapsed() < KILLING_TIME { kill(); }",
            "let deadline = Instant::now() + patience();",
            "assert!(Instant::now() < deadline, \"in vain\");",
            "events.recv_timeout(patience())",
            "stream.set_read_timeout(Some(patience()))",
            "pub fn end_within(mut self, patience: Duration) {}",
            "thread::sleep(Duration::from_millis(5));",
            "const LOOK_AGAIN: Duration = Duration::from_millis(5);",
            "// assert!(began.elapsed() < LONG)\n\"recv_timeout(LONG)\"",
            "until(\"it goes\", || began.elapsed() > LONG);",
            "println!(\"{:?}\", began.elapsed()); assert!(count < 3);",
        ] {
            assert_eq!(count(text), 0, "{text}");
        }
    }
}
