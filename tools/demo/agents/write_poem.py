"""The agent write-poem: one JSON object in, one out, once a turn."""
import json
import sys

POEMS = {
    "haiku": "{topic}, softly held\na question waits for an answer\nthe work moves again",
    "sonnet": "Shall I compare {topic} to a parked turn?\nThou art more patient, and thy lease is long …",
    "rhyming": "Of {topic} I was asked to write,\nI asked you how, and you were right.",
    "free verse": "{topic}.\nNo metre. Just\nthe pause before somebody says yes.",
}


def run(turn):
    topic = turn["payload"].get("topic", "nothing in particular")
    if turn["reason"] == "start":
        return {
            "ask": {
                "questions": [
                    {
                        "question": "What style would you prefer?",
                        "header": "Style",
                        "options": [
                            {"label": "free verse", "description": "no rules"},
                            {"label": "rhyming", "description": "two lines that rhyme"},
                            {"label": "sonnet", "description": "the long one"},
                            {"label": "haiku", "description": "the short one", "recommended": True},
                        ],
                    }
                ],
                "context": {"topic": topic},
            },
            "state": {"topic": topic},
        }
    # Any later turn starts from the state that the ask saved.
    topic = (turn["state"] or {}).get("topic", topic)
    resume = turn["resume"] or {}
    if not resume.get("answered"):
        return {"error": "no style, no poem: " + str(resume.get("reason"))}
    style = resume["answers"]["What style would you prefer?"]
    print(f"writing about {topic} as {style}", file=sys.stderr)
    poem = POEMS.get(style, "A poem about {topic}, " + style + ".").replace("{topic}", topic)
    return {"result": {"style": style, "poem": poem}}


print(json.dumps(run(json.load(sys.stdin))))
