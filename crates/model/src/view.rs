//! Types that say how another is shown as JSON.
//!
//! Owns the way such a type is written: each key stands once, with its type and its value, in the order
//! of the keys. Its doc comments are the descriptions of its JSON Schema.

/// Types that are made to be shown: `struct View<'a> from it: Source` with `key: Type = value` for each
/// key. With `for` the source is itself serialised so; without a source, `new` takes the values.
#[macro_export]
macro_rules! view {
    (@one $(#[$meta:meta])* $vis:vis struct $name:ident$(<$life:lifetime>)? {
        $($(#[$about:meta])* $shown:vis $key:ident: $type:ty),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, serde::Serialize, schemars::JsonSchema)]
        $vis struct $name$(<$life>)? { $($(#[$about])* $shown $key: $type),+ }

        impl$(<$life>)? $name$(<$life>)? {
            /// With these values for its keys, in their order.
            $vis fn new($($key: $type),+) -> Self {
                Self { $($key),+ }
            }
        }
    };
    (@one $(#[$meta:meta])* $vis:vis struct $name:ident$(<$life:lifetime>)? from $it:tt: $from:ty {
        $($(#[$about:meta])* $shown:vis $key:ident: $type:ty = $value:expr),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, serde::Serialize, schemars::JsonSchema)]
        $vis struct $name$(<$life>)? { $($(#[$about])* $shown $key: $type),+ }

        impl$(<$life>)? From<$from> for $name$(<$life>)? {
            fn from($it: $from) -> Self {
                Self { $($key: $value),+ }
            }
        }
    };
    (@one $(#[$meta:meta])* $vis:vis struct $name:ident<$life:lifetime> for $it:ident: $from:ty {
        $($body:tt)+
    }) => {
        $crate::view! { @one $(#[$meta])* $vis struct $name<$life> from $it: &$life $from { $($body)+ } }

        impl serde::Serialize for $from {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $name::from(self).serialize(to)
            }
        }

        impl schemars::JsonSchema for $from {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name::schema_name()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $name::json_schema(generator)
            }
        }
    };
    ($(
        $(#[$meta:meta])* $vis:vis struct $name:ident$(<$life:lifetime>)? $($way:ident $it:tt: $from:ty)? {
            $($body:tt)+
        }
    )+) => { $(
        $crate::view! {
            @one $(#[$meta])* $vis struct $name$(<$life>)? $($way $it: $from)? { $($body)+ }
        }
    )+ };
}
