use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;

use bytes::Bytes;
use serde_json::Value;

use crate::link::{MemoryLink, memory_pair};

/// What a peer expects and sends, one step after the other.
///
/// # Examples
///
/// ```
/// use mcp_jsonrpc::link::v1::{Incoming, LinkExt};
/// use mcp_jsonrpc::testing::{Script, Tasks};
/// use mcp_jsonrpc::{ErrorObject, Outgoing};
///
/// let (mut link, player) = Script::new()
///     .send("not json")
///     .expect(r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}"#)
///     .expect_end()
///     .play();
/// let mut tasks = Tasks::new();
/// // What is tested.
/// tasks.spawn(async move {
///     if let Ok(Incoming::Malformed(fault)) = link.recv().await {
///         let error = ErrorObject::new(fault.kind.code(), "no");
///         let _ = link.send(Outgoing::error(None, &error)).await;
///     }
/// });
/// tasks.run_until(player)??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
#[must_use]
pub struct Script {
    steps: VecDeque<Step>,
}

enum Step {
    Expect(Expected),
    ExpectEnd,
    Send(Bytes),
    Run(Box<dyn FnOnce() + Send>),
    Close,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expect(expected) => write!(f, "Expect({expected})"),
            Self::ExpectEnd => f.write_str("ExpectEnd"),
            Self::Send(frame) => write!(f, "Send({})", String::from_utf8_lossy(frame)),
            Self::Run(_) => f.write_str("Run"),
            Self::Close => f.write_str("Close"),
        }
    }
}

#[derive(Clone, Debug)]
enum Expected {
    Json(Value),
    Bytes(Bytes),
}

/// A script went another way than it says.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// Another frame came than the one that was expected.
    #[error("step {step}: expected {expected}, got {got}")]
    Unexpected {
        /// Which step; the first is 1.
        step: usize,
        /// The frame that was expected, or the end.
        expected: String,
        /// The frame that came, or the end.
        got: String,
    },
    /// The other side was gone.
    #[error("step {step}: nobody is left to send to")]
    Gone {
        /// Which step; the first is 1.
        step: usize,
    },
}

impl Script {
    /// Does nothing.
    pub const fn new() -> Self {
        Self { steps: VecDeque::new() }
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push_back(step);
        self
    }

    /// Expects a frame that is this JSON value; the order of members doesn't matter.
    ///
    /// # Panics
    ///
    /// When `json` isn't JSON.
    pub fn expect(self, json: &str) -> Self {
        #[expect(clippy::panic, reason = "a script is written by hand")]
        let value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
        self.step(Step::Expect(Expected::Json(value)))
    }

    /// Expects exactly these bytes.
    pub fn expect_bytes(self, frame: impl Into<Bytes>) -> Self {
        self.step(Step::Expect(Expected::Bytes(frame.into())))
    }

    /// Expects that the other side closes.
    pub fn expect_end(self) -> Self {
        self.step(Step::ExpectEnd)
    }

    /// Sends a frame, whatever it is.
    pub fn send(self, frame: impl Into<Bytes>) -> Self {
        self.step(Step::Send(frame.into()))
    }

    /// Does something else.
    pub fn run(self, action: impl FnOnce() + Send + 'static) -> Self {
        self.step(Step::Run(Box::new(action)))
    }

    /// Closes this side.
    pub fn close(self) -> Self {
        self.step(Step::Close)
    }

    /// A link to a peer that follows this script, and the future that plays it.
    ///
    /// Once the script is over, the future answers, and the peer is gone.
    pub fn play(self) -> (MemoryLink, impl Future<Output = Result<(), ScriptError>> + Send) {
        let (ours, theirs) = memory_pair(1024);
        (ours, self.play_on(theirs))
    }

    /// The same, for a link that is there already: `link` is the end of the peer.
    ///
    /// # Errors
    ///
    /// When it goes another way.
    pub async fn play_on(self, mut link: MemoryLink) -> Result<(), ScriptError> {
        for (at, step) in self.steps.into_iter().enumerate() {
            let number = at + 1;
            match step {
                Step::Expect(expected) => {
                    let frame = poll_fn(|cx| link.poll_frame(cx)).await;
                    if !frame.as_ref().is_some_and(|frame| expected.matches(frame)) {
                        return Err(unexpected(number, &expected, frame.as_ref()));
                    }
                }
                Step::ExpectEnd => {
                    let frame = poll_fn(|cx| link.poll_frame(cx)).await;
                    if frame.is_some() {
                        return Err(unexpected(number, &"the end", frame.as_ref()));
                    }
                }
                Step::Send(frame) => {
                    link.send_frame(frame).map_err(|_| ScriptError::Gone { step: number })?;
                }
                Step::Run(action) => action(),
                Step::Close => {
                    use crate::link::v1::LinkExt as _;
                    link.close().await.map_err(|_| ScriptError::Gone { step: number })?;
                }
            }
        }
        Ok(())
    }
}

fn unexpected(step: usize, expected: &dyn fmt::Display, got: Option<&Bytes>) -> ScriptError {
    let got = got.map_or("the end".into(), |frame| String::from_utf8_lossy(frame));
    ScriptError::Unexpected { step, expected: expected.to_string(), got: got.into_owned() }
}

impl Expected {
    fn matches(&self, frame: &Bytes) -> bool {
        match self {
            Self::Json(value) => serde_json::from_slice::<Value>(frame).is_ok_and(|v| v == *value),
            Self::Bytes(bytes) => bytes == frame,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(value) => value.fmt(f),
            Self::Bytes(bytes) => f.write_str(&String::from_utf8_lossy(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::v1::LinkExt;
    use crate::testing::block_on;
    use crate::{ErrorObject, Outgoing};

    #[test]
    fn a_script_says_where_it_went_another_way() {
        let answer = || Outgoing::error(None, &ErrorObject::new(1, "a"));
        block_on(async {
            let (mut link, player) = Script::new()
                .expect(r#"{"error":{"message":"a","code":1},"jsonrpc":"2.0"}"#)
                .expect_bytes(answer().into_frame())
                .expect("1")
                .play();
            for _ in 0..3 {
                link.send(answer()).await.unwrap();
            }
            assert_eq!(
                player.await.unwrap_err().to_string(),
                r#"step 3: expected 1, got {"jsonrpc":"2.0","error":{"code":1,"message":"a"}}"#
            );

            let (link, player) = Script::new().expect("1").play();
            drop(link);
            assert_eq!(player.await.unwrap_err().to_string(), "step 1: expected 1, got the end");

            let (mut link, player) = Script::new().expect_end().play();
            link.send(answer()).await.unwrap();
            assert!(matches!(player.await, Err(ScriptError::Unexpected { step: 1, .. })));

            let (link, player) = Script::new().send("x").play();
            drop(link);
            assert_eq!(player.await, Err(ScriptError::Gone { step: 1 }));
        });
    }
}
