//! Echo calls, a number of them outstanding, each answer checked.

use std::time::Instant;

use anyhow::{Context, bail, ensure};
use memchr::memchr;
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::child::Server;

#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) calls: usize,
    pub(crate) depth: usize,
    pub(crate) bytes: usize,
}

pub(crate) struct Sample {
    /// CPU seconds of the server for 100,000 calls.
    pub(crate) cpu: f64,
    /// Calls a second.
    pub(crate) rate: f64,
}

#[derive(Deserialize)]
struct Answer<'a> {
    id: u64,
    #[serde(borrow)]
    result: Option<ResultMembers<'a>>,
}

#[derive(Deserialize)]
struct ResultMembers<'a> {
    #[serde(borrow, default)]
    content: Vec<Block<'a>>,
}

#[derive(Deserialize)]
struct Block<'a> {
    text: std::borrow::Cow<'a, str>,
}

impl Load {
    pub(crate) async fn run(&self, command: &str) -> anyhow::Result<Sample> {
        let mut server = Server::spawn(command)?;
        let text = "x".repeat(self.bytes);
        let hello = concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
            r#""capabilities":{},"clientInfo":{"name":"mcp-bench","version":"0"}}}"#,
            "\n"
        );
        server.stdin.write_all(hello.as_bytes()).await?;
        let mut input = Vec::with_capacity(1 << 16);
        read_lines(&mut server, &mut input, 1, |_| Ok(())).await?;
        let ready = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
        server.stdin.write_all(ready.as_bytes()).await?;
        // Once around, so that what happens only once is behind us.
        self.calls_from(&mut server, &mut input, &text, 1, 1000.min(self.calls)).await?;
        let (cpu, start) = (server.cpu()?, Instant::now());
        self.calls_from(&mut server, &mut input, &text, 1_000_000, self.calls).await?;
        let (took, spent) = (start.elapsed().as_secs_f64(), server.cpu()? - cpu);
        #[expect(clippy::cast_precision_loss, reason = "counts of calls are small")]
        let calls = self.calls as f64;
        drop(server.stdin);
        server.child.kill().await?;
        Ok(Sample { cpu: spent * 100_000.0 / calls, rate: calls / took })
    }

    async fn calls_from(
        &self,
        server: &mut Server,
        input: &mut Vec<u8>,
        text: &str,
        first: usize,
        calls: usize,
    ) -> anyhow::Result<()> {
        let (mut sent, mut answered) = (0, 0);
        let mut output = Vec::new();
        // Answers may come in any order, but each once.
        let mut seen = vec![false; calls];
        while answered < calls {
            while sent < calls && sent - answered < self.depth {
                let id = first + sent;
                output.extend_from_slice(
                    format!(
                        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\"arguments\":{{\"text\":\"{text}\"}}}}}}\n"
                    )
                    .as_bytes(),
                );
                sent += 1;
            }
            let mut taken = 0;
            let mut check = |line: &[u8]| -> anyhow::Result<()> {
                let answer: Answer<'_> = serde_json::from_slice(line)
                    .with_context(|| String::from_utf8_lossy(line).into_owned())?;
                let at =
                    usize::try_from(answer.id)?.checked_sub(first).context("an id from before")?;
                let slot = seen.get_mut(at).context("an id that was never sent")?;
                ensure!(!*slot, "two answers to {}", answer.id);
                *slot = true;
                let content = answer.result.context("an error")?.content;
                ensure!(content.first().is_some_and(|block| block.text == text), "not the echo");
                taken += 1;
                Ok(())
            };
            // Both ways at once: large messages fill the pipes.
            let Server { stdin, stdout, .. } = server;
            let (wrote, read) = tokio::join!(
                async {
                    let wrote = stdin.write_all(&output).await;
                    output.clear();
                    wrote
                },
                read_from(stdout, input, 1, &mut check)
            );
            wrote?;
            read?;
            answered += taken;
        }
        Ok(())
    }
}

async fn read_lines(
    server: &mut Server,
    input: &mut Vec<u8>,
    least: usize,
    mut each: impl FnMut(&[u8]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    read_from(&mut server.stdout, input, least, &mut each).await
}

async fn read_from(
    stdout: &mut tokio::process::ChildStdout,
    input: &mut Vec<u8>,
    least: usize,
    each: &mut impl FnMut(&[u8]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (mut lines, mut scanned) = (0, 0);
    while lines < least {
        if stdout.read_buf(input).await? == 0 {
            bail!("the server has closed its output");
        }
        let mut done = 0;
        while let Some(end) = input.get(scanned.max(done)..).and_then(|rest| memchr(b'\n', rest)) {
            let end = scanned.max(done) + end;
            each(input.get(done..end).unwrap_or_default())?;
            lines += 1;
            done = end + 1;
        }
        input.drain(..done);
        scanned = input.len();
    }
    Ok(())
}
