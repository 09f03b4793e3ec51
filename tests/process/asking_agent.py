"""An agent that asks what its payload lists under `asks`, one ask a turn, and then returns what it got back.

Runs as a command agent, and as `behave` behind the in-process HTTP agent. It keeps everything in `state`, so that a
repeated turn gives the same outcome.
"""

import json
import sys
import time


def behave(turn):
    payload = turn["payload"]
    time.sleep(payload.get("slow", 0))
    resumes = (turn.get("state") or {}).get("resumes", [])
    if turn.get("resume"):
        resumes = resumes + [turn["resume"]]
    asks = payload.get("asks", [])
    if len(resumes) < len(asks):
        return {"ask": asks[len(resumes)], "state": {"resumes": resumes}}
    return {"result": {"n": payload.get("n"), "resumes": resumes, "messages": turn.get("messages")}}


if __name__ == "__main__":
    print(json.dumps(behave(json.load(sys.stdin))))
