use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, DeserializeOwned, MapAccess, Visitor},
};

use super::JsonValue;
use crate::wire::{FromMap, PairsAccess};

/// A JSON object whose members are of one type, in the order in which they came.
///
/// A name stands once: reading an object that has one twice is an error, since two readers
/// could pick different ones.
///
/// Looking a name up takes time in proportion to the number of members.
#[derive(Clone, PartialEq)]
pub struct OrderedMap<V> {
    /// Invariant: no two names are equal.
    members: Vec<(String, V)>,
}

/// A JSON object, its members kept as they came.
///
/// ```
/// use mcp_types::JsonObject;
///
/// let mut object: JsonObject = serde_json::from_str(r#"{"big": 1e400}"#)?;
/// object.insert("small", &1)?;
/// assert_eq!(serde_json::to_string(&object)?, r#"{"big":1e400,"small":1}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub type JsonObject = OrderedMap<JsonValue>;

/// Two members of one object have the same name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the member `{0}` is there twice")]
pub struct DuplicateName(String);

impl<V> OrderedMap<V> {
    /// An object without members.
    #[must_use]
    pub const fn new() -> Self {
        Self { members: Vec::new() }
    }

    /// Sets the member `name`, at its place if there is one, else at the end. Gives back what
    /// was there.
    pub fn set(&mut self, name: impl Into<String>, value: V) -> Option<V> {
        let name = name.into();
        if let Some(old) = self.get_mut(&name) {
            return Some(std::mem::replace(old, value));
        }
        self.members.push((name, value));
        None
    }

    /// Takes the member `name` out.
    pub fn remove(&mut self, name: &str) -> Option<V> {
        let at = self.members.iter().position(|(n, _)| n == name)?;
        Some(self.members.remove(at).1)
    }

    /// Keeps the members for which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut V) -> bool) {
        self.members.retain_mut(|(name, value)| keep(name, value));
    }

    /// The member `name`, to change it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        self.members.iter_mut().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// The values, in order, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.members.iter_mut().map(|(_, value)| value)
    }

    /// The member `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&V> {
        self.members.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// Whether there is a member `name`.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The members, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &V)> {
        self.members.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The names, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.members.iter().map(|(name, _)| name.as_str())
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(crate) fn as_slice(&self) -> &[(String, V)] {
        &self.members
    }

    /// Adds a member without looking whether it is there; [`check`](Self::check) follows.
    pub(crate) fn push(&mut self, name: String, value: V) {
        self.members.push((name, value));
    }

    /// Fails if a name stands twice.
    pub(crate) fn check<E: de::Error>(&self) -> Result<(), E> {
        self.duplicate()
            .map_or(Ok(()), |name| Err(E::custom(format_args!("duplicate field `{name}`"))))
    }

    fn duplicate(&self) -> Option<&str> {
        // Comparing all pairs is fastest for the usual few, and quadratic: sort for the rest.
        if self.members.len() <= 16 {
            let mut rest = self.members.as_slice();
            while let Some(((name, _), others)) = rest.split_first() {
                if others.iter().any(|(other, _)| other == name) {
                    return Some(name);
                }
                rest = others;
            }
            return None;
        }
        let mut names: Vec<&str> = self.names().collect();
        names.sort_unstable();
        names.windows(2).find_map(|pair| match pair {
            [a, b] if a == b => Some(*a),
            _ => None,
        })
    }
}

impl JsonObject {
    /// Writes `value` as JSON into the member `name`. Gives back what was there.
    ///
    /// # Errors
    ///
    /// When `value` can't be written as JSON.
    pub fn insert<T: Serialize + ?Sized>(
        &mut self,
        name: impl Into<String>,
        value: &T,
    ) -> Result<Option<JsonValue>, serde_json::Error> {
        Ok(self.set(name, JsonValue::from_serialize(value)?))
    }

    /// Reads the whole object as a `T`.
    ///
    /// # Errors
    ///
    /// When the object isn't one.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        T::deserialize(de::value::MapAccessDeserializer::new(PairsAccess::new(self)))
    }

    /// Writes `value`, whose JSON has to be an object.
    ///
    /// # Errors
    ///
    /// When it isn't.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::from_str(&serde_json::to_string(value)?)
    }
}

impl<V> Default for OrderedMap<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: fmt::Debug> fmt::Debug for OrderedMap<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<V> IntoIterator for OrderedMap<V> {
    type Item = (String, V);
    type IntoIter = std::vec::IntoIter<(String, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

/// The last value of a name wins; its place is the first one's.
impl<N: Into<String>, V> FromIterator<(N, V)> for OrderedMap<V> {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Self {
        let mut map = Self::new();
        map.extend(members);
        map
    }
}

impl<N: Into<String>, V> Extend<(N, V)> for OrderedMap<V> {
    fn extend<I: IntoIterator<Item = (N, V)>>(&mut self, members: I) {
        for (name, value) in members {
            self.set(name, value);
        }
    }
}

impl<N: Into<String>, V, const LEN: usize> From<[(N, V); LEN]> for OrderedMap<V> {
    fn from(members: [(N, V); LEN]) -> Self {
        members.into_iter().collect()
    }
}

impl<V> TryFrom<Vec<(String, V)>> for OrderedMap<V> {
    type Error = DuplicateName;

    fn try_from(members: Vec<(String, V)>) -> Result<Self, DuplicateName> {
        let map = Self { members };
        match map.duplicate() {
            Some(name) => Err(DuplicateName(name.to_owned())),
            None => Ok(map),
        }
    }
}

impl From<serde_json::Map<String, serde_json::Value>> for JsonObject {
    fn from(map: serde_json::Map<String, serde_json::Value>) -> Self {
        Self { members: map.into_iter().map(|(name, value)| (name, value.into())).collect() }
    }
}

impl<'de, V: Deserialize<'de>> FromMap<'de> for OrderedMap<V> {
    fn from_map<A: MapAccess<'de>>(mut map: A, _tagged: bool) -> Result<Self, A::Error> {
        let mut members = Self::new();
        while let Some(name) = map.next_key()? {
            members.push(name, map.next_value()?);
        }
        members.check::<A::Error>()?;
        Ok(members)
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for OrderedMap<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MapVisitor<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for MapVisitor<V> {
            type Value = OrderedMap<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OrderedMap<V>, A::Error> {
                OrderedMap::from_map(map, false)
            }
        }

        deserializer.deserialize_map(MapVisitor(PhantomData))
    }
}

impl<V: Serialize> Serialize for OrderedMap<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// The members of an object that its type doesn't know, kept as they came.
///
/// One pointer wide, null while there are none. When the object is written, they come last; a
/// member that the type does know is left out here.
#[derive(Clone, Default, PartialEq)]
pub struct Extra(Option<Box<JsonObject>>);

impl Extra {
    /// Writes `value` as JSON into the member `name`. Gives back what was there.
    ///
    /// # Errors
    ///
    /// When `value` can't be written as JSON.
    pub fn insert<T: Serialize + ?Sized>(
        &mut self,
        name: impl Into<String>,
        value: &T,
    ) -> Result<Option<JsonValue>, serde_json::Error> {
        self.object().insert(name, value)
    }

    /// Sets the member `name`. Gives back what was there.
    pub fn set(&mut self, name: impl Into<String>, value: JsonValue) -> Option<JsonValue> {
        self.object().set(name, value)
    }

    /// Takes the member `name` out.
    pub fn remove(&mut self, name: &str) -> Option<JsonValue> {
        self.0.as_mut()?.remove(name)
    }

    /// The member `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&JsonValue> {
        self.0.as_ref()?.get(name)
    }

    /// The members, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &JsonValue)> {
        self.0.iter().flat_map(|object| object.iter())
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |object| object.len())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The members as an object.
    #[must_use]
    pub fn into_object(self) -> JsonObject {
        self.0.map_or_else(JsonObject::new, |object| *object)
    }

    pub(crate) fn push(&mut self, name: String, value: JsonValue) {
        self.object().push(name, value);
    }

    pub(crate) fn check<E: de::Error>(&self) -> Result<(), E> {
        self.0.as_ref().map_or(Ok(()), |object| object.check())
    }

    fn object(&mut self) -> &mut JsonObject {
        self.0.get_or_insert_default()
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl From<JsonObject> for Extra {
    fn from(object: JsonObject) -> Self {
        Self((!object.is_empty()).then(|| Box::new(object)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_exact_values_survive() {
        let json = r#"{"z":1.0,"a":[ 1 ],"30":123456789012345678901234567890}"#;
        let object: JsonObject = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&object).unwrap(), json);
    }

    #[test]
    fn a_name_that_stands_twice_is_an_error() {
        for size in [0, 100] {
            let filler: String = (0..size).map(|i| format!("\"f{i}\":0,")).collect();
            let json = format!(r#"{{"a":1,{filler}"\u0061":2}}"#);
            let error = serde_json::from_str::<JsonObject>(&json).unwrap_err().to_string();
            assert!(error.contains("duplicate field `a`"), "{error}");
        }
    }

    #[test]
    fn unknown_members_cost_one_pointer() {
        assert_eq!(size_of::<Extra>(), size_of::<usize>());
        assert_eq!(Extra::default(), Extra::from(JsonObject::new()));
    }

    #[test]
    fn an_object_is_read_into_a_type_without_a_second_text() {
        let object: JsonObject = serde_json::from_str(r#"{"a":1,"b":[2]}"#).unwrap();
        let map: std::collections::BTreeMap<String, serde_json::Value> = object.to().unwrap();
        assert_eq!(map["b"], serde_json::json!([2]));
    }
}
