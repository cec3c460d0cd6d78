//! What a Markdown text names: code spans, links, fenced blocks, headings.
//!
//! Owns just enough of the syntax to check a document against the repository and the binary. It
//! is no renderer: emphasis, lists and tables are prose to it.

/// A piece of a document and the line it starts on, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Where it starts.
    pub line: usize,
    /// Its text, without the marks around it.
    pub text: String,
}

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// The line of its first content line, counted from 1.
    pub line: usize,
    /// The first word behind the opening fence, possibly empty.
    pub language: String,
    /// Its content.
    pub text: String,
}

/// A document taken apart.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// Inline code, outside fences.
    pub code: Vec<Piece>,
    /// Targets of links and images, outside fences and code.
    pub links: Vec<Piece>,
    /// Fenced blocks.
    pub fences: Vec<Fence>,
    /// Anchors of the headings, as forges spell them.
    pub anchors: Vec<String>,
}

impl Document {
    /// Takes a text apart.
    pub fn parse(text: &str) -> Self {
        let mut document = Self::default();
        let prose = document.take_fences(text);
        for line in prose.lines() {
            let title = line.trim_start_matches('#');
            if title.len() < line.len() && title.starts_with(' ') {
                document.anchors.push(anchor(title));
            }
        }
        let prose = document.take_code(&prose);
        document.take_links(&prose);
        document
    }

    /// Takes the fenced blocks out and leaves empty lines, so that line numbers still hold.
    fn take_fences(&mut self, text: &str) -> String {
        let mut prose = String::new();
        let mut open: Option<(&str, Fence)> = None;
        for (index, line) in text.lines().enumerate() {
            let trimmed = line.trim_start();
            let marks = trimmed.len() - trimmed.trim_start_matches(['`', '~']).len();
            let (fence, info) = trimmed.split_at(marks);
            match &mut open {
                None if marks >= 3 && !info.contains('`') => {
                    let language = info.split_whitespace().next().unwrap_or_default();
                    let block = Fence {
                        line: index + 2,
                        language: language.to_owned(),
                        text: String::new(),
                    };
                    open = Some((fence, block));
                }
                None => prose.push_str(line),
                Some((mark, block)) if fence.starts_with(*mark) && info.trim().is_empty() => {
                    self.fences.push(block.clone());
                    open = None;
                }
                Some((_, block)) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
            }
            prose.push('\n');
        }
        self.fences.extend(open.map(|(_, block)| block));
        prose
    }

    /// Takes the code spans out and leaves spaces. A span ends within its paragraph.
    fn take_code(&mut self, prose: &str) -> String {
        let mut rest = String::new();
        let mut at = 0;
        while let Some(start) = prose[at..].find('`').map(|i| at + i) {
            rest.push_str(&prose[at..start]);
            let marks = prose[start..].len() - prose[start..].trim_start_matches('`').len();
            let inside = start + marks;
            let Some(end) = closing(&prose[inside..], marks).map(|i| inside + i) else {
                rest.push_str(&prose[start..inside]);
                at = inside;
                continue;
            };
            self.code.push(Piece {
                line: line_of(prose, start),
                text: prose[inside..end].replace('\n', " ").trim().to_owned(),
            });
            at = end + marks;
            rest.extend(
                prose[start..at]
                    .chars()
                    .map(|c| if c == '\n' { c } else { ' ' }),
            );
        }
        rest.push_str(&prose[at..]);
        rest
    }

    fn take_links(&mut self, prose: &str) {
        for (opening, closing) in [("](", ")"), ("href=\"", "\""), ("src=\"", "\"")] {
            for (start, _) in prose.match_indices(opening) {
                let inside = &prose[start + opening.len()..];
                let target = inside.split(closing).next().unwrap_or_default();
                self.link(line_of(prose, start), target);
            }
        }
        for (index, line) in prose.lines().enumerate() {
            if let Some((_, target)) = line
                .strip_prefix('[')
                .and_then(|rest| rest.split_once("]: "))
            {
                self.link(index + 1, target);
            }
        }
    }

    /// Keeps a link's target, without the title that may stand behind it.
    fn link(&mut self, line: usize, target: &str) {
        let target = target.split_whitespace().next().unwrap_or_default();
        let text = target
            .trim_start_matches('<')
            .trim_end_matches('>')
            .to_owned();
        self.links.push(Piece { line, text });
    }
}

/// Where the run of exactly `marks` backticks starts that ends a span.
fn closing(text: &str, marks: usize) -> Option<usize> {
    let paragraph = text.find("\n\n").unwrap_or(text.len());
    let mut at = 0;
    while let Some(start) = text[at..paragraph].find('`').map(|i| at + i) {
        let run = text[start..].len() - text[start..].trim_start_matches('`').len();
        if run == marks {
            return Some(start);
        }
        at = start + run;
    }
    None
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// A heading's anchor as forges make it.
fn anchor(title: &str) -> String {
    title
        .trim()
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pieces: &[Piece]) -> Vec<(usize, &str)> {
        pieces.iter().map(|p| (p.line, p.text.as_str())).collect()
    }

    #[test]
    fn code_spans_end_within_their_paragraph() {
        let document =
            Document::parse("a `one` and ``t`wo``\n`three\nlines`\n\nlone ` mark\n\n`x`");
        let wanted = [(1, "one"), (1, "t`wo"), (2, "three lines"), (7, "x")];
        assert_eq!(texts(&document.code), wanted);
    }

    #[test]
    fn fences_are_kept_with_their_language_and_are_no_prose() {
        let document =
            Document::parse("`a`\n\n```sh\nflagpost run  # `b`\n```\n\n~~~\n```\n~~~\n`c`");
        assert_eq!(texts(&document.code), [(1, "a"), (10, "c")]);
        assert_eq!(document.fences[0].language, "sh");
        assert_eq!(document.fences[0].text, "flagpost run  # `b`\n");
        assert_eq!(document.fences[0].line, 4);
        assert_eq!(document.fences[1].text, "```\n");
    }

    #[test]
    fn links_of_every_form_are_found() {
        let text =
            "[a](x.md) ![b](<y.png> \"t\") [`c`](z.md#top)\n[d]: w.md\n<img src=\"v.svg\">`](no)`";
        let mut links = texts(&Document::parse(text).links)
            .into_iter()
            .map(|(_, text)| text.to_owned())
            .collect::<Vec<_>>();
        links.sort();
        assert_eq!(links, ["v.svg", "w.md", "x.md", "y.png", "z.md#top"]);
    }

    #[test]
    fn headings_become_anchors() {
        let document = Document::parse("# One, two & `three`\n\n```\n# no\n```\n## A_b-c\n#tag");
        assert_eq!(document.anchors, ["one-two--three", "a_b-c"]);
    }
}
