//! Who may do what: the table of operations, walked on the real binary.

use flagpost_core::operations::{Access, Operation as Op};
use flagpost_testkit::sealed::{Ran, World};

use crate::world_with;

/// A command line of each operation. None of them waits for anything.
const LINES: &[(Op, &str)] = &[
    (Op::ProgramDescribe, "schema"),
    (Op::ProgramTry, "demo --dir /dev/null/none"),
    (Op::HomeExamine, "doctor"),
    (Op::HomeMend, "doctor --fix --dry-run"),
    (Op::StatusShow, "status"),
    (Op::RepositoryInit, "init --dry-run"),
    (Op::ConfigShow, "config list"),
    (Op::ConfigSet, "config set run.agent evil"),
    (Op::ConfigSet, "hooks install --agent claude"),
    (Op::ConfigUnset, "config unset run.agent"),
    (Op::NoticeTest, "notify test terminal"),
    (Op::TaskList, "list"),
    (Op::TaskShow, "show 1"),
    (Op::TaskGraph, "graph"),
    (Op::TaskExport, "task export --to csv"),
    (Op::TaskAdd, "add b"),
    (Op::TaskImport, "task import none.md"),
    (Op::TaskEdit, "task edit 1 --priority high"),
    (Op::TaskLink, "task dep rm 1 2"),
    (Op::TaskNote, "task note 1 seen"),
    (Op::TaskTime, "task timer start 1"),
    (Op::TaskClaim, "claim 1"),
    (Op::TaskNext, "claim --next"),
    (Op::TaskStart, "task start 1"),
    (Op::TaskRenew, "task renew 1"),
    (Op::TaskRelease, "task release 1"),
    (Op::TaskTake, "task release 1 --force"),
    (Op::TaskDone, "done 1 x"),
    (Op::TaskFail, "fail 1 x"),
    (Op::TaskStuck, "stuck 1 x"),
    (Op::TaskAnswer, "answer 1 x"),
    (Op::TaskReopen, "task reopen 1"),
    (Op::TaskCancel, "task cancel 1"),
    (Op::TaskMove, "task move 1 --to later --create"),
    (Op::TaskUndo, "task undo"),
    (Op::TaskRemove, "task rm 2 --yes"),
    (Op::HistoryShow, "history"),
    (Op::TextSearch, "search a"),
    (Op::IndexRebuild, "index rebuild"),
    (Op::SessionList, "session list"),
    (Op::SessionShow, "session show"),
    (Op::SessionTimeline, "session timeline"),
    (Op::SessionLog, "logs 1"),
    (Op::SessionRecover, "session recover"),
    (Op::SessionArchive, "session archive"),
    (Op::WorktreeList, "worktree list"),
    (Op::WorktreeClean, "worktree clean"),
    (Op::RunStart, "run --agent true --dry-run"),
    (Op::RunStop, "stop"),
    (Op::RunAttach, "attach 1"),
    (Op::LandingShow, "land --status"),
    (Op::TaskDiff, "diff 1"),
    (Op::ReviewApprove, "approve 1"),
    (Op::ReviewReturn, "return 1 x"),
    (Op::LandingStart, "land"),
    (Op::BriefList, "inbox --briefs"),
    (Op::NeedsList, "inbox"),
    (Op::BriefShow, "inbox W1 1"),
    (Op::BriefPropose, "assign 1 W1 --inline x"),
    (Op::BriefRatify, "ratify W1 1"),
    (Op::BriefRatify, "ratify all"),
    (Op::BriefRatify, "relay ratify W1 1"),
    (Op::BriefRatify, "slash /ratify@all"),
    (
        Op::BriefRatify,
        "msg send --to W1 --subject QUERY x --ratify",
    ),
    (Op::BriefReject, "relay reject W1 1"),
    (Op::BriefReject, "slash /reject@W1"),
    (Op::BriefEdit, "relay edit W1 1 --file none.md"),
    (Op::BriefEdit, "slash /edit@W1"),
    (Op::PermissionList, "permission list"),
    (Op::PermissionShow, "permission show 1"),
    (Op::PermissionAllow, "allow 1"),
    (Op::PermissionDeny, "deny 1"),
    (Op::PolicyAccept, "policy accept --yes"),
    (Op::BriefNext, "worker next"),
    (Op::BriefAck, "worker ack 1"),
    (Op::ReportList, "outbox"),
    (Op::ReportRead, "outbox W1 1"),
    (Op::ReportSend, "worker report x"),
    (Op::ReportConfirm, "worker confirm 1"),
    (Op::MailArchive, "relay gc"),
    (Op::MessageList, "msg list"),
    (Op::MessageShow, "msg show W1/inbox/1"),
    (Op::MessageThread, "msg thread t"),
    (Op::MessageUnacked, "msg unacked"),
    (Op::MessageWait, "msg wait --timeout 0s"),
    (Op::MessageSend, "msg send --subject QUERY x"),
    (Op::MessageReceive, "msg recv"),
    (Op::MessageAck, "msg ack 1"),
    (Op::MessageImport, "msg import none.json"),
    (Op::ReservationList, "reserve list"),
    (Op::ReservationAdd, "reserve add src/a.rs"),
    (Op::ReservationRelease, "reserve release --all"),
    (Op::WorkerList, "worker list"),
    (Op::WorkerShow, "worker show W1"),
    (Op::WorkerAdd, "worker add W7"),
    (Op::WorkerRemove, "worker rm W2"),
    (Op::TokenIssue, "worker token W2"),
    (Op::WorkerHeartbeat, "worker heartbeat"),
    (Op::SlashDispatch, "slash /inbox"),
    (Op::FleetShow, "fleet status"),
    (Op::FleetChange, "fleet share"),
    (Op::DaemonShow, "daemon logs"),
    (Op::DaemonUp, "up"),
    (Op::DaemonDown, "down"),
    (Op::BridgeShow, "bridge status"),
    (Op::BridgeServe, "bridge stop"),
    (Op::BridgeSend, "bridge clear"),
    (Op::CoordinationShow, "coord leader status"),
    (Op::CoordinationLead, "coord leader goal x"),
    (Op::CoordinationWork, "coord worker claim"),
    (Op::CoordinationExchange, "coord import"),
];

/// Those of the table that no command line asks for: the API does, or who asks makes another of them.
const ELSEWHERE: &[Op] = &[
    Op::MailAllocate,
    Op::OperationList,
    Op::RepositoryList,
    Op::DaemonLink,
    Op::TaskHistory,
    Op::SessionDocuments,
    Op::WorkerJoin,
    Op::WorkerLeave,
];

const DENIED: &str = ": only the operator does\n";

fn asked(world: &World, line: &str, environment: (&str, &str)) -> Ran {
    let words = line.split(' ').map(|word| word.replace('@', " "));
    let mut command = world.command();
    command.args(words).env(environment.0, environment.1);
    world.run(&mut command)
}

fn fleet() -> World {
    let world = world_with(&["a", "z"]);
    for worker in ["W1", "W2"] {
        world.ok(["worker", "add", worker]);
    }
    world
}

#[test]
fn a_line_stands_for_every_operation() {
    for operation in Op::ALL {
        let typed = LINES.iter().any(|(it, _)| it == operation);
        let elsewhere = ELSEWHERE.contains(operation);
        assert!(typed != elsewhere, "{operation}");
    }
}

/// Types each line as this one does, and is denied those of the operations that this is true of.
fn type_all(world: &World, who: (&str, &str), is_denied: impl Fn(Access) -> bool) {
    for (operation, line) in LINES {
        let ran = asked(world, line, who);
        let told = format!("{operation}: {line}: {ran}");
        let denied = is_denied(operation.access());
        assert_eq!(ran.stderr.contains(DENIED), denied, "{told}");
        assert!(!denied || ran.code == 4, "{told}");
    }
}

#[test]
fn a_worker_does_what_the_table_leaves_to_it_and_no_more() {
    let world = fleet();
    let is_denied = |it| matches!(it, Access::Controller(_) | Access::Operator(_));
    type_all(&world, ("FLAGPOST_WORKER", "W1"), is_denied);
    world.ok(["down"]);
}

#[test]
fn an_agent_without_a_name_does_nothing_that_is_the_operators() {
    let is_denied = |it| matches!(it, Access::Operator(_));
    type_all(&fleet(), ("CLAUDECODE", "1"), is_denied);
}

#[test]
fn settings_and_the_fleet_are_the_operators_also_where_an_agent_has_no_name() {
    let world = fleet();
    for line in [
        "config set run.agent evil",
        "config unset run.agent",
        "worker add W7",
        "worker rm W2",
        "worker add W7 --as W8",
    ] {
        for agent in ["CLAUDECODE", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE"] {
            let ran = asked(&world, line, (agent, "1"));
            assert_eq!(ran.code, 4, "{agent} {line}: {ran}");
            assert!(ran.stderr.contains(DENIED), "{agent} {line}: {ran}");
        }
    }
    for line in ["worker add W9 --as W9", "worker rm W9 --as W9"] {
        let ran = asked(&world, line, ("CLAUDECODE", "1"));
        assert_eq!(ran.code, 0, "{line}: {ran}");
    }
    let ran = asked(&world, "run --agent true --dry-run", ("CLAUDECODE", "1"));
    assert!(!ran.stderr.contains(DENIED), "{ran}");
}

#[test]
fn a_worker_neither_starts_nor_ends_the_daemon() {
    let world = fleet();
    for line in ["up", "down", "daemon up", "daemon down"] {
        let ran = asked(&world, line, ("FLAGPOST_WORKER", "W1"));
        assert_eq!(ran.code, 4, "{line}: {ran}");
        assert!(ran.stderr.contains(DENIED), "{line}: {ran}");
    }
}

#[test]
fn a_person_is_denied_nothing() {
    type_all(&fleet(), ("TERM", "dumb"), |_| false);
}

#[test]
fn a_worker_without_a_name_is_refused_everywhere() {
    let world = fleet();
    let history = || world.ok(["history", "--json"]);
    let before = history();
    for (operation, line) in LINES {
        for name in ["", " ", "\t\n", "a b", "../W1"] {
            let ran = asked(&world, line, ("FLAGPOST_WORKER", name));
            assert_eq!(ran.code, 6, "{operation}: {line}: {name:?}: {ran}");
            assert!(ran.stderr.contains("FLAGPOST_WORKER"), "{line}: {ran}");
        }
    }
    assert_eq!(history(), before);
}

#[test]
fn a_worker_joins_and_leaves_the_fleet_by_itself() {
    let world = fleet();
    for line in ["worker add W9", "worker rm W9"] {
        let ran = asked(&world, line, ("FLAGPOST_WORKER", "W9"));
        assert_eq!(ran.code, 0, "{ran}");
    }
    let ran = asked(&world, "worker add W9", ("FLAGPOST_WORKER", "W1"));
    assert_eq!(ran.code, 4, "{ran}");
    assert!(ran.stderr.contains("W1 adds nobody else"), "{ran}");
}
