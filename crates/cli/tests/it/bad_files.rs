//! Files that are damaged or that somebody put there: reported, kept, and never in the way of
//! their neighbours.

use std::{fs, os::unix::fs::symlink};

use crate::{world, world_with};

#[test]
fn damaged_tasks_do_not_hide_their_neighbours() {
    let world = world_with(&["a", "b", "c", "d"]);
    let list = world.list("web");
    fs::write(list.join("2.json"), r#"{"id":"2","subject":"b","#).unwrap();
    fs::write(list.join("3.json"), "").unwrap();
    fs::write(list.join("5.json"), b"{\"subject\":\"\xff\"}").unwrap();
    fs::write(list.join("6.json"), r#"{"id":"7","subject":"x"}"#).unwrap();
    fs::write(list.join("..json"), "{}").unwrap();
    fs::create_dir(list.join("8.json")).unwrap();
    symlink("/etc/passwd", list.join("9.json")).unwrap();
    let kept = fs::read(list.join("2.json")).unwrap();
    transcript!(world, @r#"
    $ list
    ID  STATE    SUBJECT
    1   pending  a
    4   pending  d
    2> flagpost: skipped 2.json: EOF while parsing a value at line 1 column 24
    2> flagpost: skipped 3.json: it is empty
    2> flagpost: skipped 5.json: invalid unicode code point at line 1 column 13
    2> flagpost: skipped 6.json: its id is "7", its name says 6
    2> flagpost: skipped 8.json: it is not a regular file
    2> flagpost: skipped 1 more; --json names them all
    $ list --quiet
    1
    4
    2> flagpost: skipped 2.json: EOF while parsing a value at line 1 column 24
    2> flagpost: skipped 3.json: it is empty
    2> flagpost: skipped 5.json: invalid unicode code point at line 1 column 13
    2> flagpost: skipped 6.json: its id is "7", its name says 6
    2> flagpost: skipped 8.json: it is not a regular file
    2> flagpost: skipped 1 more; --json names them all
    $ status
    web: 2 tasks (2 pending)

    Taken away or emptied by another program ('flagpost doctor --fix' brings them back)
      3

    Ready
      1 a
      4 d
    2> flagpost: skipped 2.json: EOF while parsing a value at line 1 column 24
    2> flagpost: skipped 3.json: it is empty
    2> flagpost: skipped 5.json: invalid unicode code point at line 1 column 13
    2> flagpost: skipped 6.json: its id is "7", its name says 6
    2> flagpost: skipped 8.json: it is not a regular file
    2> flagpost: skipped 1 more; --json names them all
    $ show 2
    exit 6
    2> flagpost: [dir]/home/.flagpost/tasks/web/2.json is malformed: EOF while parsing a value at line 1 column 24
    2>   hint: it is left as it is; mend it with an editor
    $ show 3 --json
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"task 3 in list web, 'c', was pending when another program took its file away or emptied it","hint":"'flagpost doctor --fix' brings it back; 'flagpost history --task 3 --list web' tells of it","causes":[]}
    $ show 5
    exit 6
    2> flagpost: [dir]/home/.flagpost/tasks/web/5.json is malformed: invalid unicode code point at line 1 column 13
    2>   hint: it is left as it is; mend it with an editor
    $ show 6
    exit 6
    2> flagpost: [dir]/home/.flagpost/tasks/web/6.json is malformed: its id is "7", its name says 6
    2>   hint: it is left as it is; mend it with an editor
    $ show 8
    exit 6
    2> flagpost: cannot read [dir]/home/.flagpost/tasks/web/8.json: not a regular file
    $ show 9
    exit 6
    2> flagpost: cannot read [dir]/home/.flagpost/tasks/web/9.json: a symbolic link, which is not followed
    $ done 2
    exit 6
    2> flagpost: [dir]/home/.flagpost/tasks/web/2.json is malformed: EOF while parsing a value at line 1 column 24
    2>   hint: it is left as it is; mend it with an editor
    $ task rm 2 --yes
    exit 6
    2> flagpost: [dir]/home/.flagpost/tasks/web/2.json is malformed: EOF while parsing a value at line 1 column 24
    2>   hint: it is left as it is; mend it with an editor
    $ add e --after 2
    exit 6
    2> flagpost: [dir]/home/.flagpost/tasks/web/2.json is malformed: EOF while parsing a value at line 1 column 24
    2>   hint: it is left as it is; mend it with an editor
    $ claim --next --quiet
    1
    $ add f --quiet
    11
    "#);
    assert_eq!(fs::read(list.join("2.json")).unwrap(), kept);
}

#[test]
fn a_task_of_a_hundred_megabytes() {
    let world = world_with(&["a"]);
    let file = fs::File::create(world.list("web").join("2.json")).unwrap();
    file.set_len(100 << 20).unwrap();
    transcript!(world, @r#"
    $ list
    ID  STATE    SUBJECT
    1   pending  a
    2> flagpost: skipped 2.json: 104857600 bytes are more than the 16777216 that are read whole
    $ show 2
    exit 6
    2> flagpost: cannot read [dir]/home/.flagpost/tasks/web/2.json: 104857600 bytes are more than the 16777216 that are read whole
    $ add b --quiet
    3
    "#);
}

#[test]
fn a_damaged_repository_record() {
    let world = world_with(&["a"]);
    let record = world.kept().join("repo.json");
    for text in ["", "{", "[]", r#"{"id":"../x"}"#] {
        fs::write(&record, text).unwrap();
        let ran = world.flagpost(["list"]);
        assert_eq!(ran.code, 6, "{text}: {ran}");
        let ran = world.flagpost(["init"]);
        assert_eq!(ran.code, 6, "{text}: {ran}");
        assert_eq!(fs::read_to_string(&record).unwrap(), text);
    }
    transcript!(world, @r#"
    $ list
    exit 6
    2> flagpost: [dir]/home/.flagpost/repos/[repo]/repo.json is malformed: "../x" is not a repository id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit at line 1 column 13
    2>   hint: it is left as it is; mend it with an editor
    $ list --list web --quiet
    1
    "#);
}

#[test]
fn a_damaged_record_of_another_repository_is_its_own_affair() {
    let world = world_with(&["a"]);
    fs::write(world.kept().join("repo.json"), "{").unwrap();
    let other = world.outside().join("other");
    fs::create_dir(&other).unwrap();
    let ran = world.run(world.command().args(["init"]).current_dir(&other));
    assert_eq!(ran.code, 0, "{ran}");
}

#[test]
fn an_id_in_the_configuration_that_is_none() {
    let world = world();
    let set = ["config", "flagpost.repoId", "../../evil"];
    assert!(
        world
            .command_of("git")
            .args(set)
            .status()
            .unwrap()
            .success()
    );
    transcript!(world, @r#"
    $ add x
    exit 6
    2> flagpost: "../../evil" is not a repository id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit
    $ list
    exit 6
    2> flagpost: "../../evil" is not a repository id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit
    $ init
    exit 6
    2> flagpost: "../../evil" is not a repository id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit
    "#);
}

#[test]
fn a_list_that_leads_outside() {
    let world = world_with(&["a"]);
    let outside = world.outside().join("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, world.list("evil")).unwrap();
    transcript!(world, @r#"
    $ list --list evil
    exit 6
    2> flagpost: [dir]/home/.flagpost/tasks/evil leads outside [dir]/home/.flagpost/tasks
    2>   hint: what leads out of there is not followed: put what it names in its place
    $ add x --list evil
    exit 6
    2> flagpost: [dir]/home/.flagpost/tasks/evil leads outside [dir]/home/.flagpost/tasks
    2>   hint: what leads out of there is not followed: put what it names in its place
    $ status --list evil
    exit 6
    2> flagpost: [dir]/home/.flagpost/tasks/evil leads outside [dir]/home/.flagpost/tasks
    2>   hint: what leads out of there is not followed: put what it names in its place
    "#);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn sessions_that_lead_outside_hide_no_tasks() {
    let world = world_with(&["a"]);
    symlink(world.outside(), world.repository().join(".claude")).unwrap();
    transcript!(world, @r#"
    $ status
    web: 1 task (1 pending)

    Ready
      1 a
    2> flagpost: the runs of web: [dir]/web/.claude leads outside [dir]/web
    $ session list
    exit 6
    2> flagpost: [dir]/web/.claude leads outside [dir]/web
    2>   hint: what leads out of there is not followed: put what it names in its place
    "#);
}

#[test]
fn a_damaged_counter() {
    let world = world_with(&["a"]);
    fs::write(world.list("web").join(".highwatermark"), "many").unwrap();
    transcript!(world, @r#"
    $ add b
    exit 6
    2> flagpost: [dir]/home/.flagpost/tasks/web/.highwatermark is malformed: "many" is not a number
    2>   hint: it is left as it is; mend it with an editor
    $ list --quiet
    1
    "#);
}

#[test]
fn a_history_with_a_torn_end() {
    use std::io::Write;
    let world = world_with(&["a"]);
    let path = world.kept().join("history.jsonl");
    let mut file = fs::File::options().append(true).open(path).unwrap();
    file.write_all(b"{\"n\":99,\"at\":").unwrap();
    transcript!(world, @"
    $ add b
    added 2 b
    $ claim --next
    claimed 1 a (token 4, lease ends in 15m)
    $ list --quiet
    1
    2
    ");
}

#[test]
fn a_history_that_is_no_history() {
    let world = world_with(&["a"]);
    let path = world.kept().join("history.jsonl");
    fs::write(&path, "garbage\n").unwrap();
    assert_eq!(world.ok(["list", "--quiet"]), "1\n");
    for args in [&["add", "b"][..], &["claim", "1"], &["done", "1"]] {
        assert_eq!(world.flagpost(args).code, 6, "{args:?}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "garbage\n");
    assert_eq!(world.ok(["list", "--quiet"]), "1\n");
}

/// Opening a pipe that nobody writes to must not hang.
#[test]
fn a_pipe_in_the_place_of_a_task() {
    let world = world_with(&["a"]);
    let pipe = world.list("web").join("2.json");
    let made = world.command_of("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    let ran = world.flagpost(["list", "--quiet"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "1\n"), "{ran}");
    assert_eq!(world.flagpost(["show", "2"]).code, 6);
    assert_eq!(world.ok(["add", "b", "--quiet"]), "3\n");
}
