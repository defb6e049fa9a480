//! Programs: the steps of a request between two ends, according to its protocol.

use stormeter_disk::Kind;
use stormeter_site::Cost;

use super::Builder;
use super::batch::Batch;
use super::network::{Gate, Leg, Wire};
use super::protocol::{Exchange, Rest, WriteMessages};
use super::wire::Message;
use crate::machine::step::{Pick, Step, Takes, What};

/// One end of a path: a CPU and a port.
#[derive(Debug, Clone, Copy)]
pub(super) struct End<'a> {
    pub(super) cpu: Pick,
    pub(super) cpu_component: u32,
    pub(super) cost: Cost,
    pub(super) clock_hz: f64,
    /// Additional cycles per request.
    pub(super) more_cycles: f64,
    pub(super) gate: Gate<'a>,
}

/// A storage, as a program refers to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Storage {
    pub(super) what: What,
    pub(super) component: u32,
}

impl End<'_> {
    /// Half of the cost of a request.
    fn half(&self, kind: Kind) -> Takes {
        Takes { fixed_ns: half_ns(&self.cost, kind, self.clock_hz), ..Takes::default() }
    }

    /// The CPU's work on a message that it sends.
    fn sends(&self, message: Message, wire: Wire<'_>) -> Takes {
        let batch = Batch::sent(self.gate.adapter, wire.framing);
        batch.work(message, wire.framing, (&self.cost, self.clock_hz))
    }

    /// The CPU's work on a message that arrives.
    fn receives(&self, message: Message, wire: Wire<'_>) -> Takes {
        let batch = Batch::received(self.gate.adapter, wire.framing);
        batch.work(message, wire.framing, (&self.cost, self.clock_hz))
    }

    fn more(&self) -> Takes {
        Takes { fixed_ns: self.more_cycles / self.clock_hz * 1e9, ..Takes::default() }
    }
}

/// Half of the cost of a request, without payload and packets. A flush costs what a write without bytes does:
/// its path through the layers is that of a write.
pub(super) fn half_ns(cost: &Cost, kind: Kind, clock_hz: f64) -> f64 {
    let cycles = match kind {
        Kind::Read => cost.per_read_cycles,
        Kind::Write | Kind::DurableWrite | Kind::Flush => cost.per_write_cycles,
    };
    cycles / 2.0 / clock_hz * 1e9
}

impl Builder<'_> {
    /// Starts a program; returns its first step.
    pub(super) fn program(&mut self) -> u32 {
        let first = self.steps.len() as u32;
        self.programs.push(first);
        first
    }

    /// A request and its answer between two ends: a read or a flush.
    ///
    /// A packet costs the CPU of each end that handles it: payload where it is sent and where it is
    /// received, a packet without payload only where it is received (sending it is part of the
    /// request's own cost).
    pub(super) fn exchange_over(
        &mut self,
        kind: Kind,
        host: End<'_>,
        target: End<'_>,
        wire: Wire<'_>,
        storage: Storage,
        messages: Exchange,
    ) -> u32 {
        let first = self.program();
        let Exchange { request, answer } = messages;
        self.on_cpu(&host, plus(host.half(kind), host.more()));
        self.message(host.gate, target.gate, wire, request, Leg::REQUEST);
        self.on_cpu(&target, plus(target.receives(request, wire), target.half(kind)));
        self.store(storage);
        self.on_cpu(&target, plus(target.sends(answer, wire), target.half(kind)));
        self.message(target.gate, host.gate, wire, answer, Leg::ANSWER);
        self.on_cpu(&host, plus(host.receives(answer, wire), host.half(kind)));
        self.end(host.cpu_component);
        first
    }

    /// A write between two ends: of as many bytes as are sent at once, or one whose bytes are
    /// requested by the target.
    pub(super) fn write_over(
        &mut self,
        host: End<'_>,
        target: End<'_>,
        wire: Wire<'_>,
        storage: Storage,
        (messages, is_asked): (WriteMessages, bool),
    ) -> u32 {
        let first = self.program();
        let WriteMessages { request, answer, .. } = messages;
        let before = plus(host.half(Kind::Write), host.more());
        // If adapters answer the request for data by themselves, the CPU's work on the payload
        // comes before.
        let asked = match (messages.rest, is_asked) {
            (Rest::Asked { by_adapter: true, data, .. }, true) => Some(data),
            _ => None,
        };
        let carried = match (asked, request.with_payload) {
            (Some(data), _) => host.sends(data, wire),
            (None, true) => host.sends(request, wire),
            (None, false) => Takes::default(),
        };
        self.on_cpu(&host, plus(carried, before));
        self.message(host.gate, target.gate, wire, request, Leg::REQUEST);
        let arrived = plus(target.receives(request, wire), target.half(Kind::Write));
        match (messages.rest, is_asked) {
            (Rest::Asked { ask, data, by_adapter: true, .. }, true) => {
                self.on_cpu(&target, plus(target.receives(data, wire), arrived));
                self.asked_by_adapter(host.gate, target.gate, wire, ask);
                self.message(host.gate, target.gate, wire, data, Leg::DATA);
            }
            (Rest::Asked { burst_bytes, ask, data, .. }, true) => {
                self.on_cpu(&target, arrived);
                let again = self.steps.len() as u32;
                self.step(What::Solicit(burst_bytes), target.cpu_component);
                self.message(target.gate, host.gate, wire, ask, Leg::ANSWER);
                let asked = host.receives(ask, wire);
                self.on_cpu(&host, plus(host.sends(data, wire), asked));
                self.message(host.gate, target.gate, wire, data, Leg::DATA);
                self.on_cpu(&target, target.receives(data, wire));
                self.step(What::Again(again), target.cpu_component);
            }
            _ => self.on_cpu(&target, arrived),
        }
        self.store(storage);
        self.on_cpu(&target, target.half(Kind::Write));
        self.message(target.gate, host.gate, wire, answer, Leg::ANSWER);
        self.on_cpu(&host, plus(host.receives(answer, wire), host.half(Kind::Write)));
        self.end(host.cpu_component);
        first
    }

    /// A request that goes no further than this end's CPU; the payload of a write is moved before,
    /// that of a read after.
    pub(super) fn at_once(
        &mut self,
        (cpu, cpu_component): (Pick, u32),
        (cost, clock_hz): (&Cost, f64),
        kind: Kind,
        storage: Storage,
    ) -> u32 {
        let first = self.program();
        let bare = Takes { fixed_ns: half_ns(cost, kind, clock_hz), ..Takes::default() };
        let loaded = Takes { per_byte_ns: (cost.per_byte_cycles / clock_hz * 1e9) as f32, ..bare };
        let (before, after) = match kind {
            Kind::Read => (bare, loaded),
            Kind::Write | Kind::DurableWrite | Kind::Flush => (loaded, bare),
        };
        self.serve(cpu, cpu_component, before);
        self.store(storage);
        self.serve(cpu, cpu_component, after);
        self.end(cpu_component);
        first
    }

    /// A request that is complete at once, without work.
    pub(super) fn nothing_to_do(&mut self, component: u32) -> u32 {
        let first = self.program();
        self.end(component);
        first
    }

    fn on_cpu(&mut self, end: &End<'_>, takes: Takes) {
        self.serve(end.cpu, end.cpu_component, takes);
    }

    pub(super) fn serve(&mut self, cpu: Pick, component: u32, takes: Takes) {
        if !takes.is_nothing() {
            self.steps.push(Step { what: What::Serve(cpu), component, takes, latency_ns: 0 });
        }
    }

    pub(super) fn store(&mut self, storage: Storage) {
        self.step(storage.what, storage.component);
    }

    pub(super) fn end(&mut self, component: u32) {
        self.step(What::End, component);
    }

    fn step(&mut self, what: What, component: u32) {
        self.steps.push(Step { what, component, takes: Takes::default(), latency_ns: 0 });
    }
}

/// The sum of both; the second has only a fixed part.
fn plus(takes: Takes, fixed: Takes) -> Takes {
    Takes { fixed_ns: takes.fixed_ns + fixed.fixed_ns, ..takes }
}
