//! Where the browser comes back to.

mod listener;
mod page;
pub(crate) use self::listener::{Judgement, RedirectListener};
