//! Messages.

use flagpost_model::WorkerId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    messages::{MessageView, OpenMessage},
    pages,
};

pages! {
    /// Messages in their order.
    ///
    /// After 'flagpost msg list' or thread.
    MessagesPage<'a> {
        /// An answer after the message that it answers.
        messages: &'a MessageView
    }
    /// Messages that are open.
    ///
    /// After 'flagpost msg unacked'.
    OpenMessagesPage<'a> {
        /// The workers in order, the messages of each in theirs.
        messages: &'a OpenMessage
    }
}

/// A message waits.
///
/// After 'flagpost msg wait'.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessageWaiting<'a> {
    /// For whom.
    pub recipient: &'a WorkerId,
    /// Always true.
    pub waiting: bool,
}

/// No message waits.
///
/// After 'flagpost msg recv' or wait that found nothing.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NoMessage {
    /// Whether somebody waited for one.
    pub waited: bool,
}
