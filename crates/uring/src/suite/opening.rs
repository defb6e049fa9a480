//! Opening: the choice of engine, refusals with their reasons, limits.

use super::fixture::{file_with, operation, result_of, scratch};
use crate::{
    Engine, EngineChoice, EngineError, EngineOptions, Kind, MAX_BUFFER_BYTES, MAX_IN_FLIGHT, Note,
    Unavailable, available,
};

#[test]
fn auto_falls_back_with_the_reason_and_works() {
    let directory = scratch();
    let (_, file) = file_with(directory.path(), "file", &[4; 100]);
    let options = EngineOptions::new(vec![file])
        .buffers(1, 4096)
        .in_flight(2)
        .simulate_refusal(Some(libc::EPERM));
    let mut engine = Engine::open(EngineChoice::Auto, options).unwrap();
    assert!(matches!(engine, Engine::Positional(_)));
    let expected =
        [Note::Refused(Unavailable::Forbidden), Note::Positional { threads: 2, in_flight: 2 }];
    assert_eq!(engine.notes(), expected);
    assert!(Unavailable::Forbidden.to_string().contains("kernel.io_uring_disabled=0"));
    assert_eq!(result_of(&mut engine, operation(Kind::Read, 0, 0, 4096, 0)), 100);
}

#[test]
fn auto_takes_the_ring_where_it_works() {
    let engine = Engine::open(EngineChoice::Auto, EngineOptions::new(Vec::new())).unwrap();
    assert_eq!(matches!(engine, Engine::Ring(_)), available().is_ok());
}

#[test]
fn a_demanded_ring_is_refused_with_advice() {
    let cases = [
        (libc::ENOSYS, Unavailable::Missing, "Linux 5.11"),
        (libc::EPERM, Unavailable::Forbidden, "seccomp"),
        (libc::EACCES, Unavailable::Forbidden, "seccomp"),
        (libc::ENOMEM, Unavailable::Memory, "ulimit -l"),
        (libc::EMFILE, Unavailable::Descriptors, "ulimit -n"),
        (libc::EINVAL, Unavailable::Other { errno: libc::EINVAL }, "Invalid argument"),
    ];
    for (errno, reason, advice) in cases {
        let options = EngineOptions::new(Vec::new()).simulate_refusal(Some(errno));
        match Engine::open(EngineChoice::Uring, options) {
            Err(error @ EngineError::Unavailable(_)) => {
                let text = error.to_string();
                assert!(text.contains(advice) && text.contains("positional"), "{text}");
                let EngineError::Unavailable(given) = error else { unreachable!() };
                assert_eq!(given, reason);
            }
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("opened in spite of the refusal"),
        }
    }
}

#[test]
fn limits_are_checked_for_each_choice() {
    let open = |choice, in_flight, buffer_bytes| {
        let options = EngineOptions::new(Vec::new()).buffers(1, buffer_bytes).in_flight(in_flight);
        Engine::open(choice, options).map(drop)
    };
    for choice in [EngineChoice::Auto, EngineChoice::Uring, EngineChoice::Positional] {
        for asked in [0, MAX_IN_FLIGHT + 1] {
            let error = open(choice, asked, 4096).unwrap_err();
            assert!(matches!(error, EngineError::InFlight { asked: given } if given == asked));
        }
        for asked in [0, MAX_BUFFER_BYTES + 1] {
            let error = open(choice, 1, asked).unwrap_err();
            assert!(matches!(error, EngineError::BufferBytes { asked: given } if given == asked));
        }
    }
    let beyond_any_address_space = EngineOptions::new(Vec::new()).buffers(u32::MAX, 1 << 30);
    let error = Engine::open(EngineChoice::Positional, beyond_any_address_space).map(drop);
    assert!(matches!(error, Err(EngineError::Memory { .. })));
}

/// Opens a ring, unless io_uring or the memory that it may lock is refused here.
fn ring(options: EngineOptions) -> Option<Engine> {
    match Engine::open(EngineChoice::Uring, options) {
        Ok(engine) => Some(engine),
        Err(EngineError::Unavailable(reason))
            if available().is_err() || reason == Unavailable::Memory =>
        {
            eprintln!("left out: {reason}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_deepest_ring_opens() {
    let deepest = ring(EngineOptions::new(Vec::new()).in_flight(MAX_IN_FLIGHT));
    assert!(deepest.is_none_or(|engine| matches!(engine, Engine::Ring(_))));
}

#[test]
fn untouched_buffers_cost_nothing() {
    // 64 GiB, more than the test machines have.
    let options = EngineOptions::new(Vec::new()).buffers(1 << 16, 1 << 20);
    match Engine::open(EngineChoice::Positional, options) {
        Ok(mut engine) => {
            let last = engine.buffer_mut((1 << 16) - 1).unwrap();
            last[(1 << 20) - 1] = 1;
            assert_eq!(engine.buffer(0).unwrap()[0], 0);
        }
        // Strict overcommit accounting (vm.overcommit_memory=2) counts address space.
        Err(EngineError::Memory { bytes, .. }) => assert_eq!(bytes, 64 << 30),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn more_rings_than_a_thread_can_register() {
    let directory = scratch();
    // 16 is IO_RINGFD_REG_MAX of the kernel; more rounds show that dropping releases the entries.
    let mut registered_at_first = None;
    for round in 0..3 {
        let mut engines = Vec::new();
        for number in 0..20 {
            let (_, file) = file_with(directory.path(), "file", &[number; 100]);
            let options = EngineOptions::new(vec![file]).buffers(1, 4096).in_flight(1);
            let Some(engine) = ring(options) else { return };
            engines.push(engine);
        }
        for engine in &mut engines {
            let read = operation(Kind::Read, 0, 0, 100, 0);
            assert_eq!(result_of(engine, read), 100, "round {round}");
        }
        let registered = engines
            .iter()
            .filter(|engine| matches!(engine, Engine::Ring(ring) if ring.is_entrance_registered()))
            .count();
        assert!(registered <= 16);
        assert_eq!(*registered_at_first.get_or_insert(registered), registered, "round {round}");
    }
}
