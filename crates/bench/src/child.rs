//! A process of the benchmarks that acts as a claimer or as a worker: its home, its repository, its name.

use anyhow::{Context as _, Result};
use flagpost_core::{Home, Repository};
use flagpost_model::WorkerId;

/// The arguments of such a process.
#[derive(Debug, clap::Args)]
pub struct Role {
    /// Its name
    #[arg(long = "as", value_name = "ID")]
    name: String,
}

/// The process.
#[derive(Debug)]
pub struct Child {
    /// The home.
    pub home: Home,
    /// Where it was started.
    pub repository: Repository,
    /// Its name.
    pub me: WorkerId,
}

impl Child {
    /// Opens the home and the repository of this process.
    pub fn new(role: &Role) -> Result<Self> {
        let (home, settings) = Home::from_environment()?;
        let speaker = settings.speaker(Some(&role.name))?;
        let me = speaker.name.clone();
        let home = home.acting(speaker);
        let dir = std::env::current_dir().context("the current directory is gone")?;
        let repository =
            Repository::find(&home, &dir)?.context("it was started in no repository")?;
        Ok(Self {
            home,
            repository,
            me,
        })
    }
}
