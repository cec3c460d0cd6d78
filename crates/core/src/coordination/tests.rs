//! What only the inside of a change can show.

use std::{path::Path, sync::Arc};

use flagpost_disk::{
    self as disk,
    fsx::{self, RealFs},
};
use flagpost_model::{WorkerId, coordination::NewCoordTask};
use jiff::Timestamp;

use super::{Directory, add, init, leader::put};
use crate::{Error, Home};

fn home(root: &Path) -> Home {
    let now: Timestamp = "2026-05-13T14:25:00Z".parse().unwrap();
    Home::new(root.join("home"), Arc::new(RealFs), Arc::new(now))
}

fn draft(description: &str) -> NewCoordTask {
    NewCoordTask {
        description: description.to_owned(),
        ..NewCoordTask::default()
    }
}

fn ann() -> WorkerId {
    "ann".parse().unwrap()
}

/// Adds a task while somebody without the lock writes `times` times.
fn meddled(directory: &Directory<'_>, times: usize) -> crate::Result<usize> {
    let table = directory.path("tasks.json");
    let mut looks = 0;
    directory.change(&ann(), |change| {
        looks += 1;
        put(directory, change, vec![draft("Ours")])?;
        if looks <= times {
            let fs = directory.home.fs();
            let text = fsx::read_lossy(fs, &table).unwrap().unwrap();
            let text = text.replacen("By", "By hand, by", 1);
            fsx::replace(fs, &table, text.as_bytes()).unwrap();
        }
        Ok(())
    })?;
    Ok(looks)
}

#[test]
fn a_hand_without_the_lock_is_not_written_over() {
    let scratch = flagpost_testkit::scratch::scratch();
    let home = home(scratch.path());
    let dir = scratch.path().join("web/.coordination");
    let directory = init(&home, &dir, "Build it", None).unwrap();
    add(&directory, &ann(), &[draft("By hand")]).unwrap();

    assert_eq!(meddled(&directory, 2).unwrap(), 3, "it looks again");
    let told = |it: &Directory<'_>| -> Vec<String> {
        let board = it.look().unwrap().board;
        board.tasks.into_iter().map(|it| it.description).collect()
    };
    let both = ["By hand, by hand, by hand", "Ours"];
    assert_eq!(told(&directory), both);

    let refused = meddled(&directory, usize::MAX).unwrap_err();
    let gave_way = matches!(refused, Error::Disk(disk::Error::Changed { .. }));
    assert!(gave_way, "{refused}");
    assert_eq!(told(&directory).len(), 2, "nothing of ours is there");
}
