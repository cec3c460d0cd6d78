//! The index: what a projection promises.

mod a_rebuilt_one_is_the_same;
mod a_text_is_found_wherever_it_stands;
mod every_envelope_is_a_message;
mod it_costs_time_and_never_an_answer;

use flagpost_core::{
    Home,
    index::{self, Rows, SqlValue},
};
use flagpost_testkit::patience::patience;

/// The answer to a question in SQL, a line per row.
pub fn sql(home: &Home, question: &str) -> Vec<String> {
    let rows = index::ask(home, |index| index.sql(question, 0, patience())).unwrap();
    lines(&rows)
}

pub fn lines(rows: &Rows) -> Vec<String> {
    let text = |value: &SqlValue| match value {
        SqlValue::Null => "NULL".to_owned(),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => number.to_string(),
        SqlValue::Text(text) => text.clone(),
        SqlValue::Blob { bytes } => format!("{bytes} bytes"),
    };
    let line = |row: &Vec<SqlValue>| row.iter().map(text).collect::<Vec<_>>().join("|");
    rows.rows.iter().map(line).collect()
}

pub const MESSAGES: &str = "SELECT * FROM messages ORDER BY id";
