"""Queues in SimPy, as its documentation teaches to write them: a process for each request of the open
loop and for each customer of the closed one, a Resource for each station.

    simpy_queues.py open REQUESTS SERVERS SERVICE_S RATE_PER_S
    simpy_queues.py closed REQUESTS CUSTOMERS DELAY_S DISKS SERVICE_S

prints the requests that ended, the seconds of CPU time that took, and their mean response time
in seconds.
"""

import random
import sys
import time

import simpy


class Tally:
    """Requests that ended and the sum of their response times."""

    def __init__(self):
        self.count = 0
        self.total_s = 0.0

    def add(self, response_s):
        self.count += 1
        self.total_s += response_s


def request(env, station, service_s, tally):
    begin = env.now
    with station.request() as turn:
        yield turn
        yield env.timeout(random.expovariate(1 / service_s))
    tally.add(env.now - begin)


def arrivals(env, rate_per_s, requests, station, service_s, tally):
    for _ in range(requests):
        yield env.timeout(random.expovariate(rate_per_s))
        env.process(request(env, station, service_s, tally))


def customer(env, delay_s, disks, service_s, requests, tally):
    while tally.count < requests:
        begin = env.now
        yield env.timeout(delay_s)
        with random.choice(disks).request() as turn:
            yield turn
            yield env.timeout(random.expovariate(1 / service_s))
        tally.add(env.now - begin)


def main(words):
    what, requests, count = words[0], int(words[1]), int(words[2])
    random.seed(1)
    env, tally = simpy.Environment(), Tally()
    if what == "open":
        service_s, rate_per_s = map(float, words[3:])
        station = simpy.Resource(env, capacity=count)
        env.process(arrivals(env, rate_per_s, requests, station, service_s, tally))
    else:
        delay_s, service_s = float(words[3]), float(words[5])
        disks = [simpy.Resource(env) for _ in range(int(words[4]))]
        for _ in range(count):
            env.process(customer(env, delay_s, disks, service_s, requests, tally))
    begin = time.process_time()
    env.run()
    print(tally.count, time.process_time() - begin, tally.total_s / tally.count)


main(sys.argv[1:])
