//! The scenarios of the public suite that are run against our server and, without authorization,
//! our client.

/// The revisions that the suite speaks with our server.
pub(super) const REVISIONS: [&str; 2] = ["2025-11-25", "2025-06-18"];

/// The scenarios for servers. A scenario that silently stays away would prove nothing.
const SERVER: &[(&str, &[&str])] = &[
    ("server-initialize", BOTH),
    ("server-session-lifecycle", BOTH),
    ("logging-set-level", BOTH),
    ("ping", BOTH),
    ("completion-complete", BOTH),
    ("tools-list", BOTH),
    ("tools-call-simple-text", BOTH),
    ("tools-call-image", BOTH),
    ("tools-call-audio", BOTH),
    ("tools-call-embedded-resource", BOTH),
    ("tools-call-mixed-content", BOTH),
    ("tools-call-with-logging", BOTH),
    ("tools-call-error", BOTH),
    ("tools-call-with-progress", BOTH),
    ("tools-call-sampling", BOTH),
    ("tools-call-elicitation", BOTH),
    ("json-schema-2020-12", NEWEST),
    ("elicitation-sep1034-defaults", NEWEST),
    ("server-sse-polling", NEWEST),
    ("server-sse-multiple-streams", NEWEST),
    ("elicitation-sep1330-enums", NEWEST),
    ("resources-list", BOTH),
    ("resources-read-text", BOTH),
    ("resources-read-binary", BOTH),
    ("resources-templates-read", BOTH),
    ("resources-subscribe", BOTH),
    ("resources-unsubscribe", BOTH),
    ("prompts-list", BOTH),
    ("prompts-get-simple", BOTH),
    ("prompts-get-with-args", BOTH),
    ("prompts-get-embedded-resource", BOTH),
    ("prompts-get-with-image", BOTH),
    ("dns-rebinding-protection", NEWEST),
];

const BOTH: &[&str] = &REVISIONS;
const NEWEST: &[&str] = &["2025-11-25"];

/// The scenarios for clients without authorization. `sse-retry` is timed, so they run one
/// after the other.
pub(super) const CLIENT: &[(&str, &[&str])] = &[
    (
        "2025-11-25",
        &[
            "initialize",
            "tools_call",
            "elicitation-sep1034-client-defaults",
            "sse-retry",
            "json-schema-2020-12-preservation",
        ],
    ),
    ("2025-06-18", &["initialize", "tools_call"]),
];

/// The scenarios for servers of a revision.
pub(super) fn of_server(revision: &str) -> impl Iterator<Item = &'static str> {
    let speaks = move |revisions: &[&str]| revisions.contains(&revision);
    SERVER.iter().filter(move |(_, revisions)| speaks(revisions)).map(|(name, _)| *name)
}

/// Every name.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let clients = CLIENT.iter().flat_map(|(_, names)| names.iter().copied());
    SERVER.iter().map(|(name, _)| *name).chain(clients)
}
