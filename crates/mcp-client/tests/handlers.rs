//! What servers ask of a client.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests are tests, too"
)]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Heard, Server, builder, connect, connect_to, everything, settle};
use mcp_client::host::RateLimit;
use mcp_client::v1::{BoxFuture, Decision, SamplingHandler, Wish};
use mcp_client::{Context, HandlerError, RootList};
use mcp_jsonrpc::{ErrorObject, RequestId};
use mcp_types::{
    CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitResult, OrderedMap, Role,
    Root, SamplingContent,
};
use serde_json::{Value, json};

fn says(text: &str) -> CreateMessageResult {
    CreateMessageResult::new(Role::Assistant, SamplingContent::text(text), "model")
}

fn prompt() -> Value {
    json!({
        "maxTokens": 9,
        "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
    })
}

fn form() -> Value {
    json!({
        "mode": "form",
        "message": "your name?",
        "requestedSchema": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer", "default": 7}},
            "required": ["name"],
        },
    })
}

fn url() -> Value {
    json!({"mode": "url", "message": "go", "url": "https://a/b", "elicitationId": "e1"})
}

async fn ask(server: &mut Server, method: &str, params: Value) -> Result<Value, ErrorObject> {
    server.ask(1, method, params).await;
    server.answered(1).await
}

// Shows: SAMPLING-005, SAMPLING-007, ELICIT-007, ELICIT-009, ROOTS-001
#[tokio::test]
async fn what_is_registered_is_what_is_declared() {
    struct Tools;
    impl SamplingHandler for Tools {
        fn create_message(
            &self,
            _: CreateMessageRequestParams,
            _: Context,
        ) -> BoxFuture<'_, Result<CreateMessageResult, HandlerError>> {
            Box::pin(async { Ok(says("x")) })
        }
        fn takes_tools(&self) -> bool {
            true
        }
    }
    let accept = |_, _| async { Ok(ElicitResult::new(ElicitAction::Accept)) };
    let accept_url = |_, _| async { Ok(ElicitResult::new(ElicitAction::Accept)) };
    let cases = [
        (builder(), json!({})),
        (builder().on_sampling(|_, _| async { Ok(says("x")) }), json!({"sampling": {}})),
        (builder().sampling(Tools), json!({"sampling": {"tools": {}}})),
        (builder().on_elicitation(accept), json!({"elicitation": {}})),
        (builder().on_url(accept_url), json!({"elicitation": {"url": {}}})),
        (
            builder().on_elicitation(accept).on_url(accept_url),
            json!({"elicitation": {"form": {}, "url": {}}}),
        ),
        (builder().roots(vec![Root::new("file:///a")]), json!({"roots": {}})),
        (builder().roots(RootList::default()), json!({"roots": {"listChanged": true}})),
        (
            builder().experimental("com.example/x", Default::default()),
            json!({"experimental": {"com.example/x": {}}}),
        ),
    ];
    for (builder, declared) in cases {
        let (link, mut server) = Server::pair();
        let (client, hello) =
            tokio::join!(builder.connect(link), server.greet("2025-11-25", everything()));
        client.unwrap();
        assert_eq!(hello["capabilities"], declared);
    }
}

// Shows: ROOTS-009
#[tokio::test]
async fn what_nobody_handles_is_an_unknown_method() {
    let (_client, mut server) = connect(builder()).await;
    for method in
        ["roots/list", "sampling/createMessage", "elicitation/create", "x/y", "tools/list"]
    {
        let error = ask(&mut server, method, json!({})).await.unwrap_err();
        assert_eq!(error.code, -32601, "{method}");
    }
}

#[tokio::test]
async fn a_model_answers() {
    let builder = builder().on_sampling(|request, cx| async move {
        assert_eq!(request.max_tokens, 9);
        assert_eq!(cx.client().server().name, "scripted");
        assert_eq!(cx.id(), Some(&RequestId::from(1)));
        Ok(says("hello"))
    });
    let (_client, mut server) = connect(builder).await;
    let answer = ask(&mut server, "sampling/createMessage", prompt()).await.unwrap();
    let wanted = json!({
        "role": "assistant", "model": "model", "content": {"type": "text", "text": "hello"},
    });
    assert_eq!(answer, wanted);
}

// Shows: SAMPLING-030, SAMPLING-031, SAMPLING-040, SAMPLING-041
#[tokio::test]
async fn a_sampling_request_that_breaks_a_rule_reaches_no_model() {
    let builder = builder().on_sampling(|_, _| async { panic!("nobody should get here") });
    let (_client, mut server) = connect(builder).await;
    let mut with_tools = prompt();
    with_tools["tools"] = json!([]);
    let mut with_choice = prompt();
    with_choice["toolChoice"] = json!({"mode": "auto"});
    let result = json!({"type": "tool_result", "toolUseId": "c", "content": []});
    let mut mixed = prompt();
    mixed["messages"][0]["content"] = json!([result, {"type": "text", "text": "a"}]);
    let mut open = prompt();
    open["messages"][0] = json!({
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c", "name": "t", "input": {}}],
    });
    for request in [with_tools, with_choice, mixed, open, json!({"messages": 1})] {
        let error = ask(&mut server, "sampling/createMessage", request.clone()).await.unwrap_err();
        assert_eq!(error.code, -32602, "{request}");
    }
}

// Shows: SAMPLING-039, ROOTS-010
#[tokio::test]
async fn a_refusal_and_a_failure_are_told_apart() {
    let builder = builder()
        .on_sampling(|_, _| async { Err(HandlerError::refused()) })
        .on_elicitation(|_, _| async { Err(HandlerError::refused()) })
        .roots(Failing);
    let (_client, mut server) = connect(builder).await;
    let refused = ask(&mut server, "sampling/createMessage", prompt()).await.unwrap_err();
    assert_eq!(refused.code, -1);
    let declined = ask(&mut server, "elicitation/create", form()).await;
    assert_eq!(declined, Ok(json!({"action": "decline"})));
    let failed = ask(&mut server, "roots/list", json!({})).await.unwrap_err();
    assert_eq!(failed.code, -32603);
    assert!(!failed.message.contains("secret"), "{failed}");
}

struct Failing;
impl mcp_client::v1::RootsProvider for Failing {
    fn roots(&self, _: Context) -> BoxFuture<'_, Result<Vec<Root>, HandlerError>> {
        Box::pin(async { Err(std::io::Error::other("secret"))? })
    }
}

#[tokio::test]
async fn a_handler_that_panics_costs_its_own_request_alone() {
    let builder = builder()
        .on_sampling(|request, _| {
            assert!(request.max_tokens != 9, "before it has begun");
            async { panic!("after it has begun") }
        })
        .on_log(|_| panic!("in a callback"))
        .on_tools_changed(|_| async { panic!("in a notice") });
    let (client, mut server) = connect(builder).await;
    for max_tokens in [9, 10] {
        let mut request = prompt();
        request["maxTokens"] = json!(max_tokens);
        let error = ask(&mut server, "sampling/createMessage", request).await.unwrap_err();
        assert_eq!(error.code, -32603);
    }
    server.tell("notifications/message", json!({"level": "info", "data": 1})).await;
    server.tell("notifications/tools/list_changed", json!({})).await;
    assert_eq!(ask(&mut server, "ping", json!({})).await, Ok(json!({})));
    assert!(!client.is_closed());
}

#[tokio::test]
async fn a_person_fills_in_a_form() {
    let builder = builder().on_elicitation(|question, _| async move {
        assert_eq!(question.message, "your name?");
        let mut answer = mcp_client::form::Form::of(&question.requested_schema).defaults();
        answer.set("name", "Ada".into());
        let mut result = ElicitResult::new(ElicitAction::Accept);
        result.content = Some(answer);
        Ok(result)
    });
    let (_client, mut server) = connect(builder).await;
    let answer = ask(&mut server, "elicitation/create", form()).await.unwrap();
    assert_eq!(answer, json!({"action": "accept", "content": {"age": 7, "name": "Ada"}}));
    // A server of an older revision says no mode.
    let mut older = form();
    older.as_object_mut().unwrap().remove("mode");
    assert!(ask(&mut server, "elicitation/create", older).await.is_ok());
}

// Shows: ELICIT-071
#[tokio::test]
async fn an_answer_that_does_not_fit_is_not_sent() {
    for content in [None, Some(json!({"name": 7})), Some(json!({"name": "a", "age": 1.5}))] {
        let builder = builder().on_elicitation(move |_, _| {
            let mut result = ElicitResult::new(ElicitAction::Accept);
            result.content = content.clone().map(|json| serde_json::from_value(json).unwrap());
            async { Ok(result) }
        });
        let (_client, mut server) = connect(builder).await;
        let error = ask(&mut server, "elicitation/create", form()).await.unwrap_err();
        assert_eq!(error.code, -32603);
    }
}

#[tokio::test]
async fn only_an_accepted_form_has_content() {
    let builder = builder().on_elicitation(|_, _| async {
        let mut result = ElicitResult::new(ElicitAction::Cancel);
        result.content = Some(OrderedMap::from([("name", "typed so far".into())]));
        Ok(result)
    });
    let (_client, mut server) = connect(builder).await;
    let answer = ask(&mut server, "elicitation/create", form()).await;
    assert_eq!(answer, Ok(json!({"action": "cancel"})));
}

// Shows: ELICIT-050
#[tokio::test]
async fn a_mode_that_was_not_declared_is_refused() {
    let accept = |_, _| async { Ok(ElicitResult::new(ElicitAction::Accept)) };
    let (_client, mut forms) = connect(builder().on_elicitation(accept)).await;
    assert_eq!(ask(&mut forms, "elicitation/create", url()).await.unwrap_err().code, -32602);
    let accept = |_, _| async { Ok(ElicitResult::new(ElicitAction::Accept)) };
    let (_client, mut urls) = connect(builder().on_url(accept)).await;
    assert_eq!(ask(&mut urls, "elicitation/create", form()).await.unwrap_err().code, -32602);
    let accepted = ask(&mut urls, "elicitation/create", url()).await;
    assert_eq!(accepted, Ok(json!({"action": "accept"})));
}

// Shows: ELICIT-022, ELICIT-024, ELICIT-028
#[tokio::test]
async fn a_url_is_done_once_and_only_if_it_was_agreed_to() {
    let done = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&done);
    let builder = builder()
        .on_url(|_, _| async { Ok(ElicitResult::new(ElicitAction::Accept)) })
        .on_elicitation_complete(move |id| {
            assert_eq!(id.as_str(), "e1");
            counted.fetch_add(1, Ordering::Relaxed);
        });
    let (_client, mut server) = connect(builder).await;
    let complete = async |server: &mut Server, id: &str| {
        server.tell("notifications/elicitation/complete", json!({"elicitationId": id})).await;
    };
    complete(&mut server, "e1").await;
    ask(&mut server, "elicitation/create", url()).await.unwrap();
    for id in ["other", "e1", "e1"] {
        complete(&mut server, id).await;
    }
    ask(&mut server, "ping", json!({})).await.unwrap();
    assert_eq!(done.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn whoever_approves_is_asked_first() {
    let builder = builder()
        .on_sampling(|_, _| async { Ok(says("x")) })
        .on_elicitation(|_, _| async { panic!("it was refused") })
        .roots(vec![Root::new("file:///a")])
        .approve_with(|wish, cx| async move {
            assert_eq!(cx.client().server().name, "scripted");
            match wish {
                Wish::Sampling(request) if request.max_tokens == 9 => Decision::Allow,
                _ => Decision::Refuse,
            }
        });
    let (_client, mut server) = connect(builder).await;
    ask(&mut server, "sampling/createMessage", prompt()).await.unwrap();
    let mut more = prompt();
    more["maxTokens"] = json!(1_000_000);
    let refused = ask(&mut server, "sampling/createMessage", more).await.unwrap_err();
    assert_eq!(refused.code, -1);
    let declined = ask(&mut server, "elicitation/create", form()).await;
    assert_eq!(declined, Ok(json!({"action": "decline"})));
    assert!(ask(&mut server, "roots/list", json!({})).await.is_err());
}

#[tokio::test]
async fn an_approver_that_panics_refuses() {
    let builder = builder()
        .on_sampling(|_, _| async { Ok(says("x")) })
        .approve_with(|_, _| async { panic!("nobody has decided") });
    let (_client, mut server) = connect(builder).await;
    let refused = ask(&mut server, "sampling/createMessage", prompt()).await.unwrap_err();
    assert_eq!(refused.code, -1);
}

#[tokio::test]
async fn a_notice_that_panicked_is_heard_again() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let builder = builder().on_prompts_changed(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { panic!("the first and the second time") }
    });
    let (_client, mut server) = connect(builder).await;
    for _ in 0..2 {
        server.tell("notifications/prompts/list_changed", json!({})).await;
        ask(&mut server, "ping", json!({})).await.unwrap();
    }
    assert_eq!(runs.load(Ordering::Relaxed), 2);
}

// Shows: ROOTS-003, ROOTS-005
#[tokio::test]
async fn servers_are_told_when_roots_change() {
    let roots = RootList::new([Root::new("file:///a")]);
    let (client, mut server) = connect(builder().roots(roots.clone())).await;
    let listed = ask(&mut server, "roots/list", json!({})).await.unwrap();
    assert_eq!(listed, json!({"roots": [{"uri": "file:///a"}]}));
    let changed = "notifications/roots/list_changed";
    roots.add(Root::new("file:///b"));
    server.told(changed).await;
    let mut renamed = Root::new("file:///b");
    renamed.name = Some("B".to_owned());
    roots.set([Root::new("file:///a"), renamed]);
    server.told(changed).await;
    roots.remove("file:///a");
    server.told(changed).await;
    // None of these changes anything.
    roots.remove("file:///a");
    roots.add(Root::new("file:///b"));
    settle().await;
    assert!(server.is_quiet());
    let listed = ask(&mut server, "roots/list", json!({})).await.unwrap();
    assert_eq!(listed, json!({"roots": [{"uri": "file:///b", "name": "B"}]}));
    drop(client);
    assert!(matches!(server.hear().await, Heard::Closed));
    roots.remove("file:///b");
}

// Shows: ROOTS-004
#[tokio::test]
async fn servers_that_were_not_promised_it_are_not_told() {
    let (client, mut server) = connect(builder().roots(vec![Root::new("file:///a")])).await;
    client.roots_changed();
    settle().await;
    assert!(server.is_quiet());
}

// Shows: ROOTS-012
#[tokio::test]
async fn roots_that_must_not_be_named_are_not() {
    for uri in ["file:///a/../../etc", "https://example.com"] {
        let (_client, mut server) = connect(builder().roots(vec![Root::new(uri)])).await;
        let error = ask(&mut server, "roots/list", json!({})).await.unwrap_err();
        assert_eq!(error.code, -32603);
        assert!(!error.message.contains("etc"), "{error}");
    }
}

// Shows: FC-046
#[tokio::test]
async fn an_answer_is_written_in_the_words_of_its_revision() {
    let list = || {
        let blocks = vec![mcp_types::TextContent::new("a").into(); 2];
        CreateMessageResult::new(Role::Assistant, SamplingContent::Many(blocks), "m")
    };
    let builder = || builder().on_sampling(move |_, _| async move { Ok(list()) });
    let (_client, mut server) = connect(builder()).await;
    let answer = ask(&mut server, "sampling/createMessage", prompt()).await.unwrap();
    assert_eq!(answer["content"].as_array().unwrap().len(), 2);
    let (_client, mut older) = connect_to(builder(), "2025-06-18", everything()).await;
    let error = ask(&mut older, "sampling/createMessage", prompt()).await.unwrap_err();
    assert_eq!(error.code, -32603);
}

// Shows: FC-025
#[tokio::test]
async fn a_handler_may_call_the_server_that_asks() {
    let builder = builder().on_elicitation(|_, cx| async move {
        let text = cx.client().call_tool("lookup").text().await?;
        let mut result = ElicitResult::new(ElicitAction::Accept);
        result.content = Some(OrderedMap::from([("name", text.into())]));
        Ok(result)
    });
    let (client, mut server) = connect(builder).await;
    let outer: Vec<_> =
        (0..10).map(|_| tokio::spawn(client.call_tool("outer").into_future())).collect();
    let mut outer_ids = Vec::new();
    for n in 0..10 {
        let (id, _) = server.asked("tools/call").await;
        outer_ids.push(id);
        server.ask(n, "elicitation/create", form()).await;
    }
    let (mut answered, mut inner) = (0, 0);
    while answered < 10 {
        match server.hear().await {
            Heard::Request(id, _, params) => {
                assert_eq!(params["name"], "lookup");
                inner += 1;
                let result = json!({"content": [{"type": "text", "text": "Ada"}]});
                server.answer(id, result).await;
            }
            Heard::Answer(_, outcome) => {
                assert_eq!(outcome.unwrap()["content"]["name"], "Ada");
                answered += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(inner, 10);
    for id in outer_ids {
        server.answer(id, json!({"content": []})).await;
    }
    for call in outer {
        call.await.unwrap().unwrap();
    }
}

// Shows: CANCEL-007
#[tokio::test]
async fn a_question_that_is_taken_back_is_not_answered() {
    let dropped = Arc::new(AtomicUsize::new(0));
    struct Count(Arc<AtomicUsize>);
    impl Drop for Count {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let counted = Arc::clone(&dropped);
    let builder = builder().on_elicitation(move |_, cx| {
        let count = Count(Arc::clone(&counted));
        async move {
            cx.cancelled().await;
            assert!(cx.is_cancelled());
            drop(count);
            std::future::pending().await
        }
    });
    let (_client, mut server) = connect(builder).await;
    server.ask(5, "elicitation/create", form()).await;
    settle().await;
    server.tell("notifications/cancelled", json!({"requestId": 5})).await;
    assert_eq!(ask(&mut server, "ping", json!({})).await, Ok(json!({})));
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_handlers_client_does_not_keep_the_conversation_open() {
    let builder = builder().on_elicitation(|_, cx| async move {
        let _client = cx.client().clone();
        std::future::pending().await
    });
    let (client, mut server) = connect(builder).await;
    server.ask(5, "elicitation/create", form()).await;
    settle().await;
    drop(client);
    assert!(matches!(server.hear().await, Heard::Closed));
}

#[tokio::test]
async fn log_messages_and_updates_reach_the_host() {
    let (send, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let (logs, updates) = (send.clone(), send);
    let builder = builder()
        .on_log(move |message| {
            logs.send(format!("{} {}", message.level.as_str(), message.data)).unwrap();
        })
        .on_resource_updated(move |uri, client| {
            updates.send(format!("{uri} of {}", client.server().name)).unwrap();
            async {}
        });
    let (_client, mut server) = connect(builder).await;
    server.tell("notifications/message", json!({"level": "warning", "data": {"a": 1}})).await;
    server.tell("notifications/message", json!({"level": "no level", "data": 1})).await;
    server.tell("notifications/resources/updated", json!({"uri": "a:b"})).await;
    server.tell("notifications/of/the/future", json!({})).await;
    ask(&mut server, "ping", json!({})).await.unwrap();
    let mut all = Vec::new();
    while let Ok(one) = heard.try_recv() {
        all.push(one);
    }
    assert_eq!(all, [r#"warning {"a":1}"#, "a:b of scripted"]);
}

// Shows: FC-015
#[tokio::test]
async fn a_notification_that_nobody_knows_is_handed_on_as_it_came() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let listening = builder().on_other_notification(move |notification| {
        let params = notification.params.map(|params| params.to_string());
        sink.lock().unwrap().push((notification.method.as_str().to_owned(), params));
        assert_ne!(notification.method, "panics", "it costs nothing else");
    });
    for builder in [listening, builder()] {
        let (client, mut server) = connect(builder).await;
        server.tell("notifications/stderr", json!({"content": "hello"})).await;
        server.tell("panics", json!({})).await;
        server.tell("data", json!({"x": 1})).await;
        server.mention("$/vendor").await;
        // What a revision has is nobody else's, and a request that none has is refused.
        server.tell("notifications/roots/list_changed", json!({})).await;
        server.ask(7, "vendor/request", json!({})).await;
        assert_eq!(server.answered(7).await.unwrap_err().code, -32601);
        let ping = async {
            let (id, _) = server.asked("ping").await;
            server.answer(id, json!({})).await;
        };
        let (alive, ()) = tokio::join!(client.ping().into_future(), ping);
        alive.unwrap();
        assert!(server.is_quiet());
    }
    let seen = seen.lock().unwrap();
    let seen: Vec<_> = seen.iter().map(|(name, params)| (&**name, params.as_deref())).collect();
    assert_eq!(
        seen,
        [
            ("notifications/stderr", Some(r#"{"content":"hello"}"#)),
            ("panics", Some("{}")),
            ("data", Some(r#"{"x":1}"#)),
            ("$/vendor", None),
        ]
    );
}

// Shows: FC-002, FC-013, FC-014
#[tokio::test]
async fn an_error_of_no_request_is_told_and_settles_nothing() {
    let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let builder = builder().on_server_error(move |error| {
        drop(sender.send((error.code, error.message.into_owned())));
        assert_ne!(error.code, -32700, "a panic costs nothing else");
    });
    let (client, mut server) = connect(builder).await;
    let script = async {
        let (id, _) = server.asked("ping").await;
        server.complain(ErrorObject::new(-32700, "Parse error")).await;
        let unknown = "Method not found: notifications/initialized";
        server.complain(ErrorObject::new(-32601, unknown)).await;
        server.answer(id, json!({})).await;
    };
    let (alive, ()) = tokio::join!(client.ping().into_future(), script);
    alive.unwrap();
    assert_eq!(heard.recv().await, Some((-32700, "Parse error".to_owned())));
    assert_eq!(heard.recv().await.map(|(code, _)| code), Some(-32601));
    assert!(!client.is_closed());
}

// Shows: SAMPLING-045, ELICIT-055
#[tokio::test(start_paused = true)]
async fn what_comes_too_often_does_not_reach_its_handler() {
    let seen = Arc::new(AtomicUsize::new(0));
    let (models, people) = (Arc::clone(&seen), Arc::clone(&seen));
    let limit = RateLimit::new(2, Duration::from_secs(10));
    let builder = builder()
        .approver(limit.then(|_: Wish, _: Context| async { Decision::Allow }))
        .on_sampling(move |_, _| {
            models.fetch_add(1, Ordering::Relaxed);
            async { Err(HandlerError::refused()) }
        })
        .on_elicitation(move |_, _| {
            people.fetch_add(1, Ordering::Relaxed);
            async { Ok(ElicitResult::new(ElicitAction::Cancel)) }
        });
    let (_client, mut server) = connect(builder).await;
    let question = json!({
        "message": "?", "requestedSchema": {"type": "object", "properties": {}},
    });
    let mut id = 0;
    for (wait, reached) in [(0, 1), (0, 2), (0, 2), (10, 3), (0, 3), (20, 4), (0, 5), (0, 5)] {
        tokio::time::sleep(Duration::from_secs(wait)).await;
        id += 1;
        server.ask(id, "elicitation/create", question.clone()).await;
        let answer = server.answered(id).await.unwrap();
        let before = seen.load(Ordering::Relaxed);
        assert_eq!(before, reached);
        assert!(answer["action"] == "cancel" || answer["action"] == "decline");
    }
    // The model has an allowance of its own.
    server.ask(100, "sampling/createMessage", json!({"messages": [], "maxTokens": 1})).await;
    assert!(server.answered(100).await.is_err());
    assert_eq!(seen.load(Ordering::Relaxed), 6);
}
