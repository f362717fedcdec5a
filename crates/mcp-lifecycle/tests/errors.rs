//! Meanings and codes, in both directions.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::disallowed_types,
    reason = "a test may fail, and its tools may share"
)]

use std::fmt::Write as _;

use expect_test::expect;
use mcp_jsonrpc::ErrorObject;
use mcp_lifecycle::{from_error, to_error};
use mcp_types::error_code::{Meaning, may_be_sent};
use mcp_types::{ClientCapabilities, ElicitRequestUrlParams, Revision, SamplingCapability};

fn meanings() -> Vec<Meaning> {
    vec![
        Meaning::ParseError,
        Meaning::InvalidRequest,
        Meaning::UnknownMethod,
        Meaning::InvalidParams,
        Meaning::Internal,
        Meaning::ResourceMissing { uri: "file:///a".into() },
        Meaning::CapabilityMissing(
            ClientCapabilities::new().with_sampling(SamplingCapability::new()),
        ),
        Meaning::VersionUnsupported {
            requested: "1999-01-01".to_owned(),
            supported: vec![Revision::V2025_11_25, Revision::V2025_06_18],
        },
        Meaning::HeaderMismatch { header: "Mcp-Method".to_owned() },
        Meaning::OpenUrlFirst(vec![ElicitRequestUrlParams::new("sign in", "https://a.example/")]),
        Meaning::SamplingRefused,
        Meaning::Custom(7),
        Meaning::Custom(-32005),
        Meaning::Custom(-32050),
        Meaning::Custom(-32200),
    ]
}

// Shows: BASE-024
#[test]
fn every_meaning_in_every_revision() {
    let mut table = String::new();
    for meaning in meanings() {
        let _ = writeln!(table, "{meaning:.0?}");
        let mut last = String::new();
        for revision in Revision::ALL {
            let error = to_error(&meaning, revision);
            assert!(may_be_sent(error.code, revision), "{error} to {revision}");
            let data = error.data.as_ref().map_or("-", |data| data.get());
            let row = format!("{} {:?} {data}", error.code, error.message);
            if row != last {
                let _ = writeln!(table, "  from {revision} {row}");
                last = row;
            }
        }
    }
    expect![[r#"
        ParseError
          from 2024-11-05 -32700 "this is not JSON" -
        InvalidRequest
          from 2024-11-05 -32600 "invalid request" -
        UnknownMethod
          from 2024-11-05 -32601 "method not found" -
        InvalidParams
          from 2024-11-05 -32602 "invalid params" -
        Internal
          from 2024-11-05 -32603 "internal error" -
        ResourceMissing { uri: "file:///a" }
          from 2024-11-05 -32002 "resource not found" {"uri":"file:///a"}
          from 2026-07-28 -32602 "resource not found" {"uri":"file:///a"}
        CapabilityMissing(ClientCapabilities { elicitation: None, experimental: None, extensions: None, roots: None, sampling: Some(SamplingCapability { context: None, tools: None, extra: {} }), tasks: None, extra: {} })
          from 2024-11-05 -32600 "the client lacks a capability that this takes" {"requiredCapabilities":{"sampling":{}}}
          from 2026-07-28 -32021 "the client lacks a capability that this takes" {"requiredCapabilities":{"sampling":{}}}
        VersionUnsupported { requested: "1999-01-01", supported: [V2025_11_25, V2025_06_18] }
          from 2024-11-05 -32602 "Unsupported protocol version; supported: 2025-11-25, 2025-06-18" {"requested":"1999-01-01","supported":["2025-11-25","2025-06-18"]}
          from 2026-07-28 -32022 "Unsupported protocol version; supported: 2025-11-25, 2025-06-18" {"requested":"1999-01-01","supported":["2025-11-25","2025-06-18"]}
        HeaderMismatch { header: "Mcp-Method" }
          from 2024-11-05 -32600 "the header Mcp-Method doesn't fit the message" -
          from 2026-07-28 -32020 "the header Mcp-Method doesn't fit the message" -
        OpenUrlFirst([ElicitRequestUrlParams { message: "sign in", url: "https://a.example/", elicitation_id: None, task: None, meta: None, extra: {} }])
          from 2024-11-05 -32603 "this has to be opened first: https://a.example/" -
          from 2025-11-25 -32042 "a URL has to be opened first" {"elicitations":[{"mode":"url","message":"sign in","url":"https://a.example/"}]}
          from 2026-07-28 -32603 "this has to be opened first: https://a.example/" -
        SamplingRefused
          from 2024-11-05 -1 "the user refused the request" -
        Custom(7)
          from 2024-11-05 7 "error" -
        Custom(-32005)
          from 2024-11-05 -32005 "error" -
        Custom(-32050)
          from 2024-11-05 -32603 "internal error" -
        Custom(-32200)
          from 2024-11-05 -32603 "internal error" -
    "#]].assert_eq(&table);
}

#[test]
fn what_a_code_can_say_comes_back() {
    for revision in Revision::ALL {
        for meaning in meanings() {
            let stateless = revision == Revision::V2026_07_28;
            let back = from_error(&to_error(&meaning, revision), revision);
            let lost = match &meaning {
                // The legacy codes say less.
                Meaning::CapabilityMissing(_) if !stateless => Meaning::InvalidRequest,
                Meaning::HeaderMismatch { .. } if !stateless => Meaning::InvalidRequest,
                // The name of the header is for people alone.
                Meaning::HeaderMismatch { .. } => Meaning::HeaderMismatch { header: String::new() },
                Meaning::OpenUrlFirst(_) if revision != Revision::V2025_11_25 => Meaning::Internal,
                Meaning::Custom(-32050 | -32200) => Meaning::Internal,
                _ => meaning,
            };
            assert_eq!(back, lost, "{revision}");
        }
    }
}

#[test]
fn a_code_without_its_data_means_nothing_special() {
    let read = |code: i64, data: Option<&str>| {
        let mut error = ErrorObject::new(code, "x");
        if let Some(data) = data {
            let data: serde_json::Value = serde_json::from_str(data).unwrap();
            error = error.with_data_from(&data);
        }
        from_error(&error, Revision::V2026_07_28)
    };
    for code in [-32022, -32021, -32042] {
        for data in [None, Some("{}"), Some("[]"), Some(r#"{"supported":"all"}"#)] {
            assert_eq!(read(code, data), Meaning::Custom(code), "{code} {data:?}");
        }
    }
    assert_eq!(read(-32602, Some(r#"{"uri":7}"#)), Meaning::InvalidParams);
    assert_eq!(read(-32602, None), Meaning::InvalidParams);
    assert_eq!(read(-32002, None), Meaning::ResourceMissing { uri: "".into() });
}

#[test]
fn a_missing_resource_is_understood_by_either_code() {
    for revision in Revision::ALL {
        for code in [-32002, -32602] {
            let error = ErrorObject::new(code, "x")
                .with_data_from(&serde_json::json!({"uri": "file:///a"}));
            let expected = Meaning::ResourceMissing { uri: "file:///a".into() };
            assert_eq!(from_error(&error, revision), expected);
        }
    }
}
