//! Our client against servers of other SDKs: what is called, and what has to come back.
//!
//! The servers offer the same small set of tools, resources and prompts; see
//! `conformance/interop/README.md`. Each check prints one JSON line.

mod authorization;
mod checks;
mod host;

use mcp_client::{Client, ConnectError};
use mcp_jsonrpc::link::v1::Link;

pub use self::authorization::run as run_authorized;
pub use self::host::Host;

/// Connects over `link`, runs every check, and answers with whether all held.
///
/// # Errors
///
/// When there is no conversation at all.
pub async fn run(link: impl Link) -> Result<bool, ConnectError> {
    let host = Host::default();
    let client = host.client(link).await?;
    let mut report = Report::default();
    report.say("connect", Ok(format!("{:?}", client.revision())));
    checks::all(&client, &host, &mut report).await;
    client.close().await;
    Ok(report.failed == 0)
}

/// What has been found so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    failed: usize,
}

/// Why a check did not hold.
pub(crate) type Failure = Box<dyn std::error::Error>;

impl Report {
    #[expect(clippy::print_stdout, reason = "a driver's report goes there")]
    pub(crate) fn say(&mut self, check: &str, outcome: Result<String, Failure>) {
        let line = match outcome {
            Ok(detail) => serde_json::json!({"check": check, "ok": true, "detail": detail}),
            Err(failure) => {
                self.failed += 1;
                let mut detail = failure.to_string();
                let mut source = failure.source();
                while let Some(cause) = source {
                    detail.push_str(": ");
                    detail.push_str(&cause.to_string());
                    source = cause.source();
                }
                serde_json::json!({"check": check, "ok": false, "detail": detail})
            }
        };
        println!("{line}");
    }
}

/// Whether `client` can be asked about what the checks of a feature need.
pub(crate) fn has(client: &Client, capability: &str) -> bool {
    client.capabilities().has(capability)
}
