//! What a query can ask of one task.
//!
//! Owns the fields, and which kind of comparison each has. `!=` is no comparison of its own but the
//! opposite of `=`.

use super::{
    lex::Op,
    mistake::{InvalidQuery, Problem, nearest},
    value::{Day, DueOn, QueryValue, When, Who},
};
use crate::{
    id::TaskId,
    names::names,
    task::{Effort, Priority, StateName},
};

names!(
    /// A field that queries know; `meta.KEY` is one more for every key.
    Field {
        /// Its id.
        Id = "id",
        /// A word about how it is with it.
        Is = "is",
        /// Where it stands.
        State = "state",
        /// Where it stands, as other readers of the files see it.
        Status = "status",
        /// How urgent it is.
        Priority = "priority",
        /// The project.
        Project = "project",
        /// A label.
        Tag = "tag",
        /// Who holds it or did it.
        Owner = "owner",
        /// The feature.
        Group = "group",
        /// When it is due.
        Due = "due",
        /// Any text of it.
        Text = "text",
        /// Its one line.
        Subject = "subject",
        /// The task it is part of.
        Parent = "parent",
        /// The planner's name for it.
        Uid = "uid",
        /// How large it is.
        Complexity = "complexity",
        /// How much work it was thought to be.
        Estimate = "estimate",
        /// How much work was measured.
        Tracked = "tracked",
        /// How often it was claimed.
        Attempts = "attempts",
        /// When it was added.
        Added = "added",
        /// When its last worker was through with it.
        Ended = "ended",
    }
);

names!(
    /// How it is with a task.
    TaskCondition {
        /// Neither completed nor cancelled.
        Open = "open",
        /// It can be claimed now.
        Ready = "ready",
        /// Work on it is to come, and it waits for another task.
        Blocked = "blocked",
        /// Open, and due before today.
        Overdue = "overdue",
        /// It has a result that came too late.
        Late = "late",
        /// Somebody measures work on it now.
        Timed = "timed",
    }
);

names!(
    /// The state as the field `status` of the file tells it (`tree.md` §2).
    StatusWord {
        /// Nobody works on it.
        Pending = "pending",
        /// Worked on.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
    }
);

names!(
    /// A field with one text.
    TextField {
        /// The project.
        Project = "project",
        /// The feature.
        Group = "group",
        /// Its one line.
        Subject = "subject",
        /// The planner's name for it.
        Uid = "uid",
        /// How large it is.
        Complexity = "complexity",
    }
);

names!(
    /// Something that happened once.
    TimeField {
        /// It was added.
        Added = "added",
        /// Its last worker was through with it.
        Ended = "ended",
    }
);

/// On which side of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
    /// `>`
    Above,
}

/// A test of something that has an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderTest<V, T = V> {
    /// It is one of these.
    OneOf(Vec<V>),
    /// It is on that side of this.
    Side(Order, T),
}

/// A test of texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextTest<W = Option<String>> {
    /// It is one of these, letter for letter.
    OneOf(Vec<W>),
    /// It has one of these in it, in whatever case.
    Contains(Vec<String>),
}

/// One thing that is asked of a task. Several values are or-ed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// How it is with it.
    Is(Vec<TaskCondition>),
    /// Where it stands.
    State(Vec<StateName>),
    /// Where it stands, as other readers see it.
    Status(Vec<StatusWord>),
    /// Its id.
    Id(OrderTest<TaskId>),
    /// How urgent it is.
    Priority(OrderTest<Option<Priority>, Priority>),
    /// A label.
    Tag(TextTest),
    /// Whose it is.
    Owner(TextTest<Who>),
    /// A field with one text.
    Words {
        /// Which.
        of: TextField,
        /// What it must be.
        words: TextTest,
    },
    /// Its metadata under a key.
    Meta {
        /// The key.
        key: String,
        /// What it must be.
        words: TextTest,
    },
    /// Any text of it: subject, description, notes, results.
    Text(Vec<String>),
    /// When it is due.
    Due(OrderTest<DueOn, Day>),
    /// When something happened to it.
    Moment {
        /// What.
        of: TimeField,
        /// When.
        when: OrderTest<When, Day>,
    },
    /// The task it is part of.
    Parent(Vec<Option<TaskId>>),
    /// How much work it was thought to be.
    Estimate(OrderTest<Option<Effort>, Effort>),
    /// How much work was measured.
    Tracked(OrderTest<Effort>),
    /// How often it was claimed.
    Attempts(OrderTest<u32>),
}

/// A comparison as it was typed.
pub(super) struct Comparison<'t> {
    pub field: &'t str,
    pub field_at: usize,
    pub op: Op,
    pub op_at: usize,
    pub values: Vec<Typed>,
}

/// A value as it was typed.
#[derive(Debug, Clone)]
pub(super) struct Typed {
    pub text: String,
    pub quoted: bool,
    pub at: usize,
}

impl Test {
    /// The test that a field has one of these values, as an option of a command says it.
    pub fn of(field: Field, values: &[String]) -> Result<Self, InvalidQuery> {
        let typed = values.iter().map(|text| Typed {
            text: text.clone(),
            quoted: false,
            at: 0,
        });
        Comparison {
            field: field.as_str(),
            field_at: 0,
            op: Op::Is,
            op_at: 0,
            values: typed.collect(),
        }
        .test()
    }

    /// Whether it needs more than the outline.
    pub(super) fn reads_files(&self) -> bool {
        match self {
            Self::Text(_) | Self::Meta { .. } => true,
            Self::Is(standings) => standings.contains(&TaskCondition::Late),
            _ => false,
        }
    }
}

const SOME: &str = "= or !=";
const TEXT: &str = "=, != or ~";
const ORDERED: &str = "=, !=, <, <=, > or >=";

impl Comparison<'_> {
    /// What it asks; for `!=`, the opposite of that.
    pub fn test(&self) -> Result<Test, InvalidQuery> {
        if let Some(key) = self
            .field
            .strip_prefix("meta.")
            .filter(|key| !key.is_empty())
        {
            let (key, words) = (key.to_owned(), self.words()?);
            return Ok(Test::Meta { key, words });
        }
        let Ok(field) = self.field.parse::<Field>() else {
            return Err(self.unknown_field());
        };
        Ok(match field {
            Field::Id => Test::Id(self.scale()?),
            Field::Is => Test::Is(self.some()?),
            Field::State => Test::State(self.some()?),
            Field::Status => Test::Status(self.some()?),
            Field::Priority => Test::Priority(self.scale()?),
            Field::Tag => Test::Tag(self.words()?),
            Field::Owner => Test::Owner(self.words()?),
            Field::Project => self.text(TextField::Project)?,
            Field::Group => self.text(TextField::Group)?,
            Field::Subject => self.text(TextField::Subject)?,
            Field::Uid => self.text(TextField::Uid)?,
            Field::Complexity => self.text(TextField::Complexity)?,
            Field::Due => Test::Due(self.scale()?),
            Field::Text => match self.op {
                Op::Is | Op::IsNot | Op::Has => Test::Text(self.values()?),
                _ => return Err(self.wrong_operator(TEXT)),
            },
            Field::Parent => Test::Parent(self.some()?),
            Field::Estimate => Test::Estimate(self.scale()?),
            Field::Tracked => Test::Tracked(self.scale()?),
            Field::Attempts => Test::Attempts(self.scale()?),
            Field::Added => self.moment(TimeField::Added)?,
            Field::Ended => self.moment(TimeField::Ended)?,
        })
    }

    fn text(&self, of: TextField) -> Result<Test, InvalidQuery> {
        let words = self.words()?;
        Ok(Test::Words { of, words })
    }

    fn moment(&self, of: TimeField) -> Result<Test, InvalidQuery> {
        let when = self.scale()?;
        Ok(Test::Moment { of, when })
    }

    fn some<V: QueryValue>(&self) -> Result<Vec<V>, InvalidQuery> {
        match self.op {
            Op::Is | Op::IsNot => self.values(),
            _ => Err(self.wrong_operator(SOME)),
        }
    }

    fn words<W: QueryValue>(&self) -> Result<TextTest<W>, InvalidQuery> {
        match self.op {
            Op::Is | Op::IsNot => Ok(TextTest::OneOf(self.values()?)),
            Op::Has => Ok(TextTest::Contains(self.values()?)),
            _ => Err(self.wrong_operator(TEXT)),
        }
    }

    fn scale<V: QueryValue, T: QueryValue>(&self) -> Result<OrderTest<V, T>, InvalidQuery> {
        let order = match self.op {
            Op::Is | Op::IsNot => return Ok(OrderTest::OneOf(self.values()?)),
            Op::Below => Order::Below,
            Op::AtMost => Order::AtMost,
            Op::AtLeast => Order::AtLeast,
            Op::Above => Order::Above,
            Op::Has => return Err(self.wrong_operator(ORDERED)),
        };
        match self.values.as_slice() {
            [one] => Ok(OrderTest::Side(order, self.value(one)?)),
            [_, second, ..] => Err(Problem::Unexpected {
                wanted: "the end of the comparison",
                found: "a second value".to_owned(),
            }
            .at(second.at)),
            [] => Err(self.no_value()),
        }
    }

    fn values<V: QueryValue>(&self) -> Result<Vec<V>, InvalidQuery> {
        if self.values.is_empty() {
            return Err(self.no_value());
        }
        self.values.iter().map(|typed| self.value(typed)).collect()
    }

    fn value<V: QueryValue>(&self, typed: &Typed) -> Result<V, InvalidQuery> {
        V::read(&typed.text, typed.quoted).ok_or_else(|| {
            let words = V::words();
            let like = V::LIKE.map(|like| match words.is_empty() {
                true => like.to_owned(),
                false => format!(" or {like}"),
            });
            Problem::WrongValue {
                field: self.field.to_owned(),
                value: typed.text.clone(),
                near: nearest(&typed.text, &words),
                allowed: words.join(", ") + &like.unwrap_or_default(),
            }
            .at(typed.at)
        })
    }

    fn no_value(&self) -> InvalidQuery {
        let found = "nothing".to_owned();
        let wanted = "a value";
        Problem::Unexpected { wanted, found }.at(self.op_at)
    }

    fn wrong_operator(&self, allowed: &'static str) -> InvalidQuery {
        Problem::WrongOperator {
            field: self.field.to_owned(),
            operator: self.op.as_str(),
            allowed,
        }
        .at(self.op_at)
    }

    fn unknown_field(&self) -> InvalidQuery {
        let clauses = ["sort", "limit"];
        let allowed: Vec<_> = Field::ALL.iter().map(|field| field.as_str()).collect();
        let all = [allowed.as_slice(), &clauses].concat();
        Problem::UnknownField {
            name: self.field.to_owned(),
            near: nearest(self.field, &all),
            allowed,
        }
        .at(self.field_at)
    }
}
