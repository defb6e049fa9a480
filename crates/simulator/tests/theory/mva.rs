//! Closed product-form networks by exact mean-value analysis (Reiser and Lavenberg, Mean-value
//! analysis of closed multichain queuing networks, J. ACM 27, 1980).

/// A station of a network with one chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Station {
    /// Visits per request.
    pub(crate) visits: f64,
    /// Mean service time, exponential, in seconds.
    pub(crate) service_s: f64,
    /// Servers, first come, first served.
    pub(crate) servers: usize,
}

/// The solution of a network.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Solution {
    /// Requests a second, by chain.
    pub(crate) throughput_per_s: Vec<f64>,
    /// Mean number waiting or being served, by station.
    pub(crate) queues: Vec<f64>,
}

/// One chain of `customers` that think for `delay_s` and visit stations, each with any number of
/// servers (by marginal probabilities).
pub(crate) fn one_chain(customers: u32, delay_s: f64, stations: &[Station]) -> Solution {
    let mut queues = vec![0.0; stations.len()];
    // By station: the probabilities of 0 to servers - 1 requests there.
    let mut few: Vec<Vec<f64>> = stations
        .iter()
        .map(|station| (0..station.servers).map(|j| if j == 0 { 1.0 } else { 0.0 }).collect())
        .collect();
    let mut throughput = 0.0;
    for population in 1..=customers {
        let waits: Vec<f64> = stations
            .iter()
            .enumerate()
            .map(|(k, station)| {
                let idle =
                    (0..station.servers - 1).map(|j| (station.servers - 1 - j) as f64 * few[k][j]);
                station.service_s / station.servers as f64 * (1.0 + queues[k] + idle.sum::<f64>())
            })
            .collect();
        let visited = stations.iter().zip(&waits).map(|(station, wait)| station.visits * wait);
        throughput = f64::from(population) / (delay_s + visited.sum::<f64>());
        for (k, station) in stations.iter().enumerate() {
            let busy = throughput * station.visits * station.service_s;
            queues[k] = throughput * station.visits * waits[k];
            for j in (1..station.servers).rev() {
                few[k][j] = busy / j as f64 * few[k][j - 1];
            }
            let servers = station.servers;
            let idle = (1..servers).map(|j| (servers - j) as f64 * few[k][j]);
            few[k][0] = 1.0 - (busy + idle.sum::<f64>()) / servers as f64;
        }
    }
    Solution { throughput_per_s: vec![throughput], queues }
}

/// Several chains with `customers` each that think for `delay_s` and use `demands_s[chain]
/// [station]` seconds (visits times mean service) at stations with one server.
pub(crate) fn chains(customers: &[u32], delay_s: f64, demands_s: &[Vec<f64>]) -> Solution {
    // Populations in an order in which the population with one customer less always comes first.
    let strides: Vec<usize> = customers
        .iter()
        .scan(1, |stride, &count| {
            let this = *stride;
            *stride *= count as usize + 1;
            Some(this)
        })
        .collect();
    let all: usize = customers.iter().map(|&count| count as usize + 1).product();
    let stations = demands_s[0].len();
    let mut queues: Vec<Vec<f64>> = vec![vec![0.0; stations]; all];
    let mut throughput = vec![0.0; customers.len()];
    for place in 1..all {
        let mut here = vec![0.0; stations];
        for (chain, demands) in demands_s.iter().enumerate() {
            let count = place / strides[chain] % (customers[chain] as usize + 1);
            if count == 0 {
                throughput[chain] = 0.0;
                continue;
            }
            let before = &queues[place - strides[chain]];
            let takes: Vec<f64> =
                demands.iter().zip(before).map(|(d, queue)| d * (1.0 + queue)).collect();
            throughput[chain] = count as f64 / (delay_s + takes.iter().sum::<f64>());
            for (queue, takes) in here.iter_mut().zip(&takes) {
                *queue += throughput[chain] * takes;
            }
        }
        queues[place] = here;
    }
    Solution { throughput_per_s: throughput, queues: queues.swap_remove(all - 1) }
}

#[test]
fn a_balanced_network_is_as_known() {
    // M stations of the same demand D and no delay: X(N) = N / (N + M - 1) / D.
    let station = Station { visits: 0.25, service_s: 0.02, servers: 1 };
    let solution = one_chain(7, 0.0, &[station; 4]);
    assert!((solution.throughput_per_s[0] - 7.0 / 10.0 / 0.005).abs() < 1e-9, "{solution:?}");
    let same = chains(&[3, 4], 0.0, &[vec![0.005; 4], vec![0.005; 4]]);
    assert!((same.throughput_per_s.iter().sum::<f64>() - 140.0).abs() < 1e-9, "{same:?}");
}

#[test]
fn a_repair_shop_is_as_its_balance_equations_say() {
    // N machines that run for Z and are repaired by m in S each: a birth-death process.
    let (machines, delay_s, service_s, servers) = (6u32, 0.01, 0.004, 2usize);
    let mut weights = vec![1.0];
    for n in 1..=machines {
        let up = f64::from(machines - n + 1) / delay_s;
        let down = (n as usize).min(servers) as f64 / service_s;
        weights.push(weights[n as usize - 1] * up / down);
    }
    let total: f64 = weights.iter().sum();
    let queue: f64 = weights.iter().enumerate().map(|(n, w)| n as f64 * w / total).sum();
    let solution = one_chain(machines, delay_s, &[Station { visits: 1.0, service_s, servers }]);
    assert!((solution.queues[0] - queue).abs() < 1e-9, "{solution:?} {queue}");
    let running = (f64::from(machines) - queue) / delay_s;
    assert!((solution.throughput_per_s[0] - running).abs() < 1e-6, "{solution:?} {running}");
}
