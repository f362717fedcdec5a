//! Starts a server that uses our model, calls its tool `sample`, and prints the answer.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::time::Duration;

use mcp_client::Client;
use mcp_client::v1::{Decision, Wish};
use mcp_transport_stdio::ChildCommand;
use mcp_types::{CreateMessageResult, Role, SamplingContent};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut command = std::env::args().skip(1);
    let program = command.next().ok_or("usage: sampling_client PROGRAM ARGUMENT…")?;
    let link = ChildCommand::new(program).args(command).spawn()?;
    let client = Client::builder("host", "1.0.0")
        .approve_with(|wish, _cx| async move {
            match wish {
                Wish::Sampling(request) if request.max_tokens <= 1000 => Decision::Allow,
                _ => Decision::Refuse,
            }
        })
        .on_sampling(|request, _cx| async move {
            let text = format!("{} messages, and no model", request.messages.len());
            Ok(CreateMessageResult::new(Role::Assistant, SamplingContent::text(text), "none"))
        })
        .connect(link)
        .await?;
    let answer = client
        .call_tool("sample")
        .arg("prompt", "What is new?")
        .timeout(Duration::from_secs(30))
        .on_progress(|step| println!("{} of {:?}", step.progress, step.total))
        .text()
        .await?;
    println!("{answer}");
    client.close().await;
    Ok(())
}
