use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::jose::Thumbprint;
use crate::json::{self, Object};
use crate::v1::{Unverified, Verified};
use crate::{Issuer, ScopeSet};

/// What is demanded of the claims of a token.
#[derive(Clone, Debug)]
pub(super) struct TimeRules {
    pub(super) leeway: Duration,
    pub(super) max_lifetime: Option<Duration>,
    /// Whether `exp` has to be there.
    pub(super) needs_expiry: bool,
}

/// Reads claims that are known to be genuine.
pub(super) fn read(
    claims: Object,
    issuer: &Issuer,
    rules: &TimeRules,
    scope_claims: &[String],
    now: SystemTime,
) -> Result<Verified, Unverified> {
    let expires_at = check_times(&claims, rules, now)?;
    let mut verified = Verified::new(issuer.clone());
    verified.expires_at = expires_at;
    verified.subject = json::text(&claims, "sub").map(str::to_owned);
    verified.client_id =
        json::text(&claims, "client_id").or_else(|| json::text(&claims, "azp")).map(str::to_owned);
    verified.audiences = match claims.get("aud") {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(many)) => {
            many.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    verified.scopes = scope_claims
        .iter()
        .find_map(|name| match claims.get(name.as_str())? {
            Value::String(text) => Some(ScopeSet::parse(text)),
            Value::Array(list) => Some(list.iter().filter_map(Value::as_str).collect()),
            _ => None,
        })
        .unwrap_or_default();
    verified.bound_to = binding(&claims)?;
    verified.claims = claims;
    Ok(verified)
}

/// The key that a token is bound to. A binding that can't be checked makes the token useless:
/// ignoring it would make a bound token a bearer token.
fn binding(claims: &Object) -> Result<Option<Thumbprint>, Unverified> {
    let Some(confirmation) = claims.get("cnf") else { return Ok(None) };
    match confirmation.as_object() {
        Some(members) if members.len() == 1 => {
            let thumbprint = json::text(members, "jkt").ok_or(Unverified::Binding)?;
            Ok(Some(Thumbprint::new(thumbprint)))
        }
        _ => Err(Unverified::Binding),
    }
}

fn check_times(
    claims: &Object,
    rules: &TimeRules,
    now: SystemTime,
) -> Result<Option<SystemTime>, Unverified> {
    let exp = moment(claims, "exp")?;
    let nbf = moment(claims, "nbf")?;
    let iat = moment(claims, "iat")?;
    if exp.is_none() && rules.needs_expiry {
        return Err(Unverified::Malformed);
    }
    if exp.is_some_and(|exp| now >= exp + rules.leeway) {
        return Err(Unverified::Expired);
    }
    if [nbf, iat].into_iter().flatten().any(|from| from > now + rules.leeway) {
        return Err(Unverified::NotYetValid);
    }
    if let (Some(limit), Some(exp), Some(iat)) = (rules.max_lifetime, exp, iat)
        && exp.duration_since(iat).unwrap_or_default() > limit
    {
        return Err(Unverified::NotGenuine);
    }
    Ok(exp)
}

/// A point in time, fractions allowed. One that can't be read is no time at all.
fn moment(claims: &Object, name: &str) -> Result<Option<SystemTime>, Unverified> {
    let Some(value) = claims.get(name) else { return Ok(None) };
    let seconds = value.as_f64().filter(|seconds| *seconds >= 0.0).ok_or(Unverified::Malformed)?;
    // What is too far away to be told is as good as never.
    let far = Duration::from_secs(100_000_000_000);
    let since = Duration::try_from_secs_f64(seconds).unwrap_or(far).min(far);
    UNIX_EPOCH.checked_add(since).map(Some).ok_or(Unverified::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000;

    fn read(text: &str) -> Result<Verified, Unverified> {
        let rules = TimeRules {
            leeway: Duration::from_secs(60),
            max_lifetime: Some(Duration::from_secs(86_400)),
            needs_expiry: true,
        };
        let names = ["scope", "scp", "scopes"].map(str::to_owned);
        super::read(
            json::object(text.as_bytes()).unwrap(),
            &Issuer::new("https://as.example").unwrap(),
            &rules,
            &names,
            UNIX_EPOCH + Duration::from_secs(NOW),
        )
    }

    // Shows: RS-JW-4, RS-JW-11, AUTH-SERVER-011
    #[test]
    fn every_edge_of_time_is_where_it_should_be() {
        let check = |claims: &str, expected: &str| {
            let shown = match read(claims) {
                Ok(_) => "ok".to_owned(),
                Err(error) => format!("{error:?}"),
            };
            assert_eq!(shown, expected, "{claims}");
        };
        check(&format!(r#"{{"exp":{}}}"#, NOW + 1), "ok");
        check(&format!(r#"{{"exp":{}}}"#, NOW - 59), "ok");
        check(&format!(r#"{{"exp":{}}}"#, NOW - 60), "Expired");
        check(&format!(r#"{{"exp":{}.5}}"#, NOW - 60), "ok");
        check(r#"{}"#, "Malformed");
        check(r#"{"exp":"1900000000"}"#, "Malformed");
        check(r#"{"exp":null}"#, "Malformed");
        check(r#"{"exp":-1}"#, "Malformed");
        check(r#"{"exp":1e300}"#, "ok");
        check(&format!(r#"{{"exp":{},"nbf":{}}}"#, NOW + 9, NOW + 60), "ok");
        check(&format!(r#"{{"exp":{},"nbf":{}}}"#, NOW + 9, NOW + 61), "NotYetValid");
        check(&format!(r#"{{"exp":{},"iat":{}}}"#, NOW + 9, NOW + 61), "NotYetValid");
        check(&format!(r#"{{"exp":{},"iat":{}}}"#, NOW + 86_400, NOW), "ok");
        check(&format!(r#"{{"exp":{},"iat":{}}}"#, NOW + 86_401, NOW), "NotGenuine");
    }

    // Shows: RS-JW-4
    #[test]
    fn scopes_audiences_and_clients_are_read_where_providers_put_them() {
        let with = |more: &str| read(&format!(r#"{{"exp":{}{more}}}"#, NOW + 9)).unwrap();
        assert_eq!(with(r#","scope":"a b""#).scopes, ScopeSet::parse("a b"));
        assert_eq!(with(r#","scp":["a","b"]"#).scopes, ScopeSet::parse("a b"));
        assert_eq!(with(r#","scp":"a b""#).scopes, ScopeSet::parse("a b"));
        assert_eq!(with(r#","aud":["x","y"]"#).audiences, ["x", "y"]);
        assert_eq!(with(r#","aud":"x""#).audiences, ["x"]);
        assert!(with(r#","aud":{"x":1}"#).audiences.is_empty());
        assert_eq!(with(r#","azp":"c""#).client_id.as_deref(), Some("c"));
    }

    // Shows: RS-DV-6
    #[test]
    fn a_binding_that_can_not_be_checked_is_not_ignored() {
        let with = |more: &str| read(&format!(r#"{{"exp":{},"cnf":{more}}}"#, NOW + 9));
        assert_eq!(with(r#"{"jkt":"t"}"#).unwrap().bound_to, Some(Thumbprint::new("t")));
        for other in [r#"{"x5t#S256":"t"}"#, "{}", "null", r#"{"jkt":"t","x5t#S256":"t"}"#] {
            assert!(matches!(with(other), Err(Unverified::Binding)), "{other}");
        }
    }
}
