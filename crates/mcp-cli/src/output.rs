//! What is printed, and how: for people, or for programs.

use std::io::{self, IsTerminal as _, Write as _};

use mcp_types::{ContentBlock, ResourceContents};
use serde::Serialize;

use crate::failure::Failure;

/// Stdout and stderr. Cheap to clone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    json: bool,
    /// Whether stdout takes colors.
    color: bool,
    /// Whether somebody looks at stderr.
    watched: bool,
}

/// How something looks on a terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
    Bold,
    Dim,
    Sent,
    Received,
    Bad,
}

impl Style {
    const fn code(self) -> &'static str {
        match self {
            Self::Bold => "\x1b[1m",
            Self::Dim => "\x1b[2m",
            Self::Sent => "\x1b[36m",
            Self::Received => "\x1b[32m",
            Self::Bad => "\x1b[31m",
        }
    }
}

impl Screen {
    pub(crate) fn new(json: bool) -> Self {
        let colors = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Self {
            json,
            color: colors && io::stdout().is_terminal(),
            watched: io::stderr().is_terminal(),
        }
    }

    /// Whether output is for programs.
    pub(crate) const fn is_json(self) -> bool {
        self.json
    }

    /// `text` in a style, where there are styles.
    pub(crate) fn styled(self, style: Style, text: &str) -> String {
        if self.color { format!("{}{text}\x1b[0m", style.code()) } else { text.to_owned() }
    }

    /// Prints a line on stdout.
    pub(crate) fn line(self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        writeln!(out, "{text}")?;
        // Somebody may be watching, line by line.
        out.flush()?;
        Ok(())
    }

    /// Prints a value as JSON on stdout.
    pub(crate) fn json<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
        self.line(&text)
    }

    /// Prints a remark on stderr, beside the output.
    pub(crate) fn remark(self, text: &str) {
        // There is nobody to tell that nobody can be told.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Prints something that is of interest only while one looks.
    pub(crate) fn aside(self, text: &str) {
        if self.watched && !self.json {
            self.remark(text);
        }
    }

    /// Says on stderr what has failed.
    pub(crate) fn failure(self, failure: &Failure, last_words: &[String]) {
        if self.json {
            let causes = failure.causes();
            let error = FailureJson {
                error: ErrorJson {
                    kind: failure.kind(),
                    message: failure.to_string(),
                    causes: &causes,
                    stderr: last_words,
                    hint: failure.hint(),
                },
            };
            if let Ok(text) = serde_json::to_string(&error) {
                self.remark(&text);
            }
            return;
        }
        let mut text = format!("mcp: {failure}");
        for cause in failure.causes() {
            text.push_str(": ");
            text.push_str(&cause);
        }
        self.remark(&text);
        if !last_words.is_empty() {
            self.remark("The server's last words on stderr:");
            last_words.iter().for_each(|line| self.remark(&format!("  {line}")));
        }
        if let Some(hint) = failure.hint() {
            self.remark(&format!("Try: {hint}"));
        }
    }
}

#[derive(Serialize)]
struct FailureJson<'a> {
    error: ErrorJson<'a>,
}

#[derive(Serialize)]
struct ErrorJson<'a> {
    kind: &'static str,
    message: String,
    causes: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stderr: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// Content as a person can read it.
pub(crate) fn content(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => data("image", &image.mime_type, image.data.as_str()),
        ContentBlock::Audio(audio) => data("audio", &audio.mime_type, audio.data.as_str()),
        ContentBlock::ResourceLink(link) => format!("[link to {}: {}]", link.name, link.uri),
        ContentBlock::Resource(resource) => contents(&resource.resource),
        other => raw(other),
    }
}

/// What a resource holds, as a person can read it.
pub(crate) fn contents(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::Text(text) => text.text.clone(),
        ResourceContents::Blob(blob) => {
            data("bytes", blob.mime_type.as_deref().unwrap_or_default(), blob.blob.as_str())
        }
        other => raw(other),
    }
}

/// Four letters of base64 are three bytes.
fn data(what: &str, mime_type: &str, base64: &str) -> String {
    let bytes = base64.trim_end_matches('=').len() * 3 / 4;
    let kind = if mime_type.is_empty() { String::new() } else { format!(" {mime_type}") };
    format!("[{what}{kind}, {bytes} bytes]")
}

fn raw<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
