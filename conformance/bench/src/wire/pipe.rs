//! A conversation through a child's stdin and stdout.

use anyhow::{Context, bail};
use memchr::memchr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};

use crate::child::Server;
use crate::work::{Book, Came, INITIALIZE, INITIALIZED, Work};

/// A client of the server in a child process.
pub(crate) struct Pipe {
    stdin: ChildStdin,
    stdout: ChildStdout,
    input: Vec<u8>,
    /// Bytes of `input` in which there is no line end.
    scanned: usize,
}

impl Pipe {
    /// Begins a conversation.
    pub(crate) async fn open(server: &mut Server) -> anyhow::Result<Self> {
        let (stdin, stdout) = server.pipes()?;
        let stdin = ChildStdin::from_std(stdin)?;
        let stdout = ChildStdout::from_std(stdout)?;
        let mut pipe = Self { stdin, stdout, input: Vec::with_capacity(1 << 16), scanned: 0 };
        pipe.stdin.write_all(format!("{INITIALIZE}\n").as_bytes()).await?;
        pipe.read(|_| Ok(())).await?;
        pipe.stdin.write_all(format!("{INITIALIZED}\n").as_bytes()).await?;
        Ok(pipe)
    }

    /// Sends `calls` requests, `depth` of them under way; answers with how long each took.
    pub(crate) async fn calls(
        &mut self,
        work: &Work,
        first: u64,
        calls: usize,
        depth: usize,
    ) -> anyhow::Result<Vec<u32>> {
        let mut book = Book::new(first, calls);
        let (mut sent, mut answered) = (0, 0);
        let mut output = Vec::new();
        while answered < calls {
            while sent < calls && sent - answered < depth {
                book.send(work, &mut output);
                output.push(b'\n');
                sent += 1;
            }
            let mut replies = Vec::new();
            let Self { stdin, stdout, input, scanned } = self;
            // Both ways at once: large messages fill the pipes.
            let (wrote, read) = tokio::join!(
                stdin.write_all(&output),
                read_from(stdout, input, scanned, |line| {
                    match book.take(work, line)? {
                        Came::Answer => answered += 1,
                        Came::Note => {}
                        Came::Asked(reply) => replies.push(reply),
                    }
                    Ok(())
                })
            );
            wrote?;
            read?;
            output.clear();
            for reply in replies {
                output.extend_from_slice(&reply);
                output.push(b'\n');
            }
        }
        Ok(book.times().collect())
    }

    async fn read(&mut self, each: impl FnMut(&[u8]) -> anyhow::Result<()>) -> anyhow::Result<()> {
        read_from(&mut self.stdout, &mut self.input, &mut self.scanned, each).await
    }
}

/// Reads lines, one at least.
async fn read_from(
    stdout: &mut ChildStdout,
    input: &mut Vec<u8>,
    scanned: &mut usize,
    mut each: impl FnMut(&[u8]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut done = 0;
    while done == 0 {
        if stdout.read_buf(input).await? == 0 {
            bail!("the server has closed its output");
        }
        while let Some(end) = input.get(*scanned..).and_then(|rest| memchr(b'\n', rest)) {
            let end = *scanned + end;
            each(input.get(done..end).context("a line end before the line")?)?;
            done = end + 1;
            *scanned = done;
        }
        *scanned = input.len();
    }
    input.drain(..done);
    *scanned = input.len();
    Ok(())
}
