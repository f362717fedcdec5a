//! The contract suites, on what keeps the contracts and on what doesn't.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::disallowed_types,
    reason = "a test may fail, and its tools may share"
)]

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::script::now;
use common::whole_server;
use mcp_jsonrpc::service::v1::{BoxFuture, Inbound, Replies, Reply, Service};
use mcp_lifecycle::testing::{
    BareServer, ManualClock, SeededIds, clock_suite, id_source_suite, schema_validator_suite,
    service_suite,
};
use mcp_lifecycle::v1::{
    Clock, IdSource, McpService, NoRandomness, SchemaError, SchemaValidator, Validator, Violation,
};
use mcp_lifecycle::{Profile, Unchecked};
use mcp_types::ServerCapabilities;

fn breaks(suite: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(suite)).is_err()
}

/// An engine behind the boundary.
struct Engine;

struct Compiled(jsonschema::Validator);

impl SchemaValidator for Engine {
    fn compile(&self, schema: &str) -> Result<Arc<dyn Validator>, SchemaError> {
        let schema: serde_json::Value =
            serde_json::from_str(schema).map_err(SchemaError::invalid)?;
        let compiled = jsonschema::draft202012::options()
            .offline()
            .build(&schema)
            .map_err(|error| SchemaError::invalid(error.to_owned()))?;
        Ok(Arc::new(Compiled(compiled)))
    }
}

impl Validator for Compiled {
    fn validate(&self, instance: &str) -> Vec<Violation> {
        let Ok(instance) = serde_json::from_str(instance) else {
            return vec![Violation::new("", "not JSON")];
        };
        let errors = self.0.iter_errors(&instance).take(Violation::MAX);
        errors
            .map(|error| Violation::new(error.instance_path().to_string(), error.to_string()))
            .collect()
    }
}

#[test]
fn a_validator_keeps_its_contract_and_none_does_not() {
    schema_validator_suite(&Engine);
    schema_validator_suite(&Arc::new(Engine));
    assert!(breaks(|| schema_validator_suite(&Unchecked)), "it validates nothing, and says so");
}

#[test]
fn a_clock_keeps_its_contract() {
    struct Impatient(ManualClock);
    impl Clock for Impatient {
        fn now(&self) -> Instant {
            self.0.now()
        }
        fn sleep_until(&self, _: Instant) -> BoxFuture<'static, ()> {
            Box::pin(std::future::ready(()))
        }
    }
    let clock = ManualClock::new();
    clock_suite(&clock);
    assert!(breaks(|| clock_suite(&Impatient(clock.clone()))));

    let mut sleep = clock.sleep_until(clock.now() + Duration::from_secs(2));
    assert!(common::script::until_idle(sleep.as_mut()).is_none());
    clock.advance(Duration::from_secs(1));
    assert!(common::script::until_idle(sleep.as_mut()).is_none());
    clock.advance(Duration::from_secs(1));
    now(sleep);
}

#[test]
fn a_source_of_ids_keeps_its_contract() {
    struct Stuck;
    impl IdSource for Stuck {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
            bytes.fill(4);
            Ok(())
        }
    }
    struct Dry;
    impl IdSource for Dry {
        fn fill(&self, _: &mut [u8]) -> Result<(), NoRandomness> {
            Err(NoRandomness::new(std::io::Error::other("dry")))
        }
    }
    id_source_suite(&SeededIds::new(7));
    assert!(breaks(|| id_source_suite(&Stuck)));
    let error = Dry.id().unwrap_err();
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "dry");
    let ids = |seed| (0..3).map(|_| SeededIds::new(seed).id().unwrap()).collect::<Vec<_>>();
    assert_eq!(ids(1), ids(1));
    assert_ne!(ids(1), ids(2));
}

/// Declares more than its profile says.
struct Boaster(BareServer);

impl Service for Boaster {
    fn call(&self, inbound: Inbound, replies: Replies) -> impl Future<Output = Reply> + Send {
        self.0.call(inbound, replies)
    }
}

impl McpService for Boaster {
    fn profile(&self) -> Arc<Profile> {
        Arc::default()
    }
}

// Shows: BASE-001, LIFE-006, LIFE-025, PING-001, PING-005
#[test]
fn a_server_keeps_its_contract() {
    now(service_suite(&BareServer::new(Profile::new(ServerCapabilities::new()))));
    now(service_suite(&Arc::new(BareServer::new(Profile::new(whole_server())))));
    let boaster = Boaster(BareServer::new(Profile::new(whole_server())));
    assert!(breaks(|| now(service_suite(&boaster))));
}
