//! The benchmarks, tried from outside. They measure the `flagpost` that was built beside them.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests arrange the machine by hand"
)]

mod program;
mod rows;
mod soak;

use std::path::{Path, PathBuf};

use flagpost_testkit::sealed::World;
use serde_json::Value;

/// A sealed world around the benchmarks, whose scratch directory is in memory.
fn world() -> World {
    let mut world = World::without_repository(env!("CARGO_BIN_EXE_flagpost-bench"), |_, _| {});
    let memory = world.outside().to_owned();
    world.set("TMPDIR", memory);
    world
}

/// The `flagpost` that is measured.
fn flagpost() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_flagpost-bench")).with_file_name("flagpost")
}

/// The exit code and the answer, which keeps to its schema.
fn answer(world: &World, args: &[&str]) -> (i32, Value) {
    let (code, told) = world.json(args);
    let name = told["schema"].as_str().unwrap();
    let name = name.strip_prefix("flagpost.").unwrap().strip_suffix("/1");
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("schemas")
        .join(format!("{}.json", name.unwrap()));
    let schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let faults: Vec<String> = validator
        .iter_errors(&told)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}\n{told}");
    (code, told)
}

/// What is left of scratch directories.
fn left(world: &World) -> usize {
    let left = std::fs::read_dir(world.outside()).unwrap();
    let left = left.filter(|it| {
        let name = it.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with("flagpost-bench")
    });
    left.count()
}
