//! Authorization: our client in the public suite's scenarios, and an authorization server for
//! development.

pub mod protected;
pub mod scenario;
pub mod server;

#[cfg(test)]
mod tests;
