//! The functions of librados and librbd, found at run time.
//!
//! Signatures are those of librados.h and librbd.h (Ceph 12 and later keep them). The libraries are never unloaded: their
//! threads may still run when the last of our values is gone.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use crate::error::LoadError;

/// A handle of a cluster (`rados_t`), a pool (`rados_ioctx_t`), an image (`rbd_image_t`), options or a completion.
pub(crate) type Handle = *mut c_void;

/// Called by the library when an operation has ended (`rbd_callback_t`).
pub(crate) type Callback = extern "C" fn(completion: Handle, argument: *mut c_void);

/// `rbd_image_spec_t`: an entry of a pool's list of images.
#[repr(C)]
pub(crate) struct ImageSpec {
    pub(crate) id: *mut c_char,
    pub(crate) name: *mut c_char,
}

macro_rules! functions {
    ($($library:literal { $(fn $function:ident($($argument:ty),* $(,)?) $(-> $result:ty)?;)* })*) => {
        /// The functions, by their C names.
        pub(crate) struct Functions {
            $($(pub(crate) $function: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*)*
        }

        impl Functions {
            fn load() -> Result<Self, LoadError> {
                $(
                    let library = open($library)?;
                    $(
                        // SAFETY: the signature is that of the library's header, see above.
                        let found = unsafe { library.get(concat!(stringify!($function), "\0").as_bytes()) };
                        let $function = *found.map_err(|_| LoadError::TooOld {
                            library: $library,
                            function: stringify!($function),
                        })?;
                    )*
                    // Never unloaded, so that the functions stay valid.
                    std::mem::forget(library);
                )*
                Ok(Self { $($($function,)*)* })
            }
        }
    };
}

functions! {
    "librados.so.2" {
        fn rados_create2(*mut Handle, *const c_char, *const c_char, u64) -> c_int;
        fn rados_conf_read_file(Handle, *const c_char) -> c_int;
        fn rados_conf_set(Handle, *const c_char, *const c_char) -> c_int;
        fn rados_connect(Handle) -> c_int;
        fn rados_shutdown(Handle);
        fn rados_version(*mut c_int, *mut c_int, *mut c_int);
        fn rados_cluster_fsid(Handle, *mut c_char, usize) -> c_int;
        fn rados_mon_command(
            Handle, *const *const c_char, usize, *const c_char, usize,
            *mut *mut c_char, *mut usize, *mut *mut c_char, *mut usize,
        ) -> c_int;
        fn rados_buffer_free(*mut c_char);
        fn rados_ioctx_create(Handle, *const c_char, *mut Handle) -> c_int;
        fn rados_ioctx_set_namespace(Handle, *const c_char);
        fn rados_ioctx_destroy(Handle);
        fn rados_set_osdmap_full_try(Handle);
    }
    "librbd.so.1" {
        fn rbd_version(*mut c_int, *mut c_int, *mut c_int);
        fn rbd_image_options_create(*mut Handle);
        fn rbd_image_options_destroy(Handle);
        fn rbd_image_options_set_uint64(Handle, c_int, u64) -> c_int;
        fn rbd_create4(Handle, *const c_char, u64, Handle) -> c_int;
        fn rbd_clone3(
            Handle, *const c_char, *const c_char, Handle, *const c_char, Handle,
        ) -> c_int;
        fn rbd_snap_create(Handle, *const c_char) -> c_int;
        fn rbd_snap_remove(Handle, *const c_char) -> c_int;
        fn rbd_snap_protect(Handle, *const c_char) -> c_int;
        fn rbd_snap_unprotect(Handle, *const c_char) -> c_int;
        fn rbd_remove(Handle, *const c_char) -> c_int;
        fn rbd_list2(Handle, *mut ImageSpec, *mut usize) -> c_int;
        fn rbd_image_spec_list_cleanup(*mut ImageSpec, usize);
        fn rbd_open(Handle, *const c_char, *mut Handle, *const c_char) -> c_int;
        fn rbd_open_read_only(Handle, *const c_char, *mut Handle, *const c_char) -> c_int;
        fn rbd_close(Handle) -> c_int;
        fn rbd_get_features(Handle, *mut u64) -> c_int;
        fn rbd_get_stripe_unit(Handle, *mut u64) -> c_int;
        fn rbd_get_stripe_count(Handle, *mut u64) -> c_int;
        fn rbd_stat(Handle, *mut c_void, usize) -> c_int;
        fn rbd_metadata_get(Handle, *const c_char, *mut c_char, *mut usize) -> c_int;
        fn rbd_metadata_set(Handle, *const c_char, *const c_char) -> c_int;
        fn rbd_aio_create_completion(*mut c_void, Callback, *mut Handle) -> c_int;
        fn rbd_aio_read(Handle, u64, usize, *mut c_char, Handle) -> c_int;
        fn rbd_aio_write(Handle, u64, usize, *const c_char, Handle) -> c_int;
        fn rbd_aio_flush(Handle, Handle) -> c_int;
        fn rbd_aio_get_return_value(Handle) -> isize;
        fn rbd_aio_release(Handle);
    }
}

fn open(name: &'static str) -> Result<libloading::Library, LoadError> {
    // SAFETY: loading runs the initialisers of Ceph's libraries, which a program that is linked to them runs as well.
    unsafe { libloading::Library::new(name) }
        .map_err(|error| LoadError::Missing { library: name, reason: error.to_string() })
}

/// The two libraries. Cheap to clone.
#[derive(Clone)]
pub struct Library {
    pub(crate) functions: Arc<Functions>,
}

impl Library {
    /// Loads them, or finds them loaded.
    ///
    /// # Errors
    /// They are not installed, too old, or this program cannot load any.
    pub fn load() -> Result<Self, LoadError> {
        if cfg!(target_feature = "crt-static") {
            return Err(LoadError::StaticProgram);
        }
        Ok(Self { functions: Arc::new(Functions::load()?) })
    }

    /// The versions of librados and librbd, as `3.0.0` and `1.16.0`.
    pub fn versions(&self) -> (String, String) {
        let text = |version: unsafe extern "C" fn(*mut c_int, *mut c_int, *mut c_int)| {
            let (mut major, mut minor, mut patch) = (0, 0, 0);
            // SAFETY: the function writes three integers and keeps none of the addresses.
            unsafe { version(&raw mut major, &raw mut minor, &raw mut patch) };
            format!("{major}.{minor}.{patch}")
        };
        (text(self.functions.rados_version), text(self.functions.rbd_version))
    }
}

impl std::fmt::Debug for Library {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rados, rbd) = self.versions();
        write!(out, "librados {rados}, librbd {rbd}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_named() {
        let Err(error) = open("libstormeter-none.so.7") else { panic!("it was found") };
        assert!(matches!(error, LoadError::Missing { library: "libstormeter-none.so.7", .. }));
        assert!(error.to_string().starts_with("libstormeter-none.so.7 cannot be loaded: "));
    }
}
