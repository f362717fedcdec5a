use bytes::Bytes;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW,
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Response, StatusCode};
use url::Url;

use crate::well_known;

/// The metadata document of a resource, with the paths at which it is served.
#[derive(Clone, Debug)]
pub(super) struct DocumentRoute {
    paths: Vec<String>,
    document: Bytes,
}

impl DocumentRoute {
    /// `document` for the endpoint `url`, at its path form and, where `at_root` says so, at the
    /// root form.
    pub(super) fn new(url: &Url, at_root: bool, document: &serde_json::Value) -> Self {
        let mut bare = url.clone();
        bare.set_query(None);
        let mut paths: Vec<String> = well_known::protected_resource(&bare)
            .into_iter()
            .map(|url| url.path().to_owned())
            .collect();
        if bare.path() != "/" && !at_root {
            paths.pop();
        }
        // With and without a last slash, whichever clients put in.
        let slashed: Vec<String> = paths
            .iter()
            .filter(|path| !path.ends_with('/'))
            .map(|path| format!("{path}/"))
            .filter(|path| !paths.contains(path))
            .collect();
        paths.extend(slashed);
        Self { paths, document: Bytes::from(document.to_string()) }
    }

    /// The answer for a request, or `None` when its path is not one of ours.
    pub(super) fn answer(&self, method: &Method, path: &str) -> Option<Response<Bytes>> {
        if !self.paths.iter().any(|known| known == path) {
            return None;
        }
        let mut response = Response::new(Bytes::new());
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        match *method {
            Method::GET | Method::HEAD => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                headers.insert(CACHE_CONTROL, HeaderValue::from_static("max-age=300"));
                headers.insert(CONTENT_LENGTH, HeaderValue::from(self.document.len()));
                if *method == Method::GET {
                    *response.body_mut() = self.document.clone();
                }
            }
            Method::OPTIONS => {
                headers.insert(
                    ACCESS_CONTROL_ALLOW_METHODS,
                    HeaderValue::from_static("GET, HEAD, OPTIONS"),
                );
                headers.insert(
                    ACCESS_CONTROL_ALLOW_HEADERS,
                    HeaderValue::from_static("Accept, MCP-Protocol-Version"),
                );
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
            _ => {
                headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD, OPTIONS"));
                *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            }
        }
        Some(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(url: &str, at_root: bool) -> DocumentRoute {
        DocumentRoute::new(
            &Url::parse(url).unwrap(),
            at_root,
            &serde_json::json!({"resource": url}),
        )
    }

    // Shows: RS-PD-1, RS-PD-2, AUTH-SERVER-006, AUTH-SERVER-007
    #[test]
    fn the_document_is_at_the_path_form_and_at_the_root_form() {
        let get = |route: &DocumentRoute, path: &str| route.answer(&Method::GET, path).is_some();
        let both = route("https://h.example/a/mcp", true);
        for path in ["", "/", "/a/mcp", "/a/mcp/"] {
            assert!(get(&both, &format!("/.well-known/oauth-protected-resource{path}")), "{path}");
        }
        for path in [
            "/a/mcp",
            "/.well-known/oauth-protected-resource/a",
            "/.well-known/oauth-protected-resource/a/mcpx",
        ] {
            assert!(!get(&both, path), "{path}");
        }
        let one = route("https://h.example/a/mcp", false);
        assert!(!get(&one, "/.well-known/oauth-protected-resource"));
        assert!(get(&one, "/.well-known/oauth-protected-resource/a/mcp"));
        assert!(get(&route("https://h.example", false), "/.well-known/oauth-protected-resource"));
    }

    // Shows: RS-PD-1
    #[test]
    fn any_page_may_read_it_and_nothing_else_may_be_done() {
        let route = route("https://h.example/mcp", true);
        let ask = |method: Method| {
            route.answer(&method, "/.well-known/oauth-protected-resource/mcp").unwrap()
        };
        let got = ask(Method::GET);
        assert_eq!(got.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
        assert_eq!(got.headers()[CONTENT_TYPE], "application/json");
        assert!(!got.body().is_empty() && ask(Method::HEAD).body().is_empty());
        assert_eq!(ask(Method::OPTIONS).status(), StatusCode::NO_CONTENT);
        assert_eq!(ask(Method::POST).status(), StatusCode::METHOD_NOT_ALLOWED);
    }
}
