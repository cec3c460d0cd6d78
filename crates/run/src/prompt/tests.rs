//! Prompts as agents read them, and what no words of others can do to them.

mod going_on;
mod words_of_others;

use flagpost_disk::dialects::session::context;
use flagpost_model::task::{Note, Question, State, TaskResult};

use insta::assert_snapshot;
use jiff::Timestamp;

use super::*;

fn at(minute: u32) -> Timestamp {
    format!("2026-05-13T14:{minute:02}:00Z").parse().unwrap()
}

fn note(by: &str, minute: u32, text: &str) -> Note {
    Note {
        by: Some(by.to_owned()),
        at: Some(at(minute)),
        text: text.to_owned(),
        question: None,
    }
}

fn answer(n: u32, asked: &str, text: &str) -> Note {
    let question = Question {
        n,
        by: Some("run-1".to_owned()),
        at: Some(at(n)),
        text: asked.to_owned(),
    };
    Note {
        question: Some(question),
        ..note("ann", 30, text)
    }
}

fn task() -> Task {
    Task {
        description: "Of the format.\n\n- with tests\n".to_owned(),
        state: State::InProgress(None),
        ..Task::new(2.into(), "Write the parser")
    }
}

/// A task that was asked about, and has notes.
fn talked_of() -> Task {
    Task {
        notes: vec![
            note("W3", 10, "The grammar has a hole.\n"),
            answer(1, "TOML or JSON?\nAnd why?", "TOML"),
            answer(1, "TOML or JSON?\nAnd why?", "People edit it."),
            answer(2, "", "Go on."),
            note("bob", 12, "Mind the dates."),
        ],
        ..task()
    }
}

/// What is told of all that was said of [`talked_of`].
const SAID: &str = "\
## Questions and answers

Question 1, by run-1 at 2026-05-13T14:01:00Z:

```text
TOML or JSON?
And why?
```

Answer, by ann at 2026-05-13T14:30:00Z:

```text
TOML
```

Answer, by ann at 2026-05-13T14:30:00Z:

```text
People edit it.
```

Question 2, by run-1 at 2026-05-13T14:02:00Z:

Nothing in words.

Answer, by ann at 2026-05-13T14:30:00Z:

```text
Go on.
```

## Notes

Note, by W3 at 2026-05-13T14:10:00Z:

```text
The grammar has a hole.
```

Note, by bob at 2026-05-13T14:12:00Z:

```text
Mind the dates.
```
";

/// A prompt with a mark in place of [`SAID`].
fn folded(prompt: String) -> String {
    prompt.replace(SAID, "[all that was said]\n")
}

fn done(id: u64, subject: &str, words: &str) -> Task {
    Task {
        state: State::Completed,
        result: Some(TaskResult {
            ending: Ending::Completed,
            text: words.to_owned(),
            by: "run-1".parse().unwrap(),
            at: at(5),
            token: None,
        }),
        ..Task::new(id.into(), subject)
    }
}

/// What a prompt says besides its task.
#[derive(Default)]
struct Around {
    blockers: Vec<Task>,
    refused: BTreeMap<TaskId, String>,
    context: SharedContext,
    last_failure: Option<String>,
    branch: Option<Branch>,
    unmerged: Vec<String>,
    provided: Vec<String>,
}

fn prompt(task: &Task, client: Option<Client>, around: &Around) -> String {
    render(&Brief {
        task,
        worker: &"run-1".parse().unwrap(),
        client,
        attempt: Attempt { number: 1, of: 3 },
        blockers: &around.blockers,
        refused: &around.refused,
        context: &around.context,
        last_failure: around.last_failure.as_deref(),
        branch: around.branch.as_ref(),
        unmerged: &around.unmerged,
        provided: &around.provided,
        report: Path::new("/home/live/2-1/out/report.md"),
        notes: Path::new("/home/live/2-1/out/context.md"),
    })
}

fn alone(task: &Task, client: Option<Client>) -> String {
    prompt(task, client, &Around::default())
}

#[test]
fn in_a_worktree_of_its_own_an_agent_is_told_that_only_commits_count() {
    let around = Around {
        branch: Some(Branch::new(&"web-1".parse().unwrap(), &2.into())),
        ..Around::default()
    };
    let told = prompt(&task(), None, &around);
    assert!(
        told.contains("on the branch flagpost/web-1/2. Only commits on it count"),
        "{told}"
    );
    assert!(!alone(&task(), None).contains("commit"));
}

#[test]
fn a_task_alone_takes_few_words_and_has_no_empty_heading() {
    let clients = Client::ALL.iter().copied().map(Some).chain([None]);
    for client in clients {
        let told = alone(&task(), client);
        let own = format!("{} {}", task().subject, task().description);
        let count = |text: &str| text.split_whitespace().count();
        let ours = count(&told) - count(&own);
        assert!(ours < 200, "{client:?}: {ours} words");
        let lines: Vec<&str> = told.lines().filter(|it| !it.is_empty()).collect();
        let is_heading = |line: &&str| line.starts_with('#');
        let empty = lines.windows(2).filter(|it| it.iter().all(is_heading));
        assert_eq!(empty.count(), 0, "{told}");
    }
    assert_snapshot!(alone(&task(), Some(Client::Claude)), @r#"
    # Task 2: Write the parser

    You are worker run-1, and this task is yours alone. Attempt 1/3.

    ## What is to be done

    Of the format.

    - with tests

    ## How to report

    Before you end, write your report into `$FLAGPOST_REPORT`, which is /home/live/2-1/out/report.md:

    ```markdown
    status: PASS

    ## Summary
    What you did, in a few lines.

    ## Files Modified
    - src/parser.rs

    ## Issues
    None
    ```

    The status is PASS, PARTIAL (some of it works) or FAIL. In place of the file you may run one of:

    ```sh
    flagpost done 'what you did'
    flagpost fail 'why it does not work'
    flagpost stuck 'your question'
    ```

    `stuck` asks the operator. Ask it instead of guessing, and end: the task goes on with the answer. Without a report the task has not passed, however you end.

    What the tasks after yours should know, write as list items under `## Project Patterns`, `## Key Decisions`, `## Known Issues` or `## File Map` into /home/live/2-1/out/context.md.
    "#);
}

#[test]
fn everything_that_was_said_has_its_place() {
    let known = "# Execution Context\n\n## Project Patterns\n\n## Key Decisions\n- TOML\n\n## Known Issues\n";
    let around = Around {
        blockers: vec![
            done(1, "Choose a\nformat", "It is TOML.\n"),
            done(4, "Look around", ""),
        ],
        context: context::parse(known),
        last_failure: Some("the parser drops the last line\n".to_owned()),
        unmerged: vec!["flagpost/s/1 (task 1)".to_owned()],
        ..Around::default()
    };
    let told = prompt(&talked_of(), None, &around);
    assert_snapshot!(folded(told), @r#"
    # Task 2: Write the parser

    You are worker run-1, and this task is yours alone. Attempt 1/3.

    ## What is to be done

    Of the format.

    - with tests

    [all that was said]

    ## What the tasks before yours did

    ### Task 1: Choose a format

    ```text
    It is TOML.
    ```

    ### Task 4: Look around

    Done; its worker said nothing.

    ## Work that is not here

    These branches hold work that yours builds on:

    - flagpost/s/1 (task 1)

    ## Why the last attempt failed

    ```text
    the parser drops the last line
    ```

    ## What is known so far

    ```text
    ## Key Decisions
    - TOML
    ```

    ## How to report

    Before you end, write your report into `$FLAGPOST_REPORT`, which is /home/live/2-1/out/report.md:

    ```markdown
    status: PASS

    ## Summary
    What you did, in a few lines.

    ## Files Modified
    - src/parser.rs

    ## Issues
    None
    ```

    The status is PASS, PARTIAL (some of it works) or FAIL. In place of the file you may run one of:

    ```sh
    "$FLAGPOST_BIN" done 'what you did'
    "$FLAGPOST_BIN" fail 'why it does not work'
    "$FLAGPOST_BIN" stuck 'your question'
    ```

    `stuck` asks the operator. Ask it instead of guessing, and end: the task goes on with the answer. Without a report your exit code counts: 0 is PASS.

    What the tasks after yours should know, write as list items under `## Project Patterns`, `## Key Decisions`, `## Known Issues` or `## File Map` into /home/live/2-1/out/context.md.
    "#);
}

#[test]
fn a_resident_worker_hears_what_was_said_too() {
    assert_snapshot!(folded(of_task(&talked_of(), Some("no such call"))), @r#"
    Write the parser

    Of the format.

    - with tests

    [all that was said]

    ## Why the last attempt failed

    ```text
    no such call
    ```
    "#);
    let bare = Task::new(1.into(), "Do it");
    assert_eq!(of_task(&bare, None), "Do it\n");
}

#[test]
fn what_clients_refused_the_tasks_before_is_named() {
    let around = Around {
        blockers: vec![done(1, "Before", "All is done.")],
        refused: BTreeMap::from([(1.into(), "Bash git push".to_owned())]),
        ..Around::default()
    };
    let told = prompt(&task(), None, &around);
    let refused = "Its client refused it these actions:\n\n```text\nBash git push\n```\n";
    assert!(told.contains(refused), "{told}");
}
