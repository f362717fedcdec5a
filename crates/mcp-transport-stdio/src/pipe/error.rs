use std::io;

/// A pipe broke; the cause in a
/// [`LinkError::Failed`](mcp_jsonrpc::link::v1::LinkError::Failed).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PipeError {
    /// Nothing more can be read.
    #[error("the peer's messages can't be read")]
    Read(#[source] io::Error),
    /// Nothing more can be written.
    #[error("messages to the peer can't be written")]
    Write(#[source] io::Error),
}
