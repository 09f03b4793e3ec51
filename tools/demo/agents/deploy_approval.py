"""The agent deploy-approval: a batch of questions, with several choices and free text."""
import json
import sys

WHERE = "Deploy to which environment?"
CHECKS = "Which checks shall run first?"
NOTE = "A note for the deployment log?"


def run(turn):
    service = turn["payload"].get("service", "the service")
    if turn["reason"] == "start":
        return {
            "ask": {
                "questions": [
                    {
                        "question": WHERE,
                        "header": "Environment",
                        "options": [{"label": "staging", "recommended": True}, "production"],
                        "allow_other": False,
                    },
                    {
                        "question": CHECKS,
                        "header": "Checks",
                        "options": ["unit tests", "smoke tests", "load test"],
                        "multi_select": True,
                    },
                    {"question": NOTE, "header": "Note"},
                ],
                "context": {"service": service, "version": turn["payload"].get("version")},
            },
            "state": {"service": service},
        }
    service = (turn["state"] or {}).get("service", service)
    resume = turn["resume"] or {}
    if not resume.get("answered"):
        return {"result": {"deployed": False, "service": service, "reason": resume.get("reason")}}
    answers = resume["answers"]
    return {
        "result": {
            "deployed": True,
            "service": service,
            "environment": answers[WHERE],
            "checks": answers[CHECKS],
            "note": answers[NOTE],
            "approved_by": sorted({q["answered_by"] for q in resume["questions"] if q["answered_by"]}),
        }
    }


print(json.dumps(run(json.load(sys.stdin))))
