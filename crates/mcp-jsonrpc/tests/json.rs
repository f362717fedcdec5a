//! What our serializer writes, held against `serde_json`, over everything that serde knows.

use std::fmt::Write as _;

use mcp_jsonrpc::{to_vec, write_json};
use proptest::prelude::*;
use serde::ser::{
    SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// One value of the data model of serde.
#[derive(Clone, Debug)]
enum Data {
    Bool(bool),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    I128(i128),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    U128(u128),
    F32(f32),
    F64(f64),
    Char(char),
    Str(String),
    /// Through `collect_str`.
    Shown(Vec<String>),
    Bytes(Vec<u8>),
    None,
    Some(Box<Self>),
    Unit,
    UnitStruct,
    UnitVariant(&'static str),
    Newtype(Box<Self>),
    NewtypeVariant(&'static str, Box<Self>),
    /// With a length, and without one.
    Seq(Vec<Self>, bool),
    Tuple(Vec<Self>),
    TupleStruct(Vec<Self>),
    TupleVariant(&'static str, Vec<Self>),
    Map(Vec<(Self, Self)>, bool),
    Struct(Vec<(&'static str, Self)>),
    StructVariant(&'static str, Vec<(&'static str, Self)>),
    Raw(Box<RawValue>),
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::I8(value) => serializer.serialize_i8(*value),
            Self::I16(value) => serializer.serialize_i16(*value),
            Self::I32(value) => serializer.serialize_i32(*value),
            Self::I64(value) => serializer.serialize_i64(*value),
            Self::I128(value) => serializer.serialize_i128(*value),
            Self::U8(value) => serializer.serialize_u8(*value),
            Self::U16(value) => serializer.serialize_u16(*value),
            Self::U32(value) => serializer.serialize_u32(*value),
            Self::U64(value) => serializer.serialize_u64(*value),
            Self::U128(value) => serializer.serialize_u128(*value),
            Self::F32(value) => serializer.serialize_f32(*value),
            Self::F64(value) => serializer.serialize_f64(*value),
            Self::Char(value) => serializer.serialize_char(*value),
            Self::Str(value) => serializer.serialize_str(value),
            Self::Shown(parts) => serializer.collect_str(&Shown(parts)),
            Self::Bytes(value) => serializer.serialize_bytes(value),
            Self::None => serializer.serialize_none(),
            Self::Some(value) => serializer.serialize_some(value),
            Self::Unit => serializer.serialize_unit(),
            Self::UnitStruct => serializer.serialize_unit_struct("Unit"),
            Self::UnitVariant(variant) => serializer.serialize_unit_variant("E", 0, variant),
            Self::Newtype(value) => serializer.serialize_newtype_struct("N", value),
            Self::NewtypeVariant(variant, value) => {
                serializer.serialize_newtype_variant("E", 1, variant, value)
            }
            Self::Seq(values, sized) => {
                let mut seq = serializer.serialize_seq(sized.then_some(values.len()))?;
                values.iter().try_for_each(|value| seq.serialize_element(value))?;
                seq.end()
            }
            Self::Tuple(values) => {
                let mut tuple = serializer.serialize_tuple(values.len())?;
                values.iter().try_for_each(|value| tuple.serialize_element(value))?;
                tuple.end()
            }
            Self::TupleStruct(values) => {
                let mut tuple = serializer.serialize_tuple_struct("T", values.len())?;
                values.iter().try_for_each(|value| tuple.serialize_field(value))?;
                tuple.end()
            }
            Self::TupleVariant(variant, values) => {
                let mut tuple =
                    serializer.serialize_tuple_variant("E", 2, variant, values.len())?;
                values.iter().try_for_each(|value| tuple.serialize_field(value))?;
                tuple.end()
            }
            Self::Map(entries, sized) => {
                let mut map = serializer.serialize_map(sized.then_some(entries.len()))?;
                entries.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
            Self::Struct(fields) => {
                let mut object = serializer.serialize_struct("S", fields.len())?;
                fields.iter().try_for_each(|(key, value)| object.serialize_field(key, value))?;
                object.end()
            }
            Self::StructVariant(variant, fields) => {
                let mut object =
                    serializer.serialize_struct_variant("E", 3, variant, fields.len())?;
                fields.iter().try_for_each(|(key, value)| object.serialize_field(key, value))?;
                object.end()
            }
            Self::Raw(raw) => raw.serialize(serializer),
        }
    }
}

/// Writes its parts one by one.
struct Shown<'a>(&'a [String]);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|part| f.write_str(part))
    }
}

fn text() -> impl Strategy<Value = String> + Clone {
    "(?s)[a-z\"\\\\\u{0}-\u{20}\u{7f}é😀]{0,40}"
}

fn name() -> impl Strategy<Value = &'static str> + Clone {
    prop::sample::select(vec!["", "a", "type", "a \"quoted\" name", "progressToken", "é\n"])
}

fn scalar() -> impl Strategy<Value = Data> + Clone {
    prop_oneof![
        any::<bool>().prop_map(Data::Bool),
        any::<i8>().prop_map(Data::I8),
        any::<i16>().prop_map(Data::I16),
        any::<i32>().prop_map(Data::I32),
        any::<i64>().prop_map(Data::I64),
        any::<i128>().prop_map(Data::I128),
        any::<u8>().prop_map(Data::U8),
        any::<u16>().prop_map(Data::U16),
        any::<u32>().prop_map(Data::U32),
        any::<u64>().prop_map(Data::U64),
        any::<u128>().prop_map(Data::U128),
        prop::num::f32::ANY.prop_map(Data::F32),
        prop::num::f64::ANY.prop_map(Data::F64),
        any::<char>().prop_map(Data::Char),
        text().prop_map(Data::Str),
        prop::collection::vec(text(), 0..4).prop_map(Data::Shown),
        name().prop_map(Data::UnitVariant),
    ]
}

/// What `serde_json` refuses as a key, too.
fn key() -> impl Strategy<Value = Data> {
    let odd = prop_oneof![
        scalar(),
        prop::collection::vec(any::<u8>(), 0..3).prop_map(Data::Bytes),
        Just(Data::None),
        Just(Data::Unit),
        Just(Data::UnitStruct),
        Just(Data::NewtypeVariant("v", Box::new(Data::Unit))),
        Just(Data::Seq(vec![], true)),
        Just(Data::Tuple(vec![])),
        Just(Data::TupleStruct(vec![])),
        Just(Data::TupleVariant("v", vec![])),
        Just(Data::Map(vec![], false)),
        Just(Data::Struct(vec![])),
        Just(Data::StructVariant("v", vec![])),
    ];
    prop_oneof![
        20 => text().prop_map(Data::Str),
        8 => scalar(),
        1 => odd.clone(),
        1 => odd.clone().prop_map(|key| Data::Some(Box::new(key))),
        1 => odd.prop_map(|key| Data::Newtype(Box::new(key))),
    ]
}

fn data() -> impl Strategy<Value = Data> {
    let leaf = prop_oneof![
        16 => scalar(),
        1 => prop::collection::vec(any::<u8>(), 0..5).prop_map(Data::Bytes),
        1 => Just(Data::None),
        1 => Just(Data::Unit),
        1 => Just(Data::UnitStruct),
        1 => prop::sample::select(vec!["1.50", " {\n\"a\": [1e5]} ", "\"\\u00e9\"", "null"])
            .prop_filter_map("JSON", |text| RawValue::from_string(text.into()).ok().map(Data::Raw)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let values = prop::collection::vec(inner.clone(), 0..4);
        let fields = prop::collection::vec((name(), inner.clone()), 0..4);
        let entries = prop::collection::vec((key(), inner), 0..4);
        prop_oneof![
            boxed.clone().prop_map(Data::Some),
            boxed.clone().prop_map(Data::Newtype),
            (name(), boxed).prop_map(|(variant, value)| Data::NewtypeVariant(variant, value)),
            (values.clone(), any::<bool>()).prop_map(|(values, sized)| Data::Seq(values, sized)),
            values.clone().prop_map(Data::Tuple),
            values.clone().prop_map(Data::TupleStruct),
            (name(), values).prop_map(|(variant, values)| Data::TupleVariant(variant, values)),
            (entries, any::<bool>()).prop_map(|(entries, sized)| Data::Map(entries, sized)),
            fields.clone().prop_map(Data::Struct),
            (name(), fields).prop_map(|(variant, fields)| Data::StructVariant(variant, fields)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_value_is_written_byte_for_byte_as_serde_json_writes_it(data in data()) {
        match (to_vec(&data), serde_json::to_vec(&data)) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(
                String::from_utf8(ours).unwrap(),
                String::from_utf8(theirs).unwrap()
            ),
            (Err(ours), Err(theirs)) => prop_assert_eq!(ours.to_string(), theirs.to_string()),
            (ours, theirs) => prop_assert!(false, "{:?} but {:?}", ours, theirs),
        }
    }
}

#[test]
fn long_texts_are_written_as_serde_json_writes_them() {
    let mut text = String::new();
    for line in 0..3000 {
        writeln!(text, "{line} \"a\" \\ \t é {}", "x".repeat(line % 150)).unwrap();
    }
    assert_eq!(to_vec(&text).unwrap(), serde_json::to_vec(&text).unwrap());
}

#[test]
fn a_parsed_value_is_written_as_it_was() {
    let json = r#"{"a":[null,true,-1,1.5,18446744073709551615,"é\n"],"b":{},"c":[]}"#;
    let value: serde_json::Value = serde_json::from_str(json).unwrap();
    let mut out = b"before".to_vec();
    write_json(&mut out, &value).unwrap();
    assert_eq!(out, format!("before{json}").into_bytes());
}

#[test]
fn a_lie_about_the_length_makes_no_bad_json() {
    struct Liar;
    impl Serialize for Liar {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut seq = serializer.serialize_seq(Some(0))?;
            seq.serialize_element(&1)?;
            seq.end()
        }
    }
    assert_eq!(to_vec(&Liar).unwrap(), b"[1]");
}

#[test]
fn raw_json_is_a_text_and_nothing_else() {
    struct Fake<T>(&'static str, T);
    impl<T: Serialize> Serialize for Fake<T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut raw = serializer.serialize_struct("$serde_json::private::RawValue", 1)?;
            raw.serialize_field(self.0, &self.1)?;
            raw.end()
        }
    }
    const TOKEN: &str = "$serde_json::private::RawValue";
    assert_eq!(to_vec(&Fake(TOKEN, "{ }")).unwrap(), b"{ }");
    assert!(to_vec(&Fake("other", "{}")).is_err());
    assert!(to_vec(&Fake(TOKEN, 1)).is_err());
    assert!(to_vec(&Fake(TOKEN, Some("{}"))).is_err());
    assert!(to_vec(&Fake(TOKEN, ["{}"])).is_err());
}

#[test]
fn what_can_not_be_shown_is_an_error() {
    struct Broken;
    impl std::fmt::Display for Broken {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            Err(std::fmt::Error)
        }
    }
    impl Serialize for Broken {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_str(self)
        }
    }
    assert!(to_vec(&Broken).is_err());
}
