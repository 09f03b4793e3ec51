#!/usr/bin/env python3
"""Kills the server at random moments under load, and checks that nothing acknowledged is lost or doubled.

    tests/process/kill_storm.py --kills 5000 --seed 7 --minutes 60
"""

import argparse
import random
import sys
import time

sys.dont_write_bytecode = True

import harness  # noqa: E402
from client import check, equal  # noqa: E402
from load import Load  # noqa: E402


def check_no_problems(problems, about):
    check(not problems, f"{len(problems)} problems {about}:\n" + "\n".join(problems[:20]))


def kill_and_restart(server, rng, number):
    # Every sixth process dies while it still starts up, recovery included.
    if number % 6 == 5:
        time.sleep(rng.uniform(0, 0.08))
    else:
        server.wait_ready(deadline=30)
        time.sleep(rng.uniform(0, 0.7))
    check(server.alive(), f"the server ended by itself with {server.process.poll()} before kill {number + 1}")
    server.kill()


def kill_storm(world, kills=100, seed=None, minutes=0.0, say=lambda text: None):
    """Returns a line about what was survived; raises AssertionError when a promise was broken."""
    seed = random.randrange(10**6) if seed is None else seed
    say(f"seed {seed}")
    try:
        return storm(world, kills, seed, minutes, say)
    except AssertionError as problem:
        raise AssertionError(f"seed {seed}: {problem}") from problem


def storm(world, kills, seed, minutes, say):
    rng = random.Random(seed)
    load = Load(world, seed)
    server = load.server
    started = time.monotonic()
    done = 0
    while done < kills or time.monotonic() - started < minutes * 60:
        kill_and_restart(server, rng, done)
        done += 1
        if done % 20 == 0:
            equal(server.database.damage(world.folder), [], f"damage to the database after kill {done}")
            check_no_problems(load.ledger.problems, f"by kill {done}")
            say(f"{done} kills, {len(load.ledger.sessions)} triggers and {len(load.ledger.answers)} answers acknowledged")
        server.start(wait=False)

    server.wait_ready(deadline=30)
    load.finish()
    triggers, answers = len(load.ledger.sessions), len(load.ledger.answers)
    check(triggers >= kills and answers >= kills, f"too little load to prove anything: {triggers}, {answers}")
    check_no_problems(load.verify(), "at the end")
    code, _ = server.terminate()
    equal(code, 0, "exit code of the last process")
    equal(server.database.damage(world.folder), [], "damage to the database at the end")
    return (f"{done} kills in {time.monotonic() - started:.0f} s, seed {seed}: {triggers} triggers, {answers} answers, "
            f"{len(load.receiver.received)} callbacks, nothing lost or doubled")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--seed", type=int)
    options.add_argument("--minutes", type=float, default=0.0, help="go on for at least this long")
    chosen = options.parse_args()
    world = harness.World()
    try:
        print(kill_storm(world, chosen.kills, chosen.seed, chosen.minutes, lambda text: print(text, flush=True)))
        return 0
    except AssertionError as problem:
        print("\n".join([f"FAIL {problem}", *world.log_tails()]))
        return 1
    finally:
        world.close()


if __name__ == "__main__":
    sys.exit(main())
