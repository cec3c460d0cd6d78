//! The shared context as we, agents and other programs write it.

use proptest::prelude::*;

use super::*;

const OURS: &str = "\
# Execution Context

## Project Patterns
- TypeScript strict mode throughout
- Error handling:
  - at service boundaries
  - never inside

## Key Decisions

## Known Issues
<!-- none so far -->

## File Map
- src/lib/auth.ts — JWT verification and token refresh

## Task History
- Task [1]: Set up database schema - PASS: Files modified: db/schema.sql

### Task [2]: Implement auth - the middleware - PASS
- Files modified: src/middleware.ts
- Issues encountered: None

### Task [3]: Add rate limiting - FAIL

## Scratch
Written by hand.

```sh
# not a heading
- not an item
```
";

fn task(id: u64) -> TaskId {
    id.into()
}

fn bullet(text: &str) -> KnowledgeNote {
    KnowledgeNote::Bullet(text.into())
}

fn prose(text: &str) -> KnowledgeNote {
    KnowledgeNote::Prose(text.into())
}

#[test]
fn our_own_form_is_written_as_it_was_read() {
    assert_eq!(render(&parse(OURS)), OURS);
    let empty = render(&SharedContext::default());
    assert_eq!(render(&parse(&empty)), empty);
    assert_eq!(parse(&OURS.replace('\n', "\r\n")), parse(OURS));
    let read = parse(OURS);
    assert_eq!(read.history.len(), 2);
    assert_eq!(
        read.history[0].title,
        EntryTitle::task(task(2), "Implement auth - the middleware", Outcome::Pass)
    );
    assert_eq!(
        read.knowledge.patterns[1],
        bullet("Error handling:\n- at service boundaries\n- never inside")
    );
}

#[test]
fn what_others_wrote_stays() {
    let text = "# Execution Context\nAppended by hand.\n\n## KEY DECISIONS:\n* Chose Zod\nover io-ts\n\nBecause of speed.\n\n## Task History\n### Tasks [1-6]: Plugin structure - ALL PASS\n### Task [7]: Create skill - PASS (~718 lines)\n- seven phases\n\n## Open Questions\n### Sub\n1. first\n2. second\n";
    let read = parse(text);
    assert_eq!(read.intro, [prose("Appended by hand.")]);
    assert_eq!(
        read.knowledge.decisions,
        [bullet("Chose Zod\nover io-ts"), prose("Because of speed.")]
    );
    let titles: Vec<String> = read.history.iter().map(|e| e.title.to_string()).collect();
    assert_eq!(
        titles,
        [
            "Tasks [1-6]: Plugin structure - ALL PASS",
            "Task [7]: Create skill - PASS (~718 lines)"
        ]
    );
    assert_eq!(read.others[0].heading, "Open Questions");
    assert_eq!(
        read.others[0].notes,
        [prose("#### Sub"), prose("1. first\n2. second")]
    );
}

#[test]
fn a_tasks_notes_go_to_their_sections_and_the_rest_to_the_task() {
    let text = "# Execution Context\n\n### Known issues\n- Port 3000 is taken\n#### Detail\n- by the proxy\n### Misc\n- kept\n## Task History\n### Task [5]: Add input validation - PASS\n- Key learnings: zod\n### Task [5]: Another title\nfree words\n";
    let notes = parse_notes(text, &task(5), "Add input validation", Outcome::Pass);
    assert_eq!(
        notes.knowledge.issues,
        [
            bullet("Port 3000 is taken"),
            prose("#### Detail"),
            bullet("by the proxy")
        ]
    );
    assert_eq!(
        notes.learnings,
        [
            prose("#### Misc"),
            bullet("kept"),
            bullet("Key learnings: zod"),
            prose("#### Task [5]: Another title"),
            prose("free words")
        ]
    );
    let free = parse_notes("just words\n", &task(5), "x", Outcome::Fail);
    assert_eq!(free.learnings, [prose("just words")]);
    let none = parse_notes("\n \n", &task(5), "x", Outcome::Fail);
    assert!(none.learnings.is_empty());
}

#[test]
fn the_example_for_agents_reads_as_it_was_meant() {
    let notes = TaskNotes {
        id: task(5),
        subject: "Add input validation".into(),
        outcome: Outcome::Pass,
        knowledge: Knowledge {
            patterns: vec![bullet("Handlers return Result")],
            files: vec![bullet("src/app.rs — the entry")],
            ..Knowledge::default()
        },
        learnings: Vec::new(),
    };
    let text = "## Project Patterns\n\n- Handlers return Result\n\n\
                ## File Map\n\n- src/app.rs — the entry\n";
    assert_eq!(
        parse_notes(text, &notes.id, &notes.subject, notes.outcome),
        notes
    );
}

#[test]
fn the_originals_own_notes_bring_no_second_heading_and_no_empty_words() {
    for heading in [
        "### Task [5]: Add input validation - PASS",
        "### Task [5]: Add input validation \u{2014} PASS",
        "## Task [5]: **Add input validation**",
        "# Task 5 Context",
        "# Task Context: [5] Add input validation",
        "## Task [5] - PARTIAL",
    ] {
        let text = format!(
            "{heading}\n- Key learnings: zod\n\n## Known Issues\n- None\n\n## Key Decisions\nN/A\n\n\
             ## File Map\n-\n- src/a.rs\n"
        );
        let notes = parse_notes(&text, &task(5), "Add input validation", Outcome::Pass);
        assert_eq!(notes.learnings, [bullet("Key learnings: zod")], "{heading}");
        assert_eq!(notes.knowledge.issues, [], "{heading}");
        assert_eq!(notes.knowledge.decisions, [], "{heading}");
        assert_eq!(notes.knowledge.files, [bullet("src/a.rs")], "{heading}");
    }
    for heading in [
        "Task [6]: Add input validation",
        "Task [5]: Try zod",
        "Tasks left",
        "Result",
    ] {
        let text = format!("## {heading}\n- x\n");
        let notes = parse_notes(&text, &task(5), "Add input validation", Outcome::Pass);
        assert_eq!(notes.learnings[0], prose(&format!("#### {heading}")));
    }
}

#[test]
fn a_fence_that_nobody_closed_swallows_nothing() {
    let mut context = SharedContext::default();
    for (id, text) in [
        (1, "## Key Decisions\n```rust\n## Known Issues\n- a"),
        (2, "```\ncode\n```\n## File Map\n- b"),
    ] {
        context.merge(&parse_notes(text, &task(id), "x", Outcome::Pass));
    }
    let read = parse(&render(&context));
    assert_eq!(read, context);
    assert_eq!(read.knowledge.issues, [bullet("a")]);
    assert_eq!(read.knowledge.files, [bullet("b")]);
}

/// Lines as agents write them, in any order and with any indentation.
fn line() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just(String::new()),
        Just("```".to_owned()),
        Just("```sh".to_owned()),
        Just("~~~~".to_owned()),
        Just("---".to_owned()),
        Just("## Project Patterns".to_owned()),
        Just("### **Known Issues:**".to_owned()),
        Just("# Task History".to_owned()),
        Just("### Task [5]: Add - PASS - FAIL".to_owned()),
        "(#{1,7} ?|- |-|\\* |\\+\t|1\\. |> )?[a-z`#|\u{a0}\u{2028}-]{0,6}",
        "\\PC{0,10}",
        any::<String>(),
    ];
    ("[ \t]{0,5}", line, "\r?").prop_map(|(indent, line, end)| format!("{indent}{line}{end}"))
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(line(), 0..14).prop_map(|lines| lines.join("\n"))
}

fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.sort();
    words
}

#[test]
fn a_text_full_of_fences_is_read_in_one_go() {
    let text = "```a\n- b\n".repeat(200_000);
    assert!(!parse(&text).intro.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_context_is_the_same_when_read_again(text in text()) {
        let read = parse(&text);
        let written = render(&read);
        prop_assert_eq!(&parse(&written), &read, "{}", written);
        prop_assert_eq!(render(&parse(&written)), written);
    }

    #[test]
    fn no_word_of_a_context_is_lost(text in text()) {
        let kept = words(&render(&parse(&text)));
        for word in words(&text) {
            prop_assert!(kept.binary_search(&word).is_ok(), "{word}");
        }
    }

    #[test]
    fn merging_again_after_a_crash_changes_nothing(
        wave in proptest::collection::vec((1u64..5, any::<String>(), text()), 1..13),
    ) {
        let mut context = parse(OURS);
        let notes: Vec<TaskNotes> = wave
            .iter()
            .map(|(id, subject, text)| parse_notes(text, &task(*id), subject, Outcome::Pass))
            .collect();
        notes.iter().for_each(|n| context.merge(n));
        let mut again = parse(&render(&context));
        prop_assert_eq!(&again, &context);
        notes.iter().for_each(|n| again.merge(n));
        prop_assert_eq!(again, context);
    }
}
