//! The functions of DuckDB's stable C API (v1.2.0) that the extension calls.
//!
//! DuckDB hands an extension a table of function pointers. Functions are only ever appended to it, so a function has the same place in
//! every later version. The places are those of `struct duckdb_ext_api_v1` in `duckdb_extension.h`.

use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

/// A pointer to an object of DuckDB.
pub type Handle = *mut c_void;
/// A function that frees data of the extension.
pub type Free = unsafe extern "C" fn(Handle);
/// A function that DuckDB calls with one of its objects.
pub type Callback = unsafe extern "C" fn(Handle);
/// The function that fills a chunk.
pub type Fill = unsafe extern "C" fn(Handle, Handle);
/// The function that DuckDB calls with the name of an unknown table.
pub type Replace = unsafe extern "C" fn(Handle, *const c_char, Handle);

/// The number of functions in v1.2.0 of the API.
const COUNT: usize = 404;

macro_rules! functions {
    ($($place:literal $name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions.
        #[derive(Debug, Clone, Copy)]
        pub struct Api {
            $(#[doc = concat!("`duckdb_", stringify!($name), "`.")] pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Api {
            /// Reads the function pointers from the table that DuckDB hands over.
            ///
            /// # Safety
            /// `table` leads to the functions of v1.2.0 of the API or of a later version.
            unsafe fn read(table: *const c_void) -> Self {
                $(const { assert!($place < COUNT) };)*
                // SAFETY: all places are within the table, and the function at each place has the type that the header declares for it.
                unsafe { Self { $($name: table.cast::<unsafe extern "C" fn($($argument),*) $(-> $result)?>().add($place).read(),)* } }
            }
        }
    };
}

functions! {
    3 connect(Handle, *mut Handle) -> u32;
    6 disconnect(*mut Handle);
    25 free(Handle);
    26 vector_size() -> u64;
    150 create_null_value() -> Handle;
    151 get_list_size(Handle) -> u64;
    152 get_list_child(Handle, u64) -> Handle;
    93 create_varchar(*const c_char) -> Handle;
    92 destroy_value(*mut Handle);
    118 get_bool(Handle) -> bool;
    142 get_varchar(Handle) -> *mut c_char;
    149 is_null_value(Handle) -> bool;
    156 create_logical_type(u32) -> Handle;
    159 create_list_type(Handle) -> Handle;
    163 create_struct_type(*const Handle, *const *const c_char, u64) -> Handle;
    184 destroy_logical_type(*mut Handle);
    190 data_chunk_get_vector(Handle, u64) -> Handle;
    192 data_chunk_set_size(Handle, u64);
    194 vector_get_data(Handle) -> *mut c_void;
    195 vector_get_validity(Handle) -> *mut u64;
    196 vector_ensure_validity_writable(Handle);
    198 vector_assign_string_element_len(Handle, u64, *const c_char, u64);
    199 list_vector_get_child(Handle) -> Handle;
    201 list_vector_set_size(Handle, u64) -> u32;
    202 list_vector_reserve(Handle, u64) -> u32;
    203 struct_vector_get_child(Handle, u64) -> Handle;
    242 create_table_function() -> Handle;
    243 destroy_table_function(*mut Handle);
    244 table_function_set_name(Handle, *const c_char);
    245 table_function_add_parameter(Handle, Handle);
    246 table_function_add_named_parameter(Handle, *const c_char, Handle);
    247 table_function_set_extra_info(Handle, Handle, Option<Free>);
    248 table_function_set_bind(Handle, Callback);
    249 table_function_set_init(Handle, Callback);
    250 table_function_set_local_init(Handle, Callback);
    251 table_function_set_function(Handle, Fill);
    252 table_function_supports_projection_pushdown(Handle, bool);
    253 register_table_function(Handle, Handle) -> u32;
    254 bind_get_extra_info(Handle) -> Handle;
    255 bind_add_result_column(Handle, *const c_char, Handle);
    257 bind_get_parameter(Handle, u64) -> Handle;
    258 bind_get_named_parameter(Handle, *const c_char) -> Handle;
    259 bind_set_bind_data(Handle, Handle, Free);
    260 bind_set_cardinality(Handle, u64, bool);
    261 bind_set_error(Handle, *const c_char);
    263 init_get_bind_data(Handle) -> Handle;
    264 init_set_init_data(Handle, Handle, Free);
    265 init_get_column_count(Handle) -> u64;
    266 init_get_column_index(Handle, u64) -> u64;
    267 init_set_max_threads(Handle, u64);
    268 init_set_error(Handle, *const c_char);
    271 function_get_init_data(Handle) -> Handle;
    272 function_get_local_init_data(Handle) -> Handle;
    273 function_set_error(Handle, *const c_char);
    274 add_replacement_scan(Handle, Replace, Handle, Option<Free>);
    275 replacement_scan_set_function_name(Handle, *const c_char);
    276 replacement_scan_add_parameter(Handle, Handle);
}

static API: OnceLock<Api> = OnceLock::new();

/// Keeps the functions of `table` for [`api`].
///
/// # Safety
/// `table` leads to the functions of v1.2.0 of the API or of a later version, and they exist as long as this library is loaded.
pub unsafe fn load(table: *const c_void) {
    // SAFETY: as the caller promises.
    API.get_or_init(|| unsafe { Api::read(table) });
}

/// The functions, which are loaded before DuckDB can call any callback.
pub fn api() -> &'static Api {
    API.get().expect("the entry point loads the functions")
}
