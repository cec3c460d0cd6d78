//! Twenty branches of passed tasks brought onto the branch that is checked out, in one command.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use flagpost_disk::fsx::{self, RealFs};

use crate::{
    Bench,
    row::{BenchRow, Samples},
    scratch::Repository,
};

const BRANCHES: usize = 20;

/// `land` without a check, beside `git merge` of the same branches.
pub fn measure(bench: &Bench<'_>) -> Result<Vec<BenchRow>> {
    let name = format!("land-{BRANCHES}");
    if !bench.wants(&name) {
        return Ok(Vec::new());
    }
    let (mut floor, mut ours) = (Vec::new(), Vec::new());
    for run in 0..bench.effort.imports.max(3) {
        let bare = prepared(bench, &format!("merge-{run}"))?;
        floor.push(bench.scratch.time(|| {
            (1..=BRANCHES).try_for_each(|n| {
                let merge = ["merge", "--quiet", "--no-ff", "-m", "Land", &branch(n)];
                git(&bare, &merge)
            })
        })?);
        let repository = prepared(bench, &format!("land-{run}"))?;
        ours.push(bench.scratch.time(|| repository.run(&["land", "--yes"]))?);
    }
    Ok(vec![BenchRow {
        name,
        what: format!("flagpost land, cold, {BRANCHES} branches without a check"),
        floor_is: "git merge --no-ff of each",
        floor: floor.into_iter().collect::<Samples>(),
        ours: ours.into_iter().collect(),
        ..BenchRow::default()
    }])
}

/// A repository with completed tasks, each with a branch of its own.
fn prepared<'s>(bench: &'s Bench<'_>, name: &str) -> Result<Repository<'s>> {
    let repository = bench.scratch.repository(name)?;
    let plan: String = (1..=BRANCHES)
        .map(|n| format!("- [x] Task {n}\n"))
        .collect();
    let path = bench.scratch.dir().join("DONE.md");
    fsx::replace(&RealFs, &path, plan.as_bytes())?;
    git(&repository, &["checkout", "--quiet", "-b", "main"])?;
    git(
        &repository,
        &["commit", "--quiet", "--allow-empty", "-m", "first"],
    )?;
    for n in 1..=BRANCHES {
        git(
            &repository,
            &["checkout", "--quiet", "-b", &branch(n), "main"],
        )?;
        write(repository.dir(), n)?;
        git(&repository, &["add", "--all"])?;
        git(&repository, &["commit", "--quiet", "-m", "work"])?;
    }
    git(&repository, &["checkout", "--quiet", "main"])?;
    repository.import(&path)?;
    repository.settle()?;
    Ok(repository)
}

fn write(dir: &Path, n: usize) -> Result<()> {
    Ok(fsx::replace(
        &RealFs,
        &dir.join(format!("file-{n}")),
        b"work\n",
    )?)
}

fn branch(n: usize) -> String {
    format!("flagpost/bench-1/{n}")
}

fn git(repository: &Repository<'_>, args: &[&str]) -> Result<()> {
    let output = repository
        .program("git", args)
        .output()
        .context("cannot run git")?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("git {}: {}", args.join(" "), stderr.trim());
    }
    Ok(())
}
