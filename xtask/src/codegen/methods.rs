//! The method table → Rust.

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use serde::Deserialize;

use super::{
    choices::pascal_case,
    emit::doc,
    model::{Body, Types},
    wording::User,
};

/// `methods.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    method: Vec<Method>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Method {
    name: String,
    kind: Kind,
    direction: Direction,
    params: String,
    result: Option<String>,
    marker: String,
    needs: Option<Need>,
    needs_since: Option<String>,
    since: Option<String>,
    until: Option<String>,
    #[serde(default)]
    idempotent: bool,
    #[serde(default)]
    cacheable: bool,
    #[serde(default)]
    input: bool,
    named_by: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Request,
    Notification,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
enum Direction {
    #[serde(rename = "c2s")]
    ClientToServer,
    #[serde(rename = "s2c")]
    ServerToClient,
    #[serde(rename = "both")]
    Both,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Need {
    of: Of,
    path: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Of {
    Sender,
    Receiver,
}

/// Writes `methods.rs`.
pub(crate) fn emit(table: &Table, types: &Types, wording: &mut User<'_>) -> anyhow::Result<String> {
    let mut out = format!("//! {}\n\n", wording.get("area", "methods"));
    out.push_str(
        "use crate::{method::{CapabilityNeed, Direction, MethodKind, Needs, Notification, Request, \
         Row}, prelude::*};\n",
    );
    write!(
        out,
        "\n{}#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]\n\
         #[non_exhaustive]\npub enum Method {{\n",
        doc(&wording.get("Method", "about"), "")
    )?;
    for method in &table.method {
        let words = doc(&wording.get("Method", &method.name), "");
        writeln!(out, "{words}{},", pascal_case(&method.name))?;
    }
    write!(out, "}}\n\nimpl Method {{\n/// Every method, in the order of the table.\n")?;
    let all: String =
        table.method.iter().map(|m| format!("Self::{}, ", pascal_case(&m.name))).collect();
    writeln!(out, "pub const ALL: [Self; {}] = [{all}];", table.method.len())?;
    write!(
        out,
        "\n/// The method called `name`, if there is one in any revision.\n#[must_use]\n\
         pub fn from_name(name: &str) -> Option<Self> {{\nSelf::from_bytes(name.as_bytes())\n}}\n\n\
         /// The same for a name that may not have been checked to be text.\n#[must_use]\n\
         pub fn from_bytes(name: &[u8]) -> Option<Self> {{\nSome(match name {{\n"
    )?;
    for method in &table.method {
        writeln!(out, "b{:?} => Self::{},", method.name, pascal_case(&method.name))?;
    }
    write!(
        out,
        "_ => return None,\n}})\n}}\n\npub(crate) const fn row(self) -> Row {{\nmatch self {{\n"
    )?;
    for method in &table.method {
        writeln!(out, "Self::{} => {},", pascal_case(&method.name), row(method, types)?)?;
    }
    out.push_str("}\n}\n}\n");
    for method in &table.method {
        marker(method, types, &mut out)?;
    }
    Ok(out)
}

fn row(method: &Method, types: &Types) -> anyhow::Result<String> {
    let index = |revision: &str| {
        types
            .revisions
            .iter()
            .position(|known| known == revision)
            .with_context(|| format!("{}: unknown revision {revision}", method.name))
    };
    let since = types.revision(method.since.as_deref().map_or(Ok(0), index)?);
    let until = match &method.until {
        Some(until) => format!("Some({})", types.revision(index(until)?)),
        None => "None".to_owned(),
    };
    let need = match &method.needs {
        Some(need) => {
            let first = match &method.needs_since {
                Some(revision) => types.revision(index(revision)?),
                None => types.revision(method.since.as_deref().map_or(Ok(0), index)?),
            };
            format!(
                "Some(Needs {{ need: CapabilityNeed::{:?}({:?}), since: {first} }})",
                need.of, need.path
            )
        }
        None => "None".to_owned(),
    };
    Ok(format!(
        "Row {{ name: {:?}, kind: MethodKind::{:?}, direction: Direction::{:?}, \
         params: {:?}, result: {:?}, needs: {need}, since: {since}, until: {until}, \
         idempotent: {}, cacheable: {}, input: {}, named_by: {:?} }}",
        method.name,
        method.kind,
        method.direction,
        method.params,
        method.result,
        method.idempotent,
        method.cacheable,
        method.input,
        method.named_by,
    ))
}

/// The type that stands for the method in generic code.
fn marker(method: &Method, types: &Types, out: &mut String) -> anyhow::Result<()> {
    for name in [Some(&method.params), method.result.as_ref()].into_iter().flatten() {
        let known = types.types.get(name).map(|ty| &ty.body);
        if !matches!(known, Some(Body::Struct(_) | Body::Union(_))) {
            bail!("{}: there is no type {name}", method.name);
        }
    }
    let (name, params, marker) = (pascal_case(&method.name), &method.params, &method.marker);
    let path = |ty: &str| match types.types.get(ty) {
        Some(known) if Some(known.span.since) == types.revisions.len().checked_sub(1) => {
            format!("super::next::{ty}")
        }
        _ => ty.to_owned(),
    };
    write!(
        out,
        "\n/// The {} `{}`, for code that is generic over methods. It has no values.\n\
         #[derive(Clone, Copy, Debug, PartialEq, Eq)]\n#[non_exhaustive]\npub enum {marker} {{}}\n",
        match method.kind {
            Kind::Request => "request",
            Kind::Notification => "notification",
        },
        method.name
    )?;
    match (method.kind, &method.result) {
        (Kind::Request, Some(result)) => write!(
            out,
            "\nimpl Request for {marker} {{\nconst METHOD: Method = Method::{name};\n\
             type Params = {};\ntype Result = {};\n}}\n",
            path(params),
            path(result)
        )?,
        (Kind::Notification, None) => write!(
            out,
            "\nimpl Notification for {marker} {{\nconst METHOD: Method = Method::{name};\n\
             type Params = {};\n}}\n",
            path(params)
        )?,
        _ => bail!("{}: a request has a result, a notification has none", method.name),
    }
    // The specification's other names for params that several methods share.
    let own = format!("{marker}Params");
    if own != *params && !types.types.contains_key(&own) {
        write!(
            out,
            "\n/// The params of `{}`.\npub type {own} = {};\n",
            method.name,
            path(params)
        )?;
    }
    Ok(())
}
