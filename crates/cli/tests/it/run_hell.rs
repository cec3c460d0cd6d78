//! Thirty tasks, agents that do everything wrong, and a runner that is killed again and again: in
//! the end each task is completed once.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use flagpost_testkit::{agents, background, race::until};

use crate::run_stage::Stage;

/// Five diamonds of six tasks, the later ones hanging from the earlier ones' ends.
fn plan() -> String {
    let mut plan = String::new();
    for diamond in 0..5 {
        let first = diamond * 6 + 1;
        let after = match diamond {
            0 | 1 => String::new(),
            _ => format!(" (after: {}, {})", first - 1, first - 7),
        };
        plan += &format!("{first}. [ ] Begin {diamond}{after}\n");
        for side in 1..=4 {
            plan += &format!(
                "{}. [ ] Side {side} of {diamond} (after: {first})\n",
                first + side
            );
        }
        let sides: Vec<String> = (1..=4).map(|side| (first + side).to_string()).collect();
        plan += &format!(
            "{}. [ ] End {diamond} (after: {})\n",
            first + 5,
            sides.join(", ")
        );
    }
    plan
}

#[test]
fn whatever_agents_do_each_task_is_completed_exactly_once() {
    let world = crate::world().with("FLAGPOST_CLOCK", "");
    let stage = Stage::in_world(world, &plan());
    let mut rounds = Vec::new();
    while rounds.last() != Some(&0) {
        assert!(rounds.len() < 40, "{rounds:?}");
        // Where a machine is too slow for one round, the next one has more time.
        let limit = format!("{}ms", 500 + 100 * rounds.len());
        let args = [
            &["--max-parallel", "5", "--retries", "2"][..],
            &["--timeout", &limit],
        ];
        let ended = stage.start(agents::WILD, &args.concat()).end();
        assert!(ended.peak_kib < 64 << 10, "{} KiB", ended.peak_kib);
        // Killed, or at its end: nothing that an agent does makes a run give up.
        let at_its_end = [0, 1].contains(&ended.code) && ended.stdout.contains(" passed");
        assert!(ended.code == -1 || at_its_end, "{ended}");
        rounds.push(ended.code);
    }
    // It was as bad as it was meant to be.
    assert!(rounds.contains(&-1) && rounds.contains(&1), "{rounds:?}");

    assert_eq!(stage.states(30), vec!["completed"; 30]);
    let lines = stage.history();
    let numbers: Vec<u64> = lines
        .iter()
        .map(|line| line["n"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let void: BTreeSet<u64> = lines
        .iter()
        .filter(|line| line["kind"] == "history.void")
        .map(|line| line["detail"]["n"].as_u64().unwrap())
        .collect();
    let mut completed: BTreeMap<String, i32> = BTreeMap::new();
    for line in lines
        .iter()
        .filter(|line| !void.contains(&line["n"].as_u64().unwrap()))
    {
        let task = || line["task"].as_str().unwrap().to_owned();
        match line["kind"].as_str().unwrap() {
            "task.completed" => *completed.entry(task()).or_default() += 1,
            "task.reopened" if line["from"] == "completed" => {
                *completed.entry(task()).or_default() -= 1;
            }
            _ => {}
        }
    }
    assert_eq!(completed.len(), 30);
    assert!(completed.values().all(|times| *times == 1), "{completed:?}");

    assert_no_agent_of_a_dead_session(&stage);
    // Other programs keep the empty directory open.
    assert_eq!(fs::read_dir(stage.live()).unwrap().count(), 0);
    for dir in stage.ended() {
        let name = dir.file_name().unwrap().to_str().unwrap().to_owned();
        let archived = dir.join("session_summary.md").exists();
        assert_ne!(archived, name.starts_with("interrupted-"), "{name}");
    }
    assert_json_is_whole(&stage.world.home());
    assert_json_is_whole(&stage.sessions());
    stage.world.ok(["status"]);
    assert_eq!(stage.world.flagpost(["run", "--agent", "true"]).code, 0);
}

/// A child that an agent left in its group dies with it, if not at once then by the next run.
fn assert_no_agent_of_a_dead_session(stage: &Stage) {
    for entry in fs::read_dir(&stage.place).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with("child-") {
            let pid = fs::read_to_string(&path).unwrap();
            if let Ok(pid) = pid.trim().parse() {
                // Its number may be another process's by now.
                until(name, || {
                    !background::is_alive(pid) || !stage.processes().contains(&pid)
                });
            }
        }
    }
    stage.assert_no_process();
}

/// Every name that other readers take for JSON holds it.
fn assert_json_is_whole(dir: &Path) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            // Agents make directories where files belong.
            assert_json_is_whole(&path);
        } else if name.ends_with(".json") {
            let read = serde_json::from_slice::<serde_json::Value>(&fs::read(&path).unwrap());
            assert!(read.is_ok(), "{}: {read:?}", path.display());
        } else if name.contains(".tmp-") {
            let hidden = name.starts_with('.');
            let taken = [".json", ".md", ".txt"]
                .iter()
                .any(|end| name.ends_with(end));
            assert!(hidden && !taken, "{name}");
        }
    }
}
