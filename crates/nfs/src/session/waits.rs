//! Requests that the server asked to be sent again later.

use super::table::{Request, Work};

#[derive(Debug)]
struct Wait {
    due_ns: u64,
    request: Request,
}

/// Requests waiting for their time. Empty unless the server asks for retries, so a plain list.
#[derive(Debug, Default)]
pub(super) struct Waits {
    all: Vec<Wait>,
}

impl Waits {
    pub(super) fn push(&mut self, due_ns: u64, request: Request) {
        self.all.push(Wait { due_ns, request });
    }

    /// When the first request is due among those of a kind that is wanted.
    #[inline]
    pub(super) fn due_ns(&self, wanted: impl Fn(Work) -> bool) -> Option<u64> {
        if self.all.is_empty() {
            return None;
        }
        let wanted = self.all.iter().filter(|wait| wanted(wait.request.work));
        wanted.map(|wait| wait.due_ns).min()
    }

    /// Takes a request that is due among those of a kind that is wanted.
    pub(super) fn take_due(
        &mut self,
        now_ns: u64,
        wanted: impl Fn(Work) -> bool,
    ) -> Option<Request> {
        let due = |wait: &Wait| wait.due_ns <= now_ns && wanted(wait.request.work);
        let index = self.all.iter().position(due)?;
        Some(self.all.remove(index).request)
    }

    pub(super) fn drop_internal(&mut self) {
        self.all.retain(|wait| !wait.request.work.is_internal());
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
    }
}
