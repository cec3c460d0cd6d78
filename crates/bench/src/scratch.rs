//! Where it is measured.
//!
//! Owns a directory that is removed with everything in it, whatever happens, and the processes
//! that are run there: with a home of their own, so that nothing of the user's is touched.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use flagpost_disk::fsx::{self, Fs, RealFs};

/// The directory.
#[derive(Debug)]
pub struct Scratch {
    dir: PathBuf,
    flagpost: PathBuf,
    interrupted: Arc<AtomicBool>,
}

impl Scratch {
    /// A fresh one, below the system's directory for temporary files, in which this program is tried.
    pub fn new(flagpost: PathBuf) -> Result<Self> {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&interrupted))
                .context("cannot watch for Ctrl-C")?;
        }
        let name = format!("flagpost-bench-{}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        RealFs
            .make_dir(&dir)
            .with_context(|| format!("cannot create {}", dir.display()))?;
        Ok(Self {
            dir,
            flagpost,
            interrupted,
        })
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether what is written here only ever reaches memory.
    pub fn is_in_memory(&self) -> bool {
        #[cfg(target_os = "linux")]
        return rustix::fs::statfs(&self.dir).is_ok_and(|fs| fs.f_type == 0x0102_1994);
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// A directory in it.
    pub fn make_dir(&self, name: &str) -> Result<PathBuf> {
        let dir = self.dir.join(name);
        fsx::make_dirs(&RealFs, &dir)?;
        Ok(dir)
    }

    /// A fresh repository, as a user's is: under git, where there is git.
    pub fn repository(&self, name: &str) -> Result<Repository<'_>> {
        let dir = self.make_dir(name)?;
        if flagpost_core::Repository::create_git(&dir).is_err() {
            // Marks the place, so that no repository around the scratch directory is taken for it.
            let marker = dir.join(".flagpost").join("repo-id");
            fsx::make_dirs(&RealFs, &dir.join(".flagpost"))?;
            fsx::replace(&RealFs, &marker, format!("{name}\n").as_bytes())?;
        }
        Ok(Repository { scratch: self, dir })
    }

    /// Runs two things in turns, `times` times each; how long each took.
    pub fn in_turns<T: FromIterator<Duration>>(
        &self,
        times: usize,
        mut floor: impl FnMut() -> Result<()>,
        mut ours: impl FnMut() -> Result<()>,
    ) -> Result<(T, T)> {
        let mut runs = (Vec::with_capacity(times), Vec::with_capacity(times));
        for _ in 0..times {
            runs.0.push(self.time(&mut floor)?);
            runs.1.push(self.time(&mut ours)?);
        }
        Ok((runs.0.into_iter().collect(), runs.1.into_iter().collect()))
    }

    /// How long it takes.
    pub fn time(&self, work: impl FnOnce() -> Result<()>) -> Result<Duration> {
        if self.interrupted.load(Ordering::Relaxed) {
            bail!("interrupted");
        }
        let began = Instant::now();
        work()?;
        Ok(began.elapsed())
    }
}

impl Drop for Scratch {
    #[expect(clippy::disallowed_methods, reason = "made by this, and nobody else's")]
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.dir) {
            let dir = self.dir.display();
            eprintln!("flagpost-bench: {dir} could not be removed: {error}");
        }
    }
}

/// A repository in the scratch directory; its list has its name.
#[derive(Debug)]
pub struct Repository<'s> {
    scratch: &'s Scratch,
    dir: PathBuf,
}

impl Repository<'_> {
    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A process of Flagpost in it.
    pub fn flagpost(&self, args: &[&str]) -> Command {
        self.command(&self.scratch.flagpost, args)
    }

    /// A process of the bench itself in it.
    pub fn bench(&self, args: &[&str]) -> Result<Command> {
        let bench = std::env::current_exe().context("cannot find myself")?;
        Ok(self.command(&bench, args))
    }

    /// A process of another program in it.
    pub fn program(&self, program: &str, args: &[&str]) -> Command {
        self.command(Path::new(program), args)
    }

    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(&self.dir)
            .env("FLAGPOST_HOME", self.scratch.dir.join("home"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|it| (it, "Bench")))
            .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|it| (it, "bench@localhost")))
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        for name in ["WORKER", "LIST", "TASK", "TOKEN", "CLOCK"] {
            command.env_remove(format!("FLAGPOST_{name}"));
        }
        command
    }

    /// Runs one to its end.
    pub fn run(&self, args: &[&str]) -> Result<()> {
        let output = self
            .flagpost(args)
            .output()
            .context("cannot run flagpost")?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            bail!(
                "flagpost {}: {}: {}",
                args.join(" "),
                output.status,
                stderr.trim()
            );
        }
        Ok(())
    }

    /// Imports a plan of this many tasks.
    pub fn import(&self, plan: &Path) -> Result<()> {
        self.run(&["task", "import", &plan.to_string_lossy()])
    }

    /// Lets the first reader after many writes do what it does once, before anything is timed.
    pub fn settle(&self) -> Result<()> {
        std::thread::sleep(Duration::from_millis(150));
        self.run(&["ready"])
    }
}
