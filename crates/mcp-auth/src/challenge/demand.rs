use hyper::StatusCode;

use super::{Challenge, Challenges};
use crate::{ScopeSet, text};

/// The scheme of a challenge that we can answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scheme {
    /// RFC 6750.
    #[default]
    Bearer,
    /// RFC 9449.
    Dpop,
}

/// What a 401 or 403 asks of an OAuth client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Demand {
    /// The scheme that it came with; `None` without a challenge that we can answer.
    pub scheme: Option<Scheme>,
    /// Where the metadata of the resource is, as it was written.
    pub resource_metadata: Option<String>,
    /// The scopes that the request at hand needs.
    pub scopes: ScopeSet,
    /// The error code.
    pub error: Option<String>,
    /// The error in words: cleaned, bounded, for display only.
    pub error_description: Option<String>,
}

impl Demand {
    /// Reads what an answer with `status` asks for.
    ///
    /// Of several challenges that is the first with scheme `Bearer` or `DPoP` which says
    /// `insufficient_scope` for a 403, and the first that names the metadata for a 401, else
    /// simply the first.
    #[must_use]
    pub fn of(status: StatusCode, challenges: &Challenges) -> Self {
        let ours = || challenges.iter().filter(|challenge| scheme_of(challenge).is_some());
        let lacks_scope = |c: &&Challenge| c.param("error") == Some("insufficient_scope");
        let chosen = if status == StatusCode::FORBIDDEN {
            ours().find(lacks_scope)
        } else {
            ours().find(|challenge| challenge.param("resource_metadata").is_some())
        };
        chosen.or_else(|| ours().next()).map(Self::read).unwrap_or_default()
    }

    fn read(challenge: &Challenge) -> Self {
        let param = |name| challenge.param(name).filter(|value| !value.is_empty());
        Self {
            scheme: scheme_of(challenge),
            resource_metadata: param("resource_metadata").map(str::to_owned),
            scopes: param("scope").map(ScopeSet::parse).unwrap_or_default(),
            error: param("error").map(text::clean),
            error_description: param("error_description").map(text::clean),
        }
    }

    /// Whether it asks for more scopes.
    #[must_use]
    pub fn lacks_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

fn scheme_of(challenge: &Challenge) -> Option<Scheme> {
    if challenge.is("bearer") {
        Some(Scheme::Bearer)
    } else if challenge.is("dpop") {
        Some(Scheme::Dpop)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(status: u16, lines: &[&str]) -> Demand {
        let challenges = Challenges::of_lines(lines.iter().map(|line| line.as_bytes()));
        Demand::of(StatusCode::from_u16(status).unwrap(), &challenges)
    }

    // Shows: CL-CH-5, AUTH-CLIENT-012
    #[test]
    fn a_401_is_read_from_the_challenge_that_names_the_metadata() {
        let demand = demand(
            401,
            &[
                "Basic realm=\"x\", Bearer scope=\"a\"",
                "DPoP resource_metadata=\"/m\", scope=\"b\"",
            ],
        );
        assert_eq!(demand.scheme, Some(Scheme::Dpop));
        assert_eq!(demand.resource_metadata.as_deref(), Some("/m"));
        assert_eq!(demand.scopes, ScopeSet::parse("b"));
    }

    // Shows: CL-CH-5
    #[test]
    fn a_403_is_read_from_the_challenge_that_lacks_scope() {
        let lines = ["Bearer scope=\"a\"", "Bearer error=\"insufficient_scope\", scope=\"b c\""];
        let demand = demand(403, &lines);
        assert!(demand.lacks_scope());
        assert_eq!(demand.scopes, ScopeSet::parse("b c"));
    }

    // Shows: CL-CH-5
    #[test]
    fn no_challenge_or_a_foreign_one_asks_for_nothing_in_particular() {
        assert_eq!(demand(401, &[]), Demand::default());
        assert_eq!(demand(401, &["Basic realm=\"x\", scope=\"a\""]), Demand::default());
    }

    // Shows: CL-CH-6
    #[test]
    fn scopes_are_never_found_in_the_text_of_other_parameters() {
        let demand = demand(
            401,
            &["Bearer resource_metadata=\"https://h.example/?scope=evil\", \
               error_description=\"scope=\\\"evil\\\"\\u0007\""],
        );
        assert!(demand.scopes.is_empty());
    }
}
