//! The decisions of an authorization, without I/O.

use oauth2::basic::BasicClient;
use oauth2::{
    AuthUrl, ClientId, CsrfToken, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope,
};
use url::Url;
use url::form_urlencoded;

use super::config::{Quirks, Scopes, is_loopback};
use super::error::AuthErrorKind;
use crate::v1::CallbackUrl;
use crate::{Issuer, NoRandomness, Reach, Rule, ScopeSet, Secret, text};

/// The longest code that is taken, in bytes.
const MAX_CODE: usize = 4 * 1024;
/// The longest URL that a browser is given, in bytes.
const MAX_URL: usize = 8 * 1024;

/// The scopes of a first authorization
/// ([strategy](https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#scope-selection-strategy)).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AskedScopes {
    pub(crate) scopes: ScopeSet,
    /// Whether `offline_access` is in it by our choice, so that it can be left out again.
    pub(crate) added_offline: bool,
}

impl AskedScopes {
    /// The host's fixed set, else the challenge's, else the resource's, else none at all.
    pub(crate) fn first(
        config: &Scopes,
        challenge: &ScopeSet,
        resource: Option<&ScopeSet>,
        server: Option<&ScopeSet>,
    ) -> Self {
        match config {
            Scopes::Fixed(scopes) => Self { scopes: scopes.clone(), added_offline: false },
            Scopes::Discovered { offline_access } => {
                let scopes = match resource {
                    _ if !challenge.is_empty() => challenge.clone(),
                    Some(scopes) => scopes.clone(),
                    None => ScopeSet::new(),
                };
                Self::with_offline(scopes, *offline_access, server)
            }
        }
    }

    /// Adds `offline_access` to a set that isn't empty, where the server offers it.
    pub(crate) fn with_offline(
        mut scopes: ScopeSet,
        wanted: bool,
        server: Option<&ScopeSet>,
    ) -> Self {
        let offered = server.is_some_and(|known| known.contains("offline_access"));
        let added_offline =
            wanted && offered && !scopes.is_empty() && !scopes.contains("offline_access");
        if added_offline {
            scopes.insert("offline_access");
        }
        Self { scopes, added_offline }
    }

    /// The same without what we added.
    pub(crate) fn without_offline(&self) -> Self {
        let offline = ScopeSet::parse("offline_access");
        Self { scopes: self.scopes.without(&offline), added_offline: false }
    }
}

/// The scopes of a step-up: what was asked for, what was granted, what is demanded now
/// (readings 34). `None` when nothing new comes of it and nothing was demanded by name.
pub(crate) fn step_up_scopes(
    requested: &ScopeSet,
    granted: &ScopeSet,
    demanded: &ScopeSet,
    resource: Option<&ScopeSet>,
) -> Option<ScopeSet> {
    let before = requested.union(granted);
    if !demanded.is_empty() {
        return Some(before.union(demanded));
    }
    let all = before.union(resource?);
    (all != before).then_some(all)
}

/// One attempt to have an authorization granted: everything that its response is checked
/// against, bound together before the browser opens.
pub(crate) struct Attempt {
    /// The issuer as its document has it: what `iss` is compared with.
    pub(crate) issuer: Issuer,
    /// Whether the document promises `iss`.
    pub(crate) iss_promised: bool,
    pub(crate) iss_may_be_missing: bool,
    pub(crate) redirect_uri: String,
    pub(crate) verifier: Secret,
    state: Secret,
}

impl Attempt {
    pub(crate) fn new(
        issuer: Issuer,
        iss_promised: bool,
        redirect_uri: String,
        quirks: &Quirks,
    ) -> Result<Self, NoRandomness> {
        Ok(Self {
            issuer,
            iss_promised,
            iss_may_be_missing: quirks.iss_may_be_missing,
            redirect_uri,
            verifier: Secret::random(32)?,
            state: Secret::random(32)?,
        })
    }

    /// The URL to open.
    pub(crate) fn url(
        &self,
        endpoint: &Url,
        client_id: &str,
        scopes: &ScopeSet,
        resource: Option<&str>,
        quirks: &Quirks,
    ) -> Result<Url, AuthErrorKind> {
        let redirect = RedirectUrl::new(self.redirect_uri.clone())
            .map_err(|_| AuthErrorKind::Identifier(crate::InvalidIdentifier::Scheme))?;
        let client = BasicClient::new(ClientId::new(client_id.to_owned()))
            .set_auth_uri(AuthUrl::from_url(endpoint.clone()))
            .set_redirect_uri(redirect);
        let verifier = PkceCodeVerifier::new(self.verifier.expose().to_owned());
        let state = self.state.expose().to_owned();
        let mut request = client
            .authorize_url(|| CsrfToken::new(state))
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier));
        for scope in scopes.iter() {
            request = request.add_scope(Scope::new(scope.to_owned()));
        }
        if let Some(resource) = resource {
            request = request.add_extra_param("resource", resource);
        }
        if let Some(prompt) = &quirks.prompt {
            request = request.add_extra_param("prompt", prompt);
        }
        for (name, value) in &quirks.extra {
            if !OURS.contains(&&**name) {
                request = request.add_extra_param(name, value);
            }
        }
        Ok(request.url().0)
    }

    /// Checks a response, in the order that the guide demands: form, state, issuer, error,
    /// code. Nothing is sent to any server before all of it has passed.
    pub(crate) fn check(&self, callback: &CallbackUrl) -> Result<Secret, Refusal> {
        let mut seen = Response::default();
        for (name, value) in form_urlencoded::parse(callback.query().as_bytes()) {
            let slot = match &*name {
                "code" => &mut seen.code,
                "state" => &mut seen.state,
                "iss" => &mut seen.iss,
                "error" => &mut seen.error,
                "error_description" => &mut seen.description,
                _ => continue,
            };
            if slot.is_some() {
                return Err(Refusal::KeepWaiting);
            }
            *slot = Some(value.into_owned());
        }
        if seen.state.is_none_or(|state| self.state != *state) {
            return Err(Refusal::KeepWaiting);
        }
        match seen.iss {
            Some(iss) if iss != self.issuer.as_str() => {
                return Err(Refusal::end(AuthErrorKind::ResponseIssuerMismatch {
                    expected: self.issuer.clone(),
                    found: text::clean(&iss),
                }));
            }
            None if self.iss_promised && !self.iss_may_be_missing => {
                return Err(Refusal::end(AuthErrorKind::ResponseIssuerMissing {
                    expected: self.issuer.clone(),
                }));
            }
            Some(_) | None => {}
        }
        if let Some(error) = seen.error {
            return Err(Refusal::end(if error == "access_denied" {
                AuthErrorKind::Denied
            } else {
                AuthErrorKind::AuthorizationRefused {
                    code: Some(text::clean(&error)),
                    description: seen.description.map(|text| text::clean(&text)),
                }
            }));
        }
        match seen.code {
            Some(code) if !code.is_empty() && code.len() <= MAX_CODE => Ok(Secret::new(code)),
            _ => Err(Refusal::end(AuthErrorKind::NoCode)),
        }
    }

    #[cfg(test)]
    pub(crate) fn state(&self) -> &str {
        self.state.expose()
    }
}

/// Parameters that are ours to set.
const OURS: [&str; 9] = [
    "response_type",
    "client_id",
    "redirect_uri",
    "state",
    "code_challenge",
    "code_challenge_method",
    "resource",
    "scope",
    "prompt",
];

#[derive(Default)]
struct Response {
    code: Option<String>,
    state: Option<String>,
    iss: Option<String>,
    error: Option<String>,
    description: Option<String>,
}

/// A response was refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It is nobody's: anybody on the machine can knock. The right one may still come.
    KeepWaiting,
    /// It is the right one, and it ends the flow.
    End(Box<AuthErrorKind>),
}

impl Refusal {
    fn end(kind: AuthErrorKind) -> Self {
        Self::End(Box::new(kind))
    }
}

/// Judges the URL that is about to be given to a browser: whatever else a hostile document
/// names must not reach any program.
pub(crate) fn judge_visit(url: &Url, reach: Reach) -> Result<(), Rule> {
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Rule::User);
    }
    if url.as_str().len() > MAX_URL {
        return Err(Rule::TooLong);
    }
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_loopback(url) && reach == Reach::Loopback => Ok(()),
        _ => Err(Rule::Scheme),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(text: &str) -> ScopeSet {
        ScopeSet::parse(text)
    }

    // Shows: FC-078, CL-SC-1, CL-SC-2, CL-SC-3, AUTH-CLIENT-014, AUTH-CLIENT-015,
    // AUTH-CLIENT-017, AUTH-CLIENT-039, AUTH-CLIENT-040, AUTH-CLIENT-041, AUTH-CLIENT-042,
    // SEC-098
    #[test]
    fn scopes_come_from_the_challenge_then_the_resource_then_not_at_all() {
        let check =
            |challenge: &str, resource: Option<&str>, server: Option<&str>, expected: &str| {
                let asked = AskedScopes::first(
                    &Scopes::default(),
                    &scopes(challenge),
                    resource.map(scopes).as_ref(),
                    server.map(scopes).as_ref(),
                );
                assert_eq!(asked.scopes.to_string(), expected);
            };
        check(
            "mcp:read",
            Some("mcp:read mcp:write"),
            Some("openid offline_access"),
            "mcp:read offline_access",
        );
        check("other", Some("x"), None, "other");
        check("", Some("x"), None, "x");
        check("", Some("x"), Some("a b"), "x");
        check("", None, None, "");
        check("", None, Some("openid offline_access"), "");
        let off = Scopes::Discovered { offline_access: false };
        let asked = AskedScopes::first(&off, &scopes("a"), None, Some(&scopes("offline_access")));
        assert_eq!(asked.scopes.to_string(), "a");
        let fixed = AskedScopes::first(&Scopes::Fixed(scopes("f")), &scopes("a"), None, None);
        assert_eq!(fixed.scopes.to_string(), "f");
    }

    // Shows: CL-SU-1, AUTH-CLIENT-062
    #[test]
    fn a_step_up_asks_for_the_union() {
        let up = |demanded: &str, resource: Option<&str>| {
            step_up_scopes(
                &scopes("a"),
                &scopes("a b"),
                &scopes(demanded),
                resource.map(scopes).as_ref(),
            )
            .map(|set| set.to_string())
        };
        assert_eq!(up("c a", None).as_deref(), Some("a b c"));
        assert_eq!(up("b", None).as_deref(), Some("a b"));
        assert_eq!(up("", Some("d")).as_deref(), Some("a b d"));
        assert_eq!(up("", Some("a")), None);
        assert_eq!(up("", None), None);
    }

    fn attempt(iss_promised: bool) -> Attempt {
        Attempt::new(
            Issuer::new("https://as.example").unwrap(),
            iss_promised,
            "http://127.0.0.1:1/callback".to_owned(),
            &Quirks::default(),
        )
        .unwrap()
    }

    fn answer(attempt: &Attempt, query: &str) -> Result<Secret, Refusal> {
        let query = query.replace("STATE", attempt.state());
        attempt.check(&CallbackUrl::new(format!("http://127.0.0.1:1/callback?{query}")))
    }

    // Shows: CL-AZ-1, CL-AZ-2, CL-AZ-3, AUTH-CLIENT-043, AUTH-CLIENT-044, AUTH-CLIENT-048,
    // AUTH-CLIENT-072, AUTH-CLIENT-074, AUTH-CLIENT-080
    #[test]
    fn the_request_has_everything_once_and_keeps_the_endpoints_query() {
        let attempt = attempt(true);
        let quirks = Quirks {
            prompt: Some("consent".to_owned()),
            extra: vec![("state".to_owned(), "evil".to_owned()), ("x".to_owned(), "y".to_owned())],
            ..Quirks::default()
        };
        let endpoint = Url::parse("https://as.example/authorize?tenant=1").unwrap();
        let url = attempt
            .url(&endpoint, "client", &scopes("a b"), Some("https://h.example"), &quirks)
            .unwrap();
        let mut names: Vec<String> = url.query_pairs().map(|(name, _)| name.into_owned()).collect();
        let value = |name: &str| {
            url.query_pairs().find(|(n, _)| n == name).map(|(_, value)| value.into_owned()).unwrap()
        };
        assert_eq!(value("tenant"), "1");
        assert_eq!(value("resource"), "https://h.example");
        assert_eq!(value("scope"), "a b");
        assert_eq!(value("code_challenge_method"), "S256");
        let digest = crate::crypto::sha256(attempt.verifier.expose().as_bytes());
        assert_eq!(value("code_challenge"), crate::crypto::base64url(&digest));
        assert_eq!(value("state"), attempt.state());
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "{url}");
        let bare = attempt.url(&endpoint, "client", &ScopeSet::new(), None, &Quirks::default());
        assert!(!bare.unwrap().as_str().contains("scope"));
    }

    // Shows: CL-RS-1, CL-RS-2, CL-RS-5, AUTH-CLIENT-081, FC-083
    #[test]
    fn a_response_with_another_state_or_with_doubles_is_not_ours() {
        let attempt = attempt(false);
        for query in [
            "code=C&state=WRONG",
            "code=C",
            "",
            "code=C1&code=C2&state=STATE",
            "code=C&state=STATE&state=STATE",
            "error=access_denied&state=WRONG",
        ] {
            let refusal = answer(&attempt, query);
            assert!(matches!(refusal, Err(Refusal::KeepWaiting)), "{query}: {refusal:?}");
        }
        assert_eq!(answer(&attempt, "code=C%2B&state=STATE").unwrap().expose(), "C+");
        for query in ["state=STATE", "code=&state=STATE"] {
            let Err(Refusal::End(kind)) = answer(&attempt, query) else { panic!("{query}") };
            assert!(matches!(*kind, AuthErrorKind::NoCode));
        }
    }

    // Shows: CL-RS-3, AUTH-CLIENT-068
    #[test]
    fn the_issuer_of_a_response_is_compared_letter_for_letter() {
        const SAME: &str = "https%3A%2F%2Fas.example";
        for (promised, iss, good) in [
            (true, Some(SAME), true),
            (true, None, false),
            (false, Some(SAME), true),
            (false, None, true),
            (true, Some("https%3A%2F%2Fas.example%2F"), false),
            (false, Some("https%3A%2F%2Fevil.example"), false),
            (true, Some("https%3A%2F%2FAS.example"), false),
        ] {
            let attempt = attempt(promised);
            for rest in ["code=C", "error=access_denied"] {
                let iss = iss.map(|iss| format!("&iss={iss}")).unwrap_or_default();
                let result = answer(&attempt, &format!("{rest}&state=STATE{iss}"));
                let mixed = matches!(
                    &result,
                    Err(Refusal::End(kind)) if matches!(
                        **kind,
                        AuthErrorKind::ResponseIssuerMismatch { .. }
                            | AuthErrorKind::ResponseIssuerMissing { .. }
                    )
                );
                assert_eq!(mixed, !good, "{promised} {iss} {rest}");
            }
        }
        let mut forgiving = attempt(true);
        forgiving.iss_may_be_missing = true;
        assert!(answer(&forgiving, "code=C&state=STATE").is_ok());
        assert!(answer(&forgiving, "code=C&state=STATE&iss=x").is_err());
    }

    // Shows: CL-RS-4
    #[test]
    fn an_error_ends_the_flow_in_cleaned_words() {
        let attempt = attempt(false);
        let refuse = |query: &str| match answer(&attempt, query) {
            Err(Refusal::End(kind)) => kind.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(refuse("error=access_denied&state=STATE"), "access was denied");
        assert_eq!(
            refuse("error=server_error&error_description=a%0Ab&state=STATE"),
            "the authorization server refused, server_error: a b"
        );
    }

    // Shows: CL-AZ-6, SEC-074, SEC-077, SEC-078, SEC-083
    #[test]
    fn only_web_pages_are_given_to_a_browser() {
        let judge = |url: &str, reach| judge_visit(&Url::parse(url).unwrap(), reach);
        assert_eq!(judge("https://as.example/a?b", Reach::Public), Ok(()));
        assert_eq!(judge("http://localhost:1/a", Reach::Loopback), Ok(()));
        for url in [
            "http://localhost:1/a",
            "http://as.example/",
            "javascript:alert(1)",
            "file:///bin/sh",
            "vbscript:x",
            "data:text/html,x",
        ] {
            assert_eq!(judge(url, Reach::Public), Err(Rule::Scheme), "{url}");
        }
        assert_eq!(judge("https://u:p@as.example/", Reach::Public), Err(Rule::User));
        assert_eq!(
            judge(&format!("https://as.example/{}", "x".repeat(MAX_URL)), Reach::Public),
            Err(Rule::TooLong)
        );
    }
}
