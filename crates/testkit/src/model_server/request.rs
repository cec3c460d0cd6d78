//! A request as it came, unpacked.
//!
//! Owns which API it speaks, whether it is a turn of a conversation, and looking for words in it.

use serde_json::Value;

/// A protocol that clients speak to models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's chat completions.
    Chat,
    /// Gemini.
    Gemini,
}

/// One request.
#[derive(Debug, Clone)]
pub struct Request {
    /// What it speaks; `None` where no model is asked.
    pub api: Option<Api>,
    /// `GET`, `POST`, …
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// Every header, names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body, unpacked; null where it is no JSON.
    pub body: Value,
    /// Every text in the body, in order.
    texts: Vec<String>,
}

impl Request {
    pub(super) fn new(
        method: &str,
        path: &str,
        headers: Vec<(String, String)>,
        body: Value,
    ) -> Self {
        let mut texts = Vec::new();
        collect_texts(&body, &mut texts);
        Self {
            api: api(method, path),
            method: method.to_owned(),
            path: path.to_owned(),
            headers,
            body,
            texts,
        }
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether it is a turn of the conversation that the client was started for.
    pub fn is_main(&self) -> bool {
        match self.api {
            Some(Api::Responses) => true,
            Some(_) => self.body["tools"]
                .as_array()
                .is_some_and(|it| !it.is_empty()),
            None => false,
        }
    }

    /// Whether these words are in any text of the body.
    pub fn says(&self, words: &str) -> bool {
        self.texts.iter().any(|text| text.contains(words))
    }

    /// Whether a line of any text begins with these words.
    pub fn opens_a_line_with(&self, words: &str) -> bool {
        let mut lines = self.texts.iter().flat_map(|text| text.split('\n'));
        // Some clients put the prompt in quotes.
        words.is_empty() || lines.any(|line| line.trim_start_matches('"').starts_with(words))
    }

    /// The last absolute path in the body that ends so.
    pub fn path_ending(&self, end: &str) -> Option<String> {
        let apart = |c: char| c.is_whitespace() || "\"'`()<>,;".contains(c);
        let words = self.texts.iter().flat_map(|text| text.split(apart));
        let mut words = words.map(|word| word.trim_end_matches(['.', ':']));
        words
            .rfind(|word| word.starts_with('/') && word.ends_with(end))
            .map(str::to_owned)
    }

    /// Every text in the body, in order, a line between them: what an assertion shows.
    pub fn text(&self) -> String {
        self.texts.join("\n")
    }
}

fn api(method: &str, path: &str) -> Option<Api> {
    let path = path.split('?').next().unwrap_or_default();
    let post = method == "POST";
    if post && path.ends_with("/messages") {
        Some(Api::Anthropic)
    } else if post && path.ends_with("/responses") {
        Some(Api::Responses)
    } else if post && path.ends_with("/chat/completions") {
        Some(Api::Chat)
    } else if post
        && (path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent"))
    {
        Some(Api::Gemini)
    } else {
        None
    }
}

fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|it| collect_texts(it, texts)),
        Value::Object(fields) => fields.values().for_each(|it| collect_texts(it, texts)),
        _ => {}
    }
}
