//! Questions in SQL.
//!
//! Owns that they only read: one statement that answers with rows. What it says in other words is
//! refused before it runs.

use std::{sync::mpsc, thread, time::Duration};

use rusqlite::{ErrorCode, types::ValueRef};
use schemars::JsonSchema;
use serde::Serialize;

use super::Index;
use crate::error::{Error, Result};

/// The answer to a question in SQL.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<SqlValue>>,
    /// How many there are, kept or not.
    pub total: usize,
}

/// A value in a row.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum SqlValue {
    /// None.
    Null,
    /// A whole number.
    Integer(i64),
    /// Another number.
    Real(f64),
    /// A text.
    Text(String),
    /// Bytes, of which only the number is told.
    Blob {
        /// How many.
        bytes: usize,
    },
}

impl Index {
    /// Answers a question within `time`; all rows are counted and at most `limit` are kept, all where
    /// it is 0.
    pub fn sql(&self, question: &str, limit: usize, time: Duration) -> Result<Rows> {
        let (answered, is_answered) = mpsc::channel::<()>();
        let handle = self.db.get_interrupt_handle();
        let answer = thread::scope(|scope| {
            scope.spawn(move || {
                if is_answered.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout) {
                    handle.interrupt();
                }
            });
            let answer = self.rows(question, limit);
            drop(answered);
            answer
        });
        match answer {
            Err(Error::Index(error))
                if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) =>
            {
                Err(Error::Slow { limit: time })
            }
            answer => answer,
        }
    }

    fn rows(&self, question: &str, limit: usize) -> Result<Rows> {
        let first = question.split_whitespace().next().unwrap_or_default();
        let asks = ["select", "with", "values", "explain"];
        if !asks.iter().any(|word| first.eq_ignore_ascii_case(word)) {
            return Err(refused("ask with SELECT: nothing is written here"));
        }
        let mut statement = self.db.prepare(question).map_err(query_error)?;
        if !statement.readonly() {
            return Err(refused("ask with SELECT: nothing is written here"));
        }
        if statement.parameter_count() > 0 {
            return Err(refused("write its values into it: a ? stands for none"));
        }
        let names = statement.column_names();
        let columns: Vec<String> = names.map(str::to_owned).collect();
        let mut answer = Rows {
            rows: Vec::new(),
            total: 0,
            columns,
        };
        let mut rows = statement.query([]).map_err(query_error)?;
        while let Some(row) = rows.next().map_err(query_error)? {
            answer.total += 1;
            if limit == 0 || answer.rows.len() < limit {
                let values = (0..answer.columns.len()).map(|at| Ok(value(row.get_ref(at)?)));
                answer.rows.push(values.collect::<Result<_>>()?);
            }
        }
        Ok(answer)
    }
}

fn value(value: ValueRef<'_>) -> SqlValue {
    match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(number) => SqlValue::Integer(number),
        ValueRef::Real(number) => SqlValue::Real(number),
        ValueRef::Text(text) => SqlValue::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => SqlValue::Blob { bytes: bytes.len() },
    }
}

/// What SQLite cannot make sense of is the question's fault, unless the file is broken or gone.
fn query_error(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        None | Some(ErrorCode::Unknown | ErrorCode::TypeMismatch | ErrorCode::TooBig) => {
            refused(&error.to_string())
        }
        Some(_) => Error::Index(error),
    }
}

fn refused(reason: &str) -> Error {
    Error::Invalid {
        what: "SQL".to_owned(),
        reason: reason.to_owned(),
    }
}
