//! Who may look: directories 0700, files 0600 (`tree.md`), and whether we may write at all, and where.

use std::{ffi::OsString, path::PathBuf};

use flagpost_disk::fsx;
use flagpost_model::finding::Code;

use super::{Finding, Fix, world::World};
use crate::{error::Result, shell::quoted};

/// What people write by hand, with an editor's modes. It holds no secret: others may read it, were the
/// home open. What it says must be its owner's word.
const BY_HAND: [&str; 2] = ["config.toml", "policy.toml"];

/// Modes of everything of ours in the home. Behind a home that is closed nobody gets at the rest,
/// so the home's own mode weighs more.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    let (fs, root) = (world.home.fs(), world.home.root());
    // A home may be a link to where it is.
    let Ok(real) = fs.canonical(root) else {
        return Ok(());
    };
    let Some(stat) = fsx::stat(fs, &real)? else {
        return Ok(());
    };
    if fsx::is_open_to_others(&stat) {
        let what = format!("others may look into the home: its mode is {:o}", stat.mode);
        let finding = Finding::new(Code::HomeOpen, what);
        findings.push(finding.at(root).fix(Fix::Close(vec![real])));
    }
    for link in world.named(fsx::FileKind::Symlink) {
        // A home may be one, and a list elsewhere is somebody else's.
        if link == *root || !link.starts_with(root) {
            continue;
        }
        let what = match fs.canonical(&link) {
            Ok(to) => format!("this is a link to {}", to.display()),
            Err(_) => "this is a link that leads nowhere".to_owned(),
        };
        let hint = format!(
            "'ls -l {}' shows it; put a directory in its place",
            quoted(&link)
        );
        findings.push(
            Finding::new(Code::DirectoryLinked, what)
                .at(link)
                .by_hand(hint),
        );
    }
    for dir in world.dirs() {
        let Some(stat) = fsx::stat(fs, &dir)? else {
            continue;
        };
        if stat.kind == fsx::FileKind::Dir && stat.mode & 0o700 != 0o700 {
            let what = format!("nothing can be written here: the mode is {:o}", stat.mode);
            let hint = format!("chmod u+rwx {}", quoted(&dir));
            let finding = Finding::new(Code::HomeReadOnly, what);
            findings.push(finding.at(dir).by_hand(hint));
        }
    }
    // A list elsewhere is somebody else's, and so are its modes.
    let ours = world.dirs().into_iter().filter(|dir| dir.starts_with(root));
    for dir in ours {
        let Ok(entries) = fs.scan_dir(&dir, &|_| true) else {
            continue;
        };
        let is_open = |(name, stat): &(OsString, fsx::Stat)| {
            let is_by_hand = BY_HAND.iter().any(|it| name == it);
            fsx::is_open_to_others(stat) && (!is_by_hand || stat.mode & 0o022 != 0)
        };
        let open = entries.into_iter().filter(is_open);
        let mut open: Vec<PathBuf> = open.map(|(name, _)| dir.join(name)).collect();
        open.sort();
        let Some(first) = open.first() else {
            continue;
        };
        let name = first.file_name().unwrap_or_default().to_string_lossy();
        let what = match open.len() {
            1 => format!("the mode of {name} would let others in"),
            n => format!("the modes of {n} entries would let others in, {name} among them"),
        };
        let finding = Finding::new(Code::ModeOpen, what);
        findings.push(finding.at(dir).fix(Fix::Close(open)));
    }
    Ok(())
}
