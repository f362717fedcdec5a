//! The least that a stdio server can do: what is ready is parsed, and everything that is answered
//! is written in one go.

use std::io;

use mcp_bench::floor::answer;
use memchr::memchr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let mut stdin = pipe::Receiver::from_owned_fd_unchecked(owned(&io::stdin())?)?;
    let mut stdout = pipe::Sender::from_owned_fd_unchecked(owned(&io::stdout())?)?;
    let (mut input, mut output) = (Vec::with_capacity(1 << 16), Vec::with_capacity(1 << 16));
    loop {
        if stdin.read_buf(&mut input).await? == 0 {
            return Ok(());
        }
        let mut done = 0;
        while let Some(end) = input.get(done..).and_then(|rest| memchr(b'\n', rest)) {
            if answer(input.get(done..done + end).unwrap_or_default(), &mut output)? {
                output.push(b'\n');
            }
            done += end + 1;
        }
        input.drain(..done);
        if !output.is_empty() {
            stdout.write_all(&output).await?;
            output.clear();
        }
    }
}

fn owned(stream: &impl std::os::fd::AsFd) -> io::Result<std::os::fd::OwnedFd> {
    stream.as_fd().try_clone_to_owned()
}
