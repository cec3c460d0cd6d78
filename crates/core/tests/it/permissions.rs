//! Requests for permissions are whole after every power cut: what was asked or decided is in its file and in the
//! history, or in neither.

use std::{cell::OnceCell, collections::BTreeMap};

use flagpost_core::{
    Result,
    history::Kind,
    permissions::{NewRequest, PermissionOrder, Permissions, StoredRequest},
};
use flagpost_model::{SessionId, client::Client, decision::Via, permission::Verdict};
use flagpost_testkit::power::{PowerFs, every_crash, every_fault};
use jiff::SignedDuration;
use serde_json::json;

use crate::world::{World, power, simulated_home, worker};

fn wants(name: &str, command: &str) -> NewRequest {
    NewRequest {
        worker: worker(name),
        task: None,
        client: Client::Claude,
        session: None,
        tool: "Bash".to_owned(),
        input: json!({"command": command}),
        dir: None,
        rules: None,
    }
}

fn of(world: &World) -> Permissions<'_> {
    Permissions::of(&world.home, &world.repository.id)
}

fn ask(all: &Permissions<'_>, name: &str, command: &str) -> Result<u64> {
    let asked = all.ask(&wants(name, command), SignedDuration::from_mins(30))?;
    Ok(asked.n)
}

/// The requests, by number, each with what its file says was decided.
fn files(world: &World) -> BTreeMap<u64, Option<Verdict>> {
    let scan = of(world).scan().unwrap();
    assert!(scan.skipped.is_empty(), "{:?}", scan.skipped);
    let verdict = |it: &StoredRequest| it.request().decision.as_ref().map(|it| it.verdict);
    scan.all.iter().map(|it| (it.n, verdict(it))).collect()
}

/// The same as the history tells it.
fn told(world: &World) -> BTreeMap<u64, Option<Verdict>> {
    let lines = world.history();
    let void: Vec<u64> = lines.iter().filter_map(|it| it.entry.voids()).collect();
    let mut requests = BTreeMap::new();
    for line in lines.iter().filter(|it| !void.contains(&it.n)) {
        let verdict = match line.entry.kind {
            Kind::PermissionAsked => None,
            Kind::PermissionAllowed => Some(Verdict::Allowed),
            Kind::PermissionDenied => Some(Verdict::Denied),
            Kind::PermissionExpired => Some(Verdict::Expired),
            Kind::PermissionWithdrawn => Some(Verdict::Withdrawn),
            _ => continue,
        };
        let number = line.entry.detail["request"].as_u64().unwrap();
        let before = requests.insert(number, verdict);
        assert_ne!(before.flatten(), Some(Verdict::Allowed), "decided twice");
    }
    requests
}

/// Tries an operation on two identical requests, after which these verdicts hold, against every crash and fault.
fn survives(
    operation: &dyn Fn(&Permissions<'_>, [u64; 2]) -> Result<()>,
    expected: &[Option<Verdict>],
) {
    let known = OnceCell::new();
    let setup = || {
        let fs = power();
        let world = World::simulated(&fs);
        let all = of(&world);
        let asked = ["W1", "W2"].map(|it| ask(&all, it, "npm install").unwrap());
        known.get_or_init(|| (world.repository.id.clone(), asked));
        fs.settle();
        fs
    };
    let run = |fs: &PowerFs| {
        let home = simulated_home(fs);
        let (repository, asked) = known.get().unwrap();
        operation(&Permissions::of(&home, repository), *asked)
    };
    let look = |fs: &PowerFs, answer: &Result<()>| {
        let world = World::simulated(fs);
        if answer.is_ok() {
            let verdicts: Vec<Option<Verdict>> = files(&world).into_values().collect();
            assert_eq!(verdicts, expected);
        }
        ask(&of(&world), "W9", "make").unwrap();
        assert_eq!(told(&world), files(&world));
    };
    every_crash(setup, run, look);
    every_fault(setup, run, look);
}

#[test]
fn a_crash_leaves_whole_requests() {
    survives(
        &|all, _| ask(all, "W3", "npm test").map(drop),
        &[None, None, None],
    );
    survives(
        &|all, _| {
            let mut wanted = wants("W3", "npm test");
            let session: SessionId = "run".parse().unwrap();
            let allowed = ["npm *".parse().unwrap()];
            let line = all.open_session(&worker("ann"), &session, &allowed)?;
            wanted.rules = Some((line, session));
            let asked = all.ask(&wanted, SignedDuration::from_mins(30))?;
            assert_eq!(asked.ended, Some(Verdict::Allowed));
            Ok(())
        },
        &[None, None, Some(Verdict::Allowed)],
    );
    survives(
        &|all, [first, _]| {
            let always = all.always(first)?;
            all.allow_always(&worker("ann"), &always, Via::Cli)
                .map(drop)
        },
        &[Some(Verdict::Allowed), Some(Verdict::Allowed)],
    );
    let order = |verdict| PermissionOrder {
        verdict,
        via: Via::Cli,
        reason: Some("Why not".to_owned()),
        identical_too: true,
    };
    for verdict in [Verdict::Allowed, Verdict::Denied] {
        survives(
            &|all, [first, _]| {
                all.decide(&worker("ann"), &[first], &order(verdict))
                    .map(drop)
            },
            &[Some(verdict), Some(verdict)],
        );
    }
    survives(
        &|all, [first, _]| {
            let asked = all.find(first)?;
            all.end(&asked, Verdict::Withdrawn).map(drop)
        },
        &[Some(Verdict::Withdrawn), None],
    );
}
