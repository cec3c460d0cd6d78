//! The index: asked in SQL, found, made anew.

use crate::{says, world, world_with};

#[test]
fn asked_in_sql() {
    let world = world_with(&["Mend the grammar"]);
    world.ok(["worker", "add", "W1"]);
    world.ok([
        "assign",
        "1192",
        "W1",
        "--inline",
        "The grammar\nhas a hole",
    ]);
    world.ok([
        "--as", "W1", "worker", "report", "Mended", "--ticket", "1192",
    ]);
    transcript!(world, @r#"
    $ index sql 'SELECT * FROM messages ORDER BY id'
    id  subject         from_id  to_id         body                    created_at
    1   DISPATCH_BRIEF  ann      W1            The grammar has a hole  2026-05-13 14:25:00
    2   CYCLE_REPORT    W1       orchestrator  Mended                  2026-05-13 14:25:00
    $ index sql 'SELECT * FROM messages ORDER BY id' --limit 1 --json
    {"schema":"flagpost.rows/1","columns":["id","subject","from_id","to_id","body","thread_id","created_at","acked_at"],"rows":[[1,"DISPATCH_BRIEF","ann","W1","The grammar\nhas a hole","","2026-05-13 14:25:00",null]],"total":2,"truncated":true}
    $ index sql 'SELECT * FROM tasks'
    list  id  subject           state
    web   1   Mend the grammar  pending
    $ index sql 'SELECT subject, state FROM tasks' --quiet
    Mend the grammar
    $ index sql 'DELETE FROM messages'
    exit 6
    2> flagpost: SQL: ask with SELECT: nothing is written here
    $ index sql 'SELECT * FROM nowhere'
    exit 6
    2> flagpost: SQL: no such table: nowhere
    $ index sql
    exit 2
    2> flagpost: ask in SQL, as in index sql 'SELECT * FROM messages'
    2>   hint: flagpost --help shows how
    "#);
    let fed = world.feed(["index", "sql", "-", "--quiet"], b"SELECT 1\n");
    assert_eq!(fed.stdout, "1\n");
}

#[test]
fn it_is_found_and_made_anew() {
    let world = world_with(&["one", "two"]);
    let path = world.home().join("index.db");
    assert_eq!(
        world.ok(["index", "path"]),
        "[dir]/home/.flagpost/index.db\n"
    );
    let (code, status) = world.json(["index", "status"]);
    assert_eq!(
        (code, &status["counts"]["tasks"], &status["in_memory"]),
        (0, &2.into(), &false.into())
    );
    std::fs::write(&path, "broken").unwrap();
    let (code, again) = world.json(["index", "rebuild"]);
    assert_eq!((code, &again["counts"]), (0, &status["counts"]));
}

#[test]
fn without_its_file_it_still_answers() {
    let world = world_with(&["one"]);
    std::fs::create_dir(world.home().join("index.db")).unwrap();
    assert_eq!(world.ok(["search", "one"]), "1 one (pending)\n");
    let ran = world.flagpost(["index", "path"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("cannot be written now"), "{ran}");
}

#[test]
fn what_is_no_file_in_its_place_is_said_and_left_alone() {
    let world = world_with(&["one"]);
    let path = world.home().join("index.db");
    std::fs::create_dir(&path).unwrap();
    says(world.flagpost(["index", "rebuild"]), 6, &["move it away"]);
    assert!(path.is_dir());
    std::fs::remove_dir(&path).unwrap();
    world.ok(["index", "rebuild"]);
}

#[test]
fn a_question_that_takes_too_long_is_cut_off() {
    let world = world_with(&["one"]);
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    let ran = world.flagpost(["index", "sql", endless, "--timeout", "200ms"]);
    assert_eq!(ran.code, 5, "{ran}");
    assert!(ran.stderr.contains("longer than 0.2 s"), "{ran}");
    assert!(ran.stderr.contains("--timeout"), "{ran}");
}

#[test]
fn where_there_is_no_home_none_is_made() {
    let world = world();
    world.ok(["index", "sql", "SELECT * FROM messages"]);
    assert!(!world.home().exists());
}
