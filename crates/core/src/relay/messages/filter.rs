//! Which messages somebody asks for.

use flagpost_model::message::{Message, Subject};

/// What a message must be to be asked for; what is not said does not matter.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of this conversation.
    pub thread: Option<String>,
    /// With this subject.
    pub subject: Option<Subject>,
    /// From this one.
    pub from: Option<String>,
    /// To this one.
    pub to: Option<String>,
}

impl Filter {
    /// Whether it is one.
    pub fn wants(&self, message: &Message) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|it| Some(it) == found)
        };
        is(&self.thread, message.thread.as_deref())
            && is(&self.from, Some(&message.from))
            && is(&self.to, Some(&message.to))
            && self.subject.is_none_or(|it| message.subject == Some(it))
    }
}
