use mcp_client::Client;
use mcp_server::testing::{Direction, Recorder, Recording, ReplayError, replay};
use mcp_server::tool::Args;
use mcp_server::{Context, Server, ToolError};
use mcp_types::{CreateMessageRequestParams, SamplingMessage};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

fn server(mark: &'static str) -> Server {
    Server::new("s", "1")
        .tool("echo", move |Args(Text { text }), cx: Context| async move {
            cx.progress().report(1.0, None).await;
            format!("{text}{mark}")
        })
        .tool("ask", |cx: Context| async move {
            let params = CreateMessageRequestParams::new(vec![SamplingMessage::user("x")], 1_u64);
            Ok::<_, ToolError>(cx.sample(params).await?.model)
        })
}

#[tokio::test]
async fn a_conversation_is_recorded_and_played_again() {
    let (link, recording) = Recorder::new(server("!").connect());
    let client = Client::builder("test", "1").connect(link).await.unwrap();
    client.list_tools().await.unwrap();
    client.call_tool("echo").arg("text", "hi").await.unwrap();
    client.call_tool("none").await.unwrap_err();
    client.close().await;
    let text = recording.to_json_lines();
    let lines = Recording::read(&text).unwrap();
    assert_eq!(lines, recording.lines());
    assert_eq!(lines[0].direction, Direction::Sent);
    assert!(lines[0].message.as_raw().contains("initialize"));
    // It was recorded at the client's end.
    let lines: Vec<_> = lines.into_iter().map(mcp_server::testing::Line::flipped).collect();
    replay(&server("!"), &lines).await.unwrap();
    let error = replay(&server("?"), &lines).await.unwrap_err();
    let ReplayError::Differs { expected, found, .. } = error else { panic!("{error:?}") };
    assert!(expected.contains("hi!") && found.contains("hi?"), "{expected} {found}");
}

#[test]
fn what_is_no_recording_is_told_by_line() {
    for (text, line) in [
        ("{\"sent\":{}}\n\n{\"seen\":{}}", 3),
        ("{\"sent\":{}", 1),
        ("{\"sent\":{},\"received\":{}}", 1),
        ("[]", 1),
    ] {
        assert_eq!(Recording::read(text).unwrap_err().line, line, "{text}");
    }
    assert!(Recording::read("").unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stays_silent_is_told() {
    let lines = Recording::read(r#"{"sent":{"jsonrpc":"2.0","id":1,"result":{}}}"#).unwrap();
    let error = replay(&server("!"), &lines).await.unwrap_err();
    assert!(matches!(error, ReplayError::Silent { line: 1 }), "{error:?}");
}
