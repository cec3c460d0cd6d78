//! What is wrong with a query, and where.
//!
//! Owns the sentences that refuse one: each names the place, what was found there, what is allowed,
//! and the nearest word that is.

/// A text that is no query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at character {}: {problem}", at + 1)]
pub struct InvalidQuery {
    /// Which character it is about, counted from 0.
    pub at: usize,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What can be wrong with a query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// No field of that name.
    #[error("there is no field {name:?}{}; the fields are {}, meta.KEY", meant(*near), allowed.join(", "))]
    UnknownField {
        /// As it was typed.
        name: String,
        /// What is spelled like it.
        near: Option<&'static str>,
        /// The fields there are.
        allowed: Vec<&'static str>,
    },
    /// No value that the field can have.
    #[error("{value:?} is no value of {field}{}; use {allowed}", meant(*near))]
    WrongValue {
        /// The field.
        field: String,
        /// As it was typed.
        value: String,
        /// What is spelled like it.
        near: Option<&'static str>,
        /// What the field takes.
        allowed: String,
    },
    /// The field cannot be compared like that.
    #[error("{field} cannot be compared with {operator}; use {allowed}")]
    WrongOperator {
        /// The field.
        field: String,
        /// The operator.
        operator: &'static str,
        /// Those it has.
        allowed: &'static str,
    },
    /// Something else belongs here.
    #[error("{found} stands where {wanted} belongs")]
    Unexpected {
        /// What belongs here.
        wanted: &'static str,
        /// What stands here.
        found: String,
    },
    /// A quotation mark or parenthesis without its partner.
    #[error("this {0} is never closed")]
    Unclosed(char),
    /// `sort` or `limit` inside of something.
    #[error("{0}= is about the whole query: it stands outside of parentheses, and not after not")]
    Inside(&'static str),
    /// `sort` or `limit` twice.
    #[error("{0}= is said twice")]
    Twice(&'static str),
    /// Parentheses in parentheses in parentheses.
    #[error("this is nested too deep")]
    TooDeep,
    /// `tag:api`.
    #[error("write {field}={rest}, or quote it to look for that text")]
    Colon {
        /// Before the colon.
        field: &'static str,
        /// After it.
        rest: String,
    },
    /// `@name` among other words.
    #[error(
        "a saved query such as {0} stands before everything else; quote it to look for that text"
    )]
    LateName(String),
}

impl Problem {
    pub(super) fn at(mut self, at: usize) -> InvalidQuery {
        match &mut self {
            Self::UnknownField { name: typed, .. }
            | Self::WrongValue { value: typed, .. }
            | Self::Unexpected { found: typed, .. }
            | Self::Colon { rest: typed, .. }
            | Self::LateName(typed) => shorten(typed),
            Self::WrongOperator { .. }
            | Self::Unclosed(_)
            | Self::Inside(_)
            | Self::Twice(_)
            | Self::TooDeep => {}
        }
        InvalidQuery { at, problem: self }
    }
}

/// As much as tells it from others: whoever typed it knows the rest.
fn shorten(typed: &mut String) {
    const LONGEST: usize = 100;
    if let Some((end, _)) = typed.char_indices().nth(LONGEST) {
        typed.truncate(end);
        typed.push('…');
    }
}

fn meant(near: Option<&str>) -> String {
    near.map(|near| format!(" (did you mean {near}?)"))
        .unwrap_or_default()
}

/// The allowed word that was probably meant.
pub(super) fn nearest(typed: &str, allowed: &[&'static str]) -> Option<&'static str> {
    let typed = typed.to_lowercase();
    let close = |word: &&'static str| {
        let steps = strsim::damerau_levenshtein(&typed, word);
        let abbreviated = typed.len() > 1 && word.starts_with(&typed);
        (abbreviated || steps <= 1 + word.len() / 5).then_some((steps, *word))
    };
    let nearest = allowed
        .iter()
        .filter_map(close)
        .min_by_key(|(steps, _)| *steps);
    nearest.map(|(_, word)| word)
}
