//! Stdin and stdout where nothing but the standard library is at hand.

use std::io::{self, stdin, stdout};

use super::Guard;
use crate::blocking::{ThreadReader, ThreadWriter};

pub(super) type Input = ThreadReader;
pub(super) type Output = ThreadWriter;

/// There is no guard: the standard library can't redirect what it prints to.
pub(super) fn take(_: Guard) -> io::Result<(Input, Output)> {
    Ok((ThreadReader::spawn(stdin())?, ThreadWriter::spawn(stdout())?))
}
