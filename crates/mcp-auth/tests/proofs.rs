//! Proofs of possession, as a protected server checks them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests may panic like tests"
)]

mod support;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use hyper::{HeaderMap, StatusCode};
use mcp_auth::jose::PrivateKey;
use mcp_auth::server::DpopRules;
use mcp_transport_http::v1::{Admission, Guard as _, Refusal};
use serde_json::{Value, json};
use support::{AS, MCP, World, head_with};

const NOW: u64 = 1_800_000_000;

struct Bench {
    world: World,
    key: PrivateKey,
    token: String,
}

impl Bench {
    fn new(change: impl FnOnce(&mut DpopRules)) -> Self {
        let mut rules = DpopRules::default();
        change(&mut rules);
        let world = World::with_server(|builder| builder.proof_of_possession(rules));
        let key = PrivateKey::generate().unwrap();
        let token = Self::token(&world, &json!({"jkt": key.public().thumbprint().as_str()}));
        Self { world, key, token }
    }

    fn token(world: &World, confirmation: &Value) -> String {
        let claims = json!({
            "iss": AS, "aud": MCP, "sub": "alice", "exp": NOW + 600, "cnf": confirmation,
        });
        world.authority.sign(&json!({"typ": "at+jwt"}), &claims).unwrap()
    }

    fn claims(&self) -> Value {
        use ring::digest::{SHA256, digest};
        let hash = digest(&SHA256, self.token.as_bytes());
        static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let id = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        json!({
            "jti": format!("proof-{id}"), "htm": "POST", "htu": MCP, "iat": NOW,
            "ath": URL_SAFE_NO_PAD.encode(hash.as_ref()),
        })
    }

    fn header(&self) -> Value {
        json!({"typ": "dpop+jwt", "alg": "ES256", "jwk": self.key.public().to_jwk()})
    }

    fn proof(&self) -> String {
        self.key.sign_token(&self.header(), &self.claims()).unwrap()
    }

    async fn ask(&self, scheme: &str, proofs: &[&str]) -> Result<Admission, Refusal> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, format!("{scheme} {}", self.token).parse().unwrap());
        for proof in proofs {
            headers.append("dpop", proof.parse().unwrap());
        }
        self.world.server().admit(&head_with(&headers)).await
    }

    async fn refused(&self, proofs: &[&str], why: &str) {
        let refusal = self.ask("DPoP", proofs).await.unwrap_err();
        assert_eq!(refusal.status, StatusCode::UNAUTHORIZED, "{why}");
        let told = refusal.headers[WWW_AUTHENTICATE].to_str().unwrap();
        assert!(told.starts_with("DPoP ") && told.contains("error="), "{why}: {told}");
    }
}

// Shows: RS-DV-1, RS-DV-5
#[tokio::test]
async fn a_proof_that_is_wrong_in_any_way_does_not_count() {
    let bench = Bench::new(|_| {});
    bench.ask("DPoP", &[&bench.proof()]).await.unwrap();
    bench.refused(&[], "no proof").await;
    bench.refused(&[&bench.proof(), &bench.proof()], "two proofs").await;
    bench.refused(&["not.a.jwt"], "no JWT").await;
    for (name, value) in [
        ("jti", Value::Null),
        ("jti", json!("")),
        ("jti", json!("x".repeat(300))),
        ("htm", Value::Null),
        ("htm", json!("GET")),
        ("htu", Value::Null),
        ("htu", json!("https://other.example/mcp")),
        ("htu", json!("https://mcp.example/mcp/x")),
        ("htu", json!("https://mcp.example/mcp?x=1")),
        ("iat", Value::Null),
        ("iat", json!("now")),
        ("iat", json!(NOW - 303)),
        ("iat", json!(NOW + 303)),
        ("ath", Value::Null),
        ("ath", json!("AAAA")),
    ] {
        let mut claims = bench.claims();
        claims[name] = value.clone();
        let proof = bench.key.sign_token(&bench.header(), &claims).unwrap();
        bench.refused(&[&proof], &format!("{name} {value}")).await;
    }
    let mut private = bench.key.public().to_jwk();
    private["d"] = json!("AAAA");
    for (name, value) in [
        ("typ", json!("JWT")),
        ("typ", Value::Null),
        ("alg", json!("none")),
        ("alg", json!("HS256")),
        ("jwk", Value::Null),
        ("jwk", private),
    ] {
        let mut header = bench.header();
        header[name] = value.clone();
        let proof = bench.key.sign_token(&header, &bench.claims()).unwrap();
        bench.refused(&[&proof], &format!("{name} {value}")).await;
    }
    let mut changed = bench.proof();
    changed.replace_range(changed.len() - 4.., "AAAA");
    bench.refused(&[&changed], "another signature").await;
    for near in [NOW - 299, NOW + 299] {
        let mut claims = bench.claims();
        claims["iat"] = json!(near);
        let proof = bench.key.sign_token(&bench.header(), &claims).unwrap();
        bench.ask("DPoP", &[&proof]).await.unwrap();
    }
    let mut claims = bench.claims();
    claims["htu"] = json!("HTTPS://MCP.example:443/mcp");
    let proof = bench.key.sign_token(&bench.header(), &claims).unwrap();
    bench.ask("DPoP", &[&proof]).await.unwrap();
}

// Shows: RS-DV-1, RS-DV-2, RS-DV-3
#[tokio::test]
async fn stolen_token_and_stolen_proof() {
    let bench = Bench::new(|_| {});
    // The token with a key of the thief's.
    let thief = PrivateKey::generate().unwrap();
    let header = json!({"typ": "dpop+jwt", "alg": "ES256", "jwk": thief.public().to_jwk()});
    let proof = thief.sign_token(&header, &bench.claims()).unwrap();
    bench.refused(&[&proof], "another key").await;
    // The token as a bearer token, with or without a proof.
    for proofs in [&[][..], &[&*bench.proof()][..]] {
        let refusal = bench.ask("Bearer", proofs).await.unwrap_err();
        assert_eq!(refusal.status, StatusCode::UNAUTHORIZED);
    }
    // The proof a second time.
    let proof = bench.proof();
    bench.ask("DPoP", &[&proof]).await.unwrap();
    bench.refused(&[&proof], "the same proof").await;
}

// Shows: RS-DV-3, RS-CR-3
#[tokio::test]
async fn unbound_tokens_are_bearer_tokens_and_no_more() {
    let mut bench = Bench::new(|_| {});
    let claims = json!({"iss": AS, "aud": MCP, "sub": "alice", "exp": NOW + 600});
    bench.token = bench.world.authority.sign(&json!({}), &claims).unwrap();
    bench.ask("Bearer", &[]).await.unwrap();
    bench.ask("Bearer", &[&bench.proof()]).await.unwrap();
    bench.refused(&[&bench.proof()], "an unbound token that claims to be bound").await;
    let mut strict = Bench::new(|rules| rules.required = true);
    strict.token = bench.token.clone();
    assert_eq!(strict.ask("Bearer", &[]).await.unwrap_err().status, StatusCode::UNAUTHORIZED);
    // Without proof of possession a bound token is of no use at all.
    let plain = World::new();
    let mut headers = HeaderMap::new();
    let token = Bench::token(&plain, &json!({"jkt": "x"}));
    for scheme in ["Bearer", "DPoP"] {
        headers.insert(AUTHORIZATION, format!("{scheme} {token}").parse().unwrap());
        assert!(plain.server().admit(&head_with(&headers)).await.is_err());
    }
}

// Shows: RS-DV-4
#[tokio::test]
async fn a_missing_nonce_is_asked_for_and_then_taken() {
    let bench = Bench::new(|rules| rules.nonces = true);
    let refusal = bench.ask("DPoP", &[&bench.proof()]).await.unwrap_err();
    let told = refusal.headers[WWW_AUTHENTICATE].to_str().unwrap();
    assert!(told.contains("error=\"use_dpop_nonce\""), "{told}");
    let nonce = refusal.headers["dpop-nonce"].to_str().unwrap().to_owned();
    let mut claims = bench.claims();
    claims["nonce"] = json!(nonce);
    let proof = bench.key.sign_token(&bench.header(), &claims).unwrap();
    bench.ask("DPoP", &[&proof]).await.unwrap();
    claims = bench.claims();
    claims["nonce"] = json!("made-up");
    let proof = bench.key.sign_token(&bench.header(), &claims).unwrap();
    bench.refused(&[&proof], "a nonce of one's own").await;
}
