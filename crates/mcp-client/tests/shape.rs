//! What types promise: that they cross threads, and that futures do.

use mcp_client::{
    Builder, Call, Calling, Client, ClientError, CompleteCall, ConnectError, Connecting, Context,
    Driving, HandlerError, ListCall, Listing, PageCall, Progress, PromptCall, RootList, ToolCall,
    ToolCalling, ToolValue,
};
use mcp_types::{GetPromptResult, Tool};

const fn crosses_threads<T: Send + 'static>() {}
const fn is_shared<T: Send + Sync + 'static>() {}

#[test]
fn everything_crosses_threads() {
    is_shared::<Client>();
    is_shared::<Context>();
    is_shared::<ClientError>();
    is_shared::<ConnectError>();
    is_shared::<HandlerError>();
    is_shared::<Listing<Tool>>();
    is_shared::<Progress>();
    is_shared::<RootList>();
    crosses_threads::<Builder>();
    crosses_threads::<Connecting>();
    crosses_threads::<Driving>();
    crosses_threads::<Call<'static, GetPromptResult>>();
    crosses_threads::<Calling<'static, GetPromptResult>>();
    crosses_threads::<ToolCall<'static>>();
    crosses_threads::<ToolCalling<'static>>();
    crosses_threads::<ToolValue<'static, String>>();
    crosses_threads::<PromptCall<'static>>();
    crosses_threads::<CompleteCall<'static>>();
    crosses_threads::<ListCall<Tool>>();
    crosses_threads::<PageCall<Tool>>();
}

#[test]
fn a_call_is_small() {
    // It is moved about before it is awaited, and there may be a thousand of them.
    assert!(size_of::<Calling<'static, GetPromptResult>>() <= 512);
    assert!(size_of::<ToolCall<'static>>() <= 384);
    assert!(size_of::<ClientError>() <= 128);
}
