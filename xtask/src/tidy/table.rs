//! The arrows and budgets of the workspace. A change here is a change of the architecture:
//! `docs/architecture.md` has the same table, and the reason goes there.

/// What a published crate may use.
pub(crate) struct Row {
    /// The crate.
    pub(crate) name: &'static str,
    /// Crates of ours.
    pub(crate) ours: &'static [&'static str],
    /// Crates of ours, behind a feature only.
    pub(crate) ours_optional: &'static [&'static str],
    /// Crates from outside, besides [`COMMON`].
    pub(crate) outside: &'static [&'static str],
    /// Whether it does no I/O, reads no clock and spawns nothing.
    pub(crate) pure: bool,
}

/// Crates from outside that every crate may use; the budgets hold the lower ones back.
pub(crate) const COMMON: &[&str] =
    &["bytes", "serde", "serde_core", "serde_json", "thiserror", "tracing"];

/// Every published crate, lowest first: a crate may use only rows above its own.
pub(crate) const ROWS: &[Row] = &[
    Row {
        name: "mcp-jsonrpc",
        ours: &[],
        ours_optional: &[],
        outside: &["memchr", "tower-layer", "tower-service"],
        pure: true,
    },
    Row {
        name: "mcp-macros",
        ours: &[],
        ours_optional: &[],
        outside: &["proc-macro2", "quote", "syn"],
        pure: true,
    },
    Row { name: "mcp-types", ours: &["mcp-jsonrpc"], ours_optional: &[], outside: &[], pure: true },
    Row {
        name: "mcp-transport-stdio",
        ours: &["mcp-jsonrpc"],
        ours_optional: &[],
        outside: &["memchr", "rustix", "tokio", "tokio-util"],
        pure: false,
    },
    Row {
        name: "mcp-lifecycle",
        ours: &["mcp-types", "mcp-jsonrpc"],
        ours_optional: &[],
        outside: &["memchr"],
        pure: true,
    },
    Row {
        name: "mcp-transport-http",
        ours: &["mcp-lifecycle", "mcp-types", "mcp-jsonrpc"],
        ours_optional: &[],
        outside: &[
            "getrandom",
            "http",
            "http-body",
            "http-body-util",
            "hyper",
            "hyper-util",
            "memchr",
            "rustls",
            "rustls-native-certs",
            "socket2",
            "tokio",
            "tokio-rustls",
            "tower-service",
            "webpki-roots",
        ],
        pure: false,
    },
    Row {
        name: "mcp-server",
        ours: &["mcp-lifecycle", "mcp-types", "mcp-jsonrpc"],
        ours_optional: &["mcp-macros"],
        outside: &[
            "getrandom",
            "jsonschema",
            "schemars",
            "tokio",
            "tokio-util",
            "tracing-subscriber",
        ],
        pure: false,
    },
    Row {
        name: "mcp-client",
        ours: &["mcp-lifecycle", "mcp-types", "mcp-jsonrpc"],
        ours_optional: &[],
        outside: &["getrandom", "jsonschema", "tokio", "tokio-util"],
        pure: false,
    },
    Row {
        name: "mcp-auth",
        ours: &["mcp-transport-http", "mcp-jsonrpc"],
        ours_optional: &[],
        outside: &[
            "base64",
            "httpdate",
            "getrandom",
            "http",
            "http-body",
            "http-body-util",
            "hyper",
            "hyper-util",
            "keyring",
            "oauth2",
            "ring",
            "rustls",
            "rustls-native-certs",
            "subtle",
            "tokio",
            "tokio-rustls",
            "url",
            "webpki-roots",
            "zeroize",
        ],
        pure: false,
    },
    Row {
        name: "mcp-cli",
        ours: &[
            "mcp-jsonrpc",
            "mcp-types",
            "mcp-lifecycle",
            "mcp-transport-stdio",
            "mcp-transport-http",
            "mcp-auth",
            "mcp-server",
            "mcp-client",
            "mcp-macros",
        ],
        ours_optional: &[],
        outside: &["http-body-util", "hyper", "hyper-util", "tokio", "url"],
        pure: false,
    },
];

/// A way to use us, and how many crates it may cost.
pub(crate) struct Budget {
    /// What the user builds.
    pub(crate) name: &'static str,
    /// The crates that the user names.
    pub(crate) crates: &'static [&'static str],
    /// Whether their default features are on.
    pub(crate) defaults: bool,
    /// Features that the user turns on, as `crate/feature`.
    pub(crate) features: &'static [&'static str],
    /// Whether our own crates count.
    pub(crate) count_ours: bool,
    /// The most crates that may be compiled, procedural macros and build scripts included.
    pub(crate) most: usize,
}

/// The ways that matter. Default features of the roles are off unless said: they bring the JSON
/// Schema validator and the macros.
pub(crate) const BUDGETS: &[Budget] = &[
    Budget {
        name: "mcp-jsonrpc alone",
        crates: &["mcp-jsonrpc"],
        defaults: true,
        features: &[],
        count_ours: false,
        most: 12,
    },
    Budget {
        name: "mcp-types alone",
        crates: &["mcp-types"],
        defaults: true,
        features: &[],
        count_ours: false,
        most: 12,
    },
    Budget {
        name: "mcp-lifecycle alone",
        crates: &["mcp-lifecycle"],
        defaults: true,
        features: &[],
        count_ours: false,
        most: 16,
    },
    Budget {
        name: "a server on stdio",
        crates: &["mcp-server", "mcp-transport-stdio"],
        defaults: false,
        features: &["mcp-server/tokio"],
        count_ours: true,
        most: 30,
    },
    Budget {
        name: "a server on HTTP",
        crates: &["mcp-server", "mcp-transport-http"],
        defaults: false,
        features: &["mcp-server/tokio", "mcp-transport-http/server"],
        count_ours: true,
        most: 45,
    },
    Budget {
        name: "a client on HTTP with TLS and authorization",
        crates: &["mcp-client", "mcp-transport-http", "mcp-auth"],
        defaults: false,
        features: &[
            "mcp-client/tokio",
            "mcp-transport-http/client",
            "mcp-transport-http/webpki-roots",
            "mcp-auth/client",
            "mcp-auth/webpki-roots",
        ],
        count_ours: true,
        most: 130,
    },
    // The validator is most of the difference; it may not grow unseen.
    Budget {
        name: "the same client with every default feature",
        crates: &["mcp-client", "mcp-transport-http", "mcp-auth"],
        defaults: true,
        features: &["mcp-transport-http/client", "mcp-transport-http/webpki-roots"],
        count_ours: true,
        most: 155,
    },
];

/// Crates that no build of ours may contain: they need CMake, a C library of the system, or
/// are a second HTTP client beside our own.
pub(crate) const NEVER: &[&str] =
    &["aws-lc-rs", "aws-lc-sys", "cmake", "native-tls", "openssl-sys", "reqwest"];

/// The most features that a crate may have.
pub(crate) const MOST_FEATURES: usize = 8;

/// The most lines of a file that people write.
pub(crate) const MOST_LINES: usize = 800;

/// The revisions that a link to the specification may name.
pub(crate) const REVISIONS: &[&str] =
    &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// Everything that may stand at the top of the repository.
pub(crate) const TOP: &[&str] = &[
    ".cargo",
    ".ci",
    ".clippy.toml",
    ".config",
    ".gitattributes",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "DEPENDENCY_POLICY.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "ROADMAP.md",
    "SECURITY.md",
    "conformance",
    "crates",
    "deny.toml",
    "docs",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "xtask",
];
