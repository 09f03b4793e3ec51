"""The tool find_issues of triage-issue: the call's input as JSON on standard input, the result on standard output."""
import json
import re
import sys

ISSUES = [
    {"number": 41, "title": "Login page crashes on an empty password", "state": "closed", "labels": ["bug", "login"],
     "text": "Submitting the form without a password shows a stack trace."},
    {"number": 57, "title": "Export to CSV", "state": "open", "labels": ["feature"],
     "text": "It would help to export the list of answers."},
    {"number": 63, "title": "Crash when a name has an emoji", "state": "open", "labels": ["bug", "unicode"],
     "text": "Saving a profile with an emoji in its name ends with error 500."},
    {"number": 70, "title": "How do I change the port?", "state": "closed", "labels": ["question", "docs"],
     "text": "The manual does not say how to listen on another port."},
]


def words(text):
    return {word for word in re.findall(r"[a-z0-9]+", text.lower()) if len(word) > 3}


def find(query):
    wanted = words(query)
    ranked = sorted(((len(wanted & words(issue["title"] + " " + issue["text"])), issue) for issue in ISSUES), key=lambda pair: -pair[0])
    return [{key: issue[key] for key in ("number", "title", "state", "labels")} for alike, issue in ranked if alike > 0]


print(json.dumps({"issues": find(str(json.load(sys.stdin).get("query", "")))}))
