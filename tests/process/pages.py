"""Reads our pages as a browser would: text, links, forms; and knows what every page must be like."""

import re
from html.parser import HTMLParser

from client import check, equal

ALLOWED_TAGS = {"html", "head", "meta", "title", "link", "body", "main", "h1", "p", "strong", "em", "small", "dl", "dt", "dd", "code",
                "form", "fieldset", "legend", "label", "input", "span", "textarea", "button", "blockquote", "ul", "li", "a", "header", "img"}
ALLOWED_ATTRIBUTES = {"lang", "charset", "name", "content", "rel", "href", "class", "role", "method", "action", "type", "value",
                      "checked", "rows", "autocomplete", "required", "autofocus", "src", "alt", "width", "height"}
# The frame of a page with script: its modules have addresses, and no text.
SHELL_TAGS = ALLOWED_TAGS | {"script", "nav", "div", "h2", "noscript"}
SHELL_ATTRIBUTES = ALLOWED_ATTRIBUTES | {"id", "tabindex", "title", "hidden", "data-me", "aria-label", "aria-live", "aria-current"}
VOID = {"meta", "link", "input", "img"}
ADDRESSES = ("href", "src", "action", "formaction", "data", "poster", "srcset", "background", "cite")

POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
SHELL_POLICY = ("default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; "
                "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'")
SHELL = re.compile(r"(GET|HEAD) /((sessions|agents|operations|session/[^/?]+)?)(\?.*)?")
HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex",
}


class Input:
    def __init__(self, tag, attributes):
        self.tag, self.name, self.type = tag, attributes.get("name"), attributes.get("type", tag)
        self.value, self.checked = attributes.get("value", ""), "checked" in attributes
        self.label = ""


class Page(HTMLParser):
    """`texts` are (tag, text) of the innermost elements, `links` all addresses, `inputs` the fields of the only form."""

    def __init__(self, reply):
        super().__init__(convert_charrefs=True)
        self.reply, self.status = reply, reply.status
        self.texts, self.links, self.inputs, self.actions, self.methods = [], [], [], [], []
        self._open, self._buttons = [], []
        shell = is_shell(reply)
        self._tags, self._attributes = (SHELL_TAGS, SHELL_ATTRIBUTES) if shell else (ALLOWED_TAGS, ALLOWED_ATTRIBUTES)
        check(reply.headers["Content-Type"] == "text/html; charset=utf-8", f"{reply} is {reply.headers['Content-Type']}")
        self.feed(reply.body.decode())
        self.close()
        equal(self._open, [], f"elements left open in {reply}")

    def handle_starttag(self, tag, attributes):
        check(tag in self._tags, f"<{tag}> in {self.reply}")
        names = [name for name, _ in attributes]
        check(len(set(names)) == len(names), f"an attribute twice in <{tag}> of {self.reply}")
        for name, value in attributes:
            check(name in self._attributes, f"{name}={value!r} on <{tag}> of {self.reply}")
            if name in ADDRESSES and value != "#main":
                check(value.startswith("/") and not value.startswith("//"), f"{name}={value!r} leads elsewhere")
                self.links.append(value)
        found = dict(attributes)
        check(tag != "script" or found["src"].startswith("/assets/"), f"a script of {found} in {self.reply}")
        if tag in ("input", "textarea", "button"):
            self.inputs.append(Input(tag, found))
        if tag == "form":
            self.actions.append(found["action"])
            self.methods.append(found["method"])
        self.texts.append((tag, ""))
        if tag not in VOID:
            self._open.append((tag, len(self.texts) - 1))

    def handle_endtag(self, tag):
        check(self._open and self._open[-1][0] == tag, f"</{tag}> closes {self._open} in {self.reply}")
        self._open.pop()

    def handle_data(self, data):
        check(not self._open or self._open[-1][0] != "script", f"a script in the page itself: {self.reply}")
        for tag, at in self._open:
            self.texts[at] = (tag, self.texts[at][1] + data)
        if self._open and self._open[-1][0] == "textarea":
            self.inputs[-1].value += data

    def of(self, tag):
        return [text for found, text in self.texts if found == tag]

    @property
    def heading(self):
        return self.of("h1")[0]

    @property
    def text(self):
        return "".join(self.of("main"))

    @property
    def context(self):
        return dict(zip(self.of("dt"), self.of("dd"), strict=True))

    @property
    def options(self):
        return [field for field in self.inputs if field.name == "choice"]

    @property
    def own(self):
        """The field for an own text, or None."""
        return next((field for field in self.inputs if field.name == "own"), None)

    @property
    def buttons(self):
        return [field.value for field in self.inputs if field.name == "do"]

    @property
    def hidden(self):
        return {field.name: field.value for field in self.inputs if field.type == "hidden"}

    @property
    def chosen(self):
        return [field.value for field in self.options if field.checked]


def is_shell(reply):
    """Whether this is a page with script: by its address, never by what it says of itself."""
    return reply.status == 200 and SHELL.fullmatch(reply.call) is not None


def check_headers(reply):
    """What every response carries, whatever it is."""
    equal(reply.headers.get_all("Content-Security-Policy"), [SHELL_POLICY if is_shell(reply) else POLICY], f"policy of {reply}")
    for name, value in HEADERS.items():
        equal(reply.headers.get_all(name), [value], f"{name} of {reply.call} -> {reply.status}")
    check(reply.headers.get("Strict-Transport-Security") is None, f"HSTS in the clear: {reply}")
    if "/assets/" not in reply.call or reply.status != 200:
        equal(reply.headers.get_all("Cache-Control"), ["no-store"], f"Cache-Control of {reply.call} -> {reply.status}")


def read_page(reply, status=200):
    equal(reply.status, status, f"status of {reply}")
    check_headers(reply)
    return Page(reply)
