//! Questions: what whoever works on a task asks a person.
//!
//! Owns which question a task asks, its number, and which one an answer is for. A question is the last
//! word of who was stuck; once it is answered, it lives on in the answer's note. A task that was made
//! pending without an answer asks nothing any more.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Refusal;
use super::{Ending, Note, State, Task};

/// A question about a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// Its number within the task, from 1.
    pub n: u32,
    /// Who asked, where that is known.
    pub by: Option<String>,
    /// When, where that is known.
    pub at: Option<Timestamp>,
    /// The words, Markdown; empty where somebody was stuck and said nothing.
    pub text: String,
}

impl Task {
    /// What it asks a person now.
    pub fn question(&self) -> Option<Question> {
        if self.state != State::Stuck {
            return None;
        }
        let last = self.answered().map(|(question, _)| question.n).max();
        let n = last.unwrap_or_default().saturating_add(1);
        let said = self.result.as_ref();
        Some(match said.filter(|said| said.ending == Ending::Stuck) {
            Some(said) => Question {
                n,
                by: Some(said.by.to_string()),
                at: Some(said.at),
                text: said.text.clone(),
            },
            None => Question {
                n,
                by: self.owner.clone(),
                at: None,
                text: String::new(),
            },
        })
    }

    /// Each answer with its question, oldest first; a question that has several comes with each.
    pub fn answered(&self) -> impl Iterator<Item = (&Question, &Note)> {
        let notes = self.notes.iter();
        notes.filter_map(|note| Some((note.question.as_ref()?, note)))
    }

    /// The notes that answer nothing, oldest first.
    pub fn remarks(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().filter(|note| note.question.is_none())
    }

    /// The question that an answer given now is for: the open one, or with `again` the last that was
    /// answered, as long as somebody may still hear of it.
    pub fn to_answer(&self, again: bool) -> Result<Question, Refusal> {
        if let Some(open) = self.question() {
            return Ok(open);
        }
        let asks_nothing = Refusal::AsksNothing {
            task: self.id.clone(),
            state: self.state.name(),
        };
        match (self.answered().last(), again) {
            _ if self.state.is_over() => Err(asks_nothing),
            (Some((question, _)), true) => Ok(question.clone()),
            (Some((question, answer)), false) => Err(Refusal::Answered {
                task: self.id.clone(),
                n: question.n,
                by: answer.by.clone(),
                at: answer.at,
            }),
            (None, _) => Err(asks_nothing),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Act, StateName, TaskEvent, transition};

    fn then(task: &Task, actor: &str, event: TaskEvent) -> Result<Task, Refusal> {
        let act = Act {
            actor: actor.parse().unwrap(),
            token: None,
            at: "2026-05-13T14:25:00Z".parse().unwrap(),
        };
        transition(task, &act, event)
    }

    fn answer(text: &str, again: bool) -> TaskEvent {
        let text = text.to_owned();
        TaskEvent::Answer { text, again }
    }

    /// A task over which W1 was stuck with these words.
    fn stuck(task: &Task, words: &str) -> Task {
        let held = Task {
            state: State::InProgress(None),
            ..task.clone()
        };
        let event = TaskEvent::Finish {
            ending: Ending::Stuck,
            text: words.to_owned(),
            open: Vec::new(),
            parts: Vec::new(),
        };
        then(&held, "W1", event).unwrap()
    }

    fn told(task: &Task) -> Vec<(u32, &str, &str)> {
        let told = task.answered();
        told.map(|(question, answer)| (question.n, &*question.text, &*answer.text))
            .collect()
    }

    #[test]
    fn an_answer_carries_its_question_and_makes_the_task_pending() {
        let task = stuck(&Task::new(1.into(), "Choose"), "argparse or click?");
        let after = then(&task, "ann", answer("argparse", false)).unwrap();
        assert_eq!(after.state, State::Pending);
        assert_eq!((after.owner, after.result), (None, None));
        let [note] = &after.notes[..] else { panic!() };
        assert_eq!(note.by.as_deref(), Some("ann"));
        let asked = note.question.clone().unwrap();
        assert_eq!((asked.n, asked.by.as_deref()), (1, Some("W1")));
        assert_eq!(asked.at, task.result.map(|it| it.at));
    }

    #[test]
    fn each_question_has_its_number_and_may_have_several_answers() {
        let mut task = Task::new(1.into(), "Choose");
        for (question, first) in [("Which?", "this"), ("And then?", "that")] {
            task = then(&stuck(&task, question), "ann", answer(first, false)).unwrap();
        }
        let again = then(&task, "bob", answer("or not", true)).unwrap();
        assert_eq!(again.state, State::Pending);
        assert_eq!(
            told(&again),
            [
                (1, "Which?", "this"),
                (2, "And then?", "that"),
                (2, "And then?", "or not")
            ]
        );
        // What is asked now comes before what was.
        let open = stuck(&again, "Sure?");
        let last = then(&open, "ann", answer("yes", true)).unwrap();
        assert_eq!(told(&last).last(), Some(&(3, "Sure?", "yes")));
    }

    #[test]
    fn a_second_answer_has_to_be_meant() {
        let task = stuck(&Task::new(1.into(), "Choose"), "Which?");
        let task = then(&task, "ann", answer("this", false)).unwrap();
        let refused = then(&task, "bob", answer("that", false)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "question 1 of task 1 was answered by ann at 2026-05-13T14:25:00Z"
        );
        let failed = Task {
            state: State::Failed,
            ..task.clone()
        };
        let after = then(&failed, "bob", answer("that", true)).unwrap();
        assert_eq!((after.state, after.notes.len()), (State::Failed, 2));
        // Nobody would hear of it.
        let done = Task {
            state: State::Completed,
            ..task
        };
        for again in [false, true] {
            let refused = then(&done, "bob", answer("that", again)).unwrap_err();
            let (task, state) = (done.id.clone(), StateName::Completed);
            assert_eq!(refused, Refusal::AsksNothing { task, state });
        }
    }

    #[test]
    fn a_task_that_was_made_pending_without_an_answer_asks_nothing() {
        let task = stuck(&Task::new(1.into(), "Choose"), "Which?");
        let task = then(&task, "ann", TaskEvent::Reopen).unwrap();
        assert_eq!(task.question(), None);
        let refused = then(&task, "ann", answer("this", true)).unwrap_err();
        assert_eq!(refused.to_string(), "task 1 asks nothing: it is pending");
    }
}
