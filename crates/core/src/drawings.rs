//! Drawings as files, where a person wants them.
//!
//! Owns the care with which one is put there: it replaces another drawing of ours, and nothing
//! else. What it shows belongs to `model`.

use std::path::Path;

use flagpost_disk::{self as disk, fsx};
use flagpost_model::drawing::MARK;

use crate::{
    error::{Error, Result},
    home::Home,
};

/// The mark stands within as many bytes.
const BEGINNING: usize = 2_048;

/// Puts a drawing into a file, durable on return.
pub fn keep(home: &Home, path: &Path, drawing: &str) -> Result<()> {
    let fs = home.fs();
    let no_drawing = || Error::NoDrawing {
        path: path.to_owned(),
    };
    match fsx::stat(fs, path)? {
        None => match fsx::publish(fs, path, drawing.as_bytes()) {
            Err(disk::Error::Conflict { .. }) => Err(no_drawing()),
            published => Ok(published?),
        },
        Some(stat) if stat.kind == fsx::FileKind::File => {
            let there = fsx::read(fs, path)?.unwrap_or_default();
            let beginning = &there[..there.len().min(BEGINNING)];
            if !String::from_utf8_lossy(beginning).contains(MARK) {
                return Err(no_drawing());
            }
            Ok(fsx::replace(fs, path, drawing.as_bytes())?)
        }
        Some(_) => Err(no_drawing()),
    }
}
