//! Who may import whom.
//!
//! Owns the one direction in which the crates see each other, `model ← disk ← core ← {run,
//! cockpit, mcp ← daemon} ← cli`, that the faces do not see the disk, and the rules inside crates that cargo cannot hold: the model never looks at
//! the machine, and dialects never see each other.

use std::collections::BTreeSet;

use flagpost_testkit::repository;

use crate::{
    assert_none,
    source::{Named, named_paths},
};

/// What a crate of ours may see of the others; `None` for a crate without a rule.
fn may_see(krate: &str) -> Option<&'static [&'static str]> {
    Some(match krate {
        "model" => &[],
        "disk" => &["model"],
        "core" => &["model", "disk"],
        "board" => &[],
        "run" => &["model", "disk", "core"],
        "daemon" => &["model", "disk", "core", "board", "mcp"],
        "cockpit" | "mcp" => &["model", "core"],
        "fleet" => &["model", "disk", "core"],
        "cli" => &["model", "core", "run", "cockpit", "daemon", "mcp", "fleet"],
        "testkit" | "bench" => &["model", "disk", "core"],
        _ => return None,
    })
}

/// What its tests may see besides, to arrange files by hand.
fn tests_may_see(krate: &str, other: &str) -> bool {
    other == "testkit" && krate != "testkit" || (krate, other) == ("cli", "disk")
}

/// What a crate's manifest names and must not.
fn manifest_faults(krate: &str, manifest: &str) -> Vec<String> {
    let Some(allowed) = may_see(krate) else {
        return vec![format!("crates/{krate} has no rule in imports.rs")];
    };
    let mut faults = Vec::new();
    let mut section = "";
    for line in manifest.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.starts_with('[') {
            section = line;
        }
        if !section.contains("dependencies") {
            continue;
        }
        let for_tests = section.contains("dev-dependencies");
        for name in line.split(|c: char| !c.is_alphanumeric() && c != '-') {
            let Some(other) = name.strip_prefix("flagpost-") else {
                continue;
            };
            let testing = for_tests && tests_may_see(krate, other);
            if !testing && !allowed.contains(&other) {
                faults.push(format!(
                    "crates/{krate}/Cargo.toml: {section} must not name {name}"
                ));
            }
        }
    }
    faults
}

/// A source file's place: its crate, and its module's path within it.
pub struct Place<'a> {
    pub krate: &'a str,
    pub module: Vec<&'a str>,
}

impl<'a> Place<'a> {
    /// `crates/disk/src/dialects/relay/read.rs` is `dialects::relay::read` in `disk`.
    pub fn of(path: &'a str) -> Option<Self> {
        let (krate, file) = path.strip_prefix("crates/")?.split_once("/src/")?;
        let mut module: Vec<&str> = file.strip_suffix(".rs")?.split('/').collect();
        if matches!(module.last(), Some(&"mod" | &"lib" | &"main")) {
            module.pop();
        }
        Some(Self { krate, module })
    }

    /// What a path means, counted from the crate's root. Two answers are possible for one that
    /// starts with `super`, as it may stand in a module inside the file; none if it does not
    /// start in this crate.
    pub fn meanings(&self, path: &[String]) -> Vec<Vec<String>> {
        let up = path
            .iter()
            .take_while(|segment| *segment == "super")
            .count();
        let from = |levels_up: usize| {
            let kept = self.module.len().saturating_sub(levels_up);
            let base = self.module[..kept].iter().map(|s| (*s).to_owned());
            base.chain(path[up..].iter().cloned()).collect()
        };
        match path.first().map(String::as_str) {
            Some("crate") => vec![path[1..].to_vec()],
            Some("super") => vec![from(up), from(up - 1)],
            // A name that an earlier `use` brought in.
            Some("dialects") => vec![path.to_vec()],
            _ => Vec::new(),
        }
    }
}

/// What a source file names and must not.
fn source_faults(path: &str, text: &str, dialects: &BTreeSet<String>) -> Vec<String> {
    let Some(place) = Place::of(path) else {
        return Vec::new();
    };
    named_paths(text)
        .iter()
        .filter_map(|named| {
            let why = wrong_crate(&place, named)
                .or_else(|| impure_model(&place, named))
                .or_else(|| other_dialect(&place, named, dialects))?;
            let line = named.line;
            Some(format!("{path}:{line}: `{}`: {why}", named.path.join("::")))
        })
        .collect()
}

fn wrong_crate(place: &Place, named: &Named) -> Option<String> {
    let other = named.path[0].strip_prefix("flagpost_")?;
    // Cargo lets only test code see the testkit.
    let ours = other == place.krate || other == "testkit";
    let allowed = may_see(place.krate).unwrap_or_default().contains(&other);
    (!ours && !allowed).then(|| format!("{} must not see {other}", place.krate))
}

fn impure_model(place: &Place, named: &Named) -> Option<String> {
    const MACHINE: &[&[&str]] = &[
        &["std", "env"],
        &["std", "fs"],
        &["std", "io"],
        &["std", "net"],
        &["std", "os"],
        &["std", "process"],
        &["std", "thread"],
        &["tokio"],
        &["rustix"],
        &["print"],
        &["println"],
        &["eprint"],
        &["eprintln"],
    ];
    const CLOCKS: &[&str] = &["SystemTime", "Instant"];
    if place.krate != "model" {
        return None;
    }
    let path: Vec<&str> = named.path.iter().map(String::as_str).collect();
    let clock = path.iter().any(|segment| CLOCKS.contains(segment))
        || path.ends_with(&["Timestamp", "now"])
        || path.ends_with(&["Zoned", "now"])
        || path == ["std", "time", "*"]
        || path == ["std", "*"];
    let machine = MACHINE.iter().any(|start| path.starts_with(start));
    (clock || machine).then(|| "the model never looks at the machine or its clock".to_owned())
}

fn other_dialect(place: &Place, named: &Named, dialects: &BTreeSet<String>) -> Option<String> {
    let (krate, module) = (place.krate, place.module.as_slice());
    let ["dialects", own, ..] = module else {
        return None;
    };
    if krate != "disk" || !dialects.contains(*own) {
        return None;
    }
    place.meanings(&named.path).into_iter().find_map(|meaning| {
        let meaning: Vec<&str> = meaning.iter().map(String::as_str).collect();
        match meaning[..] {
            ["dialects"] | ["dialects", "*"] => {
                Some("a dialect must not import all dialects".to_owned())
            }
            ["dialects", other, ..] if other != *own && dialects.contains(other) => Some(format!(
                "the dialect {own} must not see the dialect {other}"
            )),
            _ => None,
        }
    })
}

#[test]
fn every_crate_names_only_what_it_may_see() {
    let dialects = repository::paths()
        .iter()
        .filter_map(|path| path.strip_prefix("crates/disk/src/dialects/"))
        .filter_map(|rest| Some(rest.split_once('/')?.0.to_owned()))
        .collect();
    let mut faults = Vec::new();
    let read = |path: &str| path.ends_with(".rs") || path.ends_with("/Cargo.toml");
    for file in repository::texts(|path| path.starts_with("crates/") && read(path)) {
        match file.path.split('/').collect::<Vec<_>>()[..] {
            [_, krate, "Cargo.toml"] => faults.extend(manifest_faults(krate, &file.text)),
            _ => faults.extend(source_faults(&file.path, &file.text, &dialects)),
        }
    }
    assert_none("imports against the direction of the house", &faults);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caught(path: &str, text: &str) -> bool {
        let dialects = ["relay", "session"].map(str::to_owned).into();
        !source_faults(path, text, &dialects).is_empty()
    }

    #[test]
    fn a_manifest_against_the_direction_is_caught() {
        let bad = [
            ("model", "[dependencies]\nflagpost-disk.workspace = true"),
            ("disk", "[dependencies.flagpost-core]\nworkspace = true"),
            (
                "core",
                "[build-dependencies]\nflagpost-run = { workspace = true }",
            ),
            (
                "run",
                "[dependencies]\nx = { package = \"flagpost-daemon\" }",
            ),
            (
                "run",
                "[target.'cfg(unix)'.dependencies]\nflagpost-testkit.workspace = true",
            ),
            ("core", "[dev-dependencies]\nflagpost-run.workspace = true"),
            ("cli", "[dependencies]\nflagpost-disk.workspace = true"),
            ("novel", "[dependencies]"),
        ];
        for (krate, manifest) in bad {
            assert_eq!(
                manifest_faults(krate, manifest).len(),
                1,
                "{krate}: {manifest}"
            );
        }
        let good = "[package]\nname = \"flagpost-run\"\n[dependencies]\n# flagpost-cli\n\
                    flagpost-core.workspace = true\n[dev-dependencies]\nflagpost-testkit = \"1\"";
        assert!(manifest_faults("run", good).is_empty());
        let tests = "[dev-dependencies]\nflagpost-disk.workspace = true";
        assert!(manifest_faults("cli", tests).is_empty());
    }

    #[test]
    fn a_crate_that_looks_up_is_caught() {
        assert!(caught(
            "crates/disk/src/lib.rs",
            "use flagpost_core::tasks;"
        ));
        assert!(caught(
            "crates/model/src/id.rs",
            "fn f() { flagpost_disk::g() }"
        ));
        assert!(caught(
            "crates/cli/src/commands/man.rs",
            "use flagpost_disk::fsx;"
        ));
        assert!(!caught(
            "crates/core/src/a/b.rs",
            "use flagpost_disk::fsx; use flagpost_model::id;"
        ));
    }

    #[test]
    fn a_model_that_looks_at_the_machine_is_caught() {
        for text in [
            "use std::{fmt, fs};",
            "use std::time::{Duration, SystemTime};",
            "fn f() -> std::time::Instant { todo!() }",
            "use std::env::var;",
            "fn f() { std::process::exit(1) }",
            "fn f() { let t = jiff::Timestamp::now(); }",
            "use std::time::*;",
            "fn f() { println!(\"x\") }",
        ] {
            assert!(caught("crates/model/src/id.rs", text), "{text}");
            assert!(!caught("crates/run/src/id.rs", text), "{text}");
        }
        let text = "use std::{fmt, time::Duration}; fn f() { env!(\"X\"); now.fs }";
        assert!(!caught("crates/model/src/id.rs", text));
    }

    #[test]
    fn dialects_that_see_each_other_are_caught() {
        for text in [
            "use crate::dialects::session::read;",
            "use crate::{dialects::{session}, fsx};",
            "use super::super::session::layout;",
            "fn f() { super::super::session::read() }",
            "use crate::dialects;",
            "use crate::dialects::*;",
            "use super::super::*;",
            "fn f() { dialects::session::read() }",
        ] {
            assert!(
                caught("crates/disk/src/dialects/relay/read.rs", text),
                "{text}"
            );
            assert!(!caught("crates/disk/src/doctor.rs", text), "{text}");
        }
        assert!(caught(
            "crates/disk/src/dialects/relay/mod.rs",
            "use super::session;"
        ));
        for text in [
            "use flagpost_model::session::Session;",
            "use crate::dialects::relay::layout;",
            "use super::{layout, session_id};",
            "use crate::{Error, fsx};",
        ] {
            assert!(
                !caught("crates/disk/src/dialects/relay/read.rs", text),
                "{text}"
            );
        }
    }
}
