//! Labels, projects, and a list in numbers.

use crate::world;

#[test]
fn labels_and_projects_are_counted() {
    let world = world();
    world.ok(["init"]);
    transcript!(world, @r#"
    $ task tags
    no task of web has tags
    $ task projects
    no task of web has projects
    $ task stats
    web has no tasks yet; 'flagpost add' makes one
    $ task stats --json
    {"schema":"flagpost.stats/1","list":"web","open":0,"all":0,"ready":0,"overdue":0,"completed_last_7_days":0,"running_timers":0,"states":[],"priorities":[],"owners":[],"projects":[],"work":{"estimated_minutes":0,"tracked_seconds":0},"completed_with_estimate":{"estimated_minutes":0,"tracked_seconds":0},"skipped":[]}
    $ add Write --tag api --tag lang --project web -p high --estimate 2h --due 2026-05-12
    added 1 Write
    $ add Test --tag api --project web
    added 2 Test
    $ add Ship
    added 3 Ship
    $ done 2
    completed 2 Test
    $ task timer start 1
    measuring 1 Write
    $ task tags
    OPEN  ALL  TAG
    1     2    api
    1     1    lang
    $ task tags --json
    {"schema":"flagpost.tags/1","list":"web","tags":[{"name":"api","open":1,"all":2},{"name":"lang","open":1,"all":1}],"skipped":[]}
    $ task tags --quiet
    api
    lang
    $ task projects
    OPEN  ALL  PROJECT
    1     2    web
    1     1    none
    $ task projects --json
    {"schema":"flagpost.projects/1","list":"web","projects":[{"name":"web","open":1,"all":2},{"name":null,"open":1,"all":1}],"skipped":[]}
    $ FLAGPOST_CLOCK=2026-05-13T15:55:00Z task stats
    web: 2 open of 3
      states       2 pending, 1 completed
      ready        2
      overdue      1
      last 7 days  1 completed
      timers       1
      work         2h estimated, 1h 30m tracked

    OPEN  ALL  PRIORITY
    1     1    high
    1     2    none

    OPEN  ALL  OWNER
    0     1    ann
    2     2    none

    OPEN  ALL  PROJECT
    1     2    web
    1     1    none
    $ task stats --json
    {"schema":"flagpost.stats/1","list":"web","open":2,"all":3,"ready":2,"overdue":1,"completed_last_7_days":1,"running_timers":1,"states":[{"name":"pending","all":2},{"name":"completed","all":1}],"priorities":[{"name":"high","open":1,"all":1},{"name":null,"open":1,"all":2}],"owners":[{"name":"ann","open":0,"all":1},{"name":null,"open":2,"all":2}],"projects":[{"name":"web","open":1,"all":2},{"name":null,"open":1,"all":1}],"work":{"estimated_minutes":120,"tracked_seconds":0},"completed_with_estimate":{"estimated_minutes":0,"tracked_seconds":0},"skipped":[]}
    $ task tags --list nope
    exit 3
    2> flagpost: there is no list nope
    2>   hint: 'flagpost add SUBJECT' makes the list with its first task; 'flagpost status' names the lists there are
    $ task stats extra
    exit 2
    2> flagpost: unexpected argument 'extra' found
    2>   hint: 'flagpost task stats --help' shows how
    "#);
}
