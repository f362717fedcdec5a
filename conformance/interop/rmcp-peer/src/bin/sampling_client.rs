//! Starts a server that uses our model, calls its tool `sample`, and prints the answer.

#![allow(deprecated, reason = "the revisions before the next one have sampling")]

use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig,
    CreateMessageRequestParams, CreateMessageResult, ErrorCode, Implementation,
    ProgressNotificationParam, SamplingMessage, ServerResult,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestContext};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceExt, object};

struct Host;

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_sampling().build();
        ClientConfig::new(capabilities, Implementation::new("host", "1.0.0"))
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        if request.max_tokens > 1000 {
            return Err(ErrorData::new(ErrorCode(-1), "the user has refused", None));
        }
        let text = format!("{} messages, and no model", request.messages.len());
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text(text), "none".to_owned()))
    }

    async fn on_progress(
        &self,
        step: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        println!("{} of {:?}", step.progress, step.total);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().ok_or("usage: sampling_client PROGRAM ARGUMENT…")?;
    let mut command = tokio::process::Command::new(program);
    command.args(arguments);
    let client = Host.serve(TokioChildProcess::new(command)?).await?;
    let params =
        CallToolRequestParams::new("sample").with_arguments(object!({ "prompt": "What is new?" }));
    let options = PeerRequestOptions::with_timeout(Duration::from_secs(30));
    let request = CallToolRequest::new(params);
    let call = client.send_cancellable_request(request.into(), options).await?;
    let ServerResult::CallToolResult(result) = call.await_response().await? else {
        return Err("the server has answered with something else".into());
    };
    let texts = result.content.iter().filter_map(|block| block.as_text());
    let answer: Vec<&str> = texts.map(|block| block.text.as_str()).collect();
    if result.is_error == Some(true) {
        return Err(answer.join("\n").into());
    }
    println!("{}", answer.join("\n"));
    client.cancel().await?;
    Ok(())
}
