//! What a run gives out was decided on by whoever started the run, and the decision says so; what
//! anybody else writes to a worker waits for the policy or a person.

use flagpost_core::{
    messages::{self, NewMessage},
    relay::{briefs, decide::Gate},
};
use flagpost_model::{
    decision::{Decision, DecisionRecord, DecisionState, Via},
    message::{MessageStatus, Subject},
};

use super::{Side, task, words};
use crate::{
    relay::{mail, one_worker, put_policy},
    world::worker,
};

fn to_w1(words: NewMessage) -> NewMessage {
    NewMessage {
        to: Some(worker("W1")),
        ..words
    }
}

#[test]
fn a_runs_task_is_ratified_by_its_session() {
    let world = one_worker(&[]);
    let orchestrator = Side::of(&world, "orchestrator");
    let send = |gate| {
        let words = to_w1(words(Subject::Task, &task("b1")));
        messages::send(&orchestrator.party(), words, gate).unwrap()
    };
    let asked = send(Gate::Policy);
    assert_eq!(asked.verdict, None);
    assert!(
        Side::of(&world, "W1").receive().is_none(),
        "no flag, no delivery"
    );
    let sent = send(Gate::Run("exec-session-1"));
    assert!(sent.replay, "the same words are the same message");
    let verdict = sent.verdict.unwrap();
    assert_eq!(
        (verdict.decision, verdict.via),
        (Decision::Ratified, Via::Run)
    );
    assert_eq!(verdict.rule.as_deref(), Some("exec-session-1"));
    let letters = briefs::list(&mail(&world, "W1")).unwrap().0;
    let DecisionState::Decided(stored) = &letters[0].standing else {
        panic!("it is not decided");
    };
    assert!(stored.line.is_some(), "it names its line");
    let stored = DecisionRecord {
        line: None,
        ..(**stored).clone()
    };
    assert_eq!((letters.len(), stored), (1, verdict));
    assert!(send(Gate::Run("exec-session-1")).verdict.is_none(), "once");
    assert!(Side::of(&world, "W1").receive().is_some());
}

#[test]
fn a_policy_lets_through_what_its_rule_names() {
    let world = one_worker(&[]);
    let rule = "[[rule]]\nname = \"our run\"\ncontroller = \"orchestrator\"\nthen = \"ratify\"\n";
    put_policy(&world, rule);
    for (who, through) in [("orchestrator", true), ("lead", false)] {
        let side = Side::of(&world, who);
        let words = to_w1(words(Subject::Query, &format!("Are you there, {who}?")));
        let sent = messages::send(&side.party(), words, Gate::Policy).unwrap();
        let rule = sent.verdict.and_then(|it| it.rule);
        assert_eq!(rule.is_some(), through, "{who}");
    }
    let survey = messages::all(&world.fleet()).unwrap();
    let states: Vec<MessageStatus> = survey.messages.iter().map(|it| it.state).collect();
    assert_eq!(states, [MessageStatus::New, MessageStatus::Undecided]);
}
