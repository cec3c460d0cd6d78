//! What an agent can do, as every verb takes it.
//!
//! Owns the option and how its words are read.

/// What an agent can do
#[derive(Debug, Default, Clone, clap::Args)]
pub struct Capabilities {
    /// What it can do; may be given several times
    #[arg(
        long,
        visible_alias = "capabilities",
        value_name = "WORDS",
        value_delimiter = ','
    )]
    can: Vec<String>,
}

impl Capabilities {
    /// Each of them.
    pub fn words(&self) -> Vec<String> {
        words(&self.can)
    }
}

/// What was given, without what says nothing.
pub fn words(given: &[String]) -> Vec<String> {
    let given = given.iter().map(|it| it.trim().to_owned());
    given.filter(|it| !it.is_empty()).collect()
}
