#!/usr/bin/env python3
"""A scripted stand-in for a model: speaks Anthropic's Messages API, and triages every issue in the same way.

It keeps nothing: where a conversation stands is read off the conversation, so that it can be killed and started again at any time.

    tools/demo/model.py --port 8089        until it is stopped
    tools/demo/model.py --beside PID       on a free port, until that process has ended; the first line printed is the address
"""
import argparse
import json
import os
import re
import select
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def parsed(text):
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return None


def blocks(message):
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def text_of(content):
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content or [] if block.get("type") == "text")


def result_of(messages, tool):
    """What the last call of this tool gave, as {text, is_error}; nothing if it was not called."""
    calls = [block["id"] for message in messages for block in blocks(message)
             if block.get("type") == "tool_use" and block.get("name") == tool]
    results = {block["tool_use_id"]: block for message in messages for block in blocks(message) if block.get("type") == "tool_result"}
    if not calls or calls[-1] not in results:
        return None
    result = results[calls[-1]]
    return {"text": text_of(result.get("content")), "is_error": bool(result.get("is_error"))}


def issue_of(messages):
    """The payload: the first object that a text of the first message holds."""
    text = text_of(blocks(messages[0])) if messages else ""
    start = text.find("{")
    if start >= 0:
        try:
            found, _ = json.JSONDecoder().raw_decode(text[start:])
            return {"title": str(found.get("title") or "untitled"), "body": str(found.get("body") or "")}
        except (ValueError, AttributeError):
            pass
    return {"title": "untitled", "body": text}


def kind_of(issue):
    text = f"{issue['title']} {issue['body']}".lower()
    if re.search(r"crash|error|fail|broken|500|wrong|bug", text):
        return "a defect", "soon", "bug"
    if re.search(r"\?|how ", text):
        return "a question", "someday", "question"
    return "a wish", "someday", "feature"


def say(text):
    return [{"type": "text", "text": text}]


def call(name, tool_input, messages):
    number = 1 + sum(1 for message in messages if message.get("role") == "assistant")
    return [{"type": "tool_use", "id": f"toolu_demo_{number}", "name": name, "input": tool_input}]


def ask(issue, messages):
    kind, urgency, label = kind_of(issue)
    reasons = {"now": "somebody cannot work", "soon": "it hurts, but there is a way around", "someday": "nobody is held up"}
    labels = [label] + [other for other in ("docs", "good first issue", "needs info") if other != label]
    return say(f"This looks like {kind}. The maintainers decide how urgent it is.") + call("ask_user_question", {"questions": [
        {"question": f"How urgent is “{issue['title']}”?", "header": "Priority",
         "options": [{"label": name, "description": reason, "recommended": name == urgency} for name, reason in reasons.items()]},
        {"question": f"Which labels does “{issue['title']}” get?", "header": "Labels", "multiSelect": True,
         "options": [{"label": name} for name in labels]},
    ]}, messages)


def conclude(issue, found, answer):
    kind, urgency, label = kind_of(issue)
    answers = list(((parsed(answer["text"]) or {}).get("answers") or {}).values()) if answer and not answer["is_error"] else []
    asked = len(answers) == 2
    priority, labels = answers if asked else (urgency, [label])
    labels = labels if isinstance(labels, list) else [labels]
    alike = ", ".join(f"#{one['number']}" for one in (parsed(found["text"]) or {}).get("issues", [])) if not found["is_error"] else ""
    return say("\n".join([
        f"Title: {issue['title']}", f"Kind: {kind}", f"Priority: {priority}", f"Labels: {', '.join(map(str, labels)) or 'none'}",
        f"Similar: {alike or 'none'}",
        f"Decided by: {'the maintainers' if asked else 'the model alone, as nobody answered'}",
        "Next: reproduce it." if label == "bug" else "Next: answer it." if label == "question" else "Next: discuss it.",
    ]))


def reply(request):
    messages = request.get("messages") or []
    tools = {tool.get("name") for tool in request.get("tools") or []}
    issue = issue_of(messages)
    spoken = [message for message in messages if message.get("role") == "assistant"]
    if spoken and not any(block.get("type") == "tool_use" for block in blocks(spoken[-1])):
        return say("Noted. The triage stays as it is.")
    found = result_of(messages, "find_issues")
    if found is None and "find_issues" in tools:
        return say("I look for similar issues first.") + call("find_issues", {"query": f"{issue['title']} {issue['body']}"[:200]}, messages)
    answer = result_of(messages, "ask_user_question")
    if answer is None and "ask_user_question" in tools:
        return ask(issue, messages)
    return conclude(issue, found or {"text": "", "is_error": True}, answer)


class Api(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = parsed(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        if self.path != "/v1/messages":
            return self.send(404, {"type": "error", "error": {"type": "not_found_error", "message": f"no {self.path} here, only /v1/messages"}})
        if not isinstance(request, dict) or not request.get("messages"):
            return self.send(400, {"type": "error", "error": {"type": "invalid_request_error", "message": "messages: required"}})
        content = reply(request)
        stops = "tool_use" if any(block["type"] == "tool_use" for block in content) else "end_turn"
        return self.send(200, {
            "id": f"msg_demo_{len(request['messages'])}", "type": "message", "role": "assistant", "model": request.get("model"),
            "content": content, "stop_reason": stops, "stop_sequence": None,
            # About four letters to a token.
            "usage": {"input_tokens": len(json.dumps(request)) // 4, "output_tokens": len(json.dumps(content)) // 4},
        })

    def send(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--port", type=int, default=8089)
    options.add_argument("--beside", type=int, metavar="PID")
    chosen = options.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0 if chosen.beside else chosen.port), Api)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    if not chosen.beside:
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return
    # Ctrl-C and a closed terminal are the other process's to take: while it ends, it may still need a reply.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    other = os.pidfd_open(chosen.beside)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    select.select([other], [], [])


if __name__ == "__main__":
    sys.exit(main())
