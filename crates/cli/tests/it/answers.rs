//! `answer`: what the operator says to what is asked, and who may not.

use crate::{
    run_stage::{Stage, read},
    world, world_with,
};

#[test]
fn a_stuck_task_is_answered_in_one_command() {
    let world = world_with(&["Choose the framework", "Write it"]);
    world.ok(["task", "dep", "add", "2", "1"]);
    world.ok(["task", "start", "1", "--as", "W3"]);
    world.ok(["task", "note", "1", "It is a small tool", "--as", "W3"]);
    world.ok(["stuck", "1", "argparse or click?\nAnd why?", "--as", "W3"]);
    transcript!(world, @r#"
    $ status
    Needs you: 1
      1 Choose the framework: W3 asks: argparse or click? … (now)
        flagpost answer 1 'WORDS'

    web: 2 tasks (1 pending, 1 stuck)
    $ answer 1 argparse: it is there already
    answered 1 Choose the framework (29 bytes): it is pending again
    $ show 1
    1 Choose the framework
      state       pending
      blocks      2
      added       by ann, now
      attempts    1

    note by W3, now
    It is a small tool

    question 1 by W3, now
    argparse or click?
    And why?

    answer by ann, now
    argparse: it is there already
    $ status
    web: 2 tasks (2 pending)

    Ready
      1 Choose the framework
    $ answer 1 'or click'
    exit 4
    2> flagpost: question 1 of task 1 was answered by ann at 2026-05-13T14:25:00Z
    2>   hint: 'flagpost answer --again 1 WORDS' adds to that
    $ answer 1 'or click' --json
    exit 4
    {"schema":"flagpost.error/1","kind":"conflict","exit_code":4,"message":"question 1 of task 1 was answered by ann at 2026-05-13T14:25:00Z","hint":"'flagpost answer --again 1 WORDS' adds to that","causes":[]}
    $ answer 1 --again 'or click'
    answered 1 Choose the framework (8 bytes): added to question 1; it is pending
    $ show 1
    1 Choose the framework
      state       pending
      blocks      2
      added       by ann, now
      attempts    1

    note by W3, now
    It is a small tool

    question 1 by W3, now
    argparse or click?
    And why?

    answer by ann, now
    argparse: it is there already

    answer by ann, now
    or click
    $ history --limit 2
    N   WHEN  WHO  WHAT           OF  CHANGE
    9   now   ann  task answered  1   stuck → pending, question: 1
    10  now   ann  task answered  1   question: 1
    … and older lines: --limit 0 shows all
    $ task undo
    took back task.answered: 1 Choose the framework
    $ task undo
    took back task.answered: 1 Choose the framework
    $ show 1
    1 Choose the framework
      state       stuck
      owner       W3
      blocks      2
      added       by ann, now
      attempts    1

    note by W3, now
    It is a small tool

    question 1 by W3, now
    argparse or click?
    And why?

    answered with: flagpost answer 1 'WORDS'
    $ answer 1 click --quiet
    1
    "#);
}

#[test]
fn what_asks_nothing_and_who_says_nothing_is_refused() {
    let world = world_with(&["Write", "Test", "Ship"]);
    world.ok(["done", "1"]);
    world.ok(["claim", "3"]);
    world.ok(["fail", "3", "No harbour"]);
    world.ok(["worker", "add", "W1"]);
    world.ok([
        "worker",
        "report",
        "Which one?",
        "--kind",
        "blocked",
        "--as",
        "W1",
    ]);
    world.ok(["worker", "report", "At it", "--as", "W1"]);
    transcript!(world, @r#"
    $ answer 1 so
    exit 4
    2> flagpost: task 1 asks nothing: it is completed
    2>   hint: 'flagpost status' shows what is asked; 'flagpost note' leaves a remark
    $ answer 3 so
    exit 4
    2> flagpost: task 3 asks nothing: it is failed
    2>   hint: 'flagpost retry 3' has it tried again; 'flagpost note 3 WORDS' tells the next try something
    $ answer 2 so --again
    exit 4
    2> flagpost: task 2 asks nothing: it is pending
    2>   hint: 'flagpost status' shows what is asked; 'flagpost note' leaves a remark
    $ answer 2
    exit 2
    2> flagpost: say the answer, as in answer 2 'The first one'
    2>   hint: flagpost --help shows how
    $ answer
    exit 2
    2> flagpost: the following required arguments were not provided: <ID>
    2>   hint: 'flagpost answer --help' shows how
    $ answer 2 ''
    exit 6
    2> flagpost: answer: it says nothing
    $ answer W1/outbox/2 so
    exit 4
    2> flagpost: W1/outbox/2 asks nothing: it is a cycle_report
    2>   hint: 'flagpost msg send --subject REPLY --re' says something about it all the same
    $ answer W1/outbox/9 so
    exit 3
    2> flagpost: there is no message W1/outbox/9
    2>   hint: 'flagpost msg list' shows those there are
    $ answer W1/nowhere/1 so
    exit 6
    2> flagpost: message: "W1/nowhere/1" names no message: use its id, or its place as in W1/outbox/3
    $ answer W1/outbox/1 so
    answered W1 (2 bytes): REPLY lies in W1/inbox/1
    $ answer W1/outbox/1 so
    exit 4
    2> flagpost: W1/outbox/1 was answered by ann in W1/inbox/1
    2>   hint: 'flagpost answer --again W1/outbox/1 WORDS' adds to that
    $ answer W1/outbox/1 'or so' --again --quiet
    W1/inbox/2
    "#);
}

#[test]
fn an_agent_answers_nothing() {
    let world = world_with(&["Write"]);
    world.ok(["task", "start", "1", "--as", "W3"]);
    world.ok(["stuck", "1", "how?", "--as", "W3"]);
    for agent in ["FLAGPOST_WORKER=W3", "FLAGPOST_TASK=1", "CLAUDECODE=1"] {
        let told = world.transcript(&format!("{agent} answer 1 so"));
        assert!(told.contains("exit 4\n"), "{told}");
        assert!(
            told.contains(" answers no question: only the operator does"),
            "{told}"
        );
    }
    assert_eq!(world.json(["show", "1"]).1["state"], "stuck");
}

#[test]
fn the_words_come_from_a_file_or_stdin_as_they_are() {
    let world = world_with(&["One", "Two"]);
    for id in ["1", "2"] {
        world.ok(["task", "start", id, "--as", "W3"]);
        world.ok(["stuck", id, "how?", "--as", "W3"]);
    }
    let words = "# So\n\n`--file`\t\"é\"\n";
    assert_eq!(world.feed(["answer", "1", "-"], words.as_bytes()).code, 0);
    std::fs::write(world.repository().join("answer.md"), words).unwrap();
    world.ok(["answer", "2", "--file", "answer.md"]);
    for id in ["1", "2"] {
        assert_eq!(world.json(["show", id]).1["notes"][0]["text"], words);
    }
}

#[test]
fn a_reply_that_a_person_types_waits_for_nobody_and_an_agents_does() {
    let world = world();
    world.ok(["worker", "add", "W1"]);
    let query = [
        "msg",
        "send",
        "--subject",
        "QUERY",
        "Which crate?",
        "--as",
        "W1",
    ];
    world.ok(query);
    let reply = "msg send --subject REPLY --re W1/outbox/1 --json";
    let decided = |line: &str| {
        let told = world.transcript(line);
        let answer: serde_json::Value = serde_json::from_str(told.lines().nth(1).unwrap()).unwrap();
        answer["verdict"]["by"].clone()
    };
    assert_eq!(decided(&format!("{reply} 'The first'")), "ann");
    assert_eq!(
        decided(&format!("{reply} 'The second' --as orchestrator")),
        "orchestrator"
    );
    for agent in ["FLAGPOST_WORKER=orchestrator", "CLAUDECODE=1"] {
        assert!(decided(&format!("{agent} {reply} 'By {agent}'")).is_null());
    }
    let query = "msg send --subject QUERY --to W1 'And you?' --json";
    assert!(decided(query).is_null(), "it is no answer");
}

#[test]
fn the_command_works_from_where_the_reader_stands() {
    let world = world();
    world.ok(["add", "Far", "--list", "other"]);
    world.ok(["task", "start", "1", "--as", "W3", "--list", "other"]);
    world.ok(["stuck", "1", "how?", "--as", "W3", "--list", "other"]);
    let (_, status) = world.json(["status", "--list", "other"]);
    let command = &status["needs"]["needs"][0]["settle_with"];
    assert_eq!(command, "flagpost answer 1 --list other 'WORDS'");
    world.ok(["answer", "1", "--list", "other", "so"]);
}

#[test]
fn whoever_goes_on_reads_the_question_its_answer_and_the_notes() {
    let stage = Stage::new("- [ ] Choose\n");
    let body = r#"
        cat > "$place/prompt-$$"
        grep -q 'the small one' "$place"/prompt-* || { flagpost stuck 'Which one?' > /dev/null; exit; }
        report PASS "It is small.""#;
    assert_eq!(stage.run(body, &[]).code, 1);
    stage.world.ok(["answer", "1", "the small one"]);
    stage.world.ok(["task", "note", "1", "Mind the gap"]);
    let ran = stage.run(body, &[]);
    assert_eq!(ran.code, 0, "{ran}");
    let newest = stage.ended().pop().unwrap();
    let prompt = read(&newest.join("prompts/task-1-attempt-1.md"));
    let places = [
        "\n## Questions and answers\n\nQuestion 1, by run-1 at ",
        ":\n\n```text\nWhich one?\n```\n\nAnswer, by ann at ",
        ":\n\n```text\nthe small one\n```\n\n## Notes\n\nNote, by ann at ",
        ":\n\n```text\nMind the gap\n```\n\n## How to report\n",
    ];
    let places = places.map(|it| prompt.find(it));
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{prompt}"
    );
    assert_eq!(stage.state("1"), "completed");
}
