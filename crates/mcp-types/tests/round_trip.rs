//! What the schema allows is read, written, valid and read back equal, in every revision.

mod support;

use mcp_types::Revision;
use serde_json::Value;
use support::{Edition, Values, assert_valid};

/// How many values of each definition.
const VALUES: usize = 40;

/// What writing changes on purpose: a form is written without its `mode`.
fn expected(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(object) => {
                if object.contains_key("requestedSchema") && object.contains_key("message") {
                    object.remove("mode");
                }
                object.values_mut().for_each(walk);
            }
            Value::Array(items) => items.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut value);
    value
}

#[test]
fn every_definition_of_every_revision_survives() {
    let mut definitions = 0;
    // 2026-07-28, too: its members that have no field of their own survive in `extra`.
    let editions = Edition::all().into_iter().chain([Edition::load(Revision::V2026_07_28)]);
    for edition in editions {
        for definition in edition.definitions() {
            definitions += 1;
            let what = format!("{} of {}", definition.name, edition.revision);
            let validators = edition.validators(&definition.ty);
            let mut values = Values::new(&edition.model, &what);
            for _ in 0..VALUES {
                let made = values.value(&definition.ty);
                assert_valid(&validators, &made, &format!("{what}, as made"));
                let text = values.text(&made);
                let read = (definition.subject.read)(&text)
                    .unwrap_or_else(|error| panic!("{what}: {error}\n{text}"));
                let written = read.write();
                let tree: Value = serde_json::from_str(&written).unwrap();
                assert_eq!(tree, expected(made.clone()), "{what}");
                assert_valid(&validators, &tree, &format!("{what}, as written"));
                let again = (definition.subject.read)(&written).unwrap();
                assert!(read.same(again.as_ref()), "{what}\n{text}\n{written}");
                // The same by way of a tree, in which members of raw JSON change places.
                let by_tree = (definition.subject.read_tree)(made).unwrap();
                assert_eq!(by_tree.write_tree(), tree, "{what}");
            }
        }
    }
    // 2025-11-25 alone has more than a hundred.
    assert!(definitions > 380, "{definitions}");
}

#[test]
fn content_of_kinds_of_the_future_survives() {
    let edition = Edition::load(Revision::V2025_11_25);
    let mut holograms = 0;
    for definition in edition.definitions() {
        let mut values = Values::new(&edition.model, &definition.name);
        values.foreign = true;
        for _ in 0..VALUES {
            let made = values.value(&definition.ty);
            let text = values.text(&made);
            holograms += usize::from(text.contains("hologram"));
            let read = (definition.subject.read)(&text)
                .unwrap_or_else(|error| panic!("{}: {error}\n{text}", definition.name));
            let tree: Value = serde_json::from_str(&read.write()).unwrap();
            assert_eq!(tree, expected(made), "{}", definition.name);
        }
    }
    assert!(holograms > 50, "{holograms}");
}

#[test]
fn a_required_member_that_is_missing_is_named() {
    use support::ty::Ty;
    let mut checked = 0;
    for edition in Edition::all() {
        for definition in edition.definitions() {
            let Ty::Object(object) = &definition.ty else { continue };
            let mut values = Values::new(&edition.model, &definition.name);
            for (name, field) in object.fields.iter().filter(|(_, field)| field.required) {
                let mut made = values.value(&definition.ty);
                made.as_object_mut().unwrap().remove(name);
                let text = made.to_string();
                match (definition.subject.read)(&text) {
                    Err(error) => {
                        assert!(error.to_string().contains(name.as_str()), "{error}\n{text}");
                        checked += 1;
                    }
                    // Members that some revision has as optional are read as such, and what
                    // servers leave out is empty.
                    Ok(_) => assert!(
                        ["requestId", "elicitationId"].contains(&name.as_str())
                            || (definition.subject.name == "CallToolResult" && name == "content"),
                        "{}.{name} {:?}",
                        definition.name,
                        field.ty
                    ),
                }
            }
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn an_optional_member_that_is_null_is_absent() {
    use support::ty::Ty;
    for edition in Edition::all() {
        for definition in edition.definitions() {
            let Ty::Object(object) = &definition.ty else { continue };
            let mut values = Values::new(&edition.model, &definition.name);
            for (name, field) in object.fields.iter().filter(|(_, field)| !field.required) {
                // A mode that is null is no mode.
                if name == "structuredContent" || matches!(field.ty, Ty::Const(_)) {
                    continue;
                }
                let mut made = values.value(&definition.ty);
                made.as_object_mut().unwrap().remove(name);
                let without = (definition.subject.read)(&made.to_string()).unwrap();
                made.as_object_mut().unwrap().insert(name.clone(), Value::Null);
                let with = (definition.subject.read)(&made.to_string())
                    .unwrap_or_else(|error| panic!("{}.{name}: {error}", definition.name));
                assert!(with.same(without.as_ref()), "{}.{name}", definition.name);
            }
        }
    }
}
