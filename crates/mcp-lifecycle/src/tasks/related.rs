use mcp_jsonrpc::{Outgoing, RawJson};
use mcp_types::{JsonObject, Meta, RelatedTaskMetadata, TaskId};

/// Says in the `_meta` of parameters to which task they belong, beside what is there.
///
/// Specification: [associating task-related messages](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#associating-task-related-messages).
///
/// # Errors
///
/// When they are no object.
pub fn relate(params: Option<&RawJson>, task: &TaskId) -> Result<RawJson, serde_json::Error> {
    let mut members: JsonObject = match params {
        Some(params) => params.parse()?,
        None => JsonObject::new(),
    };
    put(&mut members, task)?;
    RawJson::from_serialize(&members)
}

/// The same for a result.
///
/// # Errors
///
/// When it is no object.
pub fn relate_result(result: &RawJson, task: &TaskId) -> Result<RawJson, serde_json::Error> {
    relate(Some(result), task)
}

fn put(members: &mut JsonObject, task: &TaskId) -> Result<(), serde_json::Error> {
    let meta = members.get("_meta").map(mcp_types::JsonValue::to::<Meta>).transpose();
    // What is no object is no `_meta`.
    let meta = meta.ok().flatten().unwrap_or_default();
    let meta = meta.with_related_task(&RelatedTaskMetadata::new(task.clone()));
    members.insert("_meta", &meta).map(drop)
}

/// The same for a notification that is written already.
pub(super) fn relate_notification(
    notification: &Outgoing,
    task: &TaskId,
) -> Result<Option<Outgoing>, serde_json::Error> {
    let Some(method) = notification.method() else { return Ok(None) };
    let params = notification.body();
    let mut members =
        if params.is_empty() { JsonObject::new() } else { serde_json::from_slice(&params)? };
    put(&mut members, task)?;
    let params = RawJson::from_serialize(&members)?;
    Ok(Some(Outgoing::notification_raw(method.clone(), Some(&params))))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: TASK-053
    #[test]
    fn what_was_in_meta_stays_there() {
        let task = TaskId::from("t1");
        let params = RawJson::new(r#"{"a":1,"_meta":{"progressToken":7}}"#).unwrap();
        let related = relate(Some(&params), &task).unwrap();
        assert_eq!(
            related.as_str(),
            r#"{"a":1,"_meta":{"progressToken":7,"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}"#
        );
        let bare = relate(None, &task).unwrap();
        assert_eq!(
            bare.as_str(),
            r#"{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}"#
        );
        assert!(relate(Some(&RawJson::new("[]").unwrap()), &task).is_err());
    }

    #[test]
    fn a_written_notification_is_related_too() {
        let task = TaskId::from("t1");
        let bare = Outgoing::notification_raw("notifications/x".into(), None);
        let related = relate_notification(&bare, &task).unwrap().unwrap();
        let frame: serde_json::Value = serde_json::from_slice(related.frame()).unwrap();
        assert_eq!(frame["method"], "notifications/x");
        let meta = &frame["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/related-task"]["taskId"], "t1");
    }
}
