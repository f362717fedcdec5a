//! Lists whose errors name the item.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess, Visitor},
};

/// A list; an item that can't be read is named by its place.
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<List<T>, A::Error> {
                let mut list = Vec::new();
                loop {
                    match items.next_element() {
                        Ok(Some(item)) => list.push(item),
                        Ok(None) => return Ok(List(list)),
                        Err(error) => {
                            return Err(de::Error::custom(format_args!(
                                "item {}: {error}",
                                list.len()
                            )));
                        }
                    }
                }
            }
        }

        deserializer.deserialize_seq(ListVisitor(PhantomData))
    }
}
