//! The answer, and its output.
//!
//! Owns stdout: the answer as text, or as one JSON object with a schema in `schemas/`. Remarks go to stderr.

use std::io::{self, Write};

use serde_json::{Value, json};

/// The result of a run.
#[derive(Debug)]
pub struct Answer {
    /// The name of its shape, without prefix and version.
    pub schema: &'static str,
    /// The JSON object, without the name of its shape.
    pub body: Value,
    /// The same for a person.
    pub text: String,
    /// Remarks for a person.
    pub notes: Vec<String>,
    /// Whether the result is a failure.
    pub failed: bool,
}

impl Answer {
    /// Prints it. Whoever closed stdout has read enough.
    pub fn print(self, as_json: bool) -> io::Result<()> {
        for note in &self.notes {
            eprintln!("flagpost-bench: {note}");
        }
        let text = match (as_json, self.body) {
            (true, Value::Object(body)) => {
                let mut object = serde_json::Map::new();
                let name = format!("flagpost.{}/1", self.schema);
                object.insert("schema".to_owned(), json!(name));
                object.extend(body);
                format!("{}\n", Value::Object(object))
            }
            _ => self.text,
        };
        match io::stdout().write_all(text.as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}

/// Rows under a header, without the columns that no row uses.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let header: Vec<String> = header.iter().map(|&name| name.to_owned()).collect();
    let width = |column: usize| {
        let cells = rows.iter().chain([&header]).map(|row| &row[column]);
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let is_used = |column: &usize| rows.iter().any(|row| !row[*column].is_empty());
    let used: Vec<(usize, usize)> = (0..header.len())
        .filter(is_used)
        .map(|column| (column, width(column)))
        .collect();
    let line = |row: &Vec<String>| {
        let cells = used
            .iter()
            .map(|&(column, width)| format!("{:width$}", row[column]));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    [&header].into_iter().chain(rows).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_unused_ones_left_out() {
        let rows =
            [["add-100", "", "x"], ["a", "", "yy"]].map(|row| row.map(str::to_owned).to_vec());
        let told = table(&["ROW", "ABOVE", "WHAT"], &rows);
        assert_eq!(told, "ROW      WHAT\nadd-100  x\na        yy\n");
    }
}
