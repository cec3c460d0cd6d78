//! What a home needs done now and then.
//!
//! Owns the sweep of what dead writers left, and the quarter at whose boundary older mail is archived.
//! Whoever calls it decides when to look; nothing here deletes content.

use std::path::PathBuf;

use flagpost_disk::fsx;
use flagpost_model::WorkerId;
use jiff::{Timestamp, tz::TimeZone};

use crate::{error::Result, home::Home, list::List, registry, relay::Fleet, roots, slash};

/// Removes the temporaries of dead writers from every directory of the home and of its lists; how many
/// there were, those that other writers of a fleet's mail left among them. Those of live writers, and
/// young ones, stay.
pub fn sweep(home: &Home) -> Result<usize> {
    let mut dirs = vec![
        home.root().clone(),
        run_dir(home),
        home.tasks_root(),
        home.repositories_root(),
    ];
    for list in roots::lists(home)? {
        // One that leads elsewhere is not ours to sweep.
        dirs.extend(List::open(home, &list).map(|list| list.dir().clone()));
    }
    for repository in registry::repositories(home)? {
        dirs.push(home.repository_dir(&repository.id));
        dirs.extend(Fleet::of(home, &repository.id).dirs()?);
    }
    let mut swept = 0;
    for repository in registry::repositories(home)? {
        swept += Fleet::of(home, &repository.id).sweep_temporaries()?;
    }
    for dir in dirs {
        swept += fsx::remove_orphans(home.fs(), &dir, home.now())?;
    }
    Ok(swept)
}

/// Archives older mail where a quarter has ended since it was done last; how many messages went. The
/// first time only notes the quarter.
pub fn archive_at_the_quarter(home: &Home, actor: &WorkerId) -> Result<usize> {
    let path = run_dir(home).join("quarter");
    let noted = fsx::read_lossy(home.fs(), &path)?;
    let now = quarter(home.now());
    let mut archived = 0;
    match noted.as_deref().map(str::trim) {
        Some(last) if last == now => return Ok(0),
        None => {}
        Some(_) => {
            for repository in registry::repositories(home)? {
                let fleet = Fleet::of(home, &repository.id);
                let all = slash::archive_all(&fleet, actor, false)?;
                archived += all.iter().map(|it| it.seqs.len()).sum::<usize>();
            }
        }
    }
    fsx::replace(home.fs(), &path, format!("{now}\n").as_bytes())?;
    Ok(archived)
}

fn run_dir(home: &Home) -> PathBuf {
    home.root().join("run")
}

/// The quarter that a time is in.
fn quarter(at: Timestamp) -> String {
    let date = at.to_zoned(TimeZone::UTC).date();
    format!("{}-Q{}", date.year(), (date.month() - 1) / 3 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_has_four_quarters() {
        for (at, told) in [
            ("2026-01-01T00:00:00Z", "2026-Q1"),
            ("2026-03-31T23:59:59Z", "2026-Q1"),
            ("2026-04-01T00:00:00Z", "2026-Q2"),
            ("2026-09-30T12:00:00Z", "2026-Q3"),
            ("2026-12-31T23:59:59Z", "2026-Q4"),
        ] {
            assert_eq!(quarter(at.parse().unwrap()), told, "{at}");
        }
    }
}
