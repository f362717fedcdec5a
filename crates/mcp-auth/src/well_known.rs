//! Where metadata documents are, in the order in which to ask.

use url::Url;

use crate::Issuer;

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// The places of the protected resource metadata of `endpoint`: with its path inserted, then
/// the root
/// ([discovery](https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#protected-resource-metadata-discovery-requirements)).
#[must_use]
pub fn protected_resource(endpoint: &Url) -> Vec<Url> {
    let path = endpoint.path();
    let bare = path.strip_suffix('/').unwrap_or(path);
    let mut places = Vec::new();
    if !bare.is_empty() {
        places.push(at(endpoint, &format!("{RESOURCE}{bare}"), endpoint.query()));
    }
    if !bare.is_empty() && bare != path {
        places.push(at(endpoint, &format!("{RESOURCE}{path}"), endpoint.query()));
    }
    places.push(at(endpoint, RESOURCE, None));
    places
}

/// The places of the metadata of the authorization server `issuer`
/// ([discovery](https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#authorization-server-metadata-discovery)).
///
/// For an issuer with a path the root is not among them.
#[must_use]
pub fn authorization_server(issuer: &Issuer) -> Vec<Url> {
    issuer.to_url().map(|url| server_of(&url)).unwrap_or_default()
}

fn server_of(url: &Url) -> Vec<Url> {
    let path = url.path().strip_suffix('/').unwrap_or(url.path());
    if path.is_empty() {
        return vec![at(url, OAUTH, None), at(url, OPENID, None)];
    }
    vec![
        at(url, &format!("{OAUTH}{path}"), None),
        at(url, &format!("{OPENID}{path}"), None),
        at(url, &format!("{path}{OPENID}"), None),
    ]
}

/// The root of `endpoint`'s origin, which revision 2025-03-26 takes for the issuer.
#[must_use]
pub fn origin(endpoint: &Url) -> Url {
    at(endpoint, "/", None)
}

/// The endpoints of a server of revision 2025-03-26 without any metadata.
#[must_use]
pub(crate) fn legacy_endpoint(endpoint: &Url, path: &'static str) -> Url {
    at(endpoint, path, None)
}

fn at(base: &Url, path: &str, query: Option<&str>) -> Url {
    let mut url = base.clone();
    url.set_path(path);
    url.set_query(query);
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(urls: Vec<Url>) -> Vec<String> {
        urls.into_iter().map(String::from).collect()
    }

    // Shows: CL-PR-1, CL-PR-2, AUTH-CLIENT-013
    #[test]
    fn resource_metadata_is_asked_for_at_the_path_first_and_then_at_the_root() {
        let check = |endpoint: &str, expected: &[&str]| {
            let places = texts(protected_resource(&Url::parse(endpoint).unwrap()));
            let expected: Vec<_> =
                expected.iter().map(|e| format!("https://h.example{e}")).collect();
            assert_eq!(places, expected, "{endpoint}");
        };
        check(
            "https://h.example/a/mcp",
            &[
                "/.well-known/oauth-protected-resource/a/mcp",
                "/.well-known/oauth-protected-resource",
            ],
        );
        check(
            "https://h.example/mcp/?t=1",
            &[
                "/.well-known/oauth-protected-resource/mcp?t=1",
                "/.well-known/oauth-protected-resource/mcp/?t=1",
                "/.well-known/oauth-protected-resource",
            ],
        );
        check("https://h.example", &["/.well-known/oauth-protected-resource"]);
        check("https://h.example/", &["/.well-known/oauth-protected-resource"]);
    }

    // Shows: FC-074, CL-AM-1, AUTH-CLIENT-018, AUTH-CLIENT-019, AUTH-CLIENT-020,
    // AUTH-CLIENT-021, AUTH-CLIENT-022, AUTH-CLIENT-023
    #[test]
    fn server_metadata_is_asked_for_in_the_specified_order() {
        let check = |issuer: &str, expected: &[&str]| {
            let places = texts(authorization_server(&Issuer::new(issuer).unwrap()));
            let expected: Vec<_> =
                expected.iter().map(|e| format!("https://as.example{e}")).collect();
            assert_eq!(places, expected, "{issuer}");
        };
        let tenant = [
            "/.well-known/oauth-authorization-server/tenant1",
            "/.well-known/openid-configuration/tenant1",
            "/tenant1/.well-known/openid-configuration",
        ];
        check("https://as.example/tenant1", &tenant);
        check("https://as.example/tenant1/", &tenant);
        let root = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
        check("https://as.example", &root);
        check("https://as.example/", &root);
    }
}
