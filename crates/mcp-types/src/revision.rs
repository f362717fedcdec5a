use std::{fmt, str::FromStr};

/// A dated revision of the protocol, oldest first.
///
/// Past the parser a revision is always this enum, never a text: it is a member of a known
/// set. A text such as `2099-01-01` sorts high and means nothing.
///
/// The methods that answer a question about the wire are the one table of what differs.
///
/// Specification: [versioning](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Revision {
    /// The first one.
    V2024_11_05,
    /// Streamable HTTP, audio, tool annotations; batches, for this revision only.
    V2025_03_26,
    /// Elicitation, structured output, resource links.
    V2025_06_18,
    /// Tasks, URL elicitation, icons, tools in sampling.
    V2025_11_25,
    /// No handshake; every request speaks for itself.
    V2026_07_28,
}

/// How two peers come to terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Era {
    /// A handshake, and a session after it: up to 2025-11-25.
    Stateful,
    /// Every request stands alone: from 2026-07-28.
    Stateless,
}

/// Which keys of `_meta` are reserved for the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReservedKeys {
    /// Nothing is said about `_meta` keys.
    Free,
    /// The label before the last one is `mcp` or `modelcontextprotocol`.
    BeforeLastLabel,
    /// The second label is `mcp` or `modelcontextprotocol`.
    SecondLabel,
}

/// A text that is no revision we know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no known revision of the protocol")]
pub struct UnknownRevision {
    text: String,
}

impl UnknownRevision {
    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The revisions with a handshake, oldest first.
    pub const STATEFUL: [Self; 4] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25];

    /// The newest revision with a handshake: what is offered first.
    pub const LATEST_STATEFUL: Self = Self::V2025_11_25;

    /// The date, as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Which era this revision belongs to.
    #[must_use]
    pub const fn era(self) -> Era {
        if self.is_before(Self::V2026_07_28) { Era::Stateful } else { Era::Stateless }
    }

    /// Whether this revision came before `other`; like `<`, in constants.
    #[must_use]
    pub const fn is_before(self, other: Self) -> bool {
        (self as u8) < other as u8
    }

    const fn has_come(self, first: Self) -> bool {
        !self.is_before(first)
    }

    /// Whether a frame may be a JSON-RPC batch.
    #[must_use]
    pub const fn has_batches(self) -> bool {
        matches!(self, Self::V2025_03_26)
    }

    /// Whether an error whose request could not be read leaves `id` out. Before, it is `null`.
    #[must_use]
    pub const fn error_id_may_be_absent(self) -> bool {
        self.has_come(Self::V2025_11_25)
    }

    /// Whether `completion/complete` is gated by a server capability. Before, it can only be tried.
    #[must_use]
    pub const fn has_completions_capability(self) -> bool {
        self.has_come(Self::V2025_03_26)
    }

    /// Whether the server may ask the user by a form.
    #[must_use]
    pub const fn has_elicitation(self) -> bool {
        self.has_come(Self::V2025_06_18)
    }

    /// Whether the server may send the user to a URL.
    #[must_use]
    pub const fn has_url_elicitation(self) -> bool {
        self.has_come(Self::V2025_11_25)
    }

    /// Whether a form may hold multiple choices, titles beside values, and defaults for all kinds.
    #[must_use]
    pub const fn has_rich_form_schemas(self) -> bool {
        self.has_come(Self::V2025_11_25)
    }

    /// Whether a sampling message may hold several blocks, and tool calls with their results.
    #[must_use]
    pub const fn has_sampling_content_lists(self) -> bool {
        self.has_come(Self::V2025_11_25)
    }

    /// Whether the core protocol has tasks.
    #[must_use]
    pub const fn has_core_tasks(self) -> bool {
        matches!(self, Self::V2025_11_25)
    }

    /// Whether tool results may hold structured content, and tools an output schema.
    #[must_use]
    pub const fn has_structured_content(self) -> bool {
        self.has_come(Self::V2025_06_18)
    }

    /// Whether structured content may be any JSON value. Before, it is an object.
    #[must_use]
    pub const fn structured_content_may_be_any_value(self) -> bool {
        self.has_come(Self::V2026_07_28)
    }

    /// Whether arguments that don't fit a tool's schema are answered by a result with `isError`.
    /// Before, by the error −32602.
    #[must_use]
    pub const fn invalid_arguments_are_a_result(self) -> bool {
        self.has_come(Self::V2025_11_25)
    }

    /// Whether "no such resource" is −32002. From 2026-07-28 it is −32602.
    #[must_use]
    pub const fn has_resource_not_found_code(self) -> bool {
        self.is_before(Self::V2026_07_28)
    }

    /// Whether an HTTP client may be answered over Streamable HTTP. Before, it is HTTP+SSE.
    #[must_use]
    pub const fn has_streamable_http(self) -> bool {
        self.has_come(Self::V2025_03_26)
    }

    /// Whether a POST body may be answered to with a session that later requests name.
    #[must_use]
    pub const fn has_http_sessions(self) -> bool {
        self.has_come(Self::V2025_03_26) && self.is_before(Self::V2026_07_28)
    }

    /// Whether an SSE stream starts with an event that holds only an id. Older clients take its
    /// empty data for a message.
    #[must_use]
    pub const fn has_priming_events(self) -> bool {
        matches!(self, Self::V2025_11_25)
    }

    /// Whether a server may close a stream before the answer, so that the client polls.
    #[must_use]
    pub const fn may_close_stream_early(self) -> bool {
        matches!(self, Self::V2025_11_25)
    }

    /// Whether a client has to name the revision in a header of each HTTP request.
    #[must_use]
    pub const fn requires_version_header(self) -> bool {
        self.has_come(Self::V2025_06_18)
    }

    /// Whether a request with a bad `Origin` has to be answered by status 403. Before, the
    /// status is the server's choice.
    #[must_use]
    pub const fn requires_origin_403(self) -> bool {
        self.has_come(Self::V2025_11_25)
    }

    /// Whether a client tries HTTP+SSE only after 400, 404 and 405. Before, after any 4xx.
    #[must_use]
    pub const fn falls_back_on_few_statuses(self) -> bool {
        self.has_come(Self::V2025_11_25)
    }

    /// Which keys of `_meta` are reserved for the protocol.
    #[must_use]
    pub const fn reserved_meta_keys(self) -> ReservedKeys {
        if self.is_before(Self::V2025_06_18) {
            ReservedKeys::Free
        } else if self.is_before(Self::V2025_11_25) {
            ReservedKeys::BeforeLastLabel
        } else {
            ReservedKeys::SecondLabel
        }
    }

    /// Whether a tool's schema that names no dialect is of 2020-12. Before, nothing is said.
    #[must_use]
    pub const fn has_default_schema_dialect(self) -> bool {
        self.has_come(Self::V2025_11_25)
    }

    /// Whether tool names have rules (SHOULD). Before, any text is one.
    #[must_use]
    pub const fn has_tool_name_rules(self) -> bool {
        self.has_come(Self::V2025_11_25)
    }

    /// Whether a result says in `resultType` what it is.
    #[must_use]
    pub const fn has_result_types(self) -> bool {
        self.has_come(Self::V2026_07_28)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, UnknownRevision> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == text)
            .ok_or_else(|| UnknownRevision { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_member_of_the_set_is_a_revision() {
        for revision in Revision::ALL {
            assert_eq!(revision.as_str().parse(), Ok(revision));
        }
        for text in ["", "draft", "2099-01-01", "2025-11-25 ", "2025-11-26"] {
            let error = text.parse::<Revision>().unwrap_err();
            assert_eq!(error.text(), text);
        }
    }

    #[test]
    fn the_order_is_by_date() {
        assert!(Revision::ALL.is_sorted());
        assert!(Revision::ALL.iter().map(|r| r.as_str()).is_sorted());
        assert_eq!(Revision::STATEFUL.last(), Some(&Revision::LATEST_STATEFUL));
        assert!(Revision::STATEFUL.iter().all(|r| r.era() == Era::Stateful));
        assert_eq!(Revision::V2026_07_28.era(), Era::Stateless);
    }

    /// Columns as in the list of revisions: 1 = yes.
    #[test]
    fn the_table_of_differences() {
        type Row = (&'static str, fn(Revision) -> bool, [u8; 5]);
        let rows: &[Row] = &[
            ("batches", Revision::has_batches, [0, 1, 0, 0, 0]),
            ("error id", Revision::error_id_may_be_absent, [0, 0, 0, 1, 1]),
            ("completions", Revision::has_completions_capability, [0, 1, 1, 1, 1]),
            ("elicitation", Revision::has_elicitation, [0, 0, 1, 1, 1]),
            ("url elicitation", Revision::has_url_elicitation, [0, 0, 0, 1, 1]),
            ("forms", Revision::has_rich_form_schemas, [0, 0, 0, 1, 1]),
            ("sampling lists", Revision::has_sampling_content_lists, [0, 0, 0, 1, 1]),
            ("tasks", Revision::has_core_tasks, [0, 0, 0, 1, 0]),
            ("structured", Revision::has_structured_content, [0, 0, 1, 1, 1]),
            ("any structured", Revision::structured_content_may_be_any_value, [0, 0, 0, 0, 1]),
            ("bad arguments", Revision::invalid_arguments_are_a_result, [0, 0, 0, 1, 1]),
            ("-32002", Revision::has_resource_not_found_code, [1, 1, 1, 1, 0]),
            ("streamable", Revision::has_streamable_http, [0, 1, 1, 1, 1]),
            ("sessions", Revision::has_http_sessions, [0, 1, 1, 1, 0]),
            ("priming", Revision::has_priming_events, [0, 0, 0, 1, 0]),
            ("early close", Revision::may_close_stream_early, [0, 0, 0, 1, 0]),
            ("header", Revision::requires_version_header, [0, 0, 1, 1, 1]),
            ("403", Revision::requires_origin_403, [0, 0, 0, 1, 1]),
            ("fallback", Revision::falls_back_on_few_statuses, [0, 0, 0, 1, 1]),
            ("dialect", Revision::has_default_schema_dialect, [0, 0, 0, 1, 1]),
            ("tool names", Revision::has_tool_name_rules, [0, 0, 0, 1, 1]),
            ("result types", Revision::has_result_types, [0, 0, 0, 0, 1]),
        ];
        for (name, ask, expected) in rows {
            assert_eq!(Revision::ALL.map(|r| u8::from(ask(r))), *expected, "{name}");
        }
        assert_eq!(
            Revision::ALL.map(Revision::reserved_meta_keys),
            [
                ReservedKeys::Free,
                ReservedKeys::Free,
                ReservedKeys::BeforeLastLabel,
                ReservedKeys::SecondLabel,
                ReservedKeys::SecondLabel,
            ]
        );
    }
}
