//! The least that a stdio server can be: see `mcp_bench::floor`. It writes everything that is
//! ready in one go.

use std::io;

use mcp_bench::floor::Floor;
use memchr::memchr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;

/// More room than this isn't kept once the message that it was made for is out.
const KEEP: usize = 1 << 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let mut stdin = pipe::Receiver::from_owned_fd_unchecked(owned(&io::stdin())?)?;
    let mut stdout = pipe::Sender::from_owned_fd_unchecked(owned(&io::stdout())?)?;
    let (mut input, mut output) = (Vec::with_capacity(1 << 16), Vec::with_capacity(1 << 16));
    let floor = Floor::new();
    let mut scanned = 0;
    loop {
        if stdin.read_buf(&mut input).await? == 0 {
            return Ok(());
        }
        let mut done = 0;
        while let Some(end) = input.get(scanned..).and_then(|rest| memchr(b'\n', rest)) {
            let line = input.get(done..scanned + end).unwrap_or_default();
            floor.answer(line, &mut output, (b"", b"\n"))?;
            done = scanned + end + 1;
            scanned = done;
        }
        input.drain(..done);
        scanned = input.len();
        if !output.is_empty() {
            stdout.write_all(&output).await?;
            output.clear();
        }
        if input.is_empty() {
            input.shrink_to(KEEP);
            output.shrink_to(KEEP);
        }
    }
}

fn owned(stream: &impl std::os::fd::AsFd) -> io::Result<std::os::fd::OwnedFd> {
    stream.as_fd().try_clone_to_owned()
}
