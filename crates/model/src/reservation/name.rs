//! What one name may be, letter by letter.
//!
//! Owns what `*`, `?`, `[…]`, `\` and `{a,b}` mean. What cannot be told takes more rather than less:
//! whoever must not take too much refuses it before.

/// A name of which some letters may be others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name(Vec<GlobToken>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum GlobToken {
    Letter(char),
    One,
    Many,
    Set {
        inverted: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Name {
    /// A glob without choices.
    pub fn read(text: &str) -> Self {
        let mut letters = text.chars();
        let mut tokens = Vec::new();
        while let Some(letter) = letters.next() {
            tokens.push(match letter {
                '*' => GlobToken::Many,
                '?' => GlobToken::One,
                '\\' => GlobToken::Letter(letters.next().unwrap_or('\\')),
                '[' => match set(letters.as_str()) {
                    Some((set, rest)) => {
                        letters = rest.chars();
                        set
                    }
                    // Where it ends cannot be told.
                    None => {
                        tokens.push(GlobToken::Many);
                        break;
                    }
                },
                letter => GlobToken::Letter(letter),
            });
        }
        Self(tokens)
    }

    /// One of which every letter is meant.
    pub fn literal(text: &str) -> Self {
        Self(text.chars().map(GlobToken::Letter).collect())
    }

    /// Whether one name fits both.
    pub fn meets(&self, other: &Self) -> bool {
        let (a, b) = (&self.0, &other.0);
        let spent = |tokens: &[GlobToken]| tokens.iter().all(|it| *it == GlobToken::Many);
        let end = |i: usize, j: usize| spent(&a[i..]) && spent(&b[j..]);
        walk((a.len(), b.len()), end, |i, j, on| match (&a[i], &b[j]) {
            (GlobToken::Many, _) | (_, GlobToken::Many) => on(1, 0) || on(0, 1),
            (a, b) => share(a, b) && on(1, 1),
        })
    }
}

/// Every reading of a text in which something may be chosen; none where there are more than `most`.
pub(super) fn spellings(text: &str, most: usize) -> Option<Vec<String>> {
    let mut all = Vec::new();
    spell(String::new(), text, most, &mut all).then_some(all)
}

/// Spells out the first choice in the text, and those in what comes of it; false where there are
/// too many.
fn spell(done: String, text: &str, most: usize, all: &mut Vec<String>) -> bool {
    let Some((before, choices, after)) = choice(text) else {
        all.push(done + text);
        return all.len() <= most;
    };
    choices.iter().all(|choice| {
        let done = format!("{done}{before}");
        spell(done, &format!("{choice}{after}"), most, all)
    })
}

/// The first `{a,b}` of a text: what stands before it, what there is to choose from, and the rest.
fn choice(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    let (mut depth, mut open, mut begun) = (0_usize, 0, 0);
    let mut choices = Vec::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '{' => {
                if depth == 0 {
                    (open, begun) = (at, at + 1);
                }
                depth += 1;
            }
            ',' if depth == 1 => {
                choices.push(&text[begun..at]);
                begun = at + 1;
            }
            '}' if depth == 1 => {
                choices.push(&text[begun..at]);
                return Some((&text[..open], choices, &text[at + 1..]));
            }
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// A set of letters whose bracket is open already, and what follows it.
fn set(text: &str) -> Option<(GlobToken, &str)> {
    let inner = text.strip_prefix(['!', '^']);
    let (inverted, inner) = (inner.is_some(), inner.unwrap_or(text));
    // A bracket at the very beginning is one of the letters.
    let first = inner.chars().next()?.len_utf8();
    let end = first + inner.get(first..)?.find(']')?;
    let letters: Vec<char> = inner[..end].chars().collect();
    let (mut ranges, mut rest) = (Vec::new(), letters.as_slice());
    while let [from, more @ ..] = rest {
        match more {
            ['-', to, more @ ..] => {
                ranges.push((*from, *to));
                rest = more;
            }
            more => {
                ranges.push((*from, *from));
                rest = more;
            }
        }
    }
    Some((GlobToken::Set { inverted, ranges }, &inner[end + 1..]))
}

/// Walks two sequences side by side, each pair of places once. `end` judges where one of them ends,
/// `go` before that; it may ask how it goes on so many places further.
pub(super) fn walk(
    (n, m): (usize, usize),
    end: impl Fn(usize, usize) -> bool,
    go: impl Fn(usize, usize, &dyn Fn(usize, usize) -> bool) -> bool,
) -> bool {
    let mut seen = vec![vec![false; m + 1]; n + 1];
    for i in (0..=n).rev() {
        for j in (0..=m).rev() {
            seen[i][j] = match i == n || j == m {
                true => end(i, j),
                false => go(i, j, &|more_i, more_j| seen[i + more_i][j + more_j]),
            };
        }
    }
    seen[0][0]
}

/// Whether one letter fits both.
fn share(a: &GlobToken, b: &GlobToken) -> bool {
    match (a, b) {
        (GlobToken::One | GlobToken::Many, _) | (_, GlobToken::One | GlobToken::Many) => true,
        (GlobToken::Letter(a), GlobToken::Letter(b)) => a == b,
        (GlobToken::Letter(letter), GlobToken::Set { inverted, ranges })
        | (GlobToken::Set { inverted, ranges }, GlobToken::Letter(letter)) => {
            let inside = ranges
                .iter()
                .any(|(from, to)| (from..=to).contains(&letter));
            inside != *inverted
        }
        // What neither leaves out is more than can be told here.
        (GlobToken::Set { inverted: true, .. }, GlobToken::Set { .. })
        | (GlobToken::Set { .. }, GlobToken::Set { inverted: true, .. }) => true,
        (GlobToken::Set { ranges: a, .. }, GlobToken::Set { ranges: b, .. }) => {
            let meet = |a: &(char, char)| b.iter().any(|b| a.0 <= b.1 && b.0 <= a.1);
            a.iter().any(meet)
        }
    }
}

#[cfg(test)]
mod tests {
    use globset::GlobBuilder;
    use proptest::prelude::*;

    use super::*;

    fn text() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            "[ab]{1,3}",
            "[ab?*]{1,3}",
            r"\[!?[ab]\]",
            r"\[a-[ab]\]",
            r"\{[ab?*]{1,2},[ab]{1,2}\}",
        ];
        prop::collection::vec(part, 1..4).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn a_name_takes_what_a_second_opinion_says(text in text(), id in "[ab]{1,5}") {
            let theirs = GlobBuilder::new(&text).build().unwrap().compile_matcher();
            let ways = spellings(&text, 1000).unwrap();
            let ours = ways.iter().any(|way| Name::read(way).meets(&Name::literal(&id)));
            prop_assert_eq!(ours, theirs.is_match(&id));
        }
    }
}
