//! `doctor` as people and programs read it.

use std::fs;

use crate::{world, world_with};

/// A world in which two links are one-sided and the counter is none.
fn ill() -> flagpost_testkit::sealed::World {
    let world = world_with(&["a", "b", "c"]);
    world.ok(["task", "dep", "add", "2", "1"]);
    world.ok(["task", "dep", "add", "3", "1"]);
    let path = world.list("web").join("1.json");
    let text = fs::read_to_string(&path).unwrap();
    let cut = text.replace("\"2\",\n    \"3\"", "");
    assert_ne!(cut, text);
    fs::write(&path, cut).unwrap();
    fs::write(world.list("web").join(".highwatermark"), "many").unwrap();
    world
}

#[test]
fn its_answers() {
    transcript!(world(), @r#"
    $ doctor
    everything holds
    $ doctor --json
    {"schema":"flagpost.doctor/1","home":"[dir]/home/.flagpost","findings":[],"counts":{"error":0,"warning":0,"note":0},"fixed":[],"dry_run":false}
    $ doctor --quiet
    $ doctor --fix
    everything holds
    "#);
    transcript!(ill(), @r#"
    $ doctor
    exit 1
    error counter-unreadable: [dir]/home/.flagpost/tasks/web/.highwatermark is malformed: "many" is not a number
      where   [dir]/home/.flagpost/tasks/web/.highwatermark
      --fix   find the highest id of list web anew
    warning link-one-sided: 2 waits for 1, and the file of 1 does not say so
      where   [dir]/home/.flagpost/tasks/web/1.json
      --fix   make both files in list web say that 2 waits for 1
    warning link-one-sided: 3 waits for 1, and the file of 1 does not say so
      where   [dir]/home/.flagpost/tasks/web/1.json
      --fix   make both files in list web say that 3 waits for 1

    1 error, 2 warnings
    'flagpost doctor --fix' mends 3 of them
    $ doctor --json
    exit 1
    {"schema":"flagpost.doctor/1","home":"[dir]/home/.flagpost","findings":[{"code":"counter-unreadable","severity":"error","what":"[dir]/home/.flagpost/tasks/web/.highwatermark is malformed: \"many\" is not a number","path":"[dir]/home/.flagpost/tasks/web/.highwatermark","list":"web","task":null,"repair":{"kind":"fix","text":"find the highest id of list web anew"}},{"code":"link-one-sided","severity":"warning","what":"2 waits for 1, and the file of 1 does not say so","path":"[dir]/home/.flagpost/tasks/web/1.json","list":"web","task":"1","repair":{"kind":"fix","text":"make both files in list web say that 2 waits for 1"}},{"code":"link-one-sided","severity":"warning","what":"3 waits for 1, and the file of 1 does not say so","path":"[dir]/home/.flagpost/tasks/web/1.json","list":"web","task":"1","repair":{"kind":"fix","text":"make both files in list web say that 3 waits for 1"}}],"counts":{"error":1,"warning":2,"note":0},"fixed":[],"dry_run":false}
    $ doctor --quiet
    exit 1
    counter-unreadable
    link-one-sided
    link-one-sided
    "#);
}

#[test]
fn its_repairs() {
    transcript!(ill(), @r#"
    $ doctor --fix
    exit 2
    2> flagpost: would find the highest id of list web anew
    2> flagpost: would make both files in list web say that 2 waits for 1
    2> flagpost: would make both files in list web say that 3 waits for 1
    2> flagpost: nobody is there to confirm, so nothing was mended; --dry-run shows what would be done
    2>   hint: flagpost --help shows how
    $ doctor --fix --json
    exit 2
    {"schema":"flagpost.error/1","kind":"usage","exit_code":2,"message":"nobody is there to confirm, so nothing was mended; --dry-run shows what would be done","hint":"flagpost --help shows how","causes":[]}
    2> flagpost: would find the highest id of list web anew
    2> flagpost: would make both files in list web say that 2 waits for 1
    2> flagpost: would make both files in list web say that 3 waits for 1
    $ doctor --fix --dry-run
    exit 1
    error counter-unreadable: [dir]/home/.flagpost/tasks/web/.highwatermark is malformed: "many" is not a number
      where   [dir]/home/.flagpost/tasks/web/.highwatermark
      --fix   find the highest id of list web anew
    warning link-one-sided: 2 waits for 1, and the file of 1 does not say so
      where   [dir]/home/.flagpost/tasks/web/1.json
      --fix   make both files in list web say that 2 waits for 1
    warning link-one-sided: 3 waits for 1, and the file of 1 does not say so
      where   [dir]/home/.flagpost/tasks/web/1.json
      --fix   make both files in list web say that 3 waits for 1

    1 error, 2 warnings
    'flagpost doctor --fix' mends 3 of them
    2> flagpost: would find the highest id of list web anew
    2> flagpost: would make both files in list web say that 2 waits for 1
    2> flagpost: would make both files in list web say that 3 waits for 1
    $ doctor --dry-run
    exit 2
    2> flagpost: the following required arguments were not provided: --fix
    2>   hint: 'flagpost doctor --help' shows how
    $ doctor --fix --yes
    done     find the highest id of list web anew
    done     make both files in list web say that 2 waits for 1
    done     make both files in list web say that 3 waits for 1

    everything holds
    2> flagpost: would find the highest id of list web anew
    2> flagpost: would make both files in list web say that 2 waits for 1
    2> flagpost: would make both files in list web say that 3 waits for 1
    $ doctor --fix --yes
    everything holds
    "#);
    transcript!(ill(), @r#"
    $ doctor --fix --yes --json
    {"schema":"flagpost.doctor/1","home":"[dir]/home/.flagpost","findings":[],"counts":{"error":0,"warning":0,"note":0},"fixed":[{"what":"find the highest id of list web anew","outcome":"done","why":null},{"what":"make both files in list web say that 2 waits for 1","outcome":"done","why":null},{"what":"make both files in list web say that 3 waits for 1","outcome":"done","why":null}],"dry_run":false}
    2> flagpost: would find the highest id of list web anew
    2> flagpost: would make both files in list web say that 2 waits for 1
    2> flagpost: would make both files in list web say that 3 waits for 1
    "#);
}

/// The page about the findings names each of them, with how bad it is and what it means, and no
/// other.
#[test]
fn its_page_names_every_finding() {
    use flagpost_model::finding::Code;
    let page = flagpost_testkit::repository::texts(|path| path == "docs/doctor.md");
    let rows = page[0].text.lines().filter(|line| line.starts_with("| `"));
    let named: Vec<String> = rows
        .map(|row| row.rsplitn(3, '|').last().unwrap().to_owned())
        .collect();
    let wanted: Vec<String> = Code::ALL
        .iter()
        .map(|code| format!("| `{code}` | {} | {} ", code.severity(), code.meaning()))
        .collect();
    assert_eq!(named, wanted);
}
