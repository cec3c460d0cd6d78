//! What a reservation is about: a path below the top of a repository, or a glob of such paths.
//!
//! Owns what a pattern takes and whether two of them can meet. A path stands for all that lies below
//! it. Two patterns meet where one path could be taken by both; where that cannot be told, they do.
//! `**` is any number of names; each of the others is as `glob` reads it. What is written also means
//! the file of exactly that name, as in `app/[id]/page.tsx`. It must never look at the machine.

use std::{fmt, str::FromStr};

use super::name::{Name, spellings, walk};

/// The longest path that common systems have, in bytes. To compare two globs takes as long as they
/// are, one times the other.
const LONGEST: usize = 4096;

/// Whether a text, or a part of one, may mean something else than its letters.
pub fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', ']', '{', '}', '\\'])
}

/// More alternatives than this are not told apart: such a pattern takes everything.
const WAYS: usize = 64;

/// A path below the top of a repository, or a glob of such paths.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
#[serde(into = "String")]
#[schemars(inline, from = "String")]
pub struct Pattern {
    text: String,
    /// Each is one reading of the text.
    ways: Vec<Vec<PathStep>>,
    /// It is a path, each letter of which is meant.
    is_path: bool,
}

/// What is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} cannot be reserved: {reason}")]
pub struct InvalidPattern {
    text: String,
    reason: &'static str,
}

/// A name on the way down, or any number of them.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PathStep {
    Deep,
    Name(Name),
}

impl Pattern {
    /// The pattern as written, less what means nothing in a path.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it takes the file at this path, itself or with a directory above it.
    pub fn takes(&self, path: &str) -> bool {
        if self.is_path && self.text != "." {
            // Whoever asks has many of each.
            let below = path.strip_prefix(self.text.as_str());
            return below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        }
        let path = literal(path);
        let covers = |way: &Vec<PathStep>| along(way, &path, |pattern_ends, _| pattern_ends);
        self.ways.iter().any(covers)
    }

    /// Whether some path could be taken by both.
    pub fn meets(&self, other: &Self) -> bool {
        let meet = |a: &Vec<PathStep>| {
            let mut others = other.ways.iter();
            others.any(|b| along(a, b, |_, _| true))
        };
        self.ways.iter().any(meet)
    }
}

impl FromStr for Pattern {
    type Err = InvalidPattern;
    fn from_str(text: &str) -> Result<Self, InvalidPattern> {
        let invalid = |reason| InvalidPattern {
            text: text.chars().take(80).collect(),
            reason,
        };
        if text.trim().is_empty() {
            return Err(invalid("it is empty"));
        }
        if text.len() > LONGEST {
            return Err(invalid("it is longer than a path can be"));
        }
        if text.starts_with('/') {
            return Err(invalid("it must lie below the top of the repository"));
        }
        if text.chars().any(char::is_control) {
            return Err(invalid("it holds characters that cannot be shown"));
        }
        let names: Vec<&str> = names(text).collect();
        if names.first() == Some(&"..") {
            return Err(invalid("it must lie below the top of the repository"));
        }
        if names.contains(&"..") {
            return Err(invalid("write it without '..'"));
        }
        let text = match names.is_empty() {
            true => ".".to_owned(),
            false => names.join("/"),
        };
        let ways = ways(&text);
        if ways.iter().any(|way| way.contains(&step(".."))) {
            return Err(invalid("write it without '..'"));
        }
        Ok(Self {
            is_path: !is_glob(&text),
            ways,
            text,
        })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.text
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('/').filter(|name| !matches!(*name, "" | "."))
}

/// Every reading of a text; the whole repository where there are too many.
fn ways(text: &str) -> Vec<Vec<PathStep>> {
    let Some(spelled) = spellings(text, WAYS) else {
        return vec![Vec::new()];
    };
    let mut ways: Vec<Vec<PathStep>> = spelled
        .iter()
        .map(|text| names(text).map(step).collect())
        .collect();
    let plain = literal(text);
    if !ways.contains(&plain) {
        ways.push(plain);
    }
    ways
}

/// A path of which every letter is meant.
fn literal(path: &str) -> Vec<PathStep> {
    names(path)
        .map(|name| PathStep::Name(Name::literal(name)))
        .collect()
}

fn step(name: &str) -> PathStep {
    match name {
        "**" => PathStep::Deep,
        name => PathStep::Name(Name::read(name)),
    }
}

/// Whether one path goes along both, until one of them ends; `ends` is asked whether it may, and told
/// whether the first and the second have ended.
fn along(a: &[PathStep], b: &[PathStep], ends: fn(bool, bool) -> bool) -> bool {
    let end = |i: usize, j: usize| ends(i == a.len(), j == b.len());
    walk((a.len(), b.len()), end, |i, j, on| match (&a[i], &b[j]) {
        // One of them ends here, or takes what the other one has next.
        (PathStep::Deep, _) | (_, PathStep::Deep) => on(1, 0) || on(0, 1),
        (PathStep::Name(a), PathStep::Name(b)) => a.meets(b) && on(1, 1),
    })
}

#[cfg(test)]
mod tests {
    use globset::GlobBuilder;
    use proptest::prelude::*;

    use super::*;

    fn pattern(text: &str) -> Pattern {
        text.parse().unwrap()
    }

    #[test]
    fn a_pattern_takes_what_lies_below_it() {
        for (text, taken, left) in [
            (
                "src",
                &["src", "src/a.rs", "src/a/b.rs"][..],
                &["srcs", "lib/src"][..],
            ),
            ("./src//a.rs", &["src/a.rs"], &["src", "src/a.rsx"]),
            ("src/*.rs", &["src/a.rs", "src/.rs"], &["src/a/b.rs", "src"]),
            ("**/*.rs", &["a.rs", "x/y/a.rs"], &["a.md"]),
            ("src/**", &["src/a", "src/a/b"], &["src", "lib"]),
            ("a/**/z", &["a/z", "a/b/c/z", "a/z/below"], &["a/b"]),
            ("{src,lib/*}/a", &["src/a", "lib/x/a"], &["lib/a"]),
            ("x.{js,t{s,sx}}", &["x.js", "x.ts", "x.tsx"], &["x.t"]),
            ("f[0-9b]?", &["f1x", "fbx"], &["fax", "f1"]),
            ("f[!a-c]", &["fd"], &["fb"]),
            (
                "app/[id]/page",
                &["app/i/page", "app/[id]/page"],
                &["app/x/page"],
            ),
            (r"a\*b", &["a*b"], &["axb"]),
            (".", &["anything", "at/all"], &[]),
        ] {
            let it = pattern(text);
            assert!(taken.iter().all(|path| it.takes(path)), "{text}");
            assert!(!left.iter().any(|path| it.takes(path)), "{text}");
        }
    }

    #[test]
    fn patterns_meet_where_a_path_could_be_of_both() {
        for (a, b, meet) in [
            ("src/a.rs", "src/a.rs", true),
            ("src/a.rs", "src/b.rs", false),
            ("src", "src/a/b.rs", true),
            ("src", "srcs", false),
            ("src/*.rs", "src/a.*", true),
            ("src/*.rs", "src/*.md", false),
            // A directory may be called a.rs.
            ("src/*.rs", "src/a.rs/b.md", true),
            ("src/*.rs", "src/a/*.rs", false),
            ("**/a.rs", "src/**", true),
            ("**/a.rs", "src/*/b.rs", true),
            ("a/**/z", "a/b", true),
            ("a/**/z", "b", false),
            ("{src,lib}/**", "lib/a", true),
            ("{src,lib}/**", "docs/a", false),
            ("f[a-c]", "f[c-e]", true),
            ("f[a-c]", "f[d-e]", false),
            // Unsure: it counts as meeting.
            ("f[!a]", "f[!b]", true),
            ("f[!a]", "f[a]", true),
            ("f[a", "fb", true),
            (".", "x", true),
            ("a*c", "ab*", true),
            ("a?", "a", false),
        ] {
            assert_eq!(pattern(a).meets(&pattern(b)), meet, "{a} and {b}");
            assert_eq!(pattern(b).meets(&pattern(a)), meet, "{b} and {a}");
        }
    }

    #[test]
    fn too_many_choices_take_everything() {
        let wide = pattern(&"{a,b}".repeat(7));
        assert!(wide.takes("somewhere/else"));
        assert!(!pattern(&"{a,b}".repeat(6)).takes("else"));
    }

    #[test]
    fn what_leaves_the_repository_is_no_pattern() {
        let long = "a*".repeat(LONGEST);
        for bad in [
            "",
            " ",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "{..,a}/x",
            "a\0b",
            "a\nb",
            &long,
        ] {
            assert!(bad.parse::<Pattern>().is_err(), "{bad:?}");
        }
        assert_eq!(pattern("./a//b/").to_string(), "a/b");
    }

    fn text(sets: &'static str) -> impl Strategy<Value = String> {
        let name = prop_oneof![
            "[ab]{1,3}",
            "[ab?*]{1,3}",
            Just("**".to_owned()),
            sets,
            // No `**`: among choices it means any number of names to us, and not to theirs.
            r"[ab]?\{([ab]\*?|\*[ab]?),[ab?]\}",
        ];
        prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
    }

    fn path() -> impl Strategy<Value = String> {
        prop::collection::vec("[ab]{1,3}", 1..5).prop_map(|names| names.join("/"))
    }

    /// What somebody else's globs say of the path and of the directories above it.
    fn second_opinion(text: &str, path: &str) -> bool {
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        let glob = glob.unwrap().compile_matcher();
        let ends = path.match_indices('/').map(|(at, _)| at);
        ends.chain([path.len()])
            .any(|end| glob.is_match(&path[..end]))
    }

    proptest! {
        #[test]
        // Theirs lets `[!a]` be a separator.
        fn a_pattern_takes_what_a_second_opinion_says(
            text in text(r"[ab]?\[[ab]\][ab*]?"), path in path()
        ) {
            prop_assert_eq!(pattern(&text).takes(&path), second_opinion(&text, &path));
        }

        #[test]
        fn patterns_that_take_one_path_meet(
            a in text(r"[ab]?\[!?[ab]\][ab*]?"), b in text(r"[ab]?\[!?[ab]\][ab*]?"), path in path()
        ) {
            let (a, b) = (pattern(&a), pattern(&b));
            prop_assert_eq!(a.meets(&b), b.meets(&a));
            prop_assert!(a.meets(&a));
            if a.takes(&path) && b.takes(&path) {
                prop_assert!(a.meets(&b));
            }
        }
    }
}
