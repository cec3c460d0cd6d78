//! How large the house may be.
//!
//! Owns a budget of lines for each crate, and the reason for it. Lines are those of the product:
//! [`product`](crate::product) says which. Budgets fall. A crate that does not fit its own is made smaller, or a
//! commit that touches nothing else makes the budget larger, with a reason that stands here.

use std::collections::BTreeMap;

use crate::{assert_none, product};

/// What a crate may be, and is to be.
struct Budget {
    krate: &'static str,
    /// At most so many lines.
    lines: usize,
    /// So many when the clean-up is done; the same where nothing is to go.
    goal: usize,
    /// What it holds, and what is to go from it.
    #[expect(dead_code, reason = "for who reads the table")]
    why: &'static str,
}

/// What the program may be once its concepts are merged: the goals of its crates together.
const PROGRAM: usize = 90_000;

/// The program.
const BUDGETS: &[Budget] = &[
    Budget {
        krate: "model",
        lines: 13_430,
        goal: 11_000,
        why: "nouns and rules, and how each is shown as JSON; brief and report become one message, and a table's moves those of a list; when a person is notified; when work that did not land is asked about; the ids of machines, and how their fleet stands; words for what files say in names; an approval, and work that a person returns",
    },
    Budget {
        krate: "disk",
        lines: 7_870,
        goal: 6_500,
        why: "bytes and dialects; one table of a noun's keys is to read, write and compare; an exchange of two files, a link in the place of a directory",
    },
    Budget {
        krate: "core",
        lines: 43_320,
        goal: 31_000,
        why: "the operations and their table; errors, settings, mail and coordination say the same thing several times; doctor looks at each file of a mail; notifications, their settings and channels; what is to land, of which session, and what has landed; hooks and turns tell by one record; which session speaks for which worker through all that clients do with it; a client's settings given back to the byte; the tokens of workers; one order of changes for several machines: the change on its way, what of it is carried out here, the base, an order that begins anew; what is kept while they cannot be reached, and told; what hands did to mail, the names of lists; how the fleet stands, and what is wrong with it; what was taken away since, who acknowledged an altered history, whose hooks run; task files that another program took away, what of git a landing runs, which policy was accepted, pages of a flooded inbox; the bridge tended for daemon and cockpit, reports and lists of other programs; settings of one repository; what a person says of work before it lands, patches of one file, a landing that a screen begins and why one ended early",
    },
    Budget {
        krate: "run",
        lines: 18_560,
        goal: 12_500,
        why: "the orchestrator, and what it adds to its agents' clients; it is to send no mail to itself, and to have one trait for a seat; landing: merge, check, move the target, push, mend what a dead landing or a check broke, or pull requests through gh; the stdin of a client that takes turns, briefs and answers by it; what Codex' sandboxes leave; what an agent left uncommitted or running, and a worktree that a hook fails on; clients that stay or never begin, an agent asked to commit; a target and branches that others moved, commits of submodules, git that waits, worktrees that runs left; what a new worktree gets, its setup and its end; the client of the Agent Client Protocol: frames, one conversation, its process, who decides; Codex by its app-server, a conversation that a person takes over; work that a person returned",
    },
    Budget {
        krate: "daemon",
        lines: 4_430,
        goal: 4_000,
        why: "one process and its interface; its routes are read off the table of operations; the state as one text for all who begin together; whose token opens the tools; a home that was made anew under it",
    },
    Budget {
        krate: "board",
        lines: 122,
        goal: 119,
        why: "a face: the table of its files; what is in them is held by its own test",
    },
    Budget {
        krate: "cockpit",
        lines: 7_250,
        goal: 6_000,
        why: "a face: six screens and the page of what is to land with its own reader, their keys, what is asked, two sources of wakes; the machines of a fleet; the runs before, what was read to its end, the bridge where no daemon is; a task's change, file by file, with remarks on its lines",
    },
    Budget {
        krate: "mcp",
        lines: 1_269,
        goal: 1_200,
        why: "a face: the tools as a table, what each asks of the table of operations, resources; on two ways, of which one waits without a thread and answers what was read before its end; a worker that left",
    },
    Budget {
        krate: "fleet",
        lines: 5_232,
        goal: 5_000,
        why: "the way to the order that several computers share: connection, its encryption and certificate, append until known, reader, records, the server that is kept, or the three; core's order on it, sharing, joining, following, beginning anew; how the fleet stands; signs of life, workers' too; why its server does not run",
    },
    Budget {
        krate: "cli",
        lines: 19_140,
        goal: 12_600,
        why: "every verb, its help and its words; simple verbs are to be read off the table of operations; a session that joins and leaves; the token of a worker; the verbs of a fleet of machines, and what is kept where one of them cannot be heard; the verbs of worktrees and of the policy, several briefs at once, a page that fits its rows; the process that speaks to an agent by its protocol; reviewing work, a worktree in an editor, an agent's conversation in its own window",
    },
];

/// What is no part of the program.
const TOOLS: &[Budget] = &[
    Budget {
        krate: "bench",
        lines: 2_310,
        goal: 2_310,
        why: "a row for each promise of speed, and the soak",
    },
    Budget {
        krate: "testkit",
        lines: 4_060,
        goal: 4_000,
        why: "a disk that loses power and searches that show that they can fail, tables, races, the one deadline of all waits, sealed worlds, a model server, the servers of a fleet's order and the ways between them, the judge of what its machines were told",
    },
];

/// What does not fit.
fn faults(found: &BTreeMap<String, usize>, budgets: &[&Budget]) -> Vec<String> {
    let mut faults = Vec::new();
    for (krate, lines) in found {
        match budgets.iter().find(|budget| budget.krate == krate) {
            None => faults.push(format!("crates/{krate} has {lines} lines, and no budget")),
            Some(budget) if *lines > budget.lines => faults.push(format!(
                "crates/{krate} has {lines} lines, more than {}: what can go?",
                budget.lines
            )),
            Some(_) => {}
        }
    }
    let gone = budgets
        .iter()
        .filter(|budget| !found.contains_key(budget.krate));
    faults.extend(gone.map(|budget| format!("there is no crates/{}", budget.krate)));
    let small = budgets.iter().filter(|budget| budget.goal > budget.lines);
    faults.extend(small.map(|budget| format!("the goal of {} is above its budget", budget.krate)));
    faults
}

#[test]
fn every_crate_keeps_to_its_budget() {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for source in product::sources() {
        *found.entry(source.krate).or_default() += source.lines;
    }
    let budgets: Vec<&Budget> = BUDGETS.iter().chain(TOOLS).collect();
    for (krate, lines) in &found {
        println!("{krate}: {lines}");
    }
    assert_none("crates too large", &faults(&found, &budgets));
}

#[test]
fn the_goals_are_together_what_the_program_may_be() {
    let goals: usize = BUDGETS.iter().map(|budget| budget.goal).sum();
    assert!(goals <= PROGRAM, "{goals}");
}

#[test]
fn a_crate_too_large_is_caught_and_one_without_a_budget() {
    let budget = |krate, lines, goal| Budget {
        krate,
        lines,
        goal,
        why: "",
    };
    let found = BTreeMap::from([("a", 10), ("b", 11)].map(|(krate, n)| (krate.to_owned(), n)));
    let count = |budgets: &[Budget]| faults(&found, &budgets.iter().collect::<Vec<_>>()).len();
    assert_eq!(count(&[budget("a", 10, 5), budget("b", 11, 11)]), 0);
    assert_eq!(count(&[budget("a", 9, 5), budget("b", 11, 11)]), 1);
    assert_eq!(count(&[budget("a", 10, 5)]), 1);
    assert_eq!(
        count(&[budget("a", 10, 5), budget("b", 11, 11), budget("c", 1, 1)]),
        1
    );
    assert_eq!(count(&[budget("a", 10, 11), budget("b", 11, 11)]), 1);
}
