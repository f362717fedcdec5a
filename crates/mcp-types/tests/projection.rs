//! The laws of `project`.

mod support;

use mcp_types::Revision;
use serde_json::Value;
use support::{Definition, Edition, Values, assert_valid, ty::Ty};

const VALUES: usize = 40;

#[test]
fn for_the_newest_stateful_revision_nothing_changes() {
    let edition = Edition::load(Revision::LATEST_STATEFUL);
    for definition in edition.definitions() {
        let mut values = Values::new(&edition.model, &definition.name);
        values.foreign = true;
        for _ in 0..VALUES {
            let made = values.value(&definition.ty);
            let text = values.text(&made);
            let value = (definition.subject.read)(&text).unwrap();
            let mut projected = value.copy();
            projected.project(Revision::LATEST_STATEFUL);
            assert!(projected.same(value.as_ref()), "{}\n{text}", definition.name);
            assert_eq!(value.fits(Revision::LATEST_STATEFUL), Ok(()), "{text}");
        }
    }
}

#[test]
fn a_message_of_a_revision_survives_projection_onto_it() {
    for edition in Edition::all() {
        for definition in edition.definitions() {
            let mut values = Values::new(&edition.model, &definition.name);
            for _ in 0..VALUES {
                let made = values.value(&definition.ty);
                let text = values.text(&made);
                let value = (definition.subject.read)(&text).unwrap();
                let mut projected = value.copy();
                projected.project(edition.revision);
                assert!(
                    projected.same(value.as_ref()),
                    "{} of {}\n{text}\n{}",
                    definition.name,
                    edition.revision,
                    projected.write()
                );
            }
        }
    }
}

#[test]
fn twice_is_once_and_the_outcome_is_valid() {
    let editions = Edition::all();
    let (mut valid, mut unfit) = (0, 0);
    for from in &editions {
        for definition in from.definitions() {
            let targets: Vec<_> = editions
                .iter()
                .filter(|to| to.revision < from.revision)
                .map(|to| {
                    let there = to.definition(definition.subject.name);
                    let later = there.as_ref().map(|there| later(&definition, there));
                    let validators = there.map(|there| to.validators(&there.ty));
                    (to.revision, validators, later.unwrap_or_default())
                })
                .collect();
            let mut values = Values::new(&from.model, &definition.name);
            for round in 0..VALUES {
                values.foreign = round % 2 == 0;
                let made = values.value(&definition.ty);
                let text = values.text(&made);
                let value = (definition.subject.read)(&text).unwrap();
                for (to, validators, later) in &targets {
                    let what = format!("{} of {} to {to}", definition.name, from.revision);
                    let mut once = value.copy();
                    once.project(*to);
                    let mut twice = once.copy();
                    twice.project(*to);
                    assert!(twice.same(once.as_ref()), "{what}\n{text}");
                    let Some(validators) = validators else { continue };
                    if value.fits(*to).is_err() {
                        unfit += 1;
                        continue;
                    }
                    let tree: Value = serde_json::from_str(&once.write()).unwrap();
                    // The schemas are open, so they would let these pass.
                    for name in later {
                        assert!(tree.get(name).is_none(), "{what}: {name}\n{tree}");
                    }
                    assert_valid(validators, &tree, &format!("{what}\n{text}"));
                    valid += 1;
                }
            }
        }
    }
    assert!(valid > 5_000 && unfit > 50, "{valid} valid, {unfit} unfit");
}

/// Members that a definition had not yet in an older revision.
fn later(newer: &Definition, older: &Definition) -> Vec<String> {
    let (Ty::Object(newer_ty), Ty::Object(older_ty)) = (&newer.ty, &older.ty) else {
        return Vec::new();
    };
    let name = newer.subject.name;
    let names = newer_ty.fields.keys().filter(|field| !older_ty.fields.contains_key(*field));
    names
        // Said or not, params and results carry `_meta` in every revision.
        .filter(|field| {
            *field != "_meta" || !(name.ends_with("Params") || name.ends_with("Result"))
        })
        .cloned()
        .collect()
}

/// Names of members that `revision` doesn't have must be gone, wherever they were.
#[test]
fn members_of_later_revisions_are_gone() {
    let editions = Edition::all();
    let newest = editions.last().unwrap();
    let later: &[(Revision, &[&str])] = &[
        (Revision::V2025_06_18, &["icons", "execution", "websiteUrl", "task", "toolChoice"]),
        (Revision::V2025_03_26, &["outputSchema", "structuredContent", "lastModified", "context"]),
        (Revision::V2024_11_05, &["annotations.readOnlyHint", "completions"]),
    ];
    for definition in newest.definitions() {
        let mut values = Values::new(&newest.model, &definition.name);
        // What the older revision has no word for is not sent at all.
        let has_word = |to: Revision| {
            let edition = editions.iter().find(|edition| edition.revision == to).unwrap();
            edition.definition(definition.subject.name).is_some()
        };
        let later: Vec<_> = later.iter().filter(|(to, _)| has_word(*to)).collect();
        for _ in 0..VALUES {
            let made = values.value(&definition.ty);
            let text = values.text(&made);
            let value = (definition.subject.read)(&text).unwrap();
            for (to, names) in &later {
                if value.fits(*to).is_err() {
                    continue;
                }
                let mut projected = value.copy();
                projected.project(*to);
                let written = projected.write();
                for name in *names {
                    let gone = !written.contains(&format!("\"{name}\":"));
                    assert!(gone, "{} to {to}: {name}\n{written}", definition.name);
                }
            }
        }
    }
}

/// What 2026-07-28 moved out of its core is not sent to it.
#[test]
fn members_that_left_the_core_are_gone() {
    let newest = Edition::load(Revision::LATEST_STATEFUL);
    let coming = Edition::load(Revision::V2026_07_28);
    for definition in newest.definitions() {
        if coming.definition(definition.subject.name).is_none() {
            continue;
        }
        let mut values = Values::new(&newest.model, &definition.name);
        for _ in 0..VALUES {
            let made = values.value(&definition.ty);
            let text = values.text(&made);
            let mut value = (definition.subject.read)(&text).unwrap();
            value.project(Revision::V2026_07_28);
            let written = value.write();
            for name in ["execution", "tasks", "task", "elicitationId"] {
                let gone = !written.contains(&format!("\"{name}\":"));
                assert!(gone, "{}: {name}\n{written}", definition.name);
            }
            let mut twice = value.copy();
            twice.project(Revision::V2026_07_28);
            assert!(twice.same(value.as_ref()), "{}", definition.name);
        }
    }
}
