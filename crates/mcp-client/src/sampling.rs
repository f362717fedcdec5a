//! The rules for sampling requests that hold before any handler sees them.
//!
//! Specification: [sampling](https://modelcontextprotocol.io/specification/2025-11-25/client/sampling).

use std::collections::BTreeSet;

use mcp_types::{CreateMessageRequestParams, Role, SamplingMessage, SamplingMessageContentBlock};

/// A sampling request breaks a rule; it is answered by `-32602`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadRequest {
    #[error("this client did not declare sampling.tools")]
    ToolsNotDeclared,
    #[error("a message with tool results holds nothing else")]
    MixedResults,
    #[error("each tool use has to be answered by a tool result in the next message")]
    MissingResult,
    #[error("a tool result answers no tool use of the message before it")]
    UnaskedResult,
}

pub(crate) fn check(
    request: &CreateMessageRequestParams,
    takes_tools: bool,
) -> Result<(), BadRequest> {
    if !takes_tools && (request.tools.is_some() || request.tool_choice.is_some()) {
        return Err(BadRequest::ToolsNotDeclared);
    }
    let mut open = BTreeSet::new();
    for message in &request.messages {
        let answered = results(message)?;
        if open != answered {
            let unasked = answered.difference(&open).next().is_some();
            return Err(if unasked {
                BadRequest::UnaskedResult
            } else {
                BadRequest::MissingResult
            });
        }
        open = uses(message);
    }
    if open.is_empty() { Ok(()) } else { Err(BadRequest::MissingResult) }
}

/// The tool uses that a message answers.
fn results(message: &SamplingMessage) -> Result<BTreeSet<&str>, BadRequest> {
    let blocks = message.content.blocks();
    let results: BTreeSet<_> = blocks
        .iter()
        .filter_map(|block| match block {
            SamplingMessageContentBlock::ToolResult(result) => Some(result.tool_use_id.as_str()),
            _ => None,
        })
        .collect();
    let mixed =
        blocks.iter().any(|block| !matches!(block, SamplingMessageContentBlock::ToolResult(_)));
    if !results.is_empty() && (mixed || message.role != Role::User) {
        return Err(BadRequest::MixedResults);
    }
    Ok(results)
}

/// The tool uses of a message, which the next one has to answer.
fn uses(message: &SamplingMessage) -> BTreeSet<&str> {
    let blocks = message.content.blocks().iter();
    blocks
        .filter_map(|block| match block {
            SamplingMessageContentBlock::ToolUse(tool_use) => Some(tool_use.id.as_str()),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(messages: &str, more: &str) -> Result<(), BadRequest> {
        let json = format!(r#"{{"maxTokens":9,"messages":[{messages}]{more}}}"#);
        check(&serde_json::from_str(&json).unwrap(), false)
    }

    const USE: &str = r#"{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"c1","name":"t","input":{}}]}"#;
    const ANSWER: &str =
        r#"{"role":"user","content":[{"type":"tool_result","toolUseId":"c1","content":[]}]}"#;
    const TEXT: &str = r#"{"role":"user","content":{"type":"text","text":"a"}}"#;

    // Shows: SAMPLING-030, SAMPLING-031
    #[test]
    fn tools_are_refused_unless_they_were_declared() {
        assert_eq!(verdict(TEXT, ""), Ok(()));
        let declared = Err(BadRequest::ToolsNotDeclared);
        assert_eq!(verdict(TEXT, r#","tools":[]"#), declared);
        assert_eq!(verdict(TEXT, r#","toolChoice":{"mode":"auto"}"#), declared);
    }

    // Shows: SAMPLING-040, FC-046
    #[test]
    fn every_tool_use_is_answered_in_the_next_message() {
        assert_eq!(verdict(&[TEXT, USE, ANSWER, TEXT].join(","), ""), Ok(()));
        assert_eq!(verdict(&[TEXT, USE, TEXT].join(","), ""), Err(BadRequest::MissingResult));
        assert_eq!(verdict(&[TEXT, USE].join(","), ""), Err(BadRequest::MissingResult));
        assert_eq!(verdict(&[TEXT, ANSWER].join(","), ""), Err(BadRequest::UnaskedResult));
        assert_eq!(verdict(r#"{"role":"user","content":[]}"#, ""), Ok(()));
    }

    // Shows: SAMPLING-041
    #[test]
    fn tool_results_are_not_mixed_with_other_content() {
        let mixed = r#"{"role":"user","content":[{"type":"tool_result","toolUseId":"c1","content":[]},{"type":"text","text":"a"}]}"#;
        assert_eq!(verdict(&[USE, mixed].join(","), ""), Err(BadRequest::MixedResults));
    }
}
