//! Disks that are made as clones while they are driven.
//!
//! The library has no call for it that returns at once, so each clone has a thread: it makes the image, opens it, and lands
//! like a callback. It owns what it uses; if it is given up, what it still makes is closed with the disks, or by itself.

use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::cluster::Cluster;
use crate::connection::{OpenImage, c_name};
use crate::error::RbdError;
use crate::image::{Image, ImageOptions};
use crate::landing::{Landed, Landing};

/// EINVAL.
const INVALID: i32 = 22;

/// What disks are cloned from, and what their images are.
pub struct CloneSource {
    /// The connection, to the pool of all images.
    pub cluster: Cluster,
    /// The template's image.
    pub template: String,
    /// A protected snapshot of it ([`Image::protect_snapshot`]).
    pub snapshot: String,
    /// How the clones are laid out; they have the template's size.
    pub options: ImageOptions,
    /// The names of the images to be made, one a disk.
    pub names: Vec<String>,
}

/// Images that were made and opened, by the number of their disk.
type Made = Mutex<Vec<(u32, OpenImage)>>;

/// The clones of a thread's disks.
pub(crate) struct Cloning {
    source: CloneSource,
    made: Arc<Made>,
    /// Those that were started and not taken yet.
    pending: usize,
    limit: Duration,
}

impl Cloning {
    pub(crate) fn new(source: CloneSource) -> Self {
        let limit = source.cluster.limit;
        Self { source, made: Arc::default(), pending: 0, limit }
    }

    /// Starts to make a disk's image; it lands with 0 or an error number. `false`: there is no thread for it.
    pub(crate) fn start(&mut self, disk: u32, ticket: u32, landing: &Arc<Landing>) -> bool {
        let CloneSource { cluster, template, snapshot, options, names } = &self.source;
        let names = [template, snapshot, &names[disk as usize]].map(|name| c_name(name));
        let (connection, options) = (Arc::clone(cluster.connection()), *options);
        let (made, landing) = (Arc::clone(&self.made), Arc::clone(landing));
        let clone = move || -> Result<OpenImage, RbdError> {
            let [template, snapshot, name]: [Result<CString, RbdError>; 3] = names;
            let (template, snapshot, name) = (template?, snapshot?, name?);
            options.clone_of(&connection, (&template, &snapshot), &name)?;
            OpenImage::open(connection, &name, false)
        };
        let thread = std::thread::Builder::new().name("rbd-clone".into()).spawn(move || {
            let result = match clone() {
                Ok(image) => {
                    made.lock().unwrap_or_else(PoisonError::into_inner).push((disk, image));
                    0
                }
                Err(error) => -error.errno().unwrap_or(INVALID),
            };
            // Before it lands, so that the image is never closed here unless nobody else can.
            drop(made);
            landing.bring(Landed { ticket, result });
        });
        self.pending += usize::from(thread.is_ok());
        thread.is_ok()
    }

    /// Puts the images that were made since in their places.
    pub(crate) fn take(&mut self, images: &mut [Option<Image>]) {
        if self.pending == 0 {
            return;
        }
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        for (disk, open) in made.drain(..) {
            self.pending -= 1;
            let name = &self.source.names[disk as usize];
            images[disk as usize] = Some(Image::new(Arc::new(open), name, self.limit));
        }
    }
}
