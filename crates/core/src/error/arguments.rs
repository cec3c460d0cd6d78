//! What was said and does not fit the parameters of an operation.
//!
//! Owns the words.

/// What does not fit the parameters of an operation.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentRefusal {
    /// Nothing of this name can be said.
    #[error("there is no {name:?} here; {}", known(there))]
    Unknown {
        /// The name.
        name: String,
        /// What there is.
        there: Vec<&'static str>,
    },
    /// The same was said again.
    #[error("{0} is said twice")]
    Twice(&'static str),
    /// It must be said.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// None of the forms is what was said.
    #[error("say {0}")]
    NoForm(String),
    /// A value that is none of its kind.
    #[error("{name} must be {kind}, not {given}")]
    Wrong {
        /// Of which parameter.
        name: &'static str,
        /// What it must be.
        kind: String,
        /// The beginning of what was given.
        given: String,
    },
}

fn known(there: &[&str]) -> String {
    match there {
        [] => "nothing goes there".to_owned(),
        there => format!("there are {}", there.join(", ")),
    }
}
