//! The query language: which tasks, in which order, how many.
//!
//! Owns the language's grammar and its meaning over a list's outlines. What a person types
//! (`Query`'s `FromStr`) and what options say ([`Test::of`]) become the same tree; a tree printed
//! and parsed again is the same tree. No text panics the parser, and every refusal says where.
//!
//! ```text
//! query      = { clause | or }                  clauses stand outside of parentheses
//! clause     = "sort=" ["-"] key { "," ["-"] key }  |  "limit=" number
//! or         = and { "or" and }
//! and        = unary { ["and"] unary }          what stands side by side is and-ed
//! unary      = "not" unary  |  "(" or ")"  |  field op value { "," value }  |  word
//! op         = "=" | "!=" | "<" | "<=" | ">" | ">=" | "~"
//! ```
//!
//! A word by itself is looked for in all of a task's texts. Several values are or-ed. `=` is exact,
//! `~` finds a part in whatever case. Values in quotes have no special meaning. A task without a
//! value fits `none` and no comparison.
//!
//! Days are those of the reader's zone. `week` is the seven days from today on for `due`, and the
//! seven days up to today for `added` and `ended`: never shorter because it is Sunday.

mod eval;
mod fold;
mod group;
mod lex;
mod mistake;
mod order;
mod parse;
mod spelling;

mod test;
mod value;

#[cfg(test)]
mod tests;

pub use eval::QueryScope;
pub use fold::find;
pub use group::{Group, GroupBy, groups};
pub use mistake::{InvalidQuery, Problem};
pub use order::{OrderKey, SortKey};
pub use test::{
    Field, Order, OrderTest, StatusWord, TaskCondition, Test, TextField, TextTest, TimeField,
};
pub(crate) use value::in_week_behind;
pub use value::{Day, DueOn, Near, When, Who, plain_date};

/// Which tasks, in which order, how many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Which; all where there is none.
    pub filter: Option<Filter>,
    /// In which order; the list's own comes last.
    pub sort: Vec<SortKey>,
    /// How many at most; 0 is all.
    pub limit: Option<usize>,
}

/// Which tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// Those that fit each part.
    All(Vec<Filter>),
    /// Those that fit a part.
    Any(Vec<Filter>),
    /// Those that do not fit.
    Not(Box<Filter>),
    /// Those that pass.
    Test(Test),
}

impl Query {
    /// Both queries at once. What the other one says of order and number stands.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let filter = match (self.filter, other.filter) {
            (Some(one), Some(other)) => Some(Filter::All(vec![one, other])),
            (one, other) => one.or(other),
        };
        Self {
            filter,
            sort: match other.sort.is_empty() {
                true => self.sort,
                false => other.sort,
            },
            limit: other.limit.or(self.limit),
        }
    }

    /// Whether it means something else for somebody else.
    pub fn names_me(&self) -> bool {
        let me = |test: &Test| match test {
            Test::Owner(TextTest::OneOf(values)) => values.contains(&Who::Me),
            _ => false,
        };
        self.filter.as_ref().is_some_and(|filter| filter.any(&me))
    }

    /// With the open tasks only, unless the query itself says where tasks are to stand.
    #[must_use]
    pub fn open_by_default(self) -> Self {
        if self.filter.as_ref().is_some_and(Filter::tells_states) {
            return self;
        }
        let open = Filter::Test(Test::Is(vec![TaskCondition::Open]));
        let filter = match self.filter {
            None => open,
            Some(filter) => Filter::All(vec![open, filter]),
        };
        Self {
            filter: Some(filter),
            ..self
        }
    }
}

impl Filter {
    fn any(&self, says: &impl Fn(&Test) -> bool) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.any(says)),
            Self::Not(part) => part.any(says),
            Self::Test(test) => says(test),
        }
    }

    /// Whether a test is about where tasks stand.
    fn tells_states(&self) -> bool {
        self.any(&|test| {
            matches!(
                test,
                Test::State(_)
                    | Test::Status(_)
                    | Test::Is(_)
                    | Test::Moment {
                        of: TimeField::Ended,
                        ..
                    }
            )
        })
    }

    /// Whether a test needs more than the outline.
    fn reads_files(&self) -> bool {
        self.any(&Test::reads_files)
    }
}
