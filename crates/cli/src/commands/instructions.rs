//! `instructions`: what an agent should know.

use crate::{
    context::Context,
    error::Unknown,
    instructions::{OVERVIEW, TOPICS, Topic},
    output::Answer,
};
use flagpost_model::view;

/// Print the instructions for agents, by topic
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost instructions claims\n\
    Topics: tasks, claims, reports, sessions, files. 'flagpost init' puts the shortest form of it \
    into AGENTS.md.")]
pub struct InstructionsArgs {
    /// What about [default: the whole, in short]
    topic: Option<String>,
}

/// Prints them.
pub fn run(_: &Context, args: &InstructionsArgs) -> anyhow::Result<Answer> {
    let topics: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
    let text = match args.topic.as_deref() {
        None => {
            let lines = TOPICS.iter().map(line).collect::<String>();
            format!("{OVERVIEW}\nMore: `flagpost instructions TOPIC`\n\n{lines}")
        }
        Some(name) => match TOPICS.iter().find(|topic| topic.name == name) {
            Some(topic) => topic.text.to_owned(),
            None => return Err(Unknown::new("topic", name, topics).into()),
        },
    };
    let answer = Answer::of(&Instructions::new(args.topic.as_deref(), &text, &topics));
    Ok(answer.text(text).ids(topics))
}

view! {
    /// What an agent should know.
    ///
    /// After 'flagpost instructions'.
    pub struct Instructions<'a> {
        /// Null for the whole in short.
        topic: Option<&'a str>,
        /// Markdown.
        text: &'a str,
        /// Those there are.
        topics: &'a [&'a str],
    }
}

fn line(topic: &Topic) -> String {
    format!("- {}: {}\n", topic.name, topic.about)
}
