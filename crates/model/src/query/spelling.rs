//! From a query to its text.
//!
//! Owns the spelling that parses to the same query again.

use std::fmt::{self, Display, Formatter};

use super::{
    Filter, Query,
    lex::is_plain,
    order::SortKey,
    test::{Field, Order, OrderTest, Test, TextTest},
    value::QueryValue,
};

/// A text in quotes.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A text, in quotes where it would mean something else without them.
pub(super) fn word(text: &str) -> String {
    let plain = text
        .chars()
        .all(|c| is_plain(c) && !matches!(c, '"' | '\'' | '!'));
    match plain && !text.is_empty() {
        true => text.to_owned(),
        false => quoted(text),
    }
}

fn list<V: QueryValue>(values: &[V]) -> String {
    values.iter().map(V::spell).collect::<Vec<_>>().join(",")
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sort: Vec<String> = self.sort.iter().map(SortKey::to_string).collect();
        let parts = [
            self.filter.as_ref().map(Filter::to_string),
            (!sort.is_empty()).then(|| format!("sort={}", sort.join(","))),
            self.limit.map(|limit| format!("limit={limit}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(&parts.join(" "))
    }
}

impl Display for Filter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let part = |part: &Self| match part {
            Self::All(_) | Self::Any(_) => format!("({part})"),
            Self::Not(_) | Self::Test(_) => part.to_string(),
        };
        let join = |parts: &[Self], with: &str| {
            let parts: Vec<_> = parts.iter().map(part).collect();
            parts.join(with)
        };
        match self {
            Self::All(parts) => f.write_str(&join(parts, " and ")),
            Self::Any(parts) => f.write_str(&join(parts, " or ")),
            Self::Not(inside) => write!(f, "not {}", part(inside)),
            Self::Test(test) => test.fmt(f),
        }
    }
}

impl Display for Test {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(values) => write!(f, "is={}", list(values)),
            Self::State(values) => write!(f, "state={}", list(values)),
            Self::Status(values) => write!(f, "status={}", list(values)),
            Self::Id(scale) => scale.write(f, Field::Id.as_str()),
            Self::Priority(scale) => scale.write(f, Field::Priority.as_str()),
            Self::Tag(words) => words.write(f, Field::Tag.as_str()),
            Self::Owner(words) => words.write(f, Field::Owner.as_str()),
            Self::Words { of, words } => words.write(f, of.as_str()),
            Self::Meta { key, words } => words.write(f, &format!("meta.{key}")),
            Self::Text(values) => write!(f, "text~{}", list(values)),
            Self::Due(scale) => scale.write(f, Field::Due.as_str()),
            Self::Moment { of, when } => when.write(f, of.as_str()),
            Self::Parent(values) => write!(f, "parent={}", list(values)),
            Self::Estimate(scale) => scale.write(f, Field::Estimate.as_str()),
            Self::Tracked(scale) => scale.write(f, Field::Tracked.as_str()),
            Self::Attempts(scale) => scale.write(f, Field::Attempts.as_str()),
        }
    }
}

impl<V: QueryValue, T: QueryValue> OrderTest<V, T> {
    fn write(&self, f: &mut Formatter<'_>, field: &str) -> fmt::Result {
        match self {
            Self::OneOf(values) => write!(f, "{field}={}", list(values)),
            Self::Side(order, value) => {
                let order = match order {
                    Order::Below => "<",
                    Order::AtMost => "<=",
                    Order::AtLeast => ">=",
                    Order::Above => ">",
                };
                write!(f, "{field}{order}{}", value.spell())
            }
        }
    }
}

impl<W: QueryValue> TextTest<W> {
    fn write(&self, f: &mut Formatter<'_>, field: &str) -> fmt::Result {
        match self {
            Self::OneOf(values) => write!(f, "{field}={}", list(values)),
            Self::Contains(values) => write!(f, "{field}~{}", list(values)),
        }
    }
}
